"""What each main character has said and heard so far, with exponential decay scene by scene.

An addition of some scenes ago counts 2 ** (-scenes / h), for several half-lives h. From that come two kinds of clues:

    sayings   naive Bayes:  sum over terms t of min(n(t), 3) ln(P(t | c) / P(t)) / sqrt(1 + terms),  of what is said,
              of what is heard just before, and of what is answered
    topics    the cosine of the tf-idf weighted words of this scene with those of the past, said and heard crosswise:
              who goes on about what was talked of lately is likely to be who talked of it

A memory is asked about a scene before it is given the names of it: it knows what came earlier and nothing else, so the
weights of its clues need no scenes held back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from understudy.guessing.features import Terms
from understudy.lexical.rows import Ints, Reals, Rows

__all__ = ["SAYINGS", "TOPICS", "PhraseMemory", "SceneMemory", "TopicMemory"]

SPACES = ("own", "heard", "answer")
LONG_LIVES = (100.0, 4000.0)  # scenes: some episodes, or all
LIVES = (4.0, 250.0)  # the last scenes, or a season
SAYINGS = {f"{space}, as in the last {half:g} scenes": 0.3 for half in LONG_LIVES for space in SPACES}
LOOKS = ((0, 0), (1, 1), (0, 1), (1, 0))  # said with said, heard with heard, and crosswise
TOPICS = {f"{'heard' if a else 'said'} {'heard' if b else 'said'} in the last {half:g} scenes": 0.0
          for half in LIVES for a, b in LOOKS}  # fmt: skip
"""SceneClues, and what each weighs before anything is learned."""

SMOOTHING = 8.0  # a term must be said often before it is believed to be somebody's
OFTENEST = 3  # times that a term counts in one scene
RARITY = 1.5  # how much more rare words count than in tf-idf
LEAST = 0.3  # of a memory's length: of somebody who said little lately, little can be told
LARGEST = 1e12


class SceneMemory:
    """Both kinds of clues, of the people in the order given."""

    def __init__(self, terms: Terms, people: int) -> None:
        self._parts = PhraseMemory(terms, people), TopicMemory(terms, people)

    def clues(self, counted: Rows) -> Reals:
        """`[row, person, clue]`: a row of counts for each mask."""
        return np.concatenate([part.clues(counted) for part in self._parts], axis=2)

    def remember(self, counted: Rows, people: Sequence[int]) -> None:
        """A scene is over: who each row of counts was."""
        for part in self._parts:
            part.remember(counted, people)


class _Decay:
    """Exponential decay without touching what is stored: additions grow, and what is read is divided by `worth`."""

    def __init__(self, lives: Sequence[float]) -> None:
        self._growth = 2.0 ** (1 / np.array(lives))
        self.worth = np.ones(len(lives))

    def pass_on(self) -> Reals | None:
        """The next scene; where numbers have grown too large, what everything stored is to be divided by."""
        self.worth = self.worth * self._growth
        if self.worth.max() < LARGEST:
            return None
        too_large, self.worth = self.worth, np.ones(len(self.worth))
        return too_large


class PhraseMemory:
    def __init__(self, terms: Terms, people: int) -> None:
        self._spaces = np.array([SPACES.index(space) if space in SPACES else -1 for space in terms.space_of()])
        self._time = _Decay(LONG_LIVES)
        self._said = np.zeros((len(LONG_LIVES), people, len(terms)))
        self._total = np.ones((len(LONG_LIVES), people, len(SPACES)))

    def clues(self, counted: Rows) -> Reals:
        lives, people, _ = self._said.shape
        table = np.zeros((len(counted), people, lives * len(SPACES)))
        share = self._total / self._total.sum(axis=1, keepdims=True)
        for row, (columns, counts) in enumerate(_each(counted)):
            spaces = self._spaces[columns]
            columns, counts, spaces = columns[spaces >= 0], counts[spaces >= 0], spaces[spaces >= 0]
            said = self._said[:, :, columns] / self._time.worth[:, None, None]
            often = said.sum(axis=1, keepdims=True)
            prior = SMOOTHING * np.sqrt(often) + 1e-3
            own = share[:, :, spaces]
            ratio = np.log((said + own * prior) / (own * (often + prior))) * np.minimum(counts, OFTENEST)
            length = np.sqrt(1 + np.bincount(spaces, counts, minlength=len(SPACES)))
            for space in range(len(SPACES)):
                clue = ratio[:, :, spaces == space].sum(axis=2) / length[space]
                table[row, :, space :: len(SPACES)] = clue.T
        return table

    def remember(self, counted: Rows, people: Sequence[int]) -> None:
        for who, (columns, counts) in zip(people, _each(counted)):
            spaces = self._spaces[columns]
            columns, counts, spaces = columns[spaces >= 0], counts[spaces >= 0], spaces[spaces >= 0]
            self._said[:, who, columns] += self._time.worth[:, None] * counts
            self._total[:, who] += self._time.worth[:, None] * np.bincount(spaces, counts, minlength=len(SPACES))
        if (too_large := self._time.pass_on()) is not None:
            self._said /= too_large[:, None, None]
            self._total /= too_large[:, None, None]


class TopicMemory:
    def __init__(self, terms: Terms, people: int) -> None:
        self._word, self._rarity = terms.words("own")
        self._rarity = self._rarity**RARITY
        self._heard = np.array([space in ("heard", "answer") for space in terms.space_of()], dtype=np.bool_)
        self._own = np.array([space == "own" for space in terms.space_of()], dtype=np.bool_)
        self._time = _Decay(LIVES)
        self._vectors = np.zeros((2, len(LIVES), people, len(self._rarity)))
        self._squares = np.zeros((2, len(LIVES), people))

    def clues(self, counted: Rows) -> Reals:
        table = np.zeros((len(counted), self._vectors.shape[2], len(LIVES) * len(LOOKS)))
        lengths = np.sqrt(self._squares) + LEAST * self._time.worth[:, None]
        for row, terms in enumerate(_each(counted)):
            rows = self._rows(*terms)
            for look, (now, then) in enumerate(LOOKS):
                words, values = rows[now]
                cosine = self._vectors[then][:, :, words] @ values / lengths[then]
                table[row, :, look :: len(LOOKS)] = cosine.T
        return table

    def remember(self, counted: Rows, people: Sequence[int]) -> None:
        worth = self._time.worth
        for who, row in zip(people, _each(counted)):
            for kind, (words, values) in enumerate(self._rows(*row)):
                before = self._vectors[kind, :, who][:, words]
                self._squares[kind, :, who] += 2 * worth * (before @ values) + worth**2 * (values @ values)
                self._vectors[kind, :, who, words] += worth * values[:, None]
        if (too_large := self._time.pass_on()) is not None:
            self._vectors /= too_large[:, None, None]
            self._squares /= too_large[:, None] ** 2

    def _rows(self, columns: Ints, counts: Reals) -> list[tuple[Ints, Reals]]:
        """Words said, and words heard and answered: each once, weighted, of length 1."""
        rows = []
        for kind in (self._own, self._heard):
            of_kind = kind[columns] & (self._word[columns] >= 0)
            words, inverse = np.unique(self._word[columns[of_kind]], return_inverse=True)
            values = (1 + np.log(np.bincount(inverse, counts[of_kind], minlength=len(words)))) * self._rarity[words]
            rows.append((words, values / (np.sqrt(values @ values) or 1.0)))
        return rows


def _each(rows: Rows) -> Iterator[tuple[Ints, Reals]]:
    for first, last in zip(rows.starts[:-1].tolist(), rows.starts[1:].tolist()):
        yield rows.columns[first:last], rows.values[first:last]
