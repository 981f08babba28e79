"""Does a line fit its moment? What its speaker cannot know yet (`anachronism`, `unwitnessed`), and `relation_fit`.

    anachronism(u) = how many words of u the story first uses at or after the persona's moment, and names of the cast
                     in u that the persona is yet to hear    + 1 if u repeats a later passage
    unwitnessed(u) = how many terms of u the story had used by then, but only where the persona was not

Which terms count, and when silence is no accident: see `chronology`; when a passage is repeated: see below. What
the persona is, owns and feels it may speak of at any time. 0 is a line that gives nothing away; what is meant but said
in other words is not found (docs/notes/metrics.md has figures).

A reason names terms and moments only for an author: to a player it would give away the very thing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical.tone import Tone, tone_of
from understudy.metrics.line_metric import LineMetric, Samples, TextMetric
from understudy.story.chronology import Chronology, PersonaKnowledge, UnknownTerm, own_sentences
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.story.storyfile import Story

NOT_YET, NOT_WITNESSED = "not known yet", "not witnessed"
REMEMBERED = 256  # texts, so that a value and its reason are worked out once


def anachronism(
    samples: Samples, chronology: Chronology, persona: Persona, author: bool = False, index: PassageIndex | None = None
) -> LineMetric:
    """Counts what the story has not come to yet; without an index of its passages, names and words alone."""
    missing = "at the end of the story nothing is still to come: name a moment" if persona.moment.is_end else ""
    knowledge = chronology.knowledge_of(persona)
    passages = LaterPassages(index, knowledge, persona) if index is not None and not missing else None

    @lru_cache(REMEMBERED)
    def score_text(text: str) -> tuple[float, str]:
        return _summed_up(find_anachronisms(knowledge, passages, text), NOT_YET, author)

    return TextMetric("anachronism", samples, score_text, missing)


def find_anachronisms(
    knowledge: PersonaKnowledge, passages: LaterPassages | None, text: str, left_out: int | None = None
) -> list[str]:
    """What a text tells too early, for an author; `left_out` is the number of a line taken not to be in the story."""
    findings = [_described(mention) for mention in knowledge.unknown_yet(text, left_out)]
    passage = passages.nearest(text, left_out) if passages is not None else None
    if passage is not None and passage.share >= NEW_SHARE:
        findings.append(f"{passage.share:.0%} of it repeats {knowledge.chronology.moment_of(passage.line).dotted}")
    return findings


def unwitnessed(samples: Samples, chronology: Chronology, persona: Persona, author: bool = False) -> LineMetric:
    """Counts what happened where the persona was not."""
    missing = "" if len(persona.past) else f"{persona.name} has said nothing before this moment"
    find_mentions = chronology.knowledge_of(persona).unwitnessed

    def score_text(text: str) -> tuple[float, str]:
        return _summed_up([_described(mention) for mention in find_mentions(text)], NOT_WITNESSED, author)

    return TextMetric("unwitnessed", samples, score_text, missing)


def _described(mention: UnknownTerm) -> str:
    return f"'{mention.term}' (first in {mention.first.dotted})"


def _summed_up(findings: list[str], what: str, author: bool) -> tuple[float, str]:
    if not findings:
        return 0.0, ""
    return float(len(findings)), f"{what}: {', '.join(findings)}" if author else f"tells something {what}"


# Finds lines that repeat a later passage: wording that one later line has and that the persona cannot know.
#
# A line u is looked at as its words and its runs of two and three words, small words included. A run g weighs the more,
# the fewer of the story's N lines have it, and the share of u's weight that is new with one later line l is
#
#     w(g)     = ln((N + 1) / max(lines that have g, 1/2))
#     new(u,l) = sum of w(g) over g in u and l, not known    /    sum of w(g) over g in u
#     new(u)   = max over lines l at or after the persona's moment of new(u,l)
#
# Known is what the persona has heard before its moment, and what it is described with. A stage direction is in the
# author's words: its single words count as known to those present, its runs of words do not.
#
# A line that is mostly new in this sense repeats something that is still to come; one that only happens to share a rare
# word with it is not. The bound was chosen on other stories (docs/notes/metrics.md).


ORDERS = (1, 2, 3)
NEW_SHARE = 0.32
"""From this share on a line repeats a later passage."""
FEWEST_HEARD = 20  # lines that a persona must have witnessed, or everything would be new to it

Numbers = NDArray[np.int64]

_INDEXES: WeakKeyDictionary[Story, PassageIndex] = WeakKeyDictionary()
_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class Passage:
    """The later line that a text repeats most of, by its number, and the share of the text that is new with it."""

    share: float
    line: int


class PassageIndex:
    """Which lines of a story have which words and runs of words. A run is one number: its words' numbers, to base V."""

    def __init__(self, story: Story, chronology: Chronology) -> None:
        self.chronology = chronology
        self._words: dict[str, int] = {}
        tokens, owners = list[int](), list[int]()
        self.count = 0
        for scene in story.scenes():
            for line in scene.lines:
                for word in chronology.words(line.text):
                    tokens.append(self._words.setdefault(word, len(self._words)))
                    owners.append(self.count)
                self.count += 1
        self._base = len(self._words) + 1
        words, lines = np.array(tokens, np.int64), np.array(owners, np.int64)
        self._runs = [self._index(words, lines, order) for order in ORDERS]

    @classmethod
    def of(cls, story: Story) -> PassageIndex:
        """The index of a story, made once for as long as the story is open."""
        with _LOCK:
            if story not in _INDEXES:
                _INDEXES[story] = cls(story, Chronology.of(story))
            return _INDEXES[story]

    def _index(self, words: Numbers, lines: Numbers, order: int) -> tuple[Numbers, Numbers]:
        """The runs of one length and the lines that have them, each pair once, by run and then by line."""
        count = max(len(words) - order + 1, 0)
        runs = np.zeros(count, np.int64)
        for offset in range(order):
            runs = runs * self._base + words[offset : offset + count]
        within = lines[:count] == lines[order - 1 : order - 1 + count]
        runs, owners = runs[within], lines[:count][within]
        by_run = np.lexsort((owners, runs))
        runs, owners = runs[by_run], owners[by_run]
        first = np.ones(len(runs), np.bool_)
        first[1:] = (runs[1:] != runs[:-1]) | (owners[1:] != owners[:-1])
        return runs[first], owners[first]

    def runs_of(self, text: str) -> Iterator[tuple[int, int | None]]:
        """The different runs of words in a text: how many words, and the run, or None where the story lacks a word."""
        words = [self._words.get(word, -1) for word in self.chronology.words(text)]
        for order in ORDERS:
            unknown = 0
            seen = set[int]()
            for start in range(len(words) - order + 1):
                run, parts = 0, words[start : start + order]
                if min(parts) < 0:
                    unknown += 1
                    continue
                for word in parts:
                    run = run * self._base + word
                if run not in seen:
                    seen.add(run)
                    yield order, run
            yield from ((order, None) for _ in range(unknown))

    def lines_with(self, order: int, run: int | None) -> Numbers:
        runs, lines = self._runs[order - 1]
        if run is None:
            return lines[:0]
        first, last = np.searchsorted(runs, run, "left"), np.searchsorted(runs, run, "right")
        return lines[first:last]


class LaterPassages:
    """Later lines that a persona cannot have heard yet."""

    def __init__(self, index: PassageIndex, knowledge: PersonaKnowledge, persona: Persona) -> None:
        self._index, self._bound = index, knowledge.bound
        self._seen = knowledge.witnessed
        self._heard = knowledge.witnessed & index.chronology.spoken[: knowledge.bound]
        self._own = {entry for sentence in own_sentences(persona) for entry in index.runs_of(sentence)}
        self.can_judge = int(self._seen.sum()) >= FEWEST_HEARD

    def nearest(self, text: str, left_out: int | None = None) -> Passage | None:
        """The later line that a text repeats most of; `left_out` is a line that is taken not to be in the story."""
        total, weights, owners = 0.0, list[float](), list[Numbers]()
        for order, run in self._index.runs_of(text):
            lines = self._index.lines_with(order, run)
            if left_out is not None:
                lines = lines[lines != left_out]
            weight = math.log((self._index.count + 1) / max(len(lines), 0.5))
            total += weight
            cut = int(np.searchsorted(lines, self._bound))
            known = self._seen if order == 1 else self._heard
            if cut < len(lines) and (order, run) not in self._own and not known[lines[:cut]].any():
                weights.append(weight)
                owners.append(lines[cut:])
        if not owners or not self.can_judge:
            return None
        lines = np.concatenate(owners)
        gains = np.bincount(lines, np.repeat(weights, [len(some) for some in owners]))
        best = int(gains.argmax())
        return Passage(float(gains[best]) / total, best)


# Does a line's tone towards the one it is said to fit what the speaker feels for them at that moment?
#
#     tone(u) = (warm - cold) / (warm + cold + 1)              of its warm and cold words, -1..1
#     fit(u)  = 1 - max(0, -tone(u) * affection / 10)          1: nothing against it; 0: as wrong as can be
#
# Warm to an enemy and cold to a friend are wrong; a line without warm or cold words fits anybody. Tone is told by words
# (`language.lexical.tone`): of the embedded story's lines 6% are taken for misfits as they stand, 16% would be if the
# feeling were the opposite.


STRONGEST = 10  # of affection


def relation_fit(samples: Samples, situation: Situation) -> LineMetric:
    """The metric for a persona before the one it faces."""
    faced, language = situation.faced, situation.persona.language
    levels = [tie.level for tie in faced.relations if tie.kind == "affection"] if faced else []
    level, name = next((level for level in levels if level is not None), 0), faced.name if faced else ""

    def score_text(line: str) -> tuple[float, str]:
        tone = tone_of(line, language)
        fit = 1 - max(0.0, -tone.value * level / STRONGEST)
        return round(fit, 6), _reason(tone, name, level) if fit < 1 else ""

    return TextMetric("relation_fit", samples, score_text, _missing(situation, levels))


def _missing(situation: Situation, levels: Sequence[int | None]) -> str:
    who = situation.persona.name
    if situation.faced is None:
        return f"nobody is faced: say before whom {who} stands"
    if all(level is None for level in levels):
        return f"how {who} feels about {situation.faced.name} at this moment is not told"
    return ""


def _reason(tone: Tone, name: str, level: int) -> str:
    if tone.value > 0:
        return f"warm ({', '.join(tone.warm)}) to {name}, whom the speaker does not like ({level:+})"
    return f"cold ({', '.join(tone.cold)}) to {name}, whom the speaker likes ({level:+})"
