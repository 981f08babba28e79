"""Probes put to agents: does a character say what it must, and keep what it must not?

    must         of the probes that require a term, the share whose (last) answer has one
    violations   the share of probes with a forbidden term in any answer
    seconds      the mean time of a reply; first_seconds until its first piece, where an agent gives its reply in pieces
    tokens       the mean number of tokens a reply took, prompt and reply together, where an agent counts them
    errors       the share of probes that an agent failed on; only where it did. They are not in the other figures

Shares are given for each kind of probe and for all. Their 95% intervals are Wilson's over probes: repeats of a probe
resemble each other, so they are averaged first and count as one item. Other intervals are bootstraps over probes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.bench.answers import MissingAnswers
from understudy.bench.run import Items, Row, document_of, figure_row, groups_of, manifest_of, sampled
from understudy.errors import AgentError, InputError
from understudy.formats.story_folder import Probe
from understudy.metrics.statistics import RESAMPLES, Interval, interval, wilson
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import USER_NAME, Agent, Reply, Sampling, Situation, StreamingAgent, Turn, situation_at
from understudy.story.storyfile import Story

ALL = "all"
NO_TOKENS = "the agent does not count tokens"
NO_PIECES = "the agent gives its reply whole"
NOTHING_ANSWERED = "nothing was answered"


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """What was said, how long it took, and what the agent counted."""

    text: str
    seconds: float
    first_seconds: float | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One probe put once to one agent. `error` is what the agent failed with, instead of answers."""

    name: str
    agent: str
    probe: Probe
    answers: tuple[TimedAnswer, ...] = ()
    error: str = ""

    @property
    def violation(self) -> str | None:
        *earlier, last = (answer.text for answer in self.answers)
        return self.probe.violation(last, earlier)

    @property
    def fault(self) -> str | None:
        """A violation, or that the last answer says no required term."""
        *earlier, last = (answer.text for answer in self.answers)
        return self.probe.fault(last, earlier)

    @property
    def says_required(self) -> bool:
        return self.probe.says_required(self.answers[-1].text)

    def document(self) -> Row:
        probe = self.probe
        document: Row = {"agent": self.agent, "item": self.name, "who": probe.who, "at": probe.at.dotted}
        document |= {"facing": probe.facing, "ask": [*probe.before, probe.ask], "kind": probe.kind}
        if self.error:
            return document | {"error": self.error}
        answers = [answer.text for answer in self.answers]
        return document | {
            "answers": answers,
            "violation": self.violation,
            "fault": self.fault,
            "must": self.says_required if probe.must else None,
        }


def bench_talk(
    story: Story,
    probes: Sequence[Probe],
    agents: Mapping[str, Agent],
    limit: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    progress: Progress = ignore_progress,
    files: Iterable[Path] = (),
    save_items: Path | None = None,
) -> dict[str, Any]:
    """Rows, replies, items and manifest. `files` are what the story and the probes were read from.

    Agents that sample are given the seed plus the number of the repeat.
    """
    if not probes:
        raise InputError("there are no probes to put: write some as [[probe]] tables")
    named = sampled(list(zip(_names_of(probes), probes)), limit, seed)
    results: list[ProbeResult] = []
    total, put = len(agents) * len(named) * repeats, 0
    missing = MissingAnswers()
    for label, agent in agents.items():
        for name, probe in named:
            situation = situation_at(story, probe.who, probe.at, probe.facing)
            for repeat in range(repeats):
                progress(label, put, total)
                put += 1
                with missing:
                    item = f"{name}.{repeat} {probe.who}: {probe.ask}"
                    results.append(_put(item, label, agent, probe, situation, seed + repeat))
    missing.check()
    rows = [row for label in agents for row in _rows([each for each in results if each.agent == label], label, seed)]
    items = [
        each for label in agents for each in _items([result for result in results if result.agent == label], label)
    ]
    settings = {"story": story.title, "agents": list(agents), "repeats": repeats, "probes": len(named)}
    manifest = manifest_of("talk", files, seed, limit, settings | {"resamples": RESAMPLES})
    return document_of(rows, items, manifest, save_items, replies=[result.document() for result in results])


def _names_of(probes: Sequence[Probe]) -> list[str]:
    """A name for each probe that stays the same while other probes come and go."""
    names: list[str] = []
    for probe in probes:
        digest = hashlib.sha256(repr(probe).encode()).hexdigest()[:12]
        names.append(digest if digest not in names else f"{digest}-{len(names)}")
    return names


def _put(name: str, label: str, agent: Agent, probe: Probe, situation: Situation, seed: int) -> ProbeResult:
    answers: list[TimedAnswer] = []
    history: list[Turn] = []
    try:
        for message in (*probe.before, probe.ask):
            history.append(Turn(situation.faced.name if situation.faced else USER_NAME, message))
            answers.append(ask(agent, situation, tuple(history), seed))
            history.append(Turn(situation.persona.name, answers[-1].text))
    except AgentError as error:
        return ProbeResult(name, label, probe, error=str(error))
    return ProbeResult(name, label, probe, tuple(answers))


def ask(agent: Agent, situation: Situation, history: Sequence[Turn], seed: int) -> TimedAnswer:
    """An agent's reply and what it cost; an agent that gives its reply in pieces is given the seed."""
    begun = time.perf_counter()
    first: float | None = None
    if isinstance(agent, StreamingAgent):
        pieces = agent.stream(situation, history, Sampling(seed=seed))
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                reply: Reply = end.value
                break
            first = time.perf_counter() - begun if first is None else first
    else:
        reply = agent.reply(situation, history)
    usage = reply.usage
    tokens = None if usage is None else usage.prompt_tokens + usage.completion_tokens
    return TimedAnswer(reply.text, time.perf_counter() - begun, first, tokens)


def _rows(results: Sequence[ProbeResult], agent: str, seed: int) -> list[Row]:
    answered = [result for result in results if not result.error]
    kinds = [ALL, *sorted({result.probe.kind for result in results} - {""})]
    rows: list[Row] = []
    for kind in kinds:
        some = [result for result in answered if kind in (ALL, result.probe.kind)]
        required = [result for result in some if result.probe.must]
        keys = {"agent": agent, "kind": kind}
        must = _share(required, lambda result: result.says_required)
        rows.append(figure_row(keys, "must", must or "no probe of this kind requires a term"))
        violations = _share(some, lambda result: result.violation is not None)
        rows.append(figure_row(keys, "violations", violations or NOTHING_ANSWERED))
    keys = {"agent": agent, "kind": ALL}
    for metric, value, reason in (
        ("seconds", lambda answer: answer.seconds, NOTHING_ANSWERED),
        ("first_seconds", lambda answer: answer.first_seconds, NO_PIECES),
        ("tokens", lambda answer: answer.tokens, NO_TOKENS),
    ):
        rows.append(figure_row(keys, metric, _mean(answered, value, seed) or reason))
    if len(answered) < len(results):
        rows.append(figure_row(keys, "errors", _share(results, lambda result: bool(result.error)) or NOTHING_ANSWERED))
    return rows


def _share(results: Sequence[ProbeResult], is_counted: Callable[[ProbeResult], bool]) -> tuple[Interval, int] | None:
    if not results:
        return None
    by_probe: dict[str, list[bool]] = {}
    for group, result in zip(groups_of([result.name for result in results]), results):
        by_probe.setdefault(group, []).append(is_counted(result))
    shares = [sum(marks) / len(marks) for marks in by_probe.values()]
    return wilson(sum(shares) / len(shares), len(shares)), len(shares)


def _mean(
    results: Sequence[ProbeResult], value: Callable[[TimedAnswer], float | None], seed: int
) -> tuple[Interval, int] | None:
    counted = [
        (group, number)
        for group, result in zip(groups_of([result.name for result in results]), results)
        for answer in result.answers
        if (number := value(answer)) is not None
    ]
    if not counted:
        return None
    return interval([number for _, number in counted], [group for group, _ in counted], seed), len(counted)


def _items(results: Sequence[ProbeResult], agent: str) -> list[Items]:
    """What `compare` pairs: violations of all probes, and of those that require a term whether one is said."""
    answered = [result for result in results if not result.error]
    required = [result for result in answered if result.probe.must]
    violations = [float(result.violation is not None) for result in answered]
    must = [float(result.says_required) for result in required]
    marks = (("all", answered, {"violations": violations}), ("with must", required, {"must": must}))
    return [
        Items({"agent": agent, "probes": which}, [result.name for result in some], (), columns)
        for which, some, columns in marks
        if some
    ]
