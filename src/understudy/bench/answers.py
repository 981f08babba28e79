"""What agents answer to questions: scores of the candidates, how probable these are, and replies in their own words.

An agent is asked for the scores of many questions at once if it offers that (`score_many`), else one question at a
time (`score`). A language model that does neither scores a candidate by the mean log-probability of its tokens. One
that only replies is judged by its reply: a candidate's score is then its unigram F1 with it. Replies come many at once
where the agent offers that (`reply_many`) or waits for a server; a question that it fails on is missing, with the
reason.

With a `cache` answers are written down question by question in that folder, in a file for each agent and set of
questions, and not asked for again, so that a stopped run goes on. What an agent of yours would now say is not known to
it: empty the folder when you change the agent.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import Any, Protocol, cast, runtime_checkable

from understudy.agents import AGENTS, agent_named
from understudy.agents.writer import WriterAgent
from understudy.database import Record, RecordLog
from understudy.errors import AgentError, MissingAnswer
from understudy.formats.personachat import examples
from understudy.language.lexical import TfIdf
from understudy.metrics.generation import word_units
from understudy.metrics.overlap import unigram_f1
from understudy.progress import Progress, ignore_progress
from understudy.sources.source import SourceFile, sha256_of
from understudy.story.dialogue import (
    Agent,
    BatchAgent,
    BatchLanguageModel,
    Example,
    LanguageModel,
    Ranker,
    Situation,
    Turn,
)

BATCHES = {"scores": 256, "likelihood": 32, "replies": 64}  # questions at once
CONCURRENCY = 4  # requests to a server under way
FAILURES = 10  # in a row: then it is no single question that the agent fails on
BY_REPLY = "unigram F1 with the agent's reply"
BY_LIKELIHOOD = "the mean log-probability of a candidate's tokens"

RankingQuestion = tuple[Situation, Sequence[Turn], Sequence[str]]


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
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> list[list[float]]:
    """The agent's score for every candidate of every question."""

    def records(batch: Sequence[Example]) -> list[Record]:
        return [_score_record(judged.name, *pair) for pair in zip(batch, _scores(judged.agent, batch), strict=True)]

    answers = _answers("scores", judged, questions, progress, cache, data, records)
    return [answers[example.name]["scores"] for example in questions]


def _answers(
    kind: str, judged: JudgedAgent, questions: Sequence[Example], progress: Progress, cache: Path | None,
    data: Path | None, records: Callable[[Sequence[Example]], list[Record]],
) -> Mapping[str, Record]:  # fmt: skip
    """Answers by question: those that an earlier run has written down, and `records` of the others, batch by batch."""
    log, missing = _log(cache, kind, judged, questions, data), MissingAnswers()
    for batch in _batches(log, kind, questions):
        with missing:
            log.add(records(batch))
        progress(judged.name, len(log.records), len(questions))
    missing.check()
    return log.records


def _log(
    folder: Path | None, kind: str, judged: JudgedAgent, questions: Sequence[Example], data: Path | None
) -> RecordLog:
    """Answers by question; without a folder nothing is written down."""
    path = None if folder is None else folder / f"{_fingerprint(judged, questions, data)}.{kind}.jsonl"
    return RecordLog(path, "item")


def _batches(log: RecordLog, kind: str, questions: Sequence[Example]) -> Iterator[Sequence[Example]]:
    """The questions that are still to be asked, some at a time."""
    left, size = [example for example in questions if example.name not in log.records], BATCHES[kind]
    for start in range(0, len(left), size):
        yield left[start : start + size]


def _scores(agent: object, batch: Sequence[Example]) -> Iterator[Sequence[float]]:
    if isinstance(agent, ManyRanker):
        yield from agent.score_many([(example.situation, example.history, example.candidates) for example in batch])
    elif isinstance(agent, Ranker):
        for example in batch:
            yield agent.score(example.situation, example.history, example.candidates)
    elif isinstance(agent, LanguageModel):
        for of_candidates in _log_probs(agent, batch):
            yield [fmean(log_probs) for log_probs in of_candidates]
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


def _score_record(name: str, example: Example, scores: Sequence[float]) -> Record:
    row = [float(score) for score in scores]
    if len(row) != len(example.candidates):
        raise AgentError(f"'{name}' gave {len(row)} scores for {len(example.candidates)} candidates ({example.name})")
    if any(math.isnan(score) for score in row):
        raise AgentError(f"'{name}' gave a score that is not a number for question {example.name}")
    return {"item": example.name, "scores": row}


def _newest(example: Example) -> list[str]:
    """What a question adds to those before it in its dialogue: the message and the reply."""
    reply = example.candidates[min(example.gold)]
    own = example.situation.persona.name
    return [*(turn.text for turn in example.history[-1:] if turn.speaker != own), reply]


def _fingerprint(judged: JudgedAgent, questions: Sequence[Example], data: Path | None) -> str:
    """What names the answers of an agent to some questions in a cache: another agent or question changes it."""
    payload = [[example.name, _told(example.situation), example.history, example.candidates] for example in questions]
    card = getattr(judged.agent, "card", None)
    text = json.dumps([judged.name, card, payload, data and sha256_of(data)], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _told(situation: Situation) -> list[object]:
    """What an agent is told, but for a story's past, which its moment stands for."""
    persona, faced = situation.persona, situation.faced
    about = [persona.name, persona.profile, persona.attributes, persona.feelings(), persona.story, persona.moment]
    others = [
        [other.name, other.profile, other.relations] for other in (*([faced] if faced else ()), *situation.present)
    ]
    return [about, situation.setting, others]


@dataclass(frozen=True, slots=True)
class CandidateLikelihoods:
    """For every candidate of one question: the sum of its tokens' log-probabilities, its tokens, its words and end."""

    log_probs: Sequence[float]
    tokens: Sequence[int]
    words: Sequence[int]

    @property
    def per_token(self) -> list[float]:
        return [total / count for total, count in zip(self.log_probs, self.tokens, strict=True)]

    def summed(self, candidates: Sequence[int], per_token: bool = False) -> tuple[float, int]:
        """The log-probability of some candidates together, and of how many words or tokens that is."""
        units = self.tokens if per_token else self.words
        return sum(self.log_probs[index] for index in candidates), sum(units[index] for index in candidates)


def likelihoods_of(
    judged: JudgedAgent,
    questions: Sequence[Example],
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> list[CandidateLikelihoods] | None:
    """How probable the agent finds every candidate of every question; None if it gives no log-probabilities."""
    agent = judged.agent
    if not isinstance(agent, LanguageModel):
        return None

    def records(batch: Sequence[Example]) -> list[Record]:
        answers = _log_probs(agent, batch)
        if len(answers) != len(batch):
            raise AgentError(
                f"'{judged.name}' answered {len(answers)} of {len(batch)} questions: log_probs_many owes all"
            )
        return [_likelihood_record(judged.name, example, values) for example, values in zip(batch, answers)]

    answers = _answers("likelihood", judged, questions, progress, cache, data, records)
    return [_likelihoods(example, answers[example.name]) for example in questions]


def _log_probs(agent: LanguageModel, batch: Sequence[Example]) -> list[list[list[float]]]:
    if isinstance(agent, BatchLanguageModel):
        return agent.log_probs_many([(example.situation, example.history, example.candidates) for example in batch])
    return [
        [agent.log_probs(example.situation, example.history, text) for text in example.candidates] for example in batch
    ]


def _likelihood_record(name: str, example: Example, values: Sequence[Sequence[float]]) -> Record:
    if len(values) != len(example.candidates) or not all(values):
        raise AgentError(f"'{name}' did not give log-probabilities for every candidate of question {example.name}")
    sums = [math.fsum(log_probs) for log_probs in values]
    if not all(map(math.isfinite, sums)):
        raise AgentError(f"'{name}' gave a log-probability that is no finite number for question {example.name}")
    return {"item": example.name, "log_probs": sums, "tokens": [len(log_probs) for log_probs in values]}


def _likelihoods(example: Example, record: Record) -> CandidateLikelihoods:
    language = example.situation.persona.language
    words = [word_units(text, language) for text in example.candidates]
    return CandidateLikelihoods(record["log_probs"], record["tokens"], words)


@dataclass(frozen=True, slots=True)
class GeneratedReply:
    """What an agent said to a question; `text` is None where it failed, and `reason` says why."""

    item: str
    text: str | None
    reason: str = ""


def replies_of(
    judged: JudgedAgent,
    examples: Sequence[Example],
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> list[GeneratedReply] | None:
    """What the agent replies to every question; None if it does not reply.

    Questions that the agent failed on are asked again by the next run. One that failed several times in a row is asked
    no more.

    :raises MissingAnswer: answers are still to come in files; all questions have been asked.
    """
    agent = judged.agent
    if not isinstance(agent, Agent):
        return None
    log = _log(cache, "replies", judged, examples, data)
    failed: dict[str, str] = {}
    in_a_row, reason = 0, ""
    unanswered = MissingAnswers()
    for batch in _batches(log, "replies", examples):
        if in_a_row >= FAILURES:
            break
        for example, answer in _replies(agent, batch, unanswered):
            if answer is None:
                continue
            if isinstance(answer, AgentError):
                in_a_row, reason = in_a_row + 1, str(answer)
                failed[example.name] = reason
                if in_a_row >= FAILURES:
                    break
            else:
                in_a_row = 0
                log.add([{"item": example.name, "text": answer}])
            progress(judged.name, len(log.records) + len(failed), len(examples))
    unanswered.check()
    if not log.records and failed:
        raise AgentError(reason)
    return [
        GeneratedReply(name, str(log.records[name]["text"]))
        if name in log.records
        else GeneratedReply(name, None, failed.get(name, reason))
        for name in (example.name for example in examples)
    ]


def _replies(
    agent: Agent, batch: Sequence[Example], unanswered: MissingAnswers
) -> Iterator[tuple[Example, str | AgentError | None]]:
    if isinstance(agent, BatchAgent):
        try:
            replies = agent.reply_many([(example.situation, example.history) for example in batch])
        except AgentError:  # one by one, to see which of them it fails on
            pass
        else:
            if len(replies) != len(batch):
                raise AgentError(
                    f"the agent gave {len(replies)} replies to {len(batch)} questions: reply_many owes all"
                )
            yield from zip(batch, (reply.text for reply in replies))
            return
    if getattr(agent, "waits", False):  # for a server, which answers several at once
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            yield from zip(batch, pool.map(partial(_answer, agent, unanswered), batch))
        return
    for example in batch:
        yield example, _answer(agent, unanswered, example)


def _answer(agent: Agent, unanswered: MissingAnswers, example: Example) -> str | AgentError | None:
    with unanswered:
        try:
            return agent.reply(example.situation, example.history).text
        except AgentError as error:
            return error
    return None


def prompt_of(agent: object, example: Example) -> list[dict[str, str]] | None:
    """The messages that an agent which writes with a language model sends for a question; None for other agents."""
    if not isinstance(agent, WriterAgent):
        return None
    messages = agent.prompt(example.situation, example.history).messages
    return [{"role": message.role, "content": message.content} for message in messages]


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
