"""What a scene shows of each mask: bags of terms by where they stand, and these as sparse rows.

A bag has several spaces, and a term of one is another in another:

    own       words and pairs of words that the mask says, whom it calls, what it does meanwhile
    heard     what others say just before the mask speaks; which supporting character says it
    answer    what others say just after
    shape     how much it says, in what length of lines, when it comes in

Terms are counted once; each model takes the spaces it wants. There a term t counts

    (1 + ln n(t)) * idf(t),    idf(t) = ln((1 + N) / (1 + df(t))) + 1

and each space is scaled to length 1, so that the few words of somebody who hears much are not drowned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from understudy.language.lexical.rows import Ints, Reals, SparseRows
from understudy.people.mentions import ReadLine, ReadScene, read_scene, words_of
from understudy.people.names import CharacterNames
from understudy.story.types import Scene

Bag = Mapping[str, Mapping[str, int]]
"""For each space its terms, and how often each comes up."""

SPACES = ("own", "heard", "answer", "shape")
BEGIN, END = "<", ">"
FEWEST = 2  # bags that have a term, for it to be learned
FEWEST_PAIRS = 3  # the same for a pair of words


@dataclass(frozen=True, slots=True)
class SceneFeatures:
    """`speakers` are those to be told apart: masks, or the main characters of a scene with names."""

    scene: Scene
    read: ReadScene
    speakers: tuple[str, ...]
    bags: Mapping[str, Bag]

    def listed(self) -> list[Bag]:
        return [self.bags[who] for who in self.speakers]

    def length(self, who: str) -> int:
        """How many words somebody says."""
        return sum(len(line.words) for line in self.read.lines if line.speaker == who)

    def named_by(self, who: str) -> list[str]:
        """The words with which somebody may name others."""
        return [mention.word for line in self.read.lines if line.speaker == who for mention in line.mentions]

    def texts(self, who: str) -> list[str]:
        """What somebody says, line by line."""
        return [line.text for line in self.scene.lines if line.speaker == who]


def scene_features(scene: Scene, speakers: Sequence[str], names: CharacterNames, language: str) -> SceneFeatures:
    read = read_scene(scene, names, language)
    return SceneFeatures(scene, read, tuple(speakers), bags_of(read, speakers, language))


def named_scene_features(scene: Scene, main: Sequence[str], names: CharacterNames, language: str) -> SceneFeatures:
    """The features of the main characters in a scene with names."""
    speaking = {line.speaker for line in scene.lines}
    return scene_features(scene, [who for who in main if who in speaking], names, language)


def bags_of(scene: ReadScene, speakers: Sequence[str], language: str) -> dict[str, Bag]:
    """A bag for each of `speakers`, who are masks (or, in scenes with names, main characters)."""
    spoken = scene.spoken()
    bags: dict[str, dict[str, Counter[str]]] = {who: {space: Counter() for space in SPACES} for who in speakers}
    for index, line in enumerate(spoken):
        if line.speaker not in bags:
            continue
        bag = bags[line.speaker]
        bag["own"].update(_line_terms(line, language))
        bag["own"].update(f"{a} {b}" for a, b in pairwise((BEGIN, *line.words, END)))
        if index:
            bag["heard"].update(_neighbour_terms(spoken[index - 1], line, bags, language))
        if index + 1 < len(spoken):
            bag["answer"].update(_neighbour_terms(spoken[index + 1], line, bags, language))
    counts = Counter(line.speaker for line in spoken)
    order = [who for who in counts if who in bags]
    by_share = sorted(order, key=lambda who: -counts[who])
    for who, bag in bags.items():
        if who in counts:
            bag["shape"].update(_shape(bag["own"], counts[who], order.index(who), by_share.index(who), len(order)))
    return {who: dict(bag) for who, bag in bags.items()}


def _line_terms(line: ReadLine, language: str) -> list[str]:
    terms = [*line.words, *(f"call:{mention.word}" for mention in line.mentions if mention.kind == "called")]
    terms += [f"aside:{word}" for aside in line.asides for word in words_of(aside, language)]
    return terms


def _neighbour_terms(neighbour: ReadLine, line: ReadLine, masks: Mapping[str, object], language: str) -> list[str]:
    if neighbour.speaker == line.speaker:
        return []
    return [*_line_terms(neighbour, language), *([] if neighbour.speaker in masks else [f"by:{neighbour.speaker}"])]


def _shape(own: Counter[str], lines: int, entrance: int, rank: int, masks: int) -> list[str]:
    words = sum(count for term, count in own.items() if " " not in term)
    return [
        "always",
        f"rank {rank} of {masks}",
        f"comes {min(entrance, 3)}",
        f"length {min(int(math.log2(1 + words / lines) * 2), 12)}",
        f"lines {min(int(math.log2(lines) * 1.5), 8)}",
    ]


class Terms:
    """The terms that some bags have, numbered space by space."""

    def __init__(self, bags: Sequence[Bag], spaces: Sequence[str]) -> None:
        self.spaces = tuple(spaces)
        self._numbers: dict[str, dict[str, int]] = {}
        self._terms: list[str] = []
        frequencies: list[int] = []
        self._ends: list[int] = []
        for space in spaces:
            seen: Counter[str] = Counter()
            for bag in bags:
                seen.update(bag[space].keys())
            frequent = [term for term, count in seen.items() if count >= (FEWEST_PAIRS if " " in term else FEWEST)]
            first = len(self._terms)
            self._numbers[space] = dict(zip(frequent, range(first, first + len(frequent))))
            self._terms += frequent
            frequencies += [seen[term] for term in frequent]
            self._ends.append(len(self._terms))
        self._idf = np.log((1 + len(bags)) / (1 + np.array(frequencies, dtype=np.float64))) + 1

    def __len__(self) -> int:
        return len(self._terms)

    def term(self, number: int) -> str:
        return self._terms[number]

    def space(self, number: int) -> str:
        return self.spaces[int(np.searchsorted(self._ends, number, side="right"))]

    def space_of(self) -> list[str]:
        """The space of each term."""
        counts = np.diff([0, *self._ends]).tolist()
        return [space for space, count in zip(self.spaces, counts) for _ in range(count)]

    def words(self, space: str) -> tuple[Ints, Reals]:
        """For every term, in whatever space, its number among the single words of one space (-1: it is none); and
        how rare each of those is, as ln((1 + N) / (1 + df))."""
        known = {term: index for index, term in enumerate(term for term in self._numbers[space] if " " not in term)}
        rarity = self._idf[[self._numbers[space][term] for term in known]] - 1
        return np.array([known.get(term, -1) for term in self._terms], dtype=np.int64), rarity

    def counted(self, bags: Sequence[Bag]) -> SparseRows:
        """How often each bag has each term; terms that are not known are left out."""
        columns: list[int] = []
        counts: list[int] = []
        starts = [0]
        for bag in bags:
            by_number: dict[int, int] = {}
            for space, known in self._numbers.items():
                by_number.update((known[term], count) for term, count in bag[space].items() if term in known)
            for number in sorted(by_number):
                columns.append(number)
                counts.append(by_number[number])
            starts.append(len(columns))
        return SparseRows(
            np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64),
            np.array(counts, dtype=np.float64), len(self._terms),
        )  # fmt: skip

    def view(self, spaces: Sequence[str]) -> TermView:
        """Some of the spaces, as a model sees them."""
        begins = [0, *self._ends]
        wanted = np.zeros(len(self._terms), dtype=np.bool_)
        space_of = np.zeros(len(self._terms), dtype=np.int64)
        for index, space in enumerate(spaces):
            at = self.spaces.index(space)
            wanted[begins[at] : begins[at + 1]] = True
            space_of[begins[at] : begins[at + 1]] = index
        return TermView(np.flatnonzero(wanted), space_of, np.where(wanted, self._idf, 0.0), len(spaces))


@dataclass(frozen=True, slots=True)
class TermView:
    """The terms of some spaces, numbered anew: `numbers` are those they have among all."""

    numbers: Ints
    space_of: Ints
    idf: Reals
    spaces: int

    def counts(self, counted: SparseRows) -> SparseRows:
        """The counts of these terms alone."""
        selected = counted.filter_values(self.idf[counted.columns] > 0)
        columns = np.searchsorted(self.numbers, selected.columns)
        return SparseRows(selected.starts, columns, selected.values, len(self.numbers))

    def weighted(self, counted: SparseRows) -> SparseRows:
        """Terms by how much they count."""
        selected = counted.filter_values(self.idf[counted.columns] > 0)
        values = (1 + np.log(selected.values)) * self.idf[selected.columns]
        segments = selected.owners * self.spaces + self.space_of[selected.columns]
        lengths = np.sqrt(np.bincount(segments, values**2))
        columns = np.searchsorted(self.numbers, selected.columns)
        return SparseRows(selected.starts, columns, values / lengths[segments], len(self.numbers))
