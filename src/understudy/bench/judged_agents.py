"""Putting questions to an agent: its scores for the candidates, however it gives them.

An agent is asked for the scores of many questions at once if it offers that (`score_many`), else one question at a
time (`score`). A language model that does neither scores a candidate by the mean log-probability of its tokens. One
that only replies is judged by its reply: a candidate's score is then its unigram F1 with it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np

from understudy.agents import AGENTS, agent_named
from understudy.bench.items import sha256
from understudy.errors import AgentError, MissingAnswer
from understudy.formats.personachat import examples
from understudy.language.lexical import TfIdf
from understudy.metrics.overlap import unigram_f1
from understudy.progress import Progress, ignore_progress
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Agent, BatchLanguageModel, Example, LanguageModel, Ranker, Situation, Turn

__all__ = [
    "BY_REPLY",
    "JudgedAgent",
    "ManyRanker",
    "MissingAnswers",
    "RankingQuestion",
    "fingerprint",
    "judged_agent",
    "reply_scores",
    "scores_of",
]

BATCH = 256
BY_REPLY = "unigram F1 with the agent's reply"
BY_LIKELIHOOD = "the mean log-probability of a candidate's tokens"

RankingQuestion = tuple[Situation, Sequence[Turn], Sequence[str]]
Scores = list[list[float]]


@runtime_checkable
class ManyRanker(Protocol):
    """A ranker that is faster with many questions at once; the same scores as one at a time."""

    def score_many(self, questions: Sequence[RankingQuestion]) -> Sequence[Sequence[float]]: ...


@dataclass(frozen=True, slots=True)
class JudgedAgent:
    """An agent to be judged: as it was named, what kind of model it is, and what it was trained on."""

    name: str
    agent: object
    model: str
    trained_on: str | None = None

    @property
    def judged_by(self) -> str | None:
        """How candidates are scored, where the agent does not do it itself."""
        if isinstance(self.agent, ManyRanker | Ranker):
            return None
        return BY_LIKELIHOOD if isinstance(self.agent, LanguageModel) else BY_REPLY


def judged_agent(spec: str, training: Path | None = None) -> JudgedAgent:
    """The agent of a name, a model folder or a `module:factory`; a word weighs what it does in the training data."""
    if spec == "tfidf" and training is not None:
        utterances = (turn for example in examples(SourceFile(training)) for turn in _newest(example))
        agent: object = AGENTS["tfidf"](background=TfIdf(utterances))
    else:
        agent = agent_named(spec)
    card: Any = getattr(agent, "card", None)
    fields = card if isinstance(card, dict) else {}
    return JudgedAgent(spec, agent, str(fields.get("agent", spec)), fields.get("trained_on"))


def scores_of(
    judged: JudgedAgent,
    questions: Sequence[Example],
    watch: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> Scores:
    """The agent's score for every candidate of every question.

    With `cache` they are kept in that folder, by agent and questions, and not asked for again. What an agent of
    yours would now say is not known to it: empty the folder when you change the agent.
    """
    cached = None if cache is None else cache / f"{fingerprint(judged, questions, data)}.npz"
    if cached is not None and cached.is_file():
        return _unpacked(cached)
    scores: Scores = []
    missing = MissingAnswers()
    for start in range(0, len(questions), BATCH):
        batch = questions[start : start + BATCH]
        with missing:
            for example, row in zip(batch, _asked(judged.agent, batch), strict=True):
                scores.append(_checked(judged.name, example, row))
        watch(judged.name, start + len(batch), len(questions))
    missing.check()
    if cached is not None:
        cached.parent.mkdir(parents=True, exist_ok=True)
        _pack(cached, scores)
    return scores


def _asked(agent: object, batch: Sequence[Example]) -> Iterator[Sequence[float]]:
    if isinstance(agent, ManyRanker):
        yield from agent.score_many([(example.situation, example.history, example.candidates) for example in batch])
    elif isinstance(agent, Ranker):
        for example in batch:
            yield agent.score(example.situation, example.history, example.candidates)
    elif isinstance(agent, BatchLanguageModel):
        questions = [(example.situation, example.history, example.candidates) for example in batch]
        for of_candidates in agent.log_probs_many(questions):
            yield [fmean(log_probs) for log_probs in of_candidates]
    elif isinstance(agent, LanguageModel):
        for example in batch:
            yield [fmean(agent.log_probs(example.situation, example.history, text)) for text in example.candidates]
    else:
        missing, replies = MissingAnswers(), list[str]()
        for example in batch:
            with missing:
                replies.append(cast(Agent, agent).reply(example.situation, example.history).text)
        missing.check()
        yield from map(reply_scores, batch, replies)


def reply_scores(example: Example, reply: str) -> list[float]:
    """The candidates' scores by what an agent that only replies said."""
    return [unigram_f1(reply, text, example.situation.persona.language) for text in example.candidates]


def _checked(name: str, example: Example, scores: Sequence[float]) -> list[float]:
    row = [float(score) for score in scores]
    if len(row) != len(example.candidates):
        raise AgentError(f"'{name}' gave {len(row)} scores for {len(example.candidates)} candidates ({example.name})")
    if any(math.isnan(score) for score in row):
        raise AgentError(f"'{name}' gave a score that is not a number for question {example.name}")
    return row


def _newest(example: Example) -> list[str]:
    """What a question adds to those before it in its dialogue: the message and the reply."""
    reply = example.candidates[min(example.gold)]
    own = example.situation.persona.name
    return [*(turn.text for turn in example.history[-1:] if turn.speaker != own), reply]


def fingerprint(judged: JudgedAgent, questions: Sequence[Example], data: Path | None) -> str:
    """What names the answers of an agent to some questions in a cache: another agent or question changes it."""
    payload = [[example.name, _told(example.situation), example.history, example.candidates] for example in questions]
    card = getattr(judged.agent, "card", None)
    text = json.dumps([judged.name, card, payload, data and sha256(data)], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _told(situation: Situation) -> list[object]:
    """What an agent is told, but for a story's past, which its moment stands for."""
    persona, faced = situation.persona, situation.faced
    about = [persona.name, persona.profile, persona.attributes, persona.feelings(), persona.story, persona.moment]
    others = [
        [other.name, other.profile, other.relations] for other in (*([faced] if faced else ()), *situation.present)
    ]
    return [about, situation.setting, others]


def _pack(path: Path, scores: Scores) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, scores=np.concatenate([np.array(row) for row in scores]), sizes=[*map(len, scores)])
    partial.replace(path)  # whole or not at all, should it be stopped while writing


def _unpacked(path: Path) -> Scores:
    with np.load(path, allow_pickle=False) as packed:
        cuts = np.cumsum(packed["sizes"])[:-1]
        return [row.tolist() for row in np.split(packed["scores"], cuts)]


# What is still to be answered, collected while the other questions are put, so that all of it is asked for at once.


class MissingAnswers:
    """missing = MissingAnswers()
    for question in questions:
        with missing:
            replies.append(agent.reply(question))
    missing.check()
    """

    def __init__(self) -> None:
        self._requests: dict[tuple[Path, str], Mapping[str, Any]] = {}

    def __enter__(self) -> None:
        """A `MissingAnswer` of the block ends it, and nothing else."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, MissingAnswer):
            return False
        self._requests |= error.requests
        return True

    def __bool__(self) -> bool:
        return bool(self._requests)

    def check(self) -> None:
        """Raise all that was collected as one `MissingAnswer`."""
        if self._requests:
            raise MissingAnswer(self._requests)
