"""What two people are to each other, told from how they live and speak together: courses over a story.

With the evidence of `acquaintance`, both ways where it says 'both',

    k = ln(1 + close) + 1/2 ln(1 + named both) + 1/2 ln(1 + informal both) - 1/2 ln(1 + formal)
        + 3/2 [kin] - [strangers]
    familiarity = 10 (1 - exp(-max(k, 0) / 3))
    affection   = 10 tanh((k + 1/2 ln(1 + informal both) + 1/2 ln((warm + 1) / (cold + 1))) / 8)

Words of warmth tell little by themselves, what people call each other and how much they seek each other's company tell
more; so affection leans on the same evidence, and is told only where one has said at least five lines to the other.
Its uncertainty is that of the two counts of words, and shrinks with the lines:

    deviation of the argument of tanh = 1/8 sqrt(1/4 (1 / (warm + 1) + 1 / (cold + 1)) + 9 / lines)

Feelings are judged when a scene has ended, from what was said until then, and hold from there until they are judged
otherwise.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from understudy.language.lexical.tone import Tone, tone_of
from understudy.people.addressees import AddresseeReader, LineCues
from understudy.people.mentions import learned_surnames
from understudy.people.names import CharacterNames
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import line_after
from understudy.story.types import Finding, Line, Relation, Scene
from understudy.text import TITLES, UNSPACED_LANGUAGES

AFFECTION, FAMILIARITY = "affection", "familiarity"
MOST = 10
ENOUGH_LINES = {AFFECTION: 5.0, FAMILIARITY: 2.0}
LEAST_CHANGE = {AFFECTION: 2, FAMILIARITY: 1}  # smaller changes of level are not told
SATURATION, AFFECTION_SCALE = 3.0, 8.0
UNCERTAINTY = 9.0  # the variance that one line leaves
TWO_SIDED = 1.96
SOURCES = 3
SURE_LINES = 40.0  # at which confidence is half of the most it can be
MOST_SURE = {AFFECTION: 0.7, FAMILIARITY: 0.8}


@dataclass(frozen=True, slots=True)
class Feeling:
    """A level from a moment on, with its 95% interval."""

    relation: Relation
    low: float
    high: float


def feelings(story: Story, progress: Progress = ignore_progress) -> list[Relation]:
    """The courses of affection and familiarity of everybody towards everybody."""
    return [feeling.relation for feeling in feeling_courses(story, progress)]


def feeling_courses(story: Story, progress: Progress = ignore_progress) -> Iterator[Feeling]:
    """The same with intervals, in story order."""
    acquaintance = Acquaintance(story)
    levels: dict[tuple[str, str, str], int] = {}
    total = story.count()[0]
    for number, scene in enumerate(story.scenes()):
        progress("Feelings", number, total)
        if not scene.lines:
            continue
        directed = acquaintance.add(scene)
        for of, to in dict.fromkeys(pair for line in directed for pair in _both_ways(line)):
            for kind in (FAMILIARITY, AFFECTION):
                feeling = _judged(acquaintance, scene, directed, of, to, kind)
                if feeling is None or feeling.relation.level is None:
                    continue
                level, before = feeling.relation.level, levels.get(feeling.relation.key)
                if before is None or abs(level - before) >= LEAST_CHANGE[kind]:
                    levels[feeling.relation.key] = level
                    yield feeling


def _both_ways(line: DirectedLine) -> tuple[tuple[str, str], tuple[str, str]]:
    return (line.speaker, line.to), (line.to, line.speaker)


def _judged(
    acquaintance: Acquaintance, scene: Scene, directed: list[DirectedLine], of: str, to: str, kind: str
) -> Feeling | None:
    towards, back = acquaintance.towards[of, to], acquaintance.towards[to, of]
    lines = towards.lines if kind == AFFECTION else towards.lines + back.lines
    if lines < ENOUGH_LINES[kind]:
        return None
    level, low, high = affection(acquaintance, of, to) if kind == AFFECTION else familiarity(acquaintance, of, to)
    between = [line for line in directed if {line.speaker, line.to} == {of, to}]
    telling = [line for line in between if line.speaker == of] or between
    strongest = sorted(telling, key=lambda line: -line.probability * (1 + abs(line.tone.value)))[:SOURCES]
    sources = tuple(sorted({line.line.moment for line in strongest}))
    confidence = MOST_SURE[kind] * lines / (lines + SURE_LINES)
    finding = Finding(round(confidence, 3), sources, tuple(dict.fromkeys((of, to, *scene.present))))
    return Feeling(Relation(of, to, kind, round(level), line_after(scene.lines[-1].moment), found=finding), low, high)


def _knowing(acquaintance: Acquaintance, of: str, to: str) -> tuple[float, float]:
    """k, and ln(1 + informal both)."""
    towards, back, together = acquaintance.towards[of, to], acquaintance.towards[to, of], acquaintance.together(of, to)
    informal = math.log1p(towards.informal + back.informal)
    k = math.log1p(together.close) + math.log1p(towards.named + back.named) / 2
    k += informal / 2 - math.log1p(towards.formal) / 2
    return k + 1.5 * acquaintance.are_kin(of, to) - together.strangers, informal


def familiarity(acquaintance: Acquaintance, of: str, to: str) -> tuple[float, float, float]:
    """The level, and the interval that the number of lines leaves."""
    k, _ = _knowing(acquaintance, of, to)
    lines = acquaintance.towards[of, to].lines + acquaintance.towards[to, of].lines
    margin = TWO_SIDED * math.sqrt(UNCERTAINTY / max(lines, 1.0))
    level, low, high = (MOST * (1 - math.exp(-max(value, 0.0) / SATURATION)) for value in (k, k - margin, k + margin))
    return level, low, high


def affection(acquaintance: Acquaintance, of: str, to: str) -> tuple[float, float, float]:
    towards = acquaintance.towards[of, to]
    k, informal = _knowing(acquaintance, of, to)
    warmth = math.log((towards.warm + 1) / (towards.cold + 1)) / 2
    variance = (1 / (towards.warm + 1) + 1 / (towards.cold + 1)) / 4 + UNCERTAINTY / max(towards.lines, 1.0)
    value, margin = k + informal / 2 + warmth, TWO_SIDED * math.sqrt(variance)
    level, low, high = (MOST * math.tanh(each / AFFECTION_SCALE) for each in (value, value - margin, value + margin))
    return level, low, high


# What two people have lived through together, as far as a story has come: the evidence that feelings are told from.
#
# close       sum over the scenes they shared of 1 / (others present): an evening for two counts more than a ball
# exchanged   lines said to each other, each by its probability of being said to that person
# named       how often they call each other by name, or speak of each other
# informal    how often they call each other, or speak of each other, by a first name or a nickname
# formal      how often one calls or speaks of the other by surname, by full name, or with a title
# strangers   somebody introduced themselves, or asked who the other was, in the first scene they shared
# kin         they have a surname in common
# warm, cold  words of such a tone in lines that one says to the other


ADDRESSED = 0.3  # the least probability with which what a line says counts for somebody
HEARD = 0.1  # the least with which giving one's name does: it is often meant for all
FORMAL_TITLES = TITLES | frozenset(
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
        names = CharacterNames.of_story(story)
        surnames = _surnames(names, story)
        self._names = names.extended({who: [word] for who, word in surnames})
        self._formal = {(who, word) for who, word in surnames} | set(_formal_forms(names.people))
        self._with_two_forms = (
            set(names.people) if story.language in UNSPACED_LANGUAGES else {who for who, _ in self._formal}
        )
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
        for line, reading in zip(scene.lines, self._reader.read_with_cues(scene)):
            if reading is not None:
                cues, to = reading
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
        if self._language in UNSPACED_LANGUAGES:
            return False
        form = text[start:end]
        before = text[:start].split()[-1:] or [""]
        return (who, form) in self._formal or any(
            word.rstrip(".").lower() in FORMAL_TITLES for word in (before[0], form.split()[0])
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
    if story.language in UNSPACED_LANGUAGES:
        return []
    labels = {who.lower() for who in names.people}
    return list(learned_surnames(names, story.scenes(), labels))


def _formal_forms(people: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Full names of several words, and the last of these."""
    for who in people:
        if " " in who:
            yield from ((who, who), (who, who.split()[-1]))
