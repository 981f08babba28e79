"""Rules applied: an agent that says only what passes, the guards as rules, lines of a file judged for a database.

    stories = lambda identity: [story for story in opened if story.identity == identity]
    FilteredAgent(agent, rules, StoryMetrics((rule.metric for rule in rules), stories))

A rule is judged within the persona's story, which the agent itself cannot see. Where that is not here, nothing can be
judged, and only a neutral line is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.agents.plain_replies import bank_lines, register_of
from understudy.agents.pools import KeyedCache
from understudy.judging import ALL_GUARDS, GUARD_PREFIX, GUARD_RULES, Rule, judge, require_known_metric
from understudy.judging.guards import StoryViews, doubting_guards, objections, stopping_guards
from understudy.language.lexical import Lines
from understudy.metrics.line_metric import LineMetric, Samples, TextMetric
from understudy.metrics.registry import MetricContext
from understudy.metrics.utterances import UtteranceStore
from understudy.metrics.utterances.record import APPROVED, FILTER, Utterance
from understudy.story.dialogue import Agent, Candidate, Draft, Evidence, Reply, Score, Situation, Turn
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.story.wording import plain_lines

CACHE_SIZE = 16  # personas: the metrics of each hold what everybody said up to its moment

Metric = Callable[[Sequence[str]], list[Score]]
Metrics = Callable[[Situation], Sequence[Mapping[str, Metric]]]
"""The metrics that the rules need, by name: one mapping for each story that the persona may be of."""


class StoryMetrics:
    """Line metrics by name for the persona of a situation, created once for each persona and story."""

    def __init__(self, names: Iterable[str], stories: Callable[[str], Sequence[Story]]) -> None:
        self._names, self._stories = tuple(dict.fromkeys(names)), stories
        for name in self._names:
            require_known_metric(name)
        self._cache = KeyedCache[Mapping[str, Metric]](CACHE_SIZE)

    def __call__(self, situation: Situation) -> list[Mapping[str, Metric]]:
        return [
            self._cache.get_or_create(
                (id(story), id(situation.persona), id(situation.faced)),
                (story, situation),
                partial(self._create, story, situation),
            )
            for story in self._stories(situation.persona.story_identity)
        ]

    def _create(self, story: Story, situation: Situation) -> dict[str, Metric]:
        grounds = MetricContext(story, situation)  # not for an author: reasons must not tell of the future
        at_end = situation.persona.moment.is_end
        return {
            name: _none_at_the_end if name == "anachronism" and at_end else rule_metric(name, story, grounds)
            for name in self._names
        }


def _none_at_the_end(texts: Sequence[str]) -> list[Score]:
    """At the end of a story nothing is still to come: the metric has no value there, and a rule stops nothing."""
    return [Score("anachronism", 0.0)] * len(texts)


class FilteredAgent:
    """Wraps any agent. A candidate that cannot be judged does not pass."""

    def __init__(self, agent: Agent, rules: Sequence[Rule], metrics: Metrics) -> None:
        self._agent, self._rules, self._metrics = agent, tuple(rules), metrics

    @property
    def waits(self) -> bool:
        """Whether a reply is mostly waiting for a server."""
        return bool(getattr(self._agent, "waits", False))

    @property
    def description(self) -> str:
        """The agent that is wrapped, and the rules: tells one filtered agent from another."""
        return " ".join((type(self._agent).__qualname__, *map(str, self._rules)))

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        reply = self._agent.reply(situation, history)
        # What a guard has kept back is no choice, whatever the rules say of it.
        offered = tuple(candidate for candidate in reply.candidates if not candidate.rejected)
        offered = offered or (Candidate(reply.text, None),)
        stories = self._metrics(situation)
        passing = self._passing(stories, [candidate.text for candidate in offered])
        candidates = tuple(candidate for candidate in offered if candidate.text in passing)
        if len(candidates) == len(offered):
            return reply
        stopped = len(offered) - len(candidates)
        notice = Evidence("notice", f"{stopped} of {len(offered)} replies were kept back by the rules")
        if candidates:
            best = candidates[0].text
            evidence = reply.evidence if best == reply.text else ()
            return replace(reply, text=best, candidates=candidates, evidence=(*evidence, notice))
        # Neutral lines reveal nothing; the rules apply to them too, where there is a story to judge by.
        neutral = _neutral_lines(situation)
        passing = self._passing(stories, neutral) if stories else frozenset(neutral)
        harmless = next((line for line in neutral if line in passing), "...")
        return Reply(harmless, (), (Evidence("bank", harmless), notice))

    def _passing(self, stories: Sequence[Mapping[str, Metric]], texts: Sequence[str]) -> frozenset[str]:
        """The texts that pass all rules in each of the stories; none where there is no story."""
        passing = frozenset(texts if stories else ())
        for metrics in stories:
            scores = {rule.metric: metrics[rule.metric](texts) for rule in self._rules}
            passing &= {
                text
                for index, text in enumerate(texts)
                if judge({name: column[index] for name, column in scores.items()}, self._rules).decision == APPROVED
            }
        return passing


def _neutral_lines(situation: Situation) -> Sequence[str]:
    persona = situation.persona
    if persona.language != "en":
        return tuple(plain_lines(persona.language))
    return bank_lines(register_of(persona.profile))


# The guards as rules: `guards<=0` lets pass what no guard stops, `guard-secrets<=0` what one of them does not.
#
#     guards = rule_metric("guards", story, MetricContext(story, situation))
#     guards(["As an AI language model I cannot."])      1, with the guard and its reason
#
# A line of a file is judged as a draft that was written for the character, before whoever it faces, without a chat.
#
# guards        1 where a stopping guard objects; no value, so that people decide, where only a doubting one does; else
#               0
# guard-NAME    1 where the guard of that name objects, stopping or doubting; else 0


CACHED = 8192  # texts; a metric's values and its reasons are asked for one after the other


class GuardMetric(TextMetric):
    """What guards say of each line, as a value that a rule can bound."""

    def lack(self, lines: Lines, index: int) -> str:
        return self._score_text(lines.texts[index])[1] or super().lack(lines, index)


def _guard_metric(name: str, story: Story, situation: Situation, samples: Samples) -> GuardMetric:
    views = StoryViews(lambda _: [story])
    stopping, doubting = stopping_guards(views), doubting_guards(views)

    def first_objection(text: str, wanted: str = "", doubts: bool = True) -> str:
        guards = (*stopping, *doubting) if doubts else stopping
        verdicts = objections(guards, situation, (), Draft(text, "writer"))
        return next((f"{said.guard}: {said.reason}" for said in verdicts if wanted in ("", said.guard)), "")

    @lru_cache(CACHED)
    def judged(text: str) -> tuple[float, str]:
        if not text.strip():
            return math.nan, ""
        if name != ALL_GUARDS:
            reason = first_objection(text, name.removeprefix(GUARD_PREFIX))
            return float(bool(reason)), reason
        if reason := first_objection(text, doubts=False):
            return 1.0, reason
        if reason := first_objection(text):
            return math.nan, f"in doubt: {reason}"
        return 0.0, ""

    return GuardMetric(name, samples, judged)


def rule_metric(name: str, story: Story, context: MetricContext) -> LineMetric:
    """The metric that a rule bounds: a guard, or one of the line metrics."""
    if name in GUARD_RULES:
        return _guard_metric(name, story, context.situation, context.samples)
    return context.metric(name)


# Judge the lines of a file by rules and add them to the database, in batches; a run that was stopped can continue.
#
# Lines are stored with their scores and the decision: approved, rejected, or pending where a rule could not judge.
# Blank lines are skipped. The lines of a batch and how far the run has come are written in one transaction.


HEAD = 1 << 16  # bytes of a file that identify it, with its size

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class FilterJob:
    """The file, the story and character its lines are for, and when they may be said."""

    story: str
    character: str
    since: Moment
    until: Moment
    file: Path
    column: str = ""
    """The column of a table, or key of JSON lines, that was named for the text."""


@dataclass
class Outcome:
    """How many lines got which decision in this run, how many are new, and how many an earlier run had done before."""

    decided: Counter[str] = field(default_factory=Counter)
    new: int = 0
    before: int = 0


def run_id(job: FilterJob, rules: Sequence[Rule]) -> str:
    """Identifies a run: the same file for the same character and time by the same rules."""
    digest = blake2b(digest_size=16)
    if job.file.is_file():
        with job.file.open("rb") as file:
            digest.update(file.read(HEAD))
        digest.update(str(job.file.stat().st_size).encode())
    fields = (
        *filter(None, [job.column]),
        job.file.name,
        job.story,
        job.character,
        job.since.dotted,
        job.until.dotted,
        *map(str, rules),
    )
    digest.update("\0".join(fields).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def filter_lines(
    batches: Iterable[list[str]],
    metrics: Sequence[LineMetric],
    rules: Sequence[Rule],
    store: UtteranceStore,
    job: FilterJob,
    encode: Encode | None = None,
    progress: Callable[[int], object] = lambda _: None,
) -> Outcome:
    """Judge lines and store them. `encode` makes the vectors of approved lines."""
    run = run_id(job, rules)
    outcome = Outcome(before=store.reached(run))
    line = 0
    for batch in batches:
        first, line = line + 1, line + len(batch)
        left = [(first + index, text) for index, text in enumerate(batch) if first + index > outcome.before]
        numbered = [(number, text.strip()) for number, text in left if text.strip()]
        if left:
            utterances = _scored(numbered, metrics, job)
            decisions = [judge(utterance.scores, rules).decision for utterance in utterances]
            outcome.new += store.advance(
                run, line, utterances, decisions, FILTER, _vectors(utterances, decisions, encode)
            )
            outcome.decided.update(decisions)
        progress(line)
    return outcome


def _scored(numbered: Sequence[tuple[int, str]], metrics: Sequence[LineMetric], job: FilterJob) -> list[Utterance]:
    if not numbered:
        return []
    cut = metrics[0].samples.tokenize([text for _, text in numbered])
    values = {metric.name: metric.values(cut).tolist() for metric in metrics}
    return [
        Utterance(
            text,
            job.character,
            job.since,
            job.until,
            {
                metric.name: Score(
                    metric.name,
                    None if math.isnan(value := values[metric.name][index]) else value,
                    metric.reason(cut, index, value),
                )
                for metric in metrics
            },
            job.file.name,
            number,
            job.story,
        )
        for index, (number, text) in enumerate(numbered)
    ]


def _vectors(
    utterances: Sequence[Utterance], decisions: Sequence[str], encode: Encode | None
) -> list[NDArray[np.float32] | None]:
    """Vectors of the approved lines; the others cannot be said and need none."""
    vectors: list[NDArray[np.float32] | None] = [None] * len(utterances)
    approved = [index for index, decision in enumerate(decisions) if decision == APPROVED]
    if encode is not None and approved:
        for index, vector in zip(approved, encode([utterances[index].text for index in approved])):
            vectors[index] = vector
    return vectors
