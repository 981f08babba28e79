"""Which terms of a story a character can know at a moment: every term, the lines that use it, and who witnessed them.

A chronology covers the whole story. It is for judges and authors: no agent and no persona can reach one.

Some terms are telling wherever they stand: names, and phrases (two words side by side, small words left out) of the
story's own. (What is still to come is not told by phrases: a quarter of a character's own lines share one with a line
that comes later. `understudy.metrics.knowing` looks at the whole line instead.) An ordinary word that the story uses
only from some point on is telling when its silence before that is no accident. If it stands in s scenes, and a share f
of the scenes come before (or, for what somebody witnessed, a share f was witnessed), then it keeps out of all of those
by chance with

    p = (1 - f) ** s

and below 0.05, with at least three scenes, chance is ruled out.

English names are known by their capitals. Verse has a capital at the start of each of its lines too, which shows in its
small words; there a name must be written with a capital in two places.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment
from understudy.text import WORD, stop_words, tokenizer

CHANCE, FEWEST = 0.05, 3
VERSE = 0.02  # the share of small words with a capital within a sentence; prose has almost none
ENDS_SENTENCE = frozenset('.!?…:"“”‘*)]-–—')
KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]{3,}")
BREAK = re.compile(r"[.,;:!?…()\[\]\"“”*。、！？：；「」『』]+|\s[-–—]+\s|—")
SHORTEST = 2  # of a term, in letters

Numbers = NDArray[np.int64]

_CHRONOLOGIES: WeakKeyDictionary[Story, Chronology] = WeakKeyDictionary()
_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class UnknownTerm:
    """A term of a line that its speaker could not know of, and where the story first speaks of it."""

    term: str
    first: Moment


class Chronology:
    def __init__(self, story: Story) -> None:
        self._language = story.language
        self._cut = tokenizer(story.language)
        self._stop = stop_words(story.language)
        self._terms: dict[str, int] = {}
        self._moments: list[tuple[int, ...]] = []
        self._levels = story.levels
        self._intervals: dict[str, list[tuple[int, int]]] = {}
        self._names = {root for member in story.cast() for root, _ in self._roots(member.character.name)}
        tokens, token_lines, scene_of, capital = array("i"), array("i"), array("i"), array("b")
        spoken = array("b")
        self._small_words = self._small_capitals = 0
        for number, scene in enumerate(story.scenes()):
            begins = len(self._moments)
            for who, first, last in story.presence_intervals(scene.moment):
                self._intervals.setdefault(who, []).append((begins + first - 1, begins + last))
            for line in scene.lines:
                for term, named in self._terms_of(line):
                    tokens.append(self._terms.setdefault(term, len(self._terms)))
                    token_lines.append(len(self._moments))
                    capital.append(named)
                self._moments.append(line.moment.numbers)
                scene_of.append(number)
                spoken.append(line.speaker is not None)
        self._index(np.array(tokens, np.int64), np.array(token_lines, np.int64), np.array(capital, np.int64))
        self.spoken: NDArray[np.bool_] = np.array(spoken, np.bool_)
        """Of each line, whether somebody says it."""
        self._scene_of: Numbers = np.array(scene_of, np.int64)
        self._scenes = int(self._scene_of[-1]) + 1 if len(self._scene_of) else 0

    def _index(self, tokens: Numbers, lines: Numbers, capital: Numbers) -> None:
        """The lines of term t, in order, lie at `starts[t]:starts[t + 1]`."""
        self._lines = lines[np.argsort(tokens, kind="stable")]
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(tokens, minlength=len(self._terms)))))
        said = np.bincount(tokens, minlength=len(self._terms))
        capitals = np.bincount(tokens, capital, minlength=len(self._terms))
        is_verse = self._small_capitals > VERSE * max(self._small_words, 1)
        self._mostly_capital = (2 * capitals >= np.maximum(said, 1)) & (capitals > is_verse)

    @classmethod
    def of(cls, story: Story) -> Chronology:
        """The chronology of a story, made once for as long as the story is open."""
        with _LOCK:
            if story not in _CHRONOLOGIES:
                _CHRONOLOGIES[story] = cls(story)
            return _CHRONOLOGIES[story]

    def knowledge_of(self, persona: Persona) -> PersonaKnowledge:
        """The lines of the story before the persona's moment, and which of them the persona witnessed."""
        bound = bisect_left(self._moments, persona.moment.numbers)
        witnessed = np.zeros(bound, np.bool_)
        for first, last in self._intervals.get(persona.name, ()):
            witnessed[first:last] = True
        own = {root for part in own_sentences(persona) for root, _ in self._roots(part)}
        own |= {root for values in persona.attributes.values() for value in values for root, _ in self._roots(value)}
        before = int(self._scene_of[bound - 1]) + 1 if bound else 0
        attended = self.scenes_of(np.flatnonzero(witnessed)) / max(before, 1)
        return PersonaKnowledge(self, bound, witnessed, frozenset(own), before / max(self._scenes, 1), attended)

    def lines_of(self, text: str) -> Iterator[tuple[str, str, Numbers]]:
        """The story's terms in a text, each once: the term, how the text has it, and the story's lines that use it."""
        terms = dict((*self._roots(text), *self._phrases(text)))
        for term, written in terms.items():
            if (number := self._terms.get(term)) is not None:
                yield term, written, self._lines[self._starts[number] : self._starts[number + 1]]

    def single_terms(self) -> Iterator[str]:
        """Every term of the story that is one word."""
        return (term for term in self._terms if " " not in term)

    def uses(self, term: str) -> Numbers:
        """The lines that have a term of the story."""
        number = self._terms[term]
        return self._lines[self._starts[number] : self._starts[number + 1]]

    def is_telling(self, term: str) -> bool:
        """A phrase or a name. English writes names with a capital, Japanese foreign ones in katakana."""
        if " " in term or term in self._names:
            return True
        return bool(self._mostly_capital[self._terms[term]]) or KATAKANA.fullmatch(term) is not None

    def is_of_the_cast(self, term: str) -> bool:
        """A part of somebody's name."""
        return term in self._names

    def is_written_as_name(self, term: str) -> bool:
        """Does the story write it with a capital within sentences?"""
        return bool(self._mostly_capital[self._terms[term]])

    def scenes_of(self, lines: Numbers) -> int:
        """In how many scenes these lines stand."""
        return len(np.unique(self._scene_of[lines]))

    def unknown_term(self, written: str, lines: Numbers) -> UnknownTerm:
        return UnknownTerm(written, self.moment_of(int(lines[0])))

    def moment_of(self, line: int) -> Moment:
        return Moment(self._moments[line], self._levels)

    def words(self, text: str) -> list[str]:
        """The plain forms of all words of a text, small ones among them."""
        tokens = WORD.findall(text) if self._language == "en" else self._cut(text)
        return [self._plain(word) for word in tokens]

    def _terms_of(self, line: Line) -> Iterator[tuple[str, bool]]:
        """The terms of a line, and whether each is written like a name."""
        position = 0
        for written in WORD.findall(line.text) if self._language == "en" else self._cut(line.text):
            position = max(line.text.find(written, position), 0)
            is_capital = written[0].isupper() and not _opens_sentence(line.text, position)
            if root := self._root(written):
                yield root, is_capital
            elif written.islower() or written[1:].islower():  # not 'I'
                self._small_words += 1
                self._small_capitals += is_capital
        yield from ((phrase, False) for phrase, _ in self._phrases(line.text))

    def _roots(self, text: str) -> Iterator[tuple[str, str]]:
        """Each term's plain form, and as it stands in the text."""
        for word in WORD.findall(text) if self._language == "en" else self._cut(text):
            if root := self._root(word):
                yield root, word

    def _phrases(self, text: str) -> Iterator[tuple[str, str]]:
        """Two terms side by side, with no mark between them but small words perhaps."""
        for clause in BREAK.split(text):
            for (a, first), (b, second) in pairwise(self._roots(clause)):
                yield f"{a} {b}", f"{first} {second}"

    def _root(self, word: str) -> str:
        """A term's plain form; nothing for a small word or a number."""
        folded = word.lower().replace("’", "'")
        if folded in self._stop or len(folded) < SHORTEST or folded.isdigit():
            return ""
        return self._plain(word)

    def _plain(self, word: str) -> str:
        """A word without the endings that do not make another word of it (owls, Zita's)."""
        folded = word.lower().replace("’", "'").removesuffix("'s")
        plural = len(folded) > 3 and folded.endswith("s") and not folded.endswith(("ss", "us", "is"))
        return folded[:-1] if plural and self._language == "en" else folded


@dataclass(frozen=True, slots=True)
class PersonaKnowledge:
    """What one persona can know of a story: the lines before its moment, and which of them it witnessed."""

    chronology: Chronology
    bound: int
    witnessed: NDArray[np.bool_]
    own: frozenset[str]
    reached: float
    """The share of all scenes that began before the moment."""
    attended: float
    """The share of those that the persona was in."""

    def unknown_yet(self, text: str, left_out: int | None = None) -> list[UnknownTerm]:
        """Words that the story first uses at or after the persona's moment, and names that it is yet to hear.

        `left_out` is the number of a line that is taken not to be in the story.
        """
        return [
            self.chronology.unknown_term(written, lines)
            for term, written, used in self._foreign_terms(text)
            if " " not in term
            and len(lines := used if left_out is None else used[used != left_out])
            and lines[-1] >= self.bound
            and self._is_still_to_come(term, written, lines)
        ]

    def unwitnessed(self, text: str) -> list[UnknownTerm]:
        """Terms that the story used before the persona's moment, but never where the persona was."""
        unknown = (
            self.chronology.unknown_term(written, before)
            for term, written, lines in self._foreign_terms(text)
            if len(before := lines[lines < self.bound])
            and not self.witnessed[before].any()
            and self._is_telling_silence(term, before, self.attended)
        )
        return _each_once(unknown)

    def _foreign_terms(self, text: str) -> Iterator[tuple[str, str, Numbers]]:
        """The story's terms in a text, but for those of what the persona is and feels."""
        return (entry for entry in self.chronology.lines_of(text) if not self.own.issuperset(entry[0].split(" ")))

    def _is_still_to_come(self, term: str, written: str, lines: Numbers) -> bool:
        if lines[0] >= self.bound:
            return self._is_telling_silence(term, lines, self.reached)
        is_name = self.chronology.is_of_the_cast(term) and not written.islower()
        return is_name and not self.witnessed[lines[lines < self.bound]].any()

    def _is_telling_silence(self, term: str, lines: Numbers, share: float) -> bool:
        if self.chronology.is_telling(term):
            return True
        scenes = self.chronology.scenes_of(lines)
        return scenes >= FEWEST and float((1 - share) ** scenes) < CHANCE


def own_sentences(persona: Persona) -> tuple[str, ...]:
    """What a persona is and feels, which it may speak of at any time; of a stranger it knows the names it has heard."""
    strangers = {tie.to for tie in persona.relations if tie.kind == "familiarity" and tie.level == 0}
    feelings = (
        feeling for tie, feeling in zip(persona.relations, persona.feelings(), strict=True) if tie.to not in strangers
    )
    return persona.name, *persona.profile, *feelings


def _opens_sentence(text: str, position: int) -> bool:
    before = text[:position].rstrip()
    return not before or before[-1] in ENDS_SENTENCE


def _each_once(terms: Iterable[UnknownTerm]) -> list[UnknownTerm]:
    """A phrase that tells nothing beyond a word of it that was found by itself is left out."""
    listed = list(terms)
    words = {unknown.term for unknown in listed}
    return [unknown for unknown in listed if " " not in unknown.term or words.isdisjoint(unknown.term.split(" "))]
