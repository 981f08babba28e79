"""A reply out of 10,000 lines a character has said, to a context of 128 tokens: `encoder` and `tfidf`, on one core.

    python benchmarks/reply_latency.py DATA [--candidates 10000] [--messages 60]

DATA has personachat/. The character's past is made of its dialogues' turns, all encoded before the clock starts;
each message comes with as much of a real dialogue before it as fills 128 tokens.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from understudy.agents.encoder import EncoderAgent
from understudy.agents.tfidf import TfIdfAgent
from understudy.formats import examples
from understudy.story.dialogue import Agent, Situation, Turn
from understudy.story.persona import NoPast, Other, Persona
from understudy.story.types import Exchange, Line, Moment

TOKENS = 128
WORDS = 96  # with punctuation and markers some 128 tokens


class Given(NoPast):
    """A past that is a list of exchanges."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._exchanges = exchanges

    def exchanges(self) -> Iterator[Exchange]:
        return iter(self._exchanges)


def past_and_histories(data: Path, size: int, count: int) -> tuple[list[Exchange], list[list[Turn]]]:
    exchanges, histories = list[Exchange](), list[list[Turn]]()
    files = (data / "personachat" / name for name in ("train_both_original_no_cands.txt", "valid_none_original.txt"))
    for number, example in enumerate(chain.from_iterable(examples(file) for file in files)):
        heard, reply = example.history[-1], example.candidates[min(example.gold)]
        if len(exchanges) < size:
            at = Moment((1, number, 1))
            exchanges.append(Exchange(Line(at, heard.speaker, heard.text), Line(at, "Ann", reply), ""))
        elif sum(len(turn.text.split()) for turn in example.history) >= WORDS:
            kept, words = list[Turn](), 0
            for turn in reversed(example.history):
                words += len(turn.text.split())
                if words > WORDS:
                    break
                kept.append(turn)
            histories.append(kept[::-1])
            if len(histories) == count:
                return exchanges, histories
    return exchanges, histories


def timed(agent: Agent, situation: Situation, histories: Sequence[Sequence[Turn]]) -> tuple[list[float], list[float]]:
    """Milliseconds a reply, and of processor time; the first one, which reads the past, is left out."""
    agent.reply(situation, histories[0])
    taken, busy = list[float](), list[float]()
    for history in histories[1:]:
        start, spent = time.perf_counter(), time.process_time()
        agent.reply(situation, history)
        taken.append(1000 * (time.perf_counter() - start))
        busy.append(1000 * (time.process_time() - spent))
    return taken, busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=60)
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    exchanges, histories = past_and_histories(options.data, options.candidates, options.messages)
    persona = Persona("Ann", profile=("I have two dogs.", "I work in a bakery."), past=Given(exchanges))
    situation = Situation(persona, faced=Other("Bob"))
    print(f"{len(exchanges):,} candidates, {len(histories)} messages, some {TOKENS} tokens of context, one core\n")
    print(f"{'agent':10} {'p50 ms':>8} {'p95 ms':>8} {'p50 busy':>9} {'goal':>6}")
    for name, agent, goal in (("encoder", EncoderAgent(options.model), 40), ("tfidf", TfIdfAgent(), 5)):
        taken, busy = timed(agent, situation, histories)
        print(
            f"{name:10} {statistics.median(taken):8.2f} {statistics.quantiles(taken, n=20)[18]:8.2f} "
            f"{statistics.median(busy):9.2f} {goal:6}"
        )


if __name__ == "__main__":
    main()
