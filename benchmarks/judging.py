"""Milliseconds to judge and score 16 drafts of a writer, guards and encoder together.

python benchmarks/judging.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import statistics
from time import perf_counter, process_time

from understudy.agents.encoder import EncoderAgent
from understudy.dialogue import Draft, Turn, situation_at
from understudy.judging.guarded import GuardedAgent
from understudy.readers import read

SUBJECTS = ("the tide", "the bread", "this wall", "the lamp", "my coat", "that bell", "the soup", "the rope")
DRAFTS = (
    "I have not thought of {} since the morning, round {}.",
    "Dear lady, believe me, {} is nothing to be afraid of, not even in round {}.",
)


class Sixteen:
    """Offers 16 drafts that no cache has seen."""

    def __init__(self) -> None:
        self.round = 0

    def drafts(self, *_: object) -> tuple[list[Draft], object]:
        from understudy.dialogue import Usage

        self.round += 1
        words = " ".join("one" if digit == "1" else "two" for digit in f"{self.round:b}")
        return [Draft(form.format(what, words), "writer") for form in DRAFTS for what in SUBJECTS], Usage()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    story = read("demo")
    agent = GuardedAgent([Sixteen()], lambda _: [story], EncoderAgent(cache=False))  # type: ignore[list-item]
    situation = situation_at(story, "Danilo Reuss", "2.3", "Zita Karst")
    history = (Turn("Zita Karst", "What are you afraid of?"),)
    agent.reply(situation, history)  # what is made once for a character and a moment
    times, cpu = [], []
    for _ in range(options.rounds):
        begin, busy = perf_counter(), process_time()
        agent.reply(situation, history)
        times.append(1000 * (perf_counter() - begin))
        cpu.append(1000 * (process_time() - busy))
    p50, best = statistics.median(times), min(times)
    figures = {"p50_ms": p50, "best_ms": best, "cpu_p50_ms": statistics.median(cpu)}
    print(json.dumps({"drafts": 16, **{name: round(value, 1) for name, value in figures.items()}}))


if __name__ == "__main__":
    main()
