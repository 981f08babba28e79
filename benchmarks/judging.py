"""Milliseconds to judge and score 16 drafts of a writer, guards and encoder together.

python benchmarks/judging.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import statistics
from time import perf_counter

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
    times = []
    for _ in range(options.rounds):
        begin = perf_counter()
        agent.reply(situation, history)
        times.append(1000 * (perf_counter() - begin))
    print(json.dumps({"drafts": 16, "p50_ms": round(statistics.median(times), 1), "best_ms": round(min(times), 1)}))


if __name__ == "__main__":
    main()
