"""Small benchmark files and agents for the benches' tests; `judged:clock` names one the way a user would."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from understudy.story.dialogue import Reply, Situation, Turn

SELF = """\
1 your persona: i mend clocks.
2 your persona: i have no brothers.
3 partner's persona: i sail.
4 hello , what do you do ?\ti mend old clocks .\t\ti bake bread .|rain again .|i mend old clocks .
5 in this town ?\tjust off the square .\t\tthe sea is far .|never mind .|just off the square .
1 your persona: i bake bread.
2 partner's persona: i own a small <b>boat</b>.
3 do you sleep well ?\ti am up at four to bake .\t\ti mend clocks .|it is late .|i am up at four to bake .
4 for the bread ?\tfor the bread , yes .\t\tno clocks here .|i sail at dawn .|for the bread , yes .
"""
TRAIN = """\
1 your persona: i grow roses.
2 your persona: i am a nurse.
3 your persona: i read at night.
4 your persona: my cat is old.
5 partner's persona: i drive a bus.
6 partner's persona: i collect stamps.
7 partner's persona: i like rain.
8 partner's persona: i have two sons.
9 hello there .\thello , i just came from the hospital .
10 i was on my bus all day .\tdo you like your bus ?
"""


def personachat(folder: Path) -> Path:
    """Four questions on two conditions, and training dialogues."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "valid_self_original.txt").write_text(SELF, encoding="utf-8")
    plain = [line for line in SELF.splitlines() if "persona:" not in line]
    numbered = [f"{1 + place % 2} {line.split(' ', 1)[1]}\n" for place, line in enumerate(plain)]
    (folder / "valid_none_original.txt").write_text("".join(numbered), encoding="utf-8")
    (folder / "train_both_original_no_cands.txt").write_text(TRAIN, encoding="utf-8")
    return folder


class Clock:
    """Ranks what speaks of clocks first, and then the shorter."""

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        return [("clock" in text) - len(text) / 1000 for text in candidates]


class ManyClocks(Clock):
    """The same, many questions at once."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def score_many(self, questions: Sequence[tuple[Situation, Sequence[Turn], Sequence[str]]]) -> list[list[float]]:
        self.batches.append(len(questions))
        return [Clock.score(self, *question) for question in questions]


class Baker:
    """Only replies."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply("I am up at four to bake bread.")


class Nameless:
    """Neither scores nor replies."""


class Blind:
    """Scores everything alike."""

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        return [0.0] * len(candidates)


class Chimes:
    """A generative agent: a word of clocks has the probability 1/2, any other word 1/8, the end of a reply 1/2."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply(f"i mend clocks , {len(history)} of them .")

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        return [math.log(1 / 2 if "clock" in word else 1 / 8) for word in text.split()] + [math.log(1 / 2)]

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        every = [self.log_probs(situation, history, text) for text in candidates]
        return [sum(values) / len(values) for values in every]


class ManyChimes(Chimes):
    """The same, many questions at once; it can be stopped after so many."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.asked: list[int] = []
        self.stop_after = stop_after

    def log_probs_many(
        self, questions: Sequence[tuple[Situation, Sequence[Turn], Sequence[str]]]
    ) -> list[list[list[float]]]:
        self._count(len(questions))
        return [[self.log_probs(situation, history, text) for text in texts] for situation, history, texts in questions]

    def reply_many(self, questions: Sequence[tuple[Situation, Sequence[Turn]]]) -> list[Reply]:
        self._count(len(questions))
        return [self.reply(*question) for question in questions]

    def _count(self, questions: int) -> None:
        if self.stop_after is not None and sum(self.asked) + questions > self.stop_after:
            raise KeyboardInterrupt
        self.asked.append(questions)


def chimes() -> Chimes:
    return Chimes()


def many_chimes() -> ManyChimes:
    return ManyChimes()


def clock() -> Clock:
    return Clock()


def many_clocks() -> ManyClocks:
    return ManyClocks()


def baker() -> Baker:
    return Baker()


def nameless() -> Nameless:
    return Nameless()


def blind() -> Blind:
    return Blind()
