"""Beam search over a language model that is a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from understudy.agents.bob.agent import beam_search

torch = pytest.importorskip("torch", reason="search needs the extra 'train'")

FIRST, LAST, UNSPEAKABLE = 0, 1, 2
A, B, C = 3, 4, 5


def table(after: dict[tuple[int, ...], dict[int, float]]) -> Callable[[Sequence[Sequence[int]], Sequence[int]], Any]:
    """Probabilities of the next word by the words so far; elsewhere all of it ends."""

    def next_log_probs(beginnings: Sequence[Sequence[int]], _questions: Sequence[int]) -> Any:
        rows = [after.get(tuple(beginning[1:]), {LAST: 1.0}) for beginning in beginnings]
        return torch.tensor([[math.log(row.get(word, 1e-9)) for word in range(6)] for row in rows])

    return next_log_probs


GARDEN_PATH = table({(): {A: 0.6, B: 0.4}, (A,): {A: 0.4, B: 0.3, C: 0.3}, (B,): {C: 1.0}, (A, A): {A: 0.5, B: 0.5}})
"""Greedily A A .., of 0.24 or less; but B C has a probability of 0.4."""


def search(model: Any, **options: Any) -> list[tuple[int, ...]]:
    return [reply.tokens for reply in beam_search(model, 1, FIRST, LAST, (FIRST, UNSPEAKABLE), **options)]


def test_one_beam_is_greedy_and_more_find_what_is_more_probable() -> None:
    assert search(GARDEN_PATH, beams=1)[0][:2] == (A, A)
    assert search(GARDEN_PATH, beams=2) == [(B, C, LAST)]


def test_the_score_is_the_mean_log_probability_of_its_tokens() -> None:
    (reply,) = beam_search(GARDEN_PATH, 1, FIRST, LAST, (), beams=2)
    assert reply.log_probs == pytest.approx((math.log(0.4), 0.0, 0.0), abs=1e-6)
    assert reply.score == pytest.approx(math.log(0.4) / 3)


def test_no_run_of_three_is_said_twice() -> None:
    forever = table({beginning: {A: 0.6, B: 0.3, LAST: 0.1} for beginning in every(4)})
    (reply,) = search(forever, longest=12)
    runs = [reply[start : start + 3] for start in range(len(reply) - 2)]
    assert len(runs) == len(set(runs))


def every(length: int) -> list[tuple[int, ...]]:
    beginnings: list[tuple[int, ...]] = [()]
    for _ in range(length):
        beginnings += [(*beginning, word) for beginning in beginnings for word in (A, B, C)]
    return beginnings


def test_special_tokens_are_never_said_and_nothing_is_too_short_or_too_long() -> None:
    silent = table({(): {LAST: 0.9, UNSPEAKABLE: 0.09, B: 0.01}, (B,): {LAST: 0.9, C: 0.1}})
    assert search(silent) == [(B, C, LAST)]
    endless = table({beginning: {A: 0.5, B: 0.3, C: 0.2} for beginning in every(5)})
    assert len(search(endless, longest=4)[0]) == 4


def test_questions_are_answered_apart() -> None:
    def next_log_probs(beginnings: Sequence[Sequence[int]], questions: Sequence[int]) -> Any:
        wanted = [[A, B, LAST], [C, C, A, B, LAST]]
        rows = torch.full((len(beginnings), 6), -20.0)
        for row, (beginning, question) in enumerate(zip(beginnings, questions)):
            rows[row, wanted[question][len(beginning) - 1]] = 0.0
        return rows

    for beams in (1, 3):
        replies = beam_search(next_log_probs, 2, FIRST, LAST, (), beams=beams)
        assert [reply.tokens for reply in replies] == [(A, B, LAST), (C, C, A, B, LAST)]
