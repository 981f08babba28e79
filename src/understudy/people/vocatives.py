"""What a spoken line itself says of whom it is said to: names called out, names spoken of, epithets, '(to Ross)'.

An epithet is what stands where a name is called out without being one: 'Doctor', 'Captain', 'papa', 'Pheebs'. Whose it
is, is learned from use, for each speaker alone (Emma's 'papa' is not Fanny's) and for all of them together:

    lift(c | s, w) = ln((n(s, w, c) + A p) / ((n(s, w) + A) p)),   p = (n(s, c) + B n(c) / n) / (n(s) + B)

n(s, w, c) counts the lines of s with w whose neighbours in the dialogue (the last other speaker, the next one) are c;
the line that is asked about is left out. A word that anybody is called by, or that calls nobody, has a lift near 0.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.people.mentions import ASIDE, GREETINGS, mention
from understudy.people.names import CharacterNames

__all__ = ["EpithetUse", "LineCues", "cues_of"]

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
    found = []
    for slot in SLOT.finditer(said):
        words = slot[1].lower().replace("’", "'").split()
        while words and words[0] in FILLERS:
            words.pop(0)
        if words and len(words) < LONGEST_SLOT:
            found.append(" ".join(words))
    found += (match[1].lower() for match in CLOSING_NAME.finditer(said) if match[1].lower() not in FILLERS)
    return list(dict.fromkeys(found))


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
