"""How good a model is on the dialogues it was not shown: hits@1 among 20, in every condition."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from understudy.agents import AGENTS
from understudy.agents.bagranker import Question as Asked
from understudy.dialogue import Situation, Turn
from understudy.modelfolder import ModelFolder, Tensors
from understudy.persona import Other, Persona
from understudy.training.data import CONDITIONS, Question, Split, questions_of

__all__ = ["figures_of"]

CANDIDATES = 20
MOST = 2_000  # questions; with more the figure would hardly move


def figures_of(agent: str, card: Mapping[str, Any], tensors: Tensors, split: Split, seed: int) -> dict[str, Any]:
    """hits@1 by condition on held-back dialogues; empty where none were held back."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    questions = list(questions_of(split.held, "none", split.asked))
    replies = sorted({text for dialogue in split.held for _, text in dialogue.turns})
    if not questions or len(replies) < 2:
        return {}
    questions = chance.sample(questions, min(MOST, len(questions)))
    offered = [_offered(question, replies, chance) for question in questions]
    ranker: Any = AGENTS[agent](model=ModelFolder(card, tensors))
    hits = {}
    for condition in CONDITIONS:
        asked = [_asked(question, condition, texts) for question, texts in zip(questions, offered)]
        scores = ranker.score_many(asked)
        hits[condition] = round(sum(row[0] > max(row[1:]) for row in scores) / len(scores), 4)
    return {
        "of": "held-back training dialogues, people not seen in training, candidates drawn at random",
        "candidates": len(offered[0]),
        "questions": len(questions),
        "hits@1": hits,
    }


def _offered(question: Question, replies: Sequence[str], chance: random.Random) -> list[str]:
    """The true reply, then others."""
    drawn = chance.sample(replies, min(CANDIDATES, len(replies)))
    return [question.reply, *[text for text in drawn if text != question.reply][: CANDIDATES - 1]]


def _asked(question: Question, condition: str, texts: Sequence[str]) -> Asked:
    shown = CONDITIONS[condition]
    persona = Persona("I", profile=question.own if "own" in shown else ())
    faced = Other("You", question.their if "their" in shown else ())
    history = [Turn(persona.name if mine else faced.name, text) for mine, text in question.history]
    return Situation(persona, faced=faced), history, texts
