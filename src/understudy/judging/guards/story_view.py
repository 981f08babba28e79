"""What a guard says of a draft, and what guards know of a story beyond one situation: who knows which fact, since when
facts and ties hold, who died.

A view closes over the whole story. Guards are made from it; nothing of it goes into a situation or a prompt.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from understudy.agents.pools import KeyedCache
from understudy.agents.reply_text import join_names
from understudy.agents.word_tokens import roots
from understudy.errors import UnderstudyError
from understudy.judging.guards.phrases import Hashes, StoryRuns, repeated_line
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.registry import METRICS, MetricContext
from understudy.story.chronology import Chronology, PersonaKnowledge, own_sentences
from understudy.story.dialogue import NOT_KNOWN_YET, Draft, Score, Situation, Turn
from understudy.story.names import character_at, false_names_at
from understudy.story.persona import NOT_OF_ONESELF, false_names, witnessed
from understudy.story.storyfile import Story
from understudy.story.types import SECRET, Fact, Moment, Relation, holding_at
from understudy.story.wording import about_other, fact_sentence

VIEWS = 32
COMMON = 0.01  # the share of a story's lines that have a common word
MOST_SCORES = 2_000
VOICE = "voice"
BESIDE = 2  # lines on either side of one that tells a secret

Stories = Callable[[str], Sequence[Story]]
"""The stories of a `Story.identity`: none where it is not here."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a guard lets a draft pass and, where it does not, why.

    `is_spoiler` says that the draft itself must not be shown: its text is then left out wherever drafts are listed.
    """

    guard: str
    passed: bool
    reason: str = ""
    is_spoiler: bool = False

    @classmethod
    def passing(cls, guard: str) -> Verdict:
        return cls(guard, True)

    @classmethod
    def stopped(cls, guard: str, reason: str) -> Verdict:
        return cls(guard, False, reason)

    @classmethod
    def spoiler(cls, guard: str) -> Verdict:
        return cls(guard, False, NOT_KNOWN_YET, True)


Guard = Callable[[Situation, Sequence[Turn], Draft], Verdict]
"""A guard is a plain function; one that needs the story closes over it, so that no agent can reach the story."""


def objections(
    guards: Sequence[Guard], situation: Situation, history: Sequence[Turn], draft: Draft, quoted: float = 0.0
) -> Iterator[Verdict]:
    """Every verdict that a draft does not pass; `quoted` is the share of it that makes it an old line again."""
    for version in _versions(situation, draft, quoted):
        for guard in guards:
            verdict = guard(situation, history, version)
            if not verdict.passed:
                yield verdict


def objection(
    guards: Sequence[Guard], situation: Situation, history: Sequence[Turn], draft: Draft, quoted: float = 0.0
) -> Verdict | None:
    """Why a draft may not be said; None where all guards let it pass.

    Where several object, one that must not be explained comes first: its text must not be shown for another's reason.
    """
    first: Verdict | None = None
    for verdict in objections(guards, situation, history, draft, quoted):
        if verdict.is_spoiler:
            return verdict
        first = first or verdict
    return first


def _versions(situation: Situation, draft: Draft, quoted: float) -> Iterator[Draft]:
    """The draft and, where a writer repeats an own old line, the same text as that line."""
    yield draft
    if draft.source == "writer" and (said := repeated_line(situation.persona, draft.text, quoted)) is not None:
        yield replace(draft, source="exchange", moment=said)


@dataclass(frozen=True, slots=True)
class DatedFact:
    """A fact that the character knows: in words, since when, and who else knows it (None: everybody may)."""

    who: str
    attribute: str
    values: tuple[str, ...]
    sentence: str
    value_roots: tuple[frozenset[str], ...]
    first: Moment
    """The moment since which it holds."""
    known_to: frozenset[str] | None

    @property
    def roots(self) -> frozenset[str]:
        return frozenset[str]().union(*self.value_roots)


@dataclass
class StoryView:
    """One story, seen by a judge of what one character says before an audience."""

    story: Story
    situation: Situation
    _metrics: dict[str, LineMetric] = field(default_factory=dict)
    _scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    _true_names: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> Moment:
        return self.situation.persona.moment

    @property
    def who(self) -> str:
        return self.situation.persona.name

    @cached_property
    def audience(self) -> tuple[str, ...]:
        """The true names of those who hear it; empty for a stranger."""
        listeners = self.situation.listeners
        return tuple(dict.fromkeys(true for listener in listeners if (true := self.true_name(listener.name))))

    def true_name(self, name: str) -> str:
        if name not in self._true_names:
            try:
                self._true_names[name] = character_at(self.story, name, self.at).name
            except UnderstudyError:
                self._true_names[name] = ""
        return self._true_names[name]

    @cached_property
    def facts(self) -> tuple[DatedFact, ...]:
        """Facts of the character that hold, and facts of others that it knows and not everybody does."""
        return tuple(
            self._dated(fact)
            for fact in self._holding()
            if fact.who == self.who or (fact.known_to is not None and self.who in fact.known_to)
        )

    def _dated(self, fact: Fact) -> DatedFact:
        language = self.story.language
        return DatedFact(
            fact.who,
            fact.attribute,
            fact.values,
            fact_sentence(fact, language) if fact.who == self.who else about_other(fact, fact.who, language),
            tuple(roots(value, language) for value in fact.values),
            min(version.since for version in self._facts_of(fact.who) if _is_same(version, fact)),
            None if fact.known_to is None else frozenset((*fact.known_to, fact.who)),
        )

    @cached_property
    def _all_facts(self) -> tuple[Fact, ...]:
        return tuple(witnessed(self.story, self.story.facts(), self.who, self.at))

    @cached_property
    def _scene_moments(self) -> list[Moment]:
        return [scene for scene, _, _ in self.story.outline()]

    def knew(self, fact: DatedFact, at: Moment) -> frozenset[str] | None:
        """Who knew a fact once the scene of an earlier moment was over; None where everybody might."""
        following = bisect_right(self._scene_moments, at)
        after = self._scene_moments[following] if following < len(self._scene_moments) else self.at
        versions = [
            version
            for version in holding_at(self._facts_of(fact.who), min(after, self.at))
            if version.attribute == fact.attribute and fact.values == version.values
        ]
        if not versions or versions[0].known_to is None:
            return None
        return frozenset((*versions[0].known_to, fact.who))

    def _facts_of(self, who: str) -> list[Fact]:
        return [fact for fact in self._all_facts if fact.who == who]

    def _holding(self) -> Iterator[Fact]:
        return (fact for fact in holding_at(self._all_facts, self.at) if fact.attribute not in NOT_OF_ONESELF)

    @cached_property
    def has_marked_secrets(self) -> bool:
        """Has the author marked any facts as secrets?"""
        return any(fact.attribute == SECRET for fact in self._all_facts)

    @cached_property
    def known_names(self) -> tuple[str, ...]:
        """Names of people, which by themselves reveal nothing."""
        cast = (member.character for member in self.story.cast())
        return tuple(name for character in cast for name in character.names)

    @cached_property
    def name_roots(self) -> frozenset[str]:
        """The words of all names, which by themselves reveal nothing."""
        return roots(" ".join((self.who, *self.audience, *self.known_names)), self.story.language)

    @cached_property
    def withheld(self) -> tuple[DatedFact, ...]:
        """Facts that somebody of the audience does not know; what the timeless profile says anybody may know."""
        profile = [roots(text, self.story.language) for text in self.story.character(self.who).profile]
        return tuple(
            fact
            for fact in self.facts
            if not (fact.attribute != SECRET and any(fact.roots & text for text in profile))
            if fact.known_to is not None and (not self.audience or not fact.known_to.issuperset(self.audience))
        )

    @cached_property
    def unknown_secrets(self) -> tuple[DatedFact, ...]:
        """Secrets of others that the character does not know."""
        return tuple(
            self._dated(fact)
            for fact in self._holding()
            if fact.attribute == SECRET and fact.known_to is not None
            if fact.who != self.who and self.who not in fact.known_to
        )

    @cached_property
    def telling_moments(self) -> frozenset[tuple[int, ...]]:
        """Moments of lines that told a secret, and of the lines next to them, in scenes without the audience."""
        from understudy.judging.guards.secrets import Statement, tells

        nothing, secrets = frozenset[str](), [fact for fact in self.withheld if fact.attribute == SECRET]
        moments = set[tuple[int, ...]]()
        for scene in self.situation.persona.past.scenes():
            here = set(map(self.true_name, scene.present))
            if not secrets or (self.audience and here.issuperset(self.audience)):
                continue
            spoken = [line for line in scene.lines if line.speaker is not None]
            for index, line in enumerate(spoken):
                said = Statement.of(line.text, self.story.language)
                if any(tells(self, fact, nothing, said) for fact in secrets):
                    near = spoken[max(0, index - BESIDE) : index + BESIDE + 1]
                    moments |= {neighbour.moment.numbers for neighbour in near}
        return frozenset(moments)

    @cached_property
    def shared(self) -> tuple[DatedFact, ...]:
        """Facts that the whole audience knows, or that are no secret."""
        return tuple(
            fact
            for fact in self.facts
            if fact.known_to is None or (self.audience and fact.known_to.issuperset(self.audience))
        )

    @cached_property
    def outdated_facts(self) -> tuple[tuple[Fact, Fact | None], ...]:
        """The character's own facts that held once, each with the one that has taken its place."""
        holding = {fact.key: fact for fact in holding_at(self._facts_of(self.who), self.at)}
        return tuple(
            (fact, holding.get(fact.key))
            for fact in self._facts_of(self.who)
            if fact.since < self.at and holding.get(fact.key) != fact and fact.attribute not in NOT_OF_ONESELF
        )

    @cached_property
    def true_names(self) -> tuple[str, ...]:
        """Names by which somebody of the audience must not hear of those who go by another."""
        hidden = list[str]()
        if self.audience:
            unknown = [false_names(self.story, viewer, self.at) for viewer in self.audience]
        else:
            unknown = [false_names_at(self.story, self.at)]
        for names in unknown:
            for owner, shown in names.items():
                character = self.story.character(owner)
                false_parts = set(shown.split())
                for name in (owner, *owner.split(), *character.aliases):
                    if not set(name.split()) & false_parts:
                        hidden.append(name)
        return tuple(dict.fromkeys(hidden))

    @cached_property
    def ties(self) -> tuple[Relation, ...]:
        """All ties that the character has had so far, whether they still hold or not."""
        ties = witnessed(self.story, self.story.relations(of=self.who), self.who, self.at)
        return tuple(tie for tie in ties if tie.since <= self.at)

    @cached_property
    def deaths(self) -> dict[str, Moment]:
        """Who has died by now, and when."""
        return {fact.who: fact.since for fact in self._all_facts if fact.attribute == "died" and fact.since <= self.at}

    @cached_property
    def genders(self) -> dict[str, str]:
        """Genders by name, in the words of the facts that state them."""
        facts = (fact for fact in holding_at(self._all_facts, self.at) if fact.attribute == "gender")
        return {fact.who: fact.values[0] for fact in facts if fact.values}

    def scores(self, metric: str, texts: Sequence[str]) -> list[Score]:
        """A metric by name, of many texts in one go; a missing one, or one that cannot say, gives no value."""
        if metric not in METRICS or (metric == "anachronism" and self.at.is_end):
            return [Score(metric, None)] * len(texts)
        if metric not in self._metrics:
            self._metrics[metric] = self._context.metric(metric)
        if len(self._scores) > MOST_SCORES:
            self._scores.clear()
        known = {text: self._scores[metric, text] for text in texts if (metric, text) in self._scores}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, self._metrics[metric](missing)))
            self._scores.update({(metric, text): known[text] for text in missing})
        return [known[text] for text in texts]

    def voices(self, texts: Sequence[str]) -> list[float]:
        """How much each text sounds like the character: from -1, like somebody else, to 1."""
        return [0.0 if score.value is None else 2 * score.value - 1 for score in self.scores(VOICE, texts)]

    def unwitnessed_words(self, text: str) -> bool:
        """Has a text a name, or rare words side by side, that were used only where the character was not?"""
        if not len(self.situation.persona.past):
            return False
        return any(self._is_rare(mention.term) for mention in self.knowledge.unwitnessed(text))

    def _is_rare(self, term: str) -> bool:
        """One word, or words of which none is common in the story."""
        parts, chronology = term.split(), self.chronology
        if len(parts) == 1:
            return True
        most = COMMON * len(chronology.spoken)
        return all(len(lines) <= most for part in parts for _, _, lines in chronology.lines_of(part))

    @cached_property
    def chronology(self) -> Chronology:
        return Chronology.of(self.story)

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        return self.story.character(self.who).aliases

    @cached_property
    def knowledge(self) -> PersonaKnowledge:
        return self.chronology.knowledge_of(self.situation.persona)

    @cached_property
    def runs(self) -> StoryRuns:
        return StoryRuns.of(self.story)

    @cached_property
    def own_runs(self) -> Hashes:
        """Runs of what the character is described with, which it may say whenever the story does."""
        return self.runs.hashes_of(own_sentences(self.situation.persona))

    @cached_property
    def _context(self) -> MetricContext:
        return MetricContext(self.story, self.situation)


def _is_same(first: Fact, second: Fact) -> bool:
    return (first.attribute, first.values) == (second.attribute, second.values)


class StoryViews:
    """Views of the story that a situation is of, made once for each character, moment and listener."""

    def __init__(self, stories: Stories) -> None:
        self._stories = stories
        self._views = KeyedCache[StoryView](VIEWS)

    def __call__(self, situation: Situation) -> list[StoryView]:
        persona, faced = situation.persona, situation.faced
        here = (faced.name if faced else "", tuple(other.name for other in situation.present))
        return [
            self._views.get_or_create(
                (id(story), persona.name, persona.moment, persona.profile, here),
                story,
                lambda story=story: StoryView(story, situation),  # type: ignore[misc]
            )
            for story in self._stories(persona.story_identity)
        ]

    def own_names(self, situation: Situation) -> tuple[str, ...]:
        """All names of the character, with their parts, that somebody may write before what it says."""
        return join_names(own_names(situation), *(view.aliases for view in self(situation)))


def own_names(situation: Situation) -> tuple[str, ...]:
    attributes = situation.persona.attributes
    return (situation.persona.name, *attributes.get("goes by", ()), *attributes.get("nickname", ()))
