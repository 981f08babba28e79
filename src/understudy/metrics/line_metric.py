"""Sample lines by character, and the base class of metrics that say how much like a character a line is.

    samples = Samples.of_story(story, before="2.3")
    zita = psprob(samples, "Zita")
    zita(["The tide is out."])               a Score each, with its reason
    zita.values(samples.tokenize(lines))     the values alone, NaN where one is missing: for a million lines

Lines are tokenized once, and the words and n-grams of all characters have the same ids, so that a second metric, or a
second persona, costs little. Marks (... ! ? 〜) are among the words, because they are part of how somebody talks;
metrics of what is said look at the plain words.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.language.lexical import Corpus, Lines
from understudy.language.lexical.rows import Ints, Reals, sorted_unique
from understudy.sources.jsonstream import load_json
from understudy.story.dialogue import Score
from understudy.story.spoiler_free import scenes_before
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.text import guess_language

NO_WORDS = "the line has no words"
ALONE = "there is no one to tell apart"
TELLING = 3  # words named as reasons
UNCOUNTED = -1


class Samples:
    """Independent lines of several characters, in one language; `background` is talk of nobody in particular."""

    def __init__(
        self, lines: Mapping[str, Iterable[str]], language: str = "en", background: Iterable[str] = ()
    ) -> None:
        texts: list[str] = []
        self._spans: dict[str, tuple[int, int]] = {}
        for name, said in lines.items():
            first = len(texts)
            texts.extend(line for line in said if line and not line.isspace())
            if len(texts) > first:
                self._spans[name] = first, len(texts)
        self._said = len(texts)
        texts.extend(background)
        self.corpus = Corpus(texts, language, marks=True)
        self._rarity: dict[tuple[int, int], Reals] = {}

    @classmethod
    def of_story(cls, story: Story, before: Moment | str = "end") -> Samples:
        """What everybody in a story has said before a moment; nothing that comes later is used."""
        at = story.moment(before) if isinstance(before, str) else before
        lines: dict[str, list[str]] = {member.character.name: [] for member in story.cast_before(at)}
        for scene in scenes_before(story, at):
            for line in scene.lines:
                if line.speaker in lines:
                    lines[line.speaker].append(line.text)
        return cls(lines, story.language)

    @classmethod
    def load(cls, path: Path, language: str | None = None) -> Samples:
        """From a JSON file {character: [lines]}; by default the language is guessed."""
        lines = load_lines(path)
        return cls(lines, language or guess_language(" ".join(line for said in lines.values() for line in said)))

    @property
    def language(self) -> str:
        return self.corpus.language

    @property
    def names(self) -> tuple[str, ...]:
        """Those who have a line, in the order given."""
        return tuple(self._spans)

    @property
    def said(self) -> int:
        """How many lines the characters have; those of the background come after them."""
        return self._said

    def count(self, name: str) -> int:
        """How many lines a character has."""
        first, last = self.span(name)
        return last - first

    def span(self, name: str) -> tuple[int, int]:
        """Which lines of the corpus are a character's: the first, and the one after the last."""
        return self._spans.get(name, (0, 0))

    def lack_of(self, name: str, otherwise: str = "") -> str:
        """Why nothing can be said of a character: no sample lines, or, with `otherwise`, none of anybody else."""
        if not self.count(name):
            return f"no sample lines of {name}"
        is_alone = otherwise and len(self.names) < 2
        return f"nobody but {name} has sample lines: {otherwise}" if is_alone else ""

    def lines(self, name: str) -> Sequence[str]:
        first, last = self.span(name)
        return self.corpus.lines.texts[first:last]

    def uses(self, name: str, order: int) -> Ints:
        """For each n-gram of the corpus, those at a line's ends too, how many lines of a character have it."""
        first, last = self.span(name)
        return self._havers(order, first, last, np.arange(first, last))

    def rarity(self, order: int, least: int = 1) -> Reals:
        """For each n-gram of the corpus, ln(how many characters there are / how many of them use it).

        Characters with fewer lines than `least` are not counted, where there are two others.
        """
        if (order, least) not in self._rarity:
            spans = np.array(list(self._spans.values()), dtype=np.int64).reshape(-1, 2)
            counted = spans[:, 1] - spans[:, 0] >= least
            counted |= np.count_nonzero(counted) < 2
            speakers = np.repeat(np.where(counted, np.arange(len(spans)), UNCOUNTED), spans[:, 1] - spans[:, 0])
            users = self._havers(order, 0, self._said, speakers)
            characters = np.count_nonzero(counted)
            self._rarity[order, least] = np.log(characters / np.maximum(users, 1))  # some have no user among them
        return self._rarity[order, least]

    def _havers(self, order: int, first: int, last: int, owners: Ints) -> Ints:
        """For each n-gram of the corpus, how many different owners have it in their lines from `first` to `last`."""
        lines, width = self.corpus.lines, self.corpus.grams(order)
        grams = lines.grams(order)[lines.starts[first] : lines.starts[last]]
        keepers = np.repeat(owners, lines.lengths[first:last] + 1)  # a place for each word, and one for the boundary
        there = (grams >= 0) & (keepers != UNCOUNTED)
        return np.bincount(sorted_unique(keepers[there] * width + grams[there]) % max(width, 1), minlength=width)

    def tokenize(self, lines: Sequence[str]) -> Lines:
        """Lines to be scored, tokenized once for all metrics."""
        return self.corpus.tokenize(lines)


def load_lines(path: Path) -> dict[str, list[str]]:
    """The lines of each character, from a JSON file {character: [lines]}."""
    document: dict[str, list[str]] = load_json(path)
    if not isinstance(document, dict) or not all(_is_lines(said) for said in document.values()):
        raise InputError("is not {character: [lines]}: an object with a list of lines for each character", path)
    return document


def _is_lines(said: object) -> bool:
    return isinstance(said, list) and all(isinstance(line, str) for line in said)


def describe_telling(telling: Iterable[tuple[str, float]], otherwise: str) -> str:
    """The first terms that speak for a character (above 0) and against it, as a reason; the strongest come first."""
    sides: dict[str, list[str]] = {"for": [], "against": []}
    for term, weight in telling:
        if weight:
            sides["for" if weight > 0 else "against"].append(term)
    return "; ".join(f"{side}: {', '.join(terms[:TELLING])}" for side, terms in sides.items() if terms) or otherwise


class LineMetric(ABC):
    """A metric of lines for one persona. `missing` says why it can score nothing at all; empty where it can."""

    words_alone = False  # are marks left out before lines are looked at?

    def __init__(self, name: str, samples: Samples, missing: str = "") -> None:
        self.name, self.samples, self.missing = name, samples, missing

    def __call__(self, lines: Sequence[str] | Lines) -> list[Score]:
        """A score for each line, in their order, with what made it."""
        tokenized = lines if isinstance(lines, Lines) else self.samples.tokenize(lines)
        return [
            Score(self.name, None if math.isnan(value) else value, self.reason(tokenized, index, value))
            for index, value in enumerate(self.values(tokenized).tolist())
        ]

    def values(self, lines: Lines) -> Reals:
        """The value of each line; NaN where there is none."""
        if self.missing or not len(lines):
            return np.full(len(lines), np.nan)
        measured = self.measured(lines.plain if self.words_alone else lines)
        return np.where(lines.plain.lengths > 0, measured, np.nan)

    def reason(self, lines: Lines, index: int, value: float) -> str:
        """What made the value of one line, or why it has none."""
        lines = lines.plain if self.words_alone else lines
        return (self.missing or self.lack(lines, index)) if math.isnan(value) else self.why(lines, index)

    @abstractmethod
    def measured(self, lines: Lines) -> Reals:
        """The value of each line that has words, NaN where there is none; of the other lines, anything."""

    def lack(self, lines: Lines, index: int) -> str:  # noqa: ARG002
        """Why one line has no value."""
        return NO_WORDS

    @abstractmethod
    def why(self, lines: Lines, index: int) -> str:
        """Which terms, or which sample line, made the value of one line."""


class TextMetric(LineMetric):
    """A metric that looks at each text by itself: made from a function that gives a text's value and the reason.

    `samples` say how lines are tokenized.
    """

    words_alone = True

    def __init__(
        self, name: str, samples: Samples, score_text: Callable[[str], tuple[float, str]], missing: str = ""
    ) -> None:
        super().__init__(name, samples, missing)
        self._score_text = score_text

    def measured(self, lines: Lines) -> Reals:
        return np.array([self._score_text(text)[0] for text in lines.texts], dtype=np.float64)

    def why(self, lines: Lines, index: int) -> str:
        return self._score_text(lines.texts[index])[1]
