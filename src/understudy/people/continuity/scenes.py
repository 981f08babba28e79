"""The scenes of a story as faults are looked for in them: who is there at each line, which terms it has."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from understudy.progress import Progress
from understudy.story.names import GOES_BY
from understudy.story.storyfile import Story
from understudy.story.types import SECRET, Fact, Line, Moment, Scene
from understudy.text import NOT_NAMES, NameFinder, fold, stop_words

# What a line can be about that not everybody knows: people, names and things of the story's own.
#
#     person      one of the cast, by a name that nobody else has and that is no ordinary word, as 'Guard' is
#     true name   of one of the cast, where they go by another
#     name        a word written with a capital, or several side by side, that is nobody's of the cast
#     thing       two words side by side of a fact that not everybody knows ('tin box')
#
# A word is a name where the story writes it with a capital within a sentence, at least four times as often as without;
# several ordinary words are one where they stand side by side with capitals within a sentence ('the Good Wife').
# One that a general vocabulary of English has (the encoder's) may be known from anywhere: 'Paris' alone is no name
# here, and several such words side by side are a *loose* one, as is the common name of somebody who says little. In
# Japanese and Chinese, people and true names are found.


WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
RUN = re.compile(
    r"(?<![\w'’])[A-Z][^\W\d_A-Z]+(?:[-'’][^\W\d_]+)*"
    r"(?:(?: (?:of|the|de|von|van))? [A-Z][^\W\d_A-Z]+(?:[-'’][^\W\d_]+)*)*"
)
THING = re.compile(r"\b(?:the|a|an|his|her|my) ([a-z-]+ [a-z]+)\b")
CAPITALISED = re.compile(r"\b[A-Z]\w*(?:['’]s)?")
OPENS = frozenset('.!?…:"“”‘*)]([-–—,;')  # after these a capital says nothing
TIMES_CAPITAL = 4
ADDRESSES = frozenset(
    "mom mum mommy mummy mama mother dad daddy papa father grandma grandpa granny king queen prince god ladyship"
    " lordship worship majesty".split()
)
NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand".split()
)
SHORTEST_NAME, SHORTEST_WORD = 4, 3  # in letters
FEW_LINES = 40  # somebody with a common name who says fewer may be another of that name
OWNED = ("belongings", SECRET)
"""Attributes whose values tell of things."""


class StoryTerm(NamedTuple):
    kind: str
    text: str
    """A cast member's name in full, or the name or thing as it is first written."""
    is_loose: bool = False


class TermFinder:
    def __init__(self, story: Story) -> None:
        self._is_english = story.language == "en"
        self._lower, self._capital = Counter[str](), Counter[str]()
        self._runs = set[str]()  # of words with capitals within a sentence
        if self._is_english:
            self._count_capitals(line.text for line in story.lines_with(lambda _: True, Moment.end()))
        self._cast_words = {
            word for member in story.cast() for name in member.character.names for word in WORD.findall(name)
        }
        self._left_out = stop_words(story.language) | NUMBERS | {word.lower() for word in self._cast_words}
        self._things = self._phrases_of(story.facts()) if self._is_english else {}
        self._thing_words = {word for phrase in self._things for word in phrase}
        self._people: list[StoryTerm] = []
        self._finder = NameFinder(list(self._names(story)))

    def find(self, text: str) -> list[StoryTerm]:
        """The terms of a text, each once."""
        terms = [self._people[number] for number in self._finder.find(text)]
        if self._is_english:
            terms += self._names_in(text)
            terms += self._things_in(text)
        return list(dict.fromkeys(terms))

    def people_in(self, text: str) -> list[str]:
        """Those of the cast whom a text names, each once."""
        return list(dict.fromkeys(self._people[number].text for number in self._finder.find(text)))

    def is_proper_name(self, name: str) -> bool:
        """Is it a name, not what somebody is ('Guard', 'Mom')?"""
        words = _without_titles(name)
        return bool(words) and (not self._is_english or all(map(self._can_be_name, words)))

    def facts_about(self, term: StoryTerm) -> tuple[Fact, ...]:
        """The facts that tell of a thing."""
        return self._things.get(tuple(term.text.split()), ()) if term.kind == "thing" else ()

    def _count_capitals(self, texts: Iterable[str]) -> None:
        for text in texts:
            for match in WORD.finditer(text):
                word = match[0]
                if word.islower():
                    self._lower[word] += 1
                elif _is_within(text, match.start()):
                    self._capital[_without_possessive(word.lower())] += 1
            self._runs.update(
                _without_possessive(match[0])
                for match in RUN.finditer(text)
                if " " in match[0] and _is_within(text, match.start())
            )

    def _is_name(self, word: str) -> bool:
        plain = _without_possessive(word.lower())
        return self._capital[plain] > 0 and self._can_be_name(word)

    def _names(self, story: Story) -> Iterator[tuple[int, str]]:
        """Names of the cast, with the number of the term that each stands for."""
        masks = facts_by_person(story, GOES_BY)
        for member in story.cast():
            character = member.character
            false = [name for mask in masks.get(character.name, ()) for name in mask.values]
            taken = {word for name in false for word in WORD.findall(name)}
            public, hidden = len(self._people), len(self._people) + 1
            is_loose = member.lines < FEW_LINES and self._is_english and self._is_common(character.name)
            self._people += [StoryTerm("person", character.name, is_loose), StoryTerm("true name", character.name)]
            for name in character.names:
                if self.is_proper_name(name):
                    is_hidden = bool(taken) and not taken.issuperset(_without_titles(name))
                    yield hidden if is_hidden else public, name

    def _can_be_name(self, word: str) -> bool:
        plain = _without_possessive(word.lower())
        return plain not in ADDRESSES and self._capital[plain] >= TIMES_CAPITAL * self._lower[plain]

    def _names_in(self, text: str) -> Iterator[StoryTerm]:
        for match in RUN.finditer(text):
            words = _without_possessive(match[0]).split()
            while words and not (self._is_name(words[0]) or " ".join(words) in self._runs):
                del words[0]
            while words and not (self._is_name(words[-1]) or " ".join(words) in self._runs):
                del words[-1]
            name = " ".join(words)
            if not words or words[-1].lower() in NUMBERS or not self._cast_words.isdisjoint(_plain_forms(name)):
                continue
            is_common = self._is_common(name)
            if len(words) > 1 or (not is_common and len(name) >= SHORTEST_NAME):
                yield StoryTerm("name", name, is_common)

    def _is_common(self, name: str) -> bool:
        return all(not _vocabulary().isdisjoint(_plain_forms(word.lower())) for word in name.split())

    def _phrases_of(self, facts: Iterable[Fact]) -> dict[tuple[str, ...], tuple[Fact, ...]]:
        """What somebody has is named as it is; in the sentence of a secret, things have an article before them."""
        phrases: dict[tuple[str, ...], tuple[Fact, ...]] = {}
        for fact in facts:
            if fact.attribute in OWNED and (fact.known_to is not None or fact.found is not None):
                is_sentence = fact.attribute == SECRET
                texts = (
                    [match[1] for value in fact.values for match in THING.finditer(value)]
                    if is_sentence
                    else fact.values
                )
                for phrase in {phrase for text in texts for phrase in self._phrases(CAPITALISED.sub("-", text))}:
                    phrases[phrase] = (*phrases.get(phrase, ()), fact)
        return phrases

    def _phrases(self, text: str) -> Iterator[tuple[str, str]]:
        """Pairs of words with nothing but a space between them, small words and people's names left out."""
        for first, second in pairwise(WORD.finditer(text)):
            pair = first[0].lower(), _without_possessive(second[0].lower())
            if text[first.end() : second.start()] == " " and all(
                len(word) >= SHORTEST_WORD and word not in self._left_out for word in pair
            ):
                yield pair

    def _things_in(self, text: str) -> Iterator[StoryTerm]:
        if not self._things or self._thing_words.isdisjoint(WORD.findall(text.lower())):
            return
        yield from (StoryTerm("thing", " ".join(pair)) for pair in self._phrases(text) if pair in self._things)


def _is_within(text: str, position: int) -> bool:
    """Does a word stand within a sentence, where a capital says something?"""
    return position > 1 and text[position - 1] not in OPENS and text[position - 2] not in OPENS


def _without_possessive(name: str) -> str:
    return re.sub(r"['’]s$", "", name)


def _plain_forms(name: str) -> list[str]:
    """Its words, also without a plural's ending."""
    words = WORD.findall(name)
    return [*words, *(re.sub(r"s$", "", word) for word in words), *(re.sub(r"ies$", "y", word) for word in words)]


def _without_titles(name: str) -> list[str]:
    return [word for word in WORD.findall(name) if word.lower() not in NOT_NAMES]


@cache
def _vocabulary() -> frozenset[str]:
    """Words that English has anyway."""
    tokenizer = files("understudy").joinpath("models", "encoder", "tokenizer.json").read_text(encoding="utf-8")
    return frozenset(word for word in json.loads(tokenizer)["model"]["vocab"] if word.isalpha())


BRACKETS = re.compile(r"[(\[<{*]([^)\]>}*]*)")


@dataclass(frozen=True, slots=True)
class WatchedScene:
    number: int
    """Counted from 0 over the whole story."""
    scene: Scene
    intervals: tuple[tuple[str, int, int], ...]
    """Who is there from which to which line, counted from 1."""
    present: tuple[frozenset[str], ...]
    """Who is there, line by line."""

    def lines(self) -> Iterator[tuple[int, Line, frozenset[str]]]:
        """Each line with its number, counted from 1, and those who are there for it, its speaker included."""
        for number, (line, present) in enumerate(zip(self.scene.lines, self.present, strict=True), 1):
            yield number, line, present


def watched_scenes(story: Story, progress: Progress) -> Iterator[WatchedScene]:
    """All scenes, one in memory at a time."""
    total, _ = story.count()
    for number, scene in enumerate(story.scenes()):
        progress("Looking at scenes", number, total)
        intervals = story.presence_intervals(scene.moment)
        yield WatchedScene(number, scene, intervals, tuple(_present(intervals, len(scene.lines))))


def directions_in(line: Line) -> str:
    """The author's words in a line: all of a description; of a speech, what stands in brackets, as sentences."""
    return line.text if line.speaker is None else ". ".join(BRACKETS.findall(line.text))


def _present(intervals: tuple[tuple[str, int, int], ...], lines: int) -> Iterator[frozenset[str]]:
    changes = {first for _, first, _ in intervals} | {last + 1 for _, _, last in intervals}
    present = frozenset[str]()
    for number in range(1, lines + 1):
        if number == 1 or number in changes:
            present = frozenset(who for who, first, last in intervals if first <= number <= last)
        yield present


# Where each term of a story is mentioned, and who hears it first when.


class Mention(NamedTuple):
    scene: int
    line: Line
    present: frozenset[str]
    """Those who hear or see it, its speaker included."""


class Mentions:
    """Collects the mentions of every term, in story order, and who was in which scene.

    A stage direction is the author's word, which nobody hears; but those who are there see what it tells of.
    """

    def __init__(self, finder: TermFinder) -> None:
        self._finder = finder
        self.by_term: dict[StoryTerm, list[Mention]] = {}
        self.scenes_of: dict[str, list[int]] = {}
        """The numbers of the scenes that somebody was in."""
        self.scenes = 0

    def add(self, scene: WatchedScene) -> None:
        self.scenes = scene.number + 1
        for who in {who for who, _, _ in scene.intervals}:
            self.scenes_of.setdefault(who, []).append(scene.number)
        for term in self._finder.find(scene.scene.setting):
            everybody = frozenset(scene.scene.present)
            setting = Line(scene.scene.moment, None, scene.scene.setting)
            self.by_term.setdefault(term, []).append(Mention(scene.number, setting, everybody))
        for _, line, present in scene.lines():
            for term in self._finder.find(line.text):
                heard_by = present if line.speaker is None else present | {line.speaker}
                self.by_term.setdefault(term, []).append(Mention(scene.number, line, heard_by))


def first_hearings(mentions: Sequence[Mention]) -> Mapping[str, Moment]:
    """When everybody who comes to hear of a term first does, in story order."""
    hearings: dict[str, Moment] = {}
    for mention in mentions:
        for who in sorted(mention.present):
            hearings.setdefault(who, mention.line.moment)
    return hearings


# Who learns what when: of each name and thing, where everybody who comes to hear of it first does.
#
# What is worth a look is what people learn at different times: an item counts by the scenes in which somebody learns
# of it, times a weight. Who goes by another name, and things of which not everybody knows, are what stories turn on;
# people know each other's names anyway. What is mentioned in one scene only is left out.

FEWEST_PEOPLE = 3
WEIGHTS = {"true name": 3.0, "thing": 2.0, "name": 1.5, "person": 1.0}
LOOSE = 0.5


@dataclass(frozen=True, slots=True)
class Learning:
    item: str
    """A name or a thing."""
    hearings: Mapping[str, Moment]
    """When each person first hears of it, in story order."""

    @property
    def steps(self) -> int:
        """In how many scenes somebody learns of it."""
        return len({moment.numbers[:-1] for moment in self.hearings.values()})


def learnings(mentions: Mentions) -> dict[str, Learning]:
    learned: dict[str, Learning] = {}
    worth: dict[str, float] = {}
    for term, where in mentions.by_term.items():
        said = [mention for mention in where if mention.line.speaker is not None]
        hearings = first_hearings(said)
        item = f"{term.text} (true name)" if term.kind == "true name" else term.text
        if len(hearings) >= FEWEST_PEOPLE and len({mention.scene for mention in said}) > 1:
            learning = learned.setdefault(item, Learning(item, hearings))
            worth.setdefault(item, learning.steps * WEIGHTS[term.kind] * (LOOSE if term.is_loose else 1.0))
    return {item: learned[item] for item in sorted(learned, key=lambda item: (-worth[item], item))}


# A fault of continuity: a line that does not fit what came before it, what it conflicts with, and how surely.

KINDS = {
    "unknown": "says what they cannot know yet",
    "gone": "has what they no longer have",
    "dead": "speaks while dead",
    "absent": "speaks after leaving",
    "met": "meets somebody for the second time as if for the first",
}
"""Kinds of fault, each with what somebody does in such a line."""
ID_LENGTH = 8  # hexadecimal digits


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    line: Line
    """A line that somebody says."""
    about: str
    """The name or thing that it is about."""
    reason: str
    sources: tuple[Moment, ...]
    """What the line conflicts with: where it was brought up, handed on, where somebody died, left, was met."""
    confidence: float

    @property
    def who(self) -> str:
        return self.line.speaker or ""

    @property
    def id(self) -> str:
        """Made of what is said, by whom and about what, not of where: it is the same when the story is read again.

        Somebody who says the same twice has one id for both lines.
        """
        content = "\0".join((self.kind, fold(self.who), fold(self.about), fold(self.line.text)))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


class Detector:
    """Watches every scene once, in story order."""

    def __init__(self, finder: TermFinder) -> None:
        self._finder = finder
        self._faults: list[Fault] = []

    def watch(self, scene: WatchedScene) -> None:
        raise NotImplementedError

    def faults(self) -> list[Fault]:
        """What was found in all scenes so far."""
        return self._faults


def facts_by_person(story: Story, attribute: str = "") -> dict[str, list[Fact]]:
    """The facts of everybody, or those of one attribute, in order of their dates."""
    facts: dict[str, list[Fact]] = {}
    for fact in story.facts():
        if attribute in ("", fact.attribute):
            facts.setdefault(fact.who, []).append(fact)
    return facts
