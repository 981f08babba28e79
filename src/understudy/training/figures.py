"""How good a model is on the dialogues it was not shown."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.bag_ranker import Question as Asked
from understudy.agents.fit import CachedEncoder, build_fits
from understudy.dialogue import Situation, Turn
from understudy.encoding import SentenceEncoder
from understudy.persona import Other, Persona
from understudy.training.data import CONDITIONS, Question, Split, questions_of

__all__ = ["encoder_figures", "expected_hits", "figures_of", "hits"]

CANDIDATES = 20
MOST = 2_000  # questions; with more the figure would hardly move
HELD = "held-back training dialogues, people not seen in training"


def figures_of(
    ranker: Any, split: Split, seed: int, conditions: Iterable[str] = CONDITIONS, most: int = MOST
) -> dict[str, Any]:
    """hits@1 among 20 drawn replies, by condition, on held-back dialogues; empty where none were held back."""
    questions, offered = _drawn(split.held, split, seed, most)
    if not questions:
        return {}
    found = {}
    for condition in conditions:
        asked = [_asked(question, condition, texts) for question, texts in zip(questions, offered)]
        found[condition] = _hits(ranker.score_many(asked))
    return {
        "of": f"{HELD}, candidates drawn at random",
        "candidates": len(offered[0]),
        "questions": len(questions),
        "hits@1": found,
    }


def hits(ranker: Any, split: Split, seed: int, most: int) -> float:
    """hits@1 among 20 with the own profile shown, on some held-back questions; on training's where none are held."""
    held = split.held or split.training
    questions, offered = _drawn(held, split, seed, most)
    return _hits(ranker.score_many([_asked(question, "self", texts) for question, texts in zip(questions, offered)]))


def encoder_figures(folder: Path, split: Split, most: int = MOST) -> dict[str, Any]:
    """hits@1 of an encoder's folder, expected over all draws of 19 others: no draw adds noise to it."""
    places = {
        text: place for place, text in enumerate(sorted({text for one in split.held for _, text in one.turns}))
    }  # fmt: skip
    asked = [
        (question, frozenset(text for _, text in dialogue.turns))
        for dialogue in split.held
        for question in questions_of([dialogue], "none", split.asked)
        if question.history
    ][:most]
    if not asked or len(places) < 2:
        return {}
    vectors = CachedEncoder(SentenceEncoder(folder, os.cpu_count() or 1, cache=False))
    replies = vectors.encoder.encode(list(places), keep=False)
    found = {}
    for condition in ("none", "self"):
        shown = [_asked(question, condition, ())[:2] for question, _ in asked]
        chances = []
        for fit, (question, around) in zip(build_fits(vectors, shown), asked):
            scores = fit.scores(replies)
            others = np.ones(len(scores), np.bool_)
            others[[places[text] for text in around]] = False
            chances.append(expected_hits(scores[places[question.reply]], scores[others]))
        found[condition] = round(float(np.mean(chances)), 4)
    return {
        "of": f"{HELD}, expected over all draws",
        "candidates": CANDIDATES,
        "questions": len(asked),
        "hits@1": found,
    }


def expected_hits(own: float, others: NDArray[np.float32], drawn: int = CANDIDATES - 1) -> float:
    """The chance that a score beats all of so many drawn from the others."""
    size, worse, chance = len(others), int((others < own).sum()), 1.0
    for number in range(min(drawn, size)):
        chance *= max(worse - number, 0) / (size - number)
    return chance


def _drawn(dialogues: Sequence[Any], split: Split, seed: int, most: int) -> tuple[list[Question], list[list[str]]]:
    """Questions, and the replies that each is offered: the true one, then others."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    asked = split.asked if dialogues is split.held else None
    questions = list(questions_of(dialogues, "none", asked))
    replies = sorted({text for dialogue in dialogues for _, text in dialogue.turns})
    if len(replies) < 2:
        return [], []
    questions = chance.sample(questions, min(most, len(questions)))
    return questions, [_offered(question, replies, chance) for question in questions]


def _offered(question: Question, replies: Sequence[str], chance: random.Random) -> list[str]:
    drawn = chance.sample(replies, min(CANDIDATES, len(replies)))
    return [question.reply, *[text for text in drawn if text != question.reply][: CANDIDATES - 1]]


def _hits(scores: Sequence[Sequence[float]]) -> float:
    return round(sum(row[0] > max(row[1:]) for row in scores) / len(scores), 4)


def _asked(question: Question, condition: str, texts: Sequence[str]) -> Asked:
    shown = CONDITIONS[condition]
    persona = Persona("I", profile=question.own if "own" in shown else ())
    faced = Other("You", question.their if "their" in shown else ())
    history = [Turn(persona.name if mine else faced.name, text) for mine, text in question.history]
    return Situation(persona, faced=faced), history, texts
