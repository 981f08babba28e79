"""Milliseconds of the judge: for 16 drafts of a small writer, and for a capable writer's reply of three sentences.

    python benchmarks/judging.py [--rounds N]

The first are guards, encoder and `voice`; the second are guards and the prompt, what is recalled for it included. Last,
how long after the writer's last word of its first sentence that sentence is shown.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Generator
from time import perf_counter, process_time
from typing import Any, cast

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.recall import Recall
from understudy.agents.writer import WriterAgent
from understudy.formats import read
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import StoryViews
from understudy.language.backends import Completion, ScriptedBackend
from understudy.story.dialogue import Draft, Turn, Usage, situation_at

SUBJECTS = ("the tide", "the bread", "this wall", "the lamp", "my coat", "that bell", "the soup", "the rope")
DRAFTS = (
    "I have not thought of {} since the morning, round {}.",
    "Dear lady, believe me, {} is nothing to be afraid of, not even in round {}.",
)
REPLY = (
    "I have not slept since the bell rang, dear lady, round {}. You may call it patience, if you like; I would call it "
    "counting. Ask me again when the soup is on the table and the wind is quiet."
)


class Sixteen:
    """Offers 16 drafts that no cache has seen."""

    def __init__(self) -> None:
        self.round = 0

    def drafts(self, *_: object) -> tuple[list[Draft], Usage]:
        self.round += 1
        words = spelt(self.round)
        return [Draft(form.format(what, words), "writer") for form in DRAFTS for what in SUBJECTS], Usage()


class Stopwatch(ScriptedBackend):
    """Notes when it has written the end of its first sentence."""

    finished = 0.0

    def stream(self, *arguments: Any) -> Generator[str, None, Completion]:
        pieces = super().stream(*arguments)
        self.finished = 0.0
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                return cast(Completion, end.value)
            if not self.finished and piece.endswith("."):
                self.finished = perf_counter()
            yield piece


def spelt(number: int) -> str:
    return " ".join("one" if digit == "1" else "two" for digit in f"{number:b}")


def timed(rounds: int, run: Callable[[int], object]) -> dict[str, float]:
    run(0)  # what is made once for a character and a moment
    times, cpu = [], []
    for number in range(1, rounds + 1):
        begin, busy = perf_counter(), process_time()
        run(number)
        times.append(1000 * (perf_counter() - begin))
        cpu.append(1000 * (process_time() - busy))
    figures = {"p50_ms": statistics.median(times), "best_ms": min(times), "cpu_p50_ms": statistics.median(cpu)}
    return {name: round(value, 1) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    story, encoder = read("demo"), EncoderAgent(cache=False)
    views = StoryViews(lambda _: [story])
    situation = situation_at(story, "Danilo Reuss", "2.3", "Zita Karst")
    small = GuardedAgent([Sixteen()], views, encoder)
    afraid = (Turn("Zita Karst", "What are you afraid of?"),)
    print(json.dumps({"drafts": 16, **timed(options.rounds, lambda _: small.reply(situation, afraid))}))
    old_lines, recall = OldLines(encoder), Recall(encoder)

    def say(number: int) -> list[str]:
        writer = WriterAgent(ScriptedBackend([REPLY.format(spelt(number))]), recall)
        agent = GuardedAgent([old_lines, writer], views, encoder, best_of=1, writer_first=True)
        return list(agent.stream(situation, (Turn("Zita Karst", f"What are you afraid of, {spelt(number)}?"),)))

    print(json.dumps({"sentences": 3, **timed(options.rounds, say)}))
    waits = []
    for number in range(options.rounds + 1):
        backend = Stopwatch([REPLY.format(spelt(1_000 + number))])
        agent = GuardedAgent([old_lines, WriterAgent(backend, recall)], views, encoder, best_of=1, writer_first=True)
        next(agent.stream(situation, afraid))
        waits.append(1000 * (perf_counter() - backend.finished))
    shown = {"p50_ms": round(statistics.median(waits[1:]), 1), "most_ms": round(max(waits[1:]), 1)}
    print(json.dumps({"first_sentence_shown_after": shown}))


if __name__ == "__main__":
    main()
