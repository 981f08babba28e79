"""Whom each line of a scene is said to: a probability for everybody present.

    z_c     = w . x_c                              evidence for each person c present other than the speaker
    P(c)    = exp(z_c) / sum over d of exp(z_d)    that it is c whom the line is said to, first of all

A line that is said to several divides its probability among them. The evidence x is what scripts have (`FEATURES`);
words for people are learned from the whole story first (`EpithetUse`), by who speaks next to whom. The weights
were learned from novels in English; in other languages the order of speakers and names still tell.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from understudy.language.lexical.rows import Reals, softmax
from understudy.language.model_folder import ModelFolder, Tensors, read_model, shipped_folder
from understudy.people.mentions import ASIDE, GREETINGS, mention
from understudy.people.names import CharacterNames
from understudy.story.storyfile import Story
from understudy.story.types import Scene

# What a spoken line itself says of whom it is said to: names called out, names spoken of, epithets, '(to Ross)'.
#
# An epithet is what stands where a name is called out without being one: 'Doctor', 'Captain', 'papa', 'Pheebs'. Whose
# it is, is learned from use, for each speaker alone (Emma's 'papa' is not Fanny's) and for all of them together:
#
#     lift(c | s, w) = ln((n(s, w, c) + A p) / ((n(s, w) + A) p)),   p = (n(s, c) + B n(c) / n) / (n(s) + B)
#
# n(s, w, c) counts the lines of s with w whose neighbours in the dialogue (the last other speaker, the next one) are c;
# the line that is asked about is left out. A word that anybody is called by, or that calls nobody, has a lift near 0.


SLOT = re.compile(
    r"(?:^|(?<=[,.!?;:…—-]))[\s'\"“”‘’-]*((?:[^\W\d_][\w'’]*\.?[ ]+){0,3}?[^\W\d_][\w'’]*)\s*(?=[,.!?;:…—-]|$)"
)
CLOSING_NAME = re.compile(r"(?<=[\w,] )([A-Z][\w'’]+)(?=[,.!?])")
"""What looks like a name before a mark: 'Oh no wait Pheebs,'."""
DIRECTED_TO = re.compile(r"\b(?:to|at|towards|aside to)\s+", re.IGNORECASE)
SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|thou|thee|thy)\b", re.IGNORECASE)
PLURAL = re.compile(
    r"\b(?:you (?:all|both|two|three|guys|people|lot)|both of you|all of you|everybody|everyone|gentlemen|ladies|"
    r"friends|boys|girls|children|guys|folks)\b",
    re.IGNORECASE,
)
ANSWER = re.compile(
    r"\W*(?:yes|no|yeah|nope|yep|oh|certainly|indeed|of course|perhaps|never|not|because|why)\b", re.IGNORECASE
)
FILLERS = GREETINGS | frozenset("my dear the a i it that there then now why what indeed if you he she we they".split())
LONGEST_SLOT = 3  # words
PRIOR, SPEAKER_PRIOR = 2.0, 4.0  # A and B of the lift


@dataclass(frozen=True, slots=True)
class LineCues:
    """What one line tells."""

    speaker: str
    called: frozenset[str]
    """Those who may be meant by a name that is called out."""
    calls: tuple[tuple[str, ...], ...]
    """The same call by call: everybody whose the name is that is called."""
    directed: frozenset[str]
    """Those whom a direction names: '(to Ross)'."""
    spoken_of: frozenset[str]
    epithets: tuple[str, ...]
    is_question: bool
    has_you: bool
    is_plural: bool
    is_answer: bool
    length: int


def cues_of(speaker: str, text: str, names: CharacterNames) -> LineCues:
    directed: set[str] = set()
    called: set[str] = set()
    calls: list[tuple[str, ...]] = []
    spoken_of: set[str] = set()
    said = text
    if "(" in text or "[" in text or "（" in text:
        for groups in ASIDE.findall(text):
            aside = "".join(groups)
            if DIRECTED_TO.search(aside):
                directed.update(who for whose, _, _ in _named(aside, names) for who in whose)
        said = ASIDE.sub(" ", text)
    for whose, start, end in _named(said, names):
        if mention(said, start, end).kind == "called":
            called.update(whose)
            calls.append(tuple(who for who in whose if who != speaker))
        else:
            spoken_of.update(whose)
    return LineCues(
        speaker, frozenset(called - {speaker}), tuple(filter(None, calls)), frozenset(directed - {speaker}),
        frozenset(spoken_of - called - {speaker}),
        tuple(_epithets(said)), "?" in said or "？" in said, SECOND_PERSON.search(said) is not None,
        PLURAL.search(said) is not None, ANSWER.match(said) is not None, len(said),
    )  # fmt: skip


def _named(text: str, names: CharacterNames) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Everybody whose a name in the text may be, and where it stands."""
    return ((names.owners(text[match.start : match.end]), match.start, match.end) for match in names.calls(text))


def _epithets(said: str) -> list[str]:
    """What stands alone between marks, without what does not tell people apart: 'my dear Papa,' is 'papa'."""
    epithets = []
    for slot in SLOT.finditer(said):
        words = slot[1].lower().replace("’", "'").split()
        while words and words[0] in FILLERS:
            words.pop(0)
        if words and len(words) < LONGEST_SLOT:
            epithets.append(" ".join(words))
    epithets += (match[1].lower() for match in CLOSING_NAME.finditer(said) if match[1].lower() not in FILLERS)
    return list(dict.fromkeys(epithets))


class EpithetUse:
    """How often each speaker used a word beside whom: the counts n of the lift."""

    def __init__(self) -> None:
        self._uses: dict[tuple[str, ...], _Uses] = defaultdict(_Uses)
        """By (speaker, word), by (word,), and by () for all."""
        self._beside: dict[str, _Uses] = defaultdict(_Uses)

    def add(self, cues: LineCues, neighbours: Sequence[str]) -> None:
        keys = [(), *((word,) for word in cues.epithets), *((cues.speaker, word) for word in cues.epithets)]
        for other in neighbours:
            self._beside[cues.speaker].add(other)
            for key in keys:
                self._uses[key].add(other)

    def share(self, speaker: str, other: str) -> float:
        """p: how often the speaker talks beside the other, of all it says."""
        beside, everybody = self._beside.get(speaker, NEVER), self._uses.get((), NEVER)
        expected = (everybody.by_person.get(other, 0) + 1) / max(everybody.total, 1)
        return (beside.by_person.get(other, 0) + SPEAKER_PRIOR * expected) / (beside.total + SPEAKER_PRIOR)

    def lifts(self, cues: LineCues, neighbours: Sequence[str], other: str) -> tuple[float, float]:
        """The strongest lift of a word of the line for the other: by the speaker's own use, and by everybody's."""
        if not cues.epithets:
            return 0.0, 0.0
        share = self.share(cues.speaker, other)
        here = neighbours.count(other)

        def lift(*key: str) -> float:
            uses = self._uses.get(key)
            if uses is None:
                return 0.0
            times, total = uses.by_person.get(other, 0) - here, uses.total - len(neighbours)
            return math.log((times + PRIOR * share) / ((total + PRIOR) * share))

        own = [lift(cues.speaker, word) for word in cues.epithets]
        common = [lift(word) for word in cues.epithets]
        return max(own, key=abs), max(common, key=abs)


class _Uses:
    """How often something was said beside each person."""

    __slots__ = ("by_person", "total")

    def __init__(self) -> None:
        self.by_person: dict[str, int] = {}
        self.total = 0

    def add(self, other: str) -> None:
        self.by_person[other] = self.by_person.get(other, 0) + 1
        self.total += 1


NEVER = _Uses()


MODEL = "addressee"


@dataclass(frozen=True, slots=True)
class AddresseeModel:
    """The weights w of the evidence."""

    weights: Reals

    @classmethod
    def load(cls, folder: ModelFolder) -> AddresseeModel:
        if list(folder.card.get("features", ())) != list(FEATURES):
            raise folder.error("it reads other evidence than this version has")
        return cls(folder.tensor("weights", len(FEATURES)).astype(np.float64))

    def tensors(self) -> Tensors:
        return {"weights": self.weights.astype(np.float32)}

    def probabilities(self, rows: Reals) -> Reals:
        """For each row, of one line."""
        return softmax(rows @ self.weights)


@cache
def shipped_addressee_model() -> AddresseeModel:
    return AddresseeModel.load(read_model(shipped_folder(MODEL), MODEL))


class AddresseeReader:
    """What is known of a story before its lines are read: names, and the words that its people use for each other."""

    def __init__(self, names: CharacterNames, scenes: Iterable[Scene]) -> None:
        self._names = names
        self._model = shipped_addressee_model()
        self._use = EpithetUse()
        for scene in scenes:
            dialogue = self._dialogue(scene)
            for cues, neighbours in zip(dialogue.cues, dialogue.neighbours):
                self._use.add(cues, neighbours)

    @classmethod
    def of_story(cls, story: Story) -> AddresseeReader:
        return cls(CharacterNames.of_story(story), story.scenes())

    def read(self, scene: Scene) -> list[dict[str, float]]:
        """For each line the probability that it is said to each person present, the likeliest first.

        They add up to 1; a description, and what one says alone, is said to nobody.
        """
        return [{} if result is None else result[1] for result in self.read_with_cues(scene)]

    def read_with_cues(self, scene: Scene) -> list[tuple[LineCues, dict[str, float]] | None]:
        """For each line what it shows, and whom it is said to; None for a description."""
        dialogue = self._dialogue(scene)
        spoken = enumerate(feature_rows(dialogue, self._use))
        results: list[tuple[LineCues, dict[str, float]] | None] = []
        for line in scene.lines:
            if line.speaker is None:
                results.append(None)
                continue
            index, evidence = next(spoken)
            results.append((dialogue.cues[index], self._by_person(dialogue.others(index), evidence)))
        return results

    def _by_person(self, others: Sequence[str], evidence: Reals) -> dict[str, float]:
        if not others:
            return {}
        probabilities = self._model.probabilities(evidence)
        order = np.argsort(-probabilities, kind="stable")
        return {others[index]: float(probabilities[index]) for index in order}

    def _dialogue(self, scene: Scene) -> Dialogue:
        spoken = ((line.speaker, line.text) for line in scene.lines if line.speaker is not None)
        return dialogue_of(scene.present, spoken, self._names)


# Evidence on whom a line is said to, as a row of numbers for each person present.
#
# What is looked at is what a script has: who speaks before and after, and how long before and after; what the lines
# call people, ask and answer (`LineCues`); how often two speak beside each other in the story. `FEATURES` names the
# columns: 'last' is the last other speaker before the line, 'next' the next other speaker after it, 'pair' says that
# the two alternate.

FAR = 8  # lines: beyond them somebody is no longer part of the exchange
NEAR = 4  # lines in which calling somebody by name is still heard
DECAY = 3.0  # lines in which the weight of having spoken falls to a third
SHORT = 40  # characters
MANY = 3  # others present

FEATURES = (
    *("called", "other called", "spoken of", "other spoken of", "called lately", "other called lately"),
    *("called and silent", "directed"),
    *("before 1", "before 2", "before 3", "before 4-8", "not before", "last"),
    *("after 1", "after 2", "after 3", "after 4-8", "not after", "next"),
    *("last and next", "pair before", "pair after", "pair around", "own turn goes on", "own turn will go on"),
    *("weight before", "weight after", "first line", "many and last", "many and next"),
    *("called speaker before", "called other before", "called speaker after", "called other after"),
    *("last asks", "last asks speaker by name", "last speaks of speaker", "next speaks of speaker"),
    *("asks and next", "asks and last", "you and last", "you and next", "plural", "plural and last"),
    *("answers last", "next answers", "short and last"),
    *("share of others", "beside", "own epithet", "common epithet"),
)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The spoken lines of a scene, who may be addressed, and each line's neighbours (last and next other speaker)."""

    present: tuple[str, ...]
    cues: tuple[LineCues, ...]
    neighbours: tuple[tuple[str, ...], ...]

    def others(self, index: int) -> list[str]:
        speaker = self.cues[index].speaker
        return [who for who in self.present if who != speaker]


def dialogue_of(present: Sequence[str], lines: Iterable[tuple[str, str]], names: CharacterNames) -> Dialogue:
    """Of (speaker, text) in order; whoever speaks is present."""
    cues = tuple(cues_of(speaker, text, names) for speaker, text in lines)
    everybody = tuple(dict.fromkeys((*present, *(line.speaker for line in cues))))
    arounds = (Around(cues, index) for index in range(len(cues)))
    neighbours = tuple(tuple(each.speaker for each in (at.last, at.next) if each is not None) for at in arounds)
    return Dialogue(everybody, cues, neighbours)


def feature_rows(dialogue: Dialogue, use: EpithetUse) -> list[Reals]:
    """For each line a row for each of `dialogue.others`."""
    return [
        np.array(_rows(dialogue, use, index), dtype=np.float64).reshape(-1, len(FEATURES))
        for index in range(len(dialogue.cues))
    ]


class Around:
    """A line and the lines near it; those before it the nearest first."""

    def __init__(self, cues: Sequence[LineCues], index: int) -> None:
        self.line = cues[index]
        self.before = cues[max(0, index - FAR) : index][::-1]
        self.after = cues[index + 1 : index + 1 + FAR]
        self.last = self._first_other(self.before)
        self.next = self._first_other(self.after)
        self.goes_on = bool(self.before) and self.before[0].speaker == self.line.speaker
        self.will_go_on = bool(self.after) and self.after[0].speaker == self.line.speaker
        self.alternates_before = len(self.before) > 1 and self.before[1].speaker == self.line.speaker
        self.alternates_after = len(self.after) > 1 and self.after[1].speaker == self.line.speaker

    def _first_other(self, lines: Sequence[LineCues]) -> LineCues | None:
        return next((each for each in lines if each.speaker != self.line.speaker), None)

    def called_lately(self, others: Sequence[str]) -> frozenset[str]:
        """Whom the speaker's latest line that called somebody called."""
        own = (each.called.intersection(others) for each in self.before if each.speaker == self.line.speaker)
        return next(filter(None, own), frozenset())


def _rows(dialogue: Dialogue, use: EpithetUse, index: int) -> list[list[float]]:
    around, others = Around(dialogue.cues, index), dialogue.others(index)
    line = around.line
    back, weight_back = _distances(around.before)
    ahead, weight_ahead = _distances(around.after)
    called = _called(line, others, lambda who: min(back.get(who, FAR + 1), ahead.get(who, FAR + 1)))
    named_sets = (called, line.spoken_of.intersection(others), around.called_lately(others))
    groups = [(named, bool(named)) for named in named_sets]
    many, share = len(others) > MANY, 1 / max(len(others), 1)
    rows = []
    for who in others:
        is_last = around.last is not None and who == around.last.speaker
        is_next = around.next is not None and who == around.next.speaker
        before, after = back.get(who, FAR + 1), ahead.get(who, FAR + 1)
        rows.append([
            *(mark for named, any_named in groups for mark in (who in named, any_named and who not in named)),
            who in called and before > FAR and after > FAR, who in line.directed,
            *_buckets(before), is_last, *_buckets(after), is_next,
            *_turns(around, before == 1, after == 1, is_last, is_next),
            weight_back.get(who, 0.0), weight_ahead.get(who, 0.0), not around.before, many and is_last,
            many and is_next,
            *_calls(line.speaker, around.before[before - 1] if before <= NEAR else None),
            *_calls(line.speaker, around.after[after - 1] if after <= NEAR else None),
            *_replies(around, is_last, is_next),
            share, math.log(use.share(line.speaker, who) + 0.01),
            *use.lifts(line, dialogue.neighbours[index], who),
        ])  # fmt: skip
    return rows


def _called(line: LineCues, others: Sequence[str], distance: Callable[[str], int]) -> frozenset[str]:
    """Those whose names are called; of namesakes whoever speaks nearest."""
    present = ([who for who in whose if who in others] for whose in line.calls)
    return frozenset(min(whose, key=distance) for whose in present if whose)


def _distances(lines: Sequence[LineCues]) -> tuple[dict[str, int], dict[str, float]]:
    """How many lines away each speaks first, and the weight of all they say there."""
    nearest: dict[str, int] = {}
    weights: dict[str, float] = {}
    for distance, line in enumerate(lines, 1):
        nearest.setdefault(line.speaker, distance)
        weights[line.speaker] = weights.get(line.speaker, 0.0) + math.exp((1 - distance) / DECAY)
    return nearest, weights


def _buckets(distance: int) -> tuple[bool, ...]:
    return (distance == 1, distance == 2, distance == 3, 4 <= distance <= FAR, distance > FAR)


def _turns(around: Around, just_before: bool, just_after: bool, is_last: bool, is_next: bool) -> tuple[bool, ...]:
    """How turns alternate between the speaker and this person."""
    pair_before = just_before and around.alternates_before
    pair_after = just_after and around.alternates_after
    return (
        is_last and is_next, pair_before, pair_after, pair_before and pair_after,
        around.goes_on and is_last, around.will_go_on and is_next,
    )  # fmt: skip


def _calls(speaker: str, theirs: LineCues | None) -> tuple[bool, bool]:
    """Does this person's own line call the speaker, or somebody else?"""
    called = frozenset[str]() if theirs is None else theirs.called
    return speaker in called, bool(called) and speaker not in called


def _replies(around: Around, is_last: bool, is_next: bool) -> tuple[bool, ...]:
    """What asks, answers and says 'you', beside whether this person spoke last or speaks next."""
    line, last, following = around.line, around.last if is_last else None, around.next if is_next else None
    return (
        last is not None and last.is_question,
        last is not None and last.is_question and line.speaker in last.called,
        last is not None and line.speaker in last.spoken_of,
        following is not None and line.speaker in following.spoken_of,
        line.is_question and is_next, line.is_question and is_last, line.has_you and is_last, line.has_you and is_next,
        line.is_plural, line.is_plural and is_last, line.is_answer and is_last,
        following is not None and following.is_answer, line.length < SHORT and is_last,
    )  # fmt: skip
