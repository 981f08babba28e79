"""The guard of the future told in other words: what a reply joins and the story joins only where it is unheard.

    'Whom will you marry?' - 'Mr. Knightley, and he shall come to live with us.'

No line says so, but there are lines still to come in which Knightley, marrying and living meet, and none heard so far.
A term is a root, a name, or a kind of event (`EVENTS`: 'wed' and 'husband' are both of marriage); terms meet in a line
where all stand within `BESIDE` lines of it. The terms of the last message count half, as an answer need not say them.

    chance = sigmoid(w . features + b)           stopped from THRESHOLD on

Weights were fitted by logistic regression to replies to roles of the story that ships, plays, sitcoms and novels, half
of which tell what happens later in other words (benchmarks/foretold_marks.jsonl; the fit is made again by
benchmarks/foretold.py, which also judges each role by the others). What the story itself never says, as a writer that
knows the book may, cannot be found, and what a single common word tells ('Yale.') seldom.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import last_heard
from understudy.agents.pools import KeyedCache
from understudy.agents.word_tokens import roots
from understudy.judging.guards.knowledge import OF_THE_PERSONA
from understudy.judging.guards.phrases import asks, has_negation
from understudy.judging.guards.story_view import Guard, StoryView, StoryViews, Verdict
from understudy.language.lexical.rows import probability
from understudy.story.chronology import Chronology, PersonaKnowledge
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.text import sentences, stop_words, words

NAME = "knowledge"
THRESHOLD = 0.67  # stops a good reply in fifty, where each role is judged by a fit to the others
BESIDE = 2  # lines
OF_MESSAGE = 0.5
LEAST_RARITY = 3.0  # of a term that is no name and no event: ln(lines of the story / lines that have it)
LIKELY = 2.0  # from which on a pair that only unheard lines join is counted
ENGLISH = 0.2  # the share of small English words; other languages have no stems and no events here
MOST_FUTURE = 2
FUTURE = re.compile(r"\b(?:will|shall|gonna|going to|shalt|wilt)\b|['’]ll\b", re.IGNORECASE)
HEDGE = re.compile(
    r"\b(?:if|may|might|perhaps|hope|suppose|dare say|maybe|would|should|could|think|believe|unless|probably|guess|"
    r"wish)\b",
    re.IGNORECASE,
)
EVENTS = {
    "marriage": "marry wed wedding bride groom bridegroom propose proposal engaged engagement fiance fiancee vow altar "
    "elope honeymoon betrothed mrs",
    "death": "die kill murder murderer drown poison hang slay slain corpse funeral grave perish bury strychnine shot "
    "stab",
    "child": "pregnant baby birth daughter son boy girl child",
    "love": "love kiss date boyfriend girlfriend crush lover sweetheart affair attached adore",
    "parting": "divorce split dump annul broke leave separate divorcee",
    "crime": "arrest prison jail gaol cell guilty trial court accuse condemn convict thief steal crime police",
    "deceit": "lie false disguise forge pretend trick betray deceive conceal secret spy accomplice counterfeit gull",
}

Lines = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ForetellingFeatures:
    """What is known of a reply."""

    more_than_heard: float
    """How much rarer its terms are that meet in one unheard line are, than those that meet in any line heard."""
    joined: float
    """ln(1 + the pairs of terms that only unheard lines join, and more of them than by chance)."""
    missed: float
    """ln(1 + how often the three surest of those pairs would have been heard, if the past were like the future)."""
    names: float
    new_names: float
    """Names that the character has not heard."""
    events: float
    future: float
    """Sentences that say flatly what will be."""
    is_future_asked: float
    hedged: float
    denied: float
    length: float
    """ln(1 + words): in a long text more terms meet by chance."""

    @property
    def is_of_the_story(self) -> bool:
        """Is there anything that the story tells only later? Who just foresees something may do so."""
        return self.more_than_heard > 0 or self.joined > 0 or self.new_names > 0


WEIGHTS = ForetellingFeatures(0.110, -0.205, 0.693, 1.167, 0.218, 1.099, 2.091, 0.338, -0.513, -0.670, -1.596)
BIAS = 0.426


def foretold(views: StoryViews) -> Guard:
    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        if draft.source in OF_THE_PERSONA:
            return Verdict.passing(NAME)
        parts = sentences(draft.text)
        # A part that must not be said must not be hidden in a longer text either.
        beginnings = (" ".join(parts[:count]) for count in range(2, len(parts)))
        texts = dict.fromkeys((draft.text, *parts, *beginnings))
        for view in views(situation):
            for text in texts:
                features = features_of(view, situation, history, text)
                if features is not None and chance_of_foretelling(features) >= THRESHOLD:
                    return Verdict.spoiler(NAME)
        return Verdict.passing(NAME)

    return guard


def chance_of_foretelling(features: ForetellingFeatures) -> float:
    if not features.is_of_the_story:
        return 0.0
    return probability(astuple(WEIGHTS), astuple(features), BIAS)


def features_of(
    view: StoryView, situation: Situation, history: Sequence[Turn], text: str
) -> ForetellingFeatures | None:
    """None where nothing can be foretold: all is heard or describes who speaks, nothing is stated, or not English."""
    knowledge = view.knowledge
    stated = [part for part in sentences(text) if not asks(part)]
    bag = words(text)
    is_english = sum(word in stop_words("en") for word in bag) >= ENGLISH * len(bag)
    heard = np.zeros(len(view.chronology.spoken), np.bool_)
    heard[: knowledge.bound] = knowledge.witnessed
    if view.story.language != "en" or not is_english or not stated or heard.all():
        return None
    message = last_heard(situation.persona, history)
    index = RootIndex.of(view.chronology)
    said = index.terms_of(text)
    if said and said.keys() <= _own_keys(knowledge):
        return None  # it says who it is: every term stands in its own description
    asked = [term for term in index.terms_of(message) if term not in said]
    meeting = Meeting(index, said, asked, heard)
    names = [term for term, is_name in said.items() if is_name]
    flat = [part for part in stated if FUTURE.search(part) and not HEDGE.search(part)]
    return ForetellingFeatures(
        meeting.most(~heard) - meeting.most(heard),
        math.log1p(sum(surplus > LIKELY for surplus, _ in meeting.pairs)),
        math.log1p(sum(sorted(missed for _, missed in meeting.pairs)[-3:])),
        len(names),
        sum(term not in knowledge.own and not heard[index.lines(term)].any() for term in names),
        sum(term in EVENTS for term in said),
        min(len(flat), MOST_FUTURE),
        float(FUTURE.search(message) is not None),
        sum(HEDGE.search(part) is not None for part in stated),
        sum(map(has_negation, stated)),
        math.log1p(len(bag)),
    )


class RootIndex:
    """The lines of a story that have a root or a kind of event."""

    def __init__(self, chronology: Chronology) -> None:
        self.chronology = chronology
        self._terms: dict[str, list[str]] = {}
        self._lines: dict[str, Lines] = {}
        for term in chronology.single_terms():
            for key in _keys_of(term):
                self._terms.setdefault(key, []).append(term)

    @classmethod
    def of(cls, chronology: Chronology) -> RootIndex:
        return _INDICES.get_or_create(id(chronology), chronology, lambda: cls(chronology))

    def lines(self, key: str) -> Lines:
        if key not in self._lines:
            self._lines[key] = np.unique(np.concatenate([*map(self.chronology.uses, self._terms[key])]))
        return self._lines[key]

    def rarity(self, key: str) -> float:
        return math.log((len(self.chronology.spoken) + 1) / (len(self.lines(key)) + 0.5))

    def terms_of(self, text: str) -> dict[str, bool]:
        """The telling terms of a text that the story has, and whether each is a name."""
        terms = dict[str, bool]()
        for term, written, _ in self.chronology.lines_of(text):
            if " " in term:
                continue
            is_name = written[:1].isupper() and (
                self.chronology.is_of_the_cast(term) or self.chronology.is_written_as_name(term)
            )
            for key in _keys_of(term):
                if key in EVENTS:
                    terms[key] = False
                elif is_name or self.rarity(key) >= LEAST_RARITY:
                    terms[key] = terms.get(key, False) or is_name
        return terms


_INDICES = KeyedCache[RootIndex](32)
_OWN_KEYS = KeyedCache[frozenset[str]](32)


def _own_keys(knowledge: PersonaKnowledge) -> frozenset[str]:
    """The roots, and kinds of event, of what describes the character."""
    return _OWN_KEYS.get_or_create(
        id(knowledge), knowledge, lambda: frozenset(key for root in knowledge.own for key in _keys_of(root))
    )


def _keys_of(term: str) -> Iterator[str]:
    for root in roots(term):
        yield root
        if root in _EVENT_OF:
            yield _EVENT_OF[root]


_EVENT_OF = {root: event for event, listed in EVENTS.items() for root in roots(listed)}


class Meeting:
    """Where the terms of a reply, and of the message before it, meet in a story."""

    def __init__(
        self, index: RootIndex, said: Mapping[str, bool], asked: Sequence[str], heard: NDArray[np.bool_]
    ) -> None:
        self._index, self._said, self._heard = index, said, heard
        self._terms = (*said, *asked)
        self._near = {term: _widened(index.lines(term), len(heard)) for term in self._terms}
        self._rarity = np.zeros(len(heard))
        for term, near in self._near.items():
            self._rarity[near] += index.rarity(term) * (1.0 if term in said else OF_MESSAGE)

    def most(self, among: NDArray[np.bool_]) -> float:
        """The rarity of the terms that meet in one line of these."""
        return float(self._rarity.max(initial=0.0, where=among))

    @cached_property
    def pairs(self) -> list[tuple[float, float]]:
        """Of each pair that only unheard lines join: how surely that is no chance, and how often it would be heard."""
        heard_lines = int(self._heard.sum())
        unheard_lines = len(self._heard) - heard_lines
        unheard = {term: int((~self._heard[self._index.lines(term)]).sum()) for term in self._terms}
        found = []
        for first, second in combinations(self._terms, 2):
            if first not in self._said or self._is_same(first, second):
                continue  # the terms of the message come last, and known pairs of them tell nothing
            lines = self._index.lines(second)
            joined = self._heard[lines[self._near[first][lines]]]
            if not len(joined) or joined.any():
                continue
            # The first may have been heard everywhere, and the second be unheard beside it.
            expected = max(unheard[first], 1) * unheard[second] * (2 * BESIDE + 1) / unheard_lines
            count = len(joined)
            surplus = count * math.log(count / expected) - (count - expected) if count > expected else 0.0
            found.append((surplus, count * heard_lines / unheard_lines))
        return found

    def _is_same(self, first: str, second: str) -> bool:
        return _EVENT_OF.get(first) == second or _EVENT_OF.get(second) == first


def _widened(lines: Lines, count: int) -> NDArray[np.bool_]:
    near = np.zeros(count, np.bool_)
    for step in range(-BESIDE, BESIDE + 1):
        near[np.clip(lines + step, 0, count - 1)] = True
    return near
