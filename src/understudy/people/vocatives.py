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
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.people.mentions import ASIDE, GREETINGS, mention
from understudy.people.names import CharacterNames

__all__ = ["EpithetUse", "LineCues", "cues_of"]

SLOT = re.compile(
    r"(?:^|(?<=[,.!?;:…—-]))[\s'\"“”‘’-]*((?:[^\W\d_][\w'’]*\.?[ ]+){0,3}?[^\W\d_][\w'’]*)\s*(?=[,.!?;:…—-]|$)"
)
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
    return found


class EpithetUse:
    """How often each speaker used a word beside whom: the counts n of the lift."""

    def __init__(self) -> None:
        self._by_speaker: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._by_word: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._beside: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._all: Counter[str] = Counter()

    def add(self, cues: LineCues, neighbours: Sequence[str]) -> None:
        for other in neighbours:
            self._beside[cues.speaker][other] += 1
            self._all[other] += 1
            for word in cues.epithets:
                self._by_speaker[cues.speaker, word][other] += 1
                self._by_word[word][other] += 1

    def share(self, speaker: str, other: str) -> float:
        """p: how often the speaker talks beside the other, of all it says."""
        beside, total = self._beside[speaker], max(self._all.total(), 1)
        return (beside[other] + SPEAKER_PRIOR * (self._all[other] + 1) / total) / (beside.total() + SPEAKER_PRIOR)

    def lifts(self, cues: LineCues, neighbours: Sequence[str], other: str) -> tuple[float, float]:
        """The strongest lift of a word of the line for the other: by the speaker's own use, and by everybody's."""
        if not cues.epithets:
            return 0.0, 0.0
        share = self.share(cues.speaker, other)
        here = sum(other == each for each in neighbours)

        def lift(counts: Counter[str] | None) -> float:
            if counts is None:
                return 0.0
            times, total = counts[other] - here, counts.total() - len(neighbours)
            return math.log((times + PRIOR * share) / ((total + PRIOR) * share))

        own = (lift(self._by_speaker.get((cues.speaker, word))) for word in cues.epithets)
        common = (lift(self._by_word.get(word)) for word in cues.epithets)
        return max(own, key=abs), max(common, key=abs)
