"""What two people have lived through together, as far as a story has come: the evidence that feelings are told from.

close       sum over the scenes they shared of 1 / (others present): an evening for two counts more than a ball
exchanged   lines said to each other, each by its probability of being said to that person
named       how often they call each other by name, or speak of each other
informal    how often they call each other, or speak of each other, by a first name or a nickname
formal      how often one calls or speaks of the other by surname, by full name, or with a title
strangers   somebody introduced themselves, or asked who the other was, in the first scene they shared
kin         they have a surname in common
warm, cold  words of such a tone in lines that one says to the other
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from understudy.language.lexical.tone import Tone, tone_of
from understudy.people.addressees import AddresseeReader
from understudy.people.mentions import learned_surnames
from understudy.people.names import TITLES, UNSPACED, CharacterNames
from understudy.people.vocatives import LineCues
from understudy.story.storyfile import Story
from understudy.story.types import Line, Scene

__all__ = ["Acquaintance", "DirectedLine", "Towards"]

ADDRESSED = 0.3  # the least probability with which what a line says counts for somebody
HEARD = 0.1  # the least with which giving one's name does: it is often meant for all
PEOPLE_TITLES = (TITLES - {"a", "and", "of", "old", "the"}) | frozenset(
    "doctor professor inspector sergeant colonel major general madam madame father sister reverend king queen".split()
)
INTRODUCTION = re.compile(
    r"\b(?:my name(?:'s|’s| is)|i am called|they call me|who are you|we have(?:n't|n’t| not) met|pleased to meet|"
    r"(?:nice|glad|good) to meet|how do you do|what(?:'s|’s| is) your name)\b"
    r"|はじめまして|初めまして|と申します|どなた|初次见面|我叫|你是谁|贵姓",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Towards:
    """One way between two: what the one has said to the other, and called the other."""

    lines: float = 0.0
    named: int = 0
    informal: int = 0
    formal: int = 0
    warm: float = 0.0
    cold: float = 0.0


@dataclass(slots=True)
class Together:
    """What two share, whichever way."""

    close: float = 0.0
    scenes: int = 0
    strangers: bool = False


@dataclass(frozen=True, slots=True)
class DirectedLine:
    """A line that one says to the other, how surely, and its tone."""

    line: Line
    speaker: str
    to: str
    probability: float
    tone: Tone = field(default_factory=lambda: Tone(0.0))


class Acquaintance:
    """The evidence on every two of a story, scene by scene."""

    def __init__(self, story: Story) -> None:
        self._language = story.language
        people = [member.character for member in story.cast()]
        names = CharacterNames({each.name: (each.name, *each.aliases) for each in people}, story.language)
        surnames = _surnames(names, story)
        self._names = names.extended({who: [word] for who, word in surnames})
        self._formal = {(who, word) for who, word in surnames} | set(_formal_forms(names.people))
        self._with_two_forms = set(names.people) if story.language in UNSPACED else {who for who, _ in self._formal}
        self._last_names = {who: who.split()[-1] for who in names.people if " " in who}
        self._reader = AddresseeReader(self._names, story.scenes())
        self.towards: defaultdict[tuple[str, str], Towards] = defaultdict(Towards)
        self._together: defaultdict[frozenset[str], Together] = defaultdict(Together)

    def together(self, one: str, other: str) -> Together:
        return self._together[frozenset((one, other))]

    def are_kin(self, one: str, other: str) -> bool:
        return one in self._last_names and self._last_names[one] == self._last_names.get(other)

    def add(self, scene: Scene) -> list[DirectedLine]:
        """Count what a scene adds; its lines, each with everybody to whom it may be said."""
        present = tuple(dict.fromkeys((*scene.present, *(line.speaker for line in scene.lines if line.speaker))))
        first_met = self._meet(present)
        directed: list[DirectedLine] = []
        for line, found in zip(scene.lines, self._reader.read_with_cues(scene)):
            if found is not None:
                cues, to = found
                self._count_names(line, cues)
                directed += self._count_tone(line, cues.speaker, to)
                self._count_introduction(line, cues, to, first_met)
        return directed

    def _meet(self, present: Sequence[str]) -> set[frozenset[str]]:
        """Everybody present shares the scene; the pairs that do for the first time."""
        first_met = set()
        for index, one in enumerate(present):
            for other in present[:index]:
                together = self.together(one, other)
                if not together.scenes:
                    first_met.add(frozenset((one, other)))
                together.scenes += 1
                together.close += 1 / (len(present) - 1)
        return first_met

    def _count_names(self, line: Line, cues: LineCues) -> None:
        for other in cues.called | cues.spoken_of:
            self.towards[cues.speaker, other].named += 1
        for match in self._names.calls(line.text):
            if match.who in self._with_two_forms and match.who is not None and match.who != cues.speaker:
                towards = self.towards[cues.speaker, match.who]
                if self._is_formal(match.who, line.text, match.start, match.end):
                    towards.formal += 1
                else:
                    towards.informal += 1

    def _is_formal(self, who: str, text: str, start: int, end: int) -> bool:
        if self._language in UNSPACED:
            return False
        form = text[start:end]
        before = text[:start].split()[-1:] or [""]
        return (who, form) in self._formal or any(
            word.rstrip(".").lower() in PEOPLE_TITLES for word in (before[0], form.split()[0])
        )

    def _count_tone(self, line: Line, speaker: str, to: dict[str, float]) -> Iterator[DirectedLine]:
        tone = tone_of(line.text, self._language)
        for other, probability in to.items():
            towards = self.towards[speaker, other]
            towards.lines += probability
            if probability >= ADDRESSED:
                towards.warm += probability * len(tone.warm)
                towards.cold += probability * len(tone.cold)
                yield DirectedLine(line, speaker, other, probability, tone)

    def _count_introduction(
        self, line: Line, cues: LineCues, to: dict[str, float], first_met: set[frozenset[str]]
    ) -> None:
        names_itself = self._names_itself(line.text, cues.speaker)
        if names_itself or INTRODUCTION.search(line.text):
            least = HEARD if names_itself else ADDRESSED
            for other, probability in to.items():
                pair = frozenset((cues.speaker, other))
                if pair in first_met and probability >= least:
                    self._together[pair].strangers = True

    def _names_itself(self, text: str, speaker: str) -> bool:
        first = speaker.split()[0]
        return speaker in text or f"I'm {first}" in text or f"I’m {first}" in text or f"I am {first}" in text


def _surnames(names: CharacterNames, story: Story) -> list[tuple[str, str]]:
    if story.language in UNSPACED:
        return []
    labels = {who.lower() for who in names.people}
    return list(learned_surnames(names, story.scenes(), labels))


def _formal_forms(people: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Full names of several words, and the last of these."""
    for who in people:
        if " " in who:
            yield from ((who, who), (who, who.split()[-1]))
