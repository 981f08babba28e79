"""Figures of a trained ranker on held-back dialogues: hits@1 among 20 candidates."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.fit import CachedEncoder, build_fits
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.story.dialogue import Question as RankingQuestion
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.training.dialogues import CONDITIONS, DialogueSplit, ReplyQuestion, questions_of

CANDIDATES = 20
MOST = 2_000  # questions; with more the figure would hardly move
HELD = "held-back training dialogues, people not seen in training"


def ranking_figures(
    ranker: Any, split: DialogueSplit, seed: int, conditions: Iterable[str] = CONDITIONS, most: int = MOST
) -> dict[str, Any]:
    """hits@1 among 20 drawn replies, by condition, on held-back dialogues; empty where none were held back."""
    questions, offered = _drawn(split.held, split, seed, most)
    if not questions:
        return {}
    hits = {}
    for condition in conditions:
        rankings = [_ranking_question(question, condition, texts) for question, texts in zip(questions, offered)]
        hits[condition] = _hits(ranker.score_many(rankings))
    return {
        "of": f"{HELD}, candidates drawn at random",
        "candidates": len(offered[0]),
        "questions": len(questions),
        "hits@1": hits,
    }


def hits_at_1(ranker: Any, split: DialogueSplit, seed: int, most: int) -> float:
    """hits@1 among 20 with the own profile shown, on some held-back questions; on training's where none are held."""
    dialogues = split.held or split.training
    questions, offered = _drawn(dialogues, split, seed, most)
    return _hits(
        ranker.score_many([_ranking_question(question, "self", texts) for question, texts in zip(questions, offered)])
    )


def encoder_figures(folder: Path, split: DialogueSplit) -> dict[str, Any]:
    """hits@1 of an encoder's folder, expected over all draws of 19 others: no draw adds noise to it."""
    reply_index = {
        text: index
        for index, text in enumerate(sorted({text for dialogue in split.held for _, text in dialogue.turns}))
    }  # fmt: skip
    questions = [
        (question, frozenset(text for _, text in dialogue.turns))
        for dialogue in split.held
        for question in questions_of([dialogue], "none", split.asked)
        if question.history
    ][:MOST]
    if not questions or len(reply_index) < 2:
        return {}
    vectors = CachedEncoder(SentenceEncoder(folder, os.cpu_count() or 1, cache=False))
    replies = vectors.encoder.encode(list(reply_index), keep=False)
    hits = {}
    for condition in ("none", "self"):
        shown = [_ranking_question(question, condition, ())[:2] for question, _ in questions]
        chances = []
        for fit, (question, around) in zip(build_fits(vectors, shown), questions):
            scores = fit.scores(replies)
            negatives = np.ones(len(scores), np.bool_)
            negatives[[reply_index[text] for text in around]] = False
            chances.append(expected_hits(scores[reply_index[question.reply]], scores[negatives]))
        hits[condition] = round(float(np.mean(chances)), 4)
    return {
        "of": f"{HELD}, expected over all draws",
        "candidates": CANDIDATES,
        "questions": len(questions),
        "hits@1": hits,
    }


def expected_hits(own: float, negatives: NDArray[np.float32], drawn: int = CANDIDATES - 1) -> float:
    """The chance that a score beats all of so many drawn from the others."""
    size, worse, chance = len(negatives), int((negatives < own).sum()), 1.0
    for number in range(min(drawn, size)):
        chance *= max(worse - number, 0) / (size - number)
    return chance


def _drawn(
    dialogues: Sequence[Any], split: DialogueSplit, seed: int, most: int
) -> tuple[list[ReplyQuestion], list[list[str]]]:
    """Questions, and the candidates of each: the true reply, then others."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    profiles = split.asked if dialogues is split.held else None
    questions = list(questions_of(dialogues, "none", profiles))
    replies = sorted({text for dialogue in dialogues for _, text in dialogue.turns})
    if len(replies) < 2:
        return [], []
    questions = rng.sample(questions, min(most, len(questions)))
    return questions, [_offered(question, replies, rng) for question in questions]


def _offered(question: ReplyQuestion, replies: Sequence[str], rng: random.Random) -> list[str]:
    drawn = rng.sample(replies, min(CANDIDATES, len(replies)))
    return [question.reply, *[text for text in drawn if text != question.reply][: CANDIDATES - 1]]


def _hits(scores: Sequence[Sequence[float]]) -> float:
    return round(sum(row[0] > max(row[1:]) for row in scores) / len(scores), 4)


def _ranking_question(question: ReplyQuestion, condition: str, texts: Sequence[str]) -> RankingQuestion:
    shown = CONDITIONS[condition]
    persona = Persona("I", profile=question.own if "own" in shown else ())
    faced = Other("You", question.their if "their" in shown else ())
    history = [Turn(persona.name if mine else faced.name, text) for mine, text in question.history]
    return Situation(persona, faced=faced), history, texts
