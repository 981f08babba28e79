"""Clues to who is behind a mask: who is named where, what is known of a candidate, and what they said and heard so far.

Cues of names. Nobody calls themselves; whoever is called answers, or has just spoken. 'I'm Ross' is Ross, '(to Ross)'
is somebody else, '[Ross enters]' is followed by Ross. The table has a number for each mask, candidate and cue: how
often it comes up, as ln(1 + n).

Facts, beside what a candidate said:

    known of them    words of meaning shared by what is said and profile, attributes and ties  /  sqrt(1 + words said)
    tied to them     how often the mask names somebody the candidate has a tie to, as ln(1 + n)

A story that has only a script has no facts; then both are 0, and their weights cannot be learned from scenes alone. So
they are fixed.

Memories, with exponential decay scene by scene: an addition of some scenes ago counts 2 ** (-scenes / h), for several
half-lives h. From that come two kinds of clues:

    sayings   naive Bayes:  sum over terms t of min(n(t), 3) ln(P(t | c) / P(t)) / sqrt(1 + terms),  of what is said,
              of what is heard just before, and of what is answered
    topics    the cosine of the tf-idf weighted words of this scene with those of the past, said and heard crosswise:
              who goes on about what was talked of lately is likely to be who talked of it

A memory is asked about a scene before it is given the names of it: it knows what came earlier and nothing else, so the
weights of its clues need no scenes held back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from understudy.guessing.features import SceneFeatures, Terms
from understudy.language.lexical.rows import Ints, Reals, SparseRows
from understudy.people.mentions import ReadLine, ReadScene, named_in
from understudy.story.persona import Persona
from understudy.text import fold, stop_words, words

CUES: dict[str, tuple[float, str]] = {
    # the mask itself names the candidate
    "calls": (-1.5, "is called by this one"),
    "talks of": (-0.8, "is talked of by this one"),
    "talks of theirs": (-0.8, "has something of theirs talked of by this one"),
    "says 'I am'": (0.5, "is who this one says they are"),
    "turns to": (-1.0, "is turned to by this one"),
    "aside names": (0.3, "is named in what this one does"),
    # somebody names the candidate next to what the mask says
    "called before it speaks": (1.0, "is called just before this one speaks"),
    "called after it spoke": (0.6, "is called just after this one spoke"),
    "called two before": (0.2, "is called two lines before this one speaks"),
    "called two after": (0.2, "is called two lines after this one spoke"),
    "talked of before": (-0.2, "is talked of just before this one speaks"),
    "talked of after": (-0.1, "is talked of just after this one spoke"),
    "turned to before": (0.8, "is turned to just before this one speaks"),
    "turned to after": (0.5, "is turned to just after this one spoke"),
    "aside before": (0.0, "is named in what is done just before this one speaks"),
    "aside after": (0.0, "is named in what is done just after this one spoke"),
    "called between two of its lines": (0.3, "is called between two lines of this one"),
    "called by name alone": (0.3, "is called by name alone, and this one answers"),
    # a description next to it names the candidate
    "described before": (0.6, "is named in the direction before this one speaks"),
    "described before, not first": (0.1, "is named besides in the direction before this one speaks"),
    "described after": (0.3, "is named in the direction after this one spoke"),
    "described after, not first": (0.0, "is named besides in the direction after this one spoke"),
    "comes in before": (0.5, "comes in, and this one speaks"),
    # the setting names the candidate
    "setting, speaks first": (0.2, "is named in the setting, and this one speaks first"),
    "setting, not first": (0.0, "is named besides in the setting, and this one speaks first"),
    "setting, speaks late": (0.0, "is named in the setting, and this one speaks late"),
    # of all who name the candidate it is the one that does not
    "never names": (0.5, "is named, but never by this one"),
    "never calls": (0.3, "is called, but never by this one"),
}
"""Each cue: what it weighs before anything is learned, and a sentence about whom it names, told of the mask."""

ALONE = ("calls", "talks of", "talks of theirs", "says 'I am'", "turns to", "aside names", "never names", "never calls")
CONTEXT = frozenset(CUES.keys() - set(ALONE))
"""Cues that are not in what the mask itself says."""

NUMBER = {cue: index for index, cue in enumerate(CUES)}
TURNING = frozenset(("to", "at", "hugs", "kisses", "with"))
COMING = frozenset(("comes", "walks", "runs", "returns", "opens", "answers"))


def cue_table(scene: ReadScene, masks: Sequence[str], candidates: Sequence[str], meant: Mapping[str, str]) -> Reals:
    """`[mask, candidate, cue]`; `meant` says whom a word names."""
    return _CueCounter(scene, masks, candidates, meant).filled()


class _CueCounter:
    def __init__(
        self, scene: ReadScene, masks: Sequence[str], candidates: Sequence[str], meant: Mapping[str, str]
    ) -> None:
        self._scene = scene
        self._mask = {mask: index for index, mask in enumerate(masks)}
        self._candidate = {who: index for index, who in enumerate(candidates)}
        self._meant = {word: who for word, who in meant.items() if who in self._candidate}
        self._counts = np.zeros((len(masks), len(candidates), len(CUES)))

    def filled(self) -> Reals:
        if self._meant:
            spoken = self._scene.spoken()
            self._named = np.zeros((2, *self._counts.shape[:2]))  # anyhow, and called
            self._total = np.zeros((2, len(self._candidate)))
            for index, line in enumerate(spoken):
                self._count_line(line, [_speaker(spoken, index, line, step) for step in (-2, -1, 1, 2)])
            self._count_descriptions()
            self._count_setting(spoken)
            counts = np.log1p(self._counts)
            for cue, named, total in zip(("never names", "never calls"), self._named, self._total):
                counts[:, :, NUMBER[cue]] = (named == 0) * np.log1p(total)
            self._counts = counts
        return self._counts

    def _add(self, speaker: str | None, who: str, cue: str, amount: float = 1.0) -> None:
        if speaker in self._mask:
            self._counts[self._mask[speaker], self._candidate[who], NUMBER[cue]] += amount

    def _count_line(self, line: ReadLine, near: Sequence[str | None]) -> None:
        before_that, before, after, after_that = near
        own = None if line.speaker is None else self._mask.get(line.speaker)
        for mention in line.mentions:
            who = self._meant.get(mention.word)
            if who is None:
                continue
            called = mention.kind == "called"
            for kind in (0, 1) if called else (0,):
                self._total[kind, self._candidate[who]] += 1
                if own is not None:
                    self._named[kind, own, self._candidate[who]] += 1
            if mention.kind == "introduced":
                self._add(line.speaker, who, "says 'I am'")
            elif called:
                self._add(line.speaker, who, "calls")
                self._add(after, who, "called before it speaks")
                self._add(before, who, "called after it spoke")
                self._add(after_that if after_that != after else None, who, "called two before")
                self._add(before_that if before_that != before else None, who, "called two after")
                self._add(after if after == before else None, who, "called between two of its lines")
                self._add(after if len(line.words) <= 3 else None, who, "called by name alone")
            else:
                self._add(line.speaker, who, "talks of theirs" if mention.owned else "talks of")
                self._add(after, who, "talked of before")
                self._add(before, who, "talked of after")
        for aside in line.asides:
            for who, word_before, _ in named_in(aside, self._meant):
                turning = word_before in TURNING
                self._add(line.speaker, who, "turns to" if turning else "aside names")
                self._add(after, who, "turned to before" if turning else "aside before")
                self._add(before, who, "turned to after" if turning else "aside after")

    def _count_descriptions(self) -> None:
        lines = self._scene.lines
        before: str | None = None
        for index, line in enumerate(lines):
            if line.speaker is not None:
                before = line.speaker
                continue
            after = next((later.speaker for later in lines[index + 1 :] if later.speaker is not None), None)
            for nth, (who, _, word_after) in enumerate(named_in(line.asides[0], self._meant)):
                self._add(after, who, "described before, not first" if nth else "described before")
                self._add(before, who, "described after, not first" if nth else "described after")
                if word_after.startswith("enter") or word_after in COMING:
                    self._add(after, who, "comes in before")

    def _count_setting(self, spoken: Sequence[ReadLine]) -> None:
        order = [who for who in dict.fromkeys(line.speaker for line in spoken) if who in self._mask]
        for nth, (who, _, _) in enumerate(named_in(self._scene.setting, self._meant)):
            for entrance, mask in enumerate(order):
                if entrance == 0:
                    self._add(mask, who, "setting, not first" if nth else "setting, speaks first")
                self._add(mask, who, "setting, speaks late", float(entrance))


def _speaker(spoken: Sequence[ReadLine], index: int, line: ReadLine, step: int) -> str | None:
    """Who speaks so many lines away, if it is somebody else."""
    neighbour = index + step
    who = spoken[neighbour].speaker if 0 <= neighbour < len(spoken) else None
    return None if who == line.speaker else who


FACTS = {"known of them": 2.0, "tied to them": 0.5}
"""SceneClues, and what each weighs."""


def fact_table(scene: SceneFeatures, personas: Sequence[Persona]) -> Reals:
    """`[mask, candidate, clue]`."""
    table = np.zeros((len(scene.speakers), len(personas), len(FACTS)))
    for column, persona in enumerate(personas):
        if not persona.profile and not persona.attributes and not persona.relations:
            continue
        ties = {fold(part) for tie in persona.relations for part in tie.to.split()}
        for row, mask in enumerate(scene.speakers):
            said = _own_words(scene, mask)
            table[row, column, 0] = len(said & _known(persona)) / math.sqrt(1 + len(said))
            named = sum(fold(word) in ties for word in scene.named_by(mask))
            table[row, column, 1] = math.log1p(named)
    return table


def shared_facts(scene: SceneFeatures, mask: str, persona: Persona) -> list[tuple[str, list[str]]]:
    """The sentences of a profile that share words with what a mask says, and the words; the most telling first."""
    said = _own_words(scene, mask)
    matches = [
        (sentence, sorted(shared))
        for sentence in (*persona.profile, *persona.feelings())
        if (shared := said & _telling(sentence, persona) - _own_name(persona))
    ]
    return sorted(matches, key=lambda match: -len(match[1]))


def _own_words(scene: SceneFeatures, mask: str) -> set[str]:
    return {word for word in scene.bags[mask]["own"] if word[0].isalnum() and " " not in word and ":" not in word}


def _known(persona: Persona) -> set[str]:
    values = [value for several in persona.attributes.values() for value in several]
    sentences = (*persona.profile, *persona.feelings(), *values)
    return {word for sentence in sentences for word in _telling(sentence, persona)} - _own_name(persona)


def _telling(sentence: str, persona: Persona) -> set[str]:
    return set(words(sentence, persona.language)) - stop_words(persona.language)


def _own_name(persona: Persona) -> set[str]:
    return {part.lower() for part in persona.name.split()}


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

    def clues(self, counted: SparseRows) -> Reals:
        """`[row, person, clue]`: a row of counts for each mask."""
        return np.concatenate([part.clues(counted) for part in self._parts], axis=2)

    def remember(self, counted: SparseRows, people: Sequence[int]) -> None:
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

    def clues(self, counted: SparseRows) -> Reals:
        lives, people, _ = self._said.shape
        table = np.zeros((len(counted), people, lives * len(SPACES)))
        share = self._total / self._total.sum(axis=1, keepdims=True)
        for row, (columns, counts, spaces) in enumerate(self._each_with_spaces(counted)):
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

    def remember(self, counted: SparseRows, people: Sequence[int]) -> None:
        for who, (columns, counts, spaces) in zip(people, self._each_with_spaces(counted)):
            self._said[:, who, columns] += self._time.worth[:, None] * counts
            self._total[:, who] += self._time.worth[:, None] * np.bincount(spaces, counts, minlength=len(SPACES))
        if (too_large := self._time.pass_on()) is not None:
            self._said /= too_large[:, None, None]
            self._total /= too_large[:, None, None]

    def _each_with_spaces(self, counted: SparseRows) -> Iterator[tuple[Ints, Reals, Ints]]:
        """The terms of each row that are of `SPACES`, how often it has them, and in which space."""
        for columns, counts in _each(counted):
            spaces = self._spaces[columns]
            yield columns[spaces >= 0], counts[spaces >= 0], spaces[spaces >= 0]


class TopicMemory:
    def __init__(self, terms: Terms, people: int) -> None:
        self._word, self._rarity = terms.words("own")
        self._rarity = self._rarity**RARITY
        self._heard = np.array([space in ("heard", "answer") for space in terms.space_of()], dtype=np.bool_)
        self._own = np.array([space == "own" for space in terms.space_of()], dtype=np.bool_)
        self._time = _Decay(LIVES)
        self._vectors = np.zeros((2, len(LIVES), people, len(self._rarity)))
        self._squares = np.zeros((2, len(LIVES), people))

    def clues(self, counted: SparseRows) -> Reals:
        table = np.zeros((len(counted), self._vectors.shape[2], len(LIVES) * len(LOOKS)))
        lengths = np.sqrt(self._squares) + LEAST * self._time.worth[:, None]
        for row, terms in enumerate(_each(counted)):
            rows = self._rows(*terms)
            for look, (now, then) in enumerate(LOOKS):
                columns, values = rows[now]
                cosine = self._vectors[then][:, :, columns] @ values / lengths[then]
                table[row, :, look :: len(LOOKS)] = cosine.T
        return table

    def remember(self, counted: SparseRows, people: Sequence[int]) -> None:
        worth = self._time.worth
        for who, row in zip(people, _each(counted)):
            for kind, (columns, values) in enumerate(self._rows(*row)):
                before = self._vectors[kind, :, who][:, columns]
                self._squares[kind, :, who] += 2 * worth * (before @ values) + worth**2 * (values @ values)
                self._vectors[kind, :, who, columns] += worth * values[:, None]
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


def _each(rows: SparseRows) -> Iterator[tuple[Ints, Reals]]:
    for first, last in zip(rows.starts[:-1].tolist(), rows.starts[1:].tolist()):
        yield rows.columns[first:last], rows.values[first:last]
