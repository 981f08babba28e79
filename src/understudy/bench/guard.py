"""What passes the guards? Drafts of what a character must not say are offered, on any story.

For a seeded sample of (character, moment, one faced) it offers, as drafts of a reply,

    later         lines of the story from that moment on, whoever says them
    unwitnessed   lines said before it where the character was not
    secrets       what is true of the character and not known to the one faced, and of others and not known to the
                  character (facts with `known_to`)
    own           the character's own earlier lines that were said to the one faced: they are fit to be said

    stopped           the share of each of the first three, and of all three, that the guard stops
    wrongly_stopped   the share of own lines that it stops

A later line may be harmless ('I have no time for this now'), so not all of them need stopping; what was also said
before, in the same words, is not offered. A line is said to somebody if nobody else was there, or if they spoke just
before it and nobody else just after. Intervals are bootstraps over the situations sampled; where all or nothing is
stopped, Wilson's over situations.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from understudy.bench.run import Items, Row, document_of, figure_row, groups_of, manifest_of
from understudy.errors import InputError, StoryError
from understudy.judging import Rule, judge
from understudy.judging.filtering import StoryMetrics
from understudy.metrics.statistics import RESAMPLES, Interval, interval, wilson
from understudy.metrics.utterances.record import APPROVED
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Draft, Situation, Turn, situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment, Scene, holding_at
from understudy.story.wording import about_other
from understudy.text import tokenizer

HOSTILE = ("later", "unwitnessed", "secrets")
OWN = "own"
EACH = 4  # drafts of a kind in a situation
FEWEST_WORDS = 5  # shorter lines say nothing that could be known or not
TRIES = 20  # situations drawn for each one wanted, before a story is found too small
SITUATIONS = 60

Judge = Callable[[Situation, Sequence[Turn], Draft], str]
"""Why a draft may not be said; blank where it may."""


class _Objection(Protocol):
    @property
    def reason(self) -> str: ...


@runtime_checkable
class GuardingAgent(Protocol):
    """An agent that judges drafts itself."""

    def judge(self, situation: Situation, history: Sequence[Turn], draft: Draft) -> _Objection | None:
        """Why a draft may not be said; None where it may."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A draft, and what it is offered as: one of `HOSTILE`, or 'own'."""

    kind: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class OfferedDrafts:
    """What is offered in one situation."""

    situation: Situation
    history: tuple[Turn, ...]
    offers: tuple[Offer, ...]


def rule_judge(rules: Sequence[Rule], story: Story) -> Judge:
    """The judge that rules make, as `--rule` applies them."""
    metrics_of = StoryMetrics((rule.metric for rule in rules), lambda _: [story])

    def judged(situation: Situation, history: Sequence[Turn], draft: Draft) -> str:  # noqa: ARG001
        (metrics,) = metrics_of(situation)
        scores = {rule.metric: metrics[rule.metric]([draft.text])[0] for rule in rules}
        decision = judge(scores, rules)
        return "" if decision.decision == APPROVED else decision.why

    return judged


def agent_judge(agent: GuardingAgent) -> Judge:
    """The judge that an agent is to itself."""

    def judged(situation: Situation, history: Sequence[Turn], draft: Draft) -> str:
        objection = agent.judge(situation, history, draft)
        return "" if objection is None else objection.reason or "stopped"

    return judged


def bench_guard(
    story: Story,
    judges: Mapping[str, Judge],
    situations: int = SITUATIONS,
    seed: int = 0,
    progress: Progress = ignore_progress,
    files: Sequence[Path] = (),
    save_items: Path | None = None,
) -> dict[str, Any]:
    """Rows, drafts (each with the reason it was stopped for, or none), items and manifest."""
    cases = list(offered_drafts(story, situations, seed))
    if not cases:
        raise InputError("has nobody who speaks to somebody else in several scenes: there is nothing to offer")
    rows, items, drafts = list[Row](), list[Items](), list[Row]()
    for round_, (label, judged) in enumerate(judges.items()):
        reasons: dict[str, list[tuple[str, str]]] = {kind: [] for kind in (*HOSTILE, OWN)}
        for index, case in enumerate(cases):
            progress(label, round_ * len(cases) + index, len(judges) * len(cases))
            for number, offer in enumerate(case.offers):
                reason = judged(case.situation, case.history, offer.draft)
                reasons[offer.kind].append((f"{index}.{number}", reason))
                drafts.append(_document(label, case, offer, reason))
        offered = {kind: pairs for kind, pairs in reasons.items() if pairs}
        hostile = [pair for kind in HOSTILE for pair in reasons[kind]]
        for kind, pairs in {**offered, "all": hostile}.items():
            metric = "wrongly_stopped" if kind == OWN else "stopped"
            names, marks = [name for name, _ in pairs], [float(bool(reason)) for _, reason in pairs]
            figure = _share(marks, groups_of(names), seed), len(marks)
            rows.append(figure_row({"agent": label, "offered": kind}, metric, figure))
            if kind != "all":
                items.append(Items({"agent": label, "offered": kind}, names, (), {metric: marks}))
    settings = {"story": story.title, "situations": len(cases), "each": EACH, "resamples": RESAMPLES}
    manifest = manifest_of("guard", files, seed, situations, settings | {"guards": list(judges)})
    return document_of(rows, items, manifest, save_items, drafts=drafts)


def _share(marks: Sequence[float], groups: Sequence[str], seed: int) -> Interval:
    if 0 < sum(marks) < len(marks):
        return interval(marks, groups, seed)
    return wilson(marks[0], len(set(groups)))


def _document(label: str, case: OfferedDrafts, offer: Offer, reason: str) -> Row:
    persona, faced = case.situation.persona, case.situation.faced
    document = {"agent": label, "who": persona.name, "at": persona.moment.dotted, "facing": faced and faced.name}
    return document | {"offered": offer.kind, "text": offer.draft.text, "stopped": reason}


def offered_drafts(story: Story, situations: int = SITUATIONS, seed: int = 0) -> Iterator[OfferedDrafts]:
    """A seeded sample of situations with what is offered there; fewer where the story has not so many."""
    lines = _StoryLines(story)
    rng = random.Random(seed)  # noqa: S311
    seen: set[tuple[str, Moment]] = set()
    count = 0
    for _ in range(situations * TRIES):
        if count == situations or len(lines.scenes) < 2:
            return
        scene = rng.choice(lines.scenes[1:])
        if not scene.present or (key := (rng.choice(scene.present), scene.moment)) in seen:
            continue
        seen.add(key)
        if (offered := lines.offered_to(key[0], scene, rng)) is not None:
            count += 1
            yield offered


def _sample(texts: Sequence[str], rng: random.Random) -> list[str]:
    unique = list(dict.fromkeys(texts))
    return rng.sample(unique, min(EACH, len(unique)))


@dataclass(frozen=True, slots=True)
class _SpokenLine:
    """A line, who was there, and who spoke before and after it in its scene."""

    line: Line
    there: frozenset[str]
    before: str | None
    after: str | None

    def is_said_to(self, who: str) -> bool:
        if self.there == {self.line.speaker, who}:
            return True
        return self.before == who and self.after in (who, self.line.speaker, None)


@dataclass
class _StoryLines:
    """A story's spoken lines in order, and who witnessed which."""

    story: Story
    scenes: list[Scene] = field(init=False)

    def __post_init__(self) -> None:
        self.scenes = list(self.story.scenes())

    @cached_property
    def _tokenize(self) -> Callable[[str], list[str]]:
        return tokenizer(self.story.language)

    @cached_property
    def _spoken(self) -> list[_SpokenLine]:
        """Lines that say something."""
        spoken = []
        for scene in self.scenes:
            intervals = self.story.presence_intervals(scene.moment)
            speakers = [line.speaker for line in scene.lines]
            for index, line in enumerate(scene.lines):
                if line.speaker is not None and len(self._tokenize(line.text)) >= FEWEST_WORDS:
                    there = frozenset(who for who, first, last in intervals if first <= index + 1 <= last)
                    before = next((name for name in reversed(speakers[:index]) if name), None)
                    after = next((name for name in speakers[index + 1 :] if name), None)
                    spoken.append(_SpokenLine(line, there | {line.speaker}, before, after))
        return spoken

    def offered_to(self, who: str, scene: Scene, rng: random.Random) -> OfferedDrafts | None:
        """What is offered to somebody at the start of a scene, before one who is there and has heard them; None if
        nobody is, or the story does not have them then."""
        at = scene.moment
        past = [spoken for spoken in self._spoken if spoken.line.moment < at]
        own = [spoken for spoken in past if spoken.line.speaker == who]
        listeners = sorted(
            {name for name in scene.present if name != who and any(said.is_said_to(name) for said in own)}
        )
        if not listeners:
            return None
        facing = rng.choice(listeners)
        try:
            situation = situation_at(self.story, who, at, facing)
        except StoryError:  # dead, or not born yet
            return None
        heard = {spoken.line.text for spoken in past if who in spoken.there}
        later = (spoken.line.text for spoken in self._spoken if not spoken.line.moment < at)
        pools = {
            "later": list(later),
            "unwitnessed": [spoken.line.text for spoken in past if who not in spoken.there],
            "secrets": [*situation.secrets, *self._secrets_of_others(who, at)],
        }
        offers = [
            Offer(kind, Draft(text, "writer"))
            for kind, texts in pools.items()
            for text in _sample([text for text in texts if text not in heard], rng)
        ]
        said_to = {spoken.line.text: spoken.line.moment for spoken in own if spoken.is_said_to(facing)}
        offers += [Offer(OWN, Draft(text, "exchange", said_to[text])) for text in _sample(list(said_to), rng)]
        said = [spoken.line.text for spoken in past if spoken.line.speaker == facing]
        asker = situation.faced.name if situation.faced else facing
        return OfferedDrafts(situation, (Turn(asker, said[-1]),) if said else (), tuple(offers))

    def _secrets_of_others(self, who: str, at: Moment) -> list[str]:
        return [
            about_other(fact, fact.who, self.story.language)
            for fact in holding_at(self.story.facts(), at)
            if fact.known_to is not None and fact.who != who and who not in fact.known_to
            if not any(who in value for value in fact.values)  # a line about the listener is no secret from them
        ]
