"""Speaker labels: what stands before the colon of `NAME (off): text`, and which of them one transcript uses.

Whether `Something:` at the start of a line is a label cannot be decided from the line alone. So a first pass over the
file counts what lines begin with, where they wrap and how scenes are marked. A name that begins lines often is known;
anything else must look like a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from understudy.formats.transcript.headings import (
    is_bare_location,
    is_boilerplate,
    is_credit,
    is_scene_mark,
    may_contain_page_text,
    split_page_text,
)
from understudy.sources.directions import BRACKETED, OPENERS
from understudy.sources.names import SENTENCE_OPENERS, STARTERS, fold, is_group, words

LONGEST_HEAD = 130
LONGEST_CASELESS = 12
PLAIN = re.compile(r"([^\W\d_][\w.'’-]{0,40}(?: [\w.'’#-]{1,40}){0,3}) ?[:：](?!//)\s*")
HEAD = re.compile(
    r"((?:[^:()\[\]{}<>]{1,80}+|\([^()]{0,160}+\)|\[[^\[\]]{0,160}+\]|\{[^{}]{0,160}+\}|<[^<>]{0,160}+>){1,6}+)"
    r":(?!//)\s*"
)
UNCLOSED_HEAD = re.compile(r"([^\W\d_][^:()\[\]{}<>]{0,40})[(\[{<][^:()\[\]{}<>]{1,80}:\s*")
NAME_WORD = r"[^\W\d_a-z](?:[\w'’-]|\.(?!\w\w)){0,30}"
INNER_LABEL = re.compile(
    r"(?:(?<=[.!?…)\]}*>])[\"”’]?\s*|(?<=[a-z,-])(?=[A-Z]{3})|(?<=\w) {2,}(?=[A-Z]{3}))"
    rf"(?P<name>{NAME_WORD}(?: {NAME_WORD}){{0,2}})(?:\s*[(\[][^()\[\]:]{{1,60}}[)\]])?\s?:(?!\d|//)"
)
SENTENCE = re.compile(r"[.!?…,]\s|[!?…]|\.\.")
ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|No|Hdm|[A-Z])\.")
ORDINALS = words("first second third one two three")


class TextLine(NamedTuple):
    """A line of text and the number of the source line it begins on; `gap`: blank lines stood before it."""

    number: int
    text: str
    gap: bool = False


class Label(NamedTuple):
    """`name` is the label without its notes, `head` all that stood before the colon, `text` what comes after."""

    name: str
    head: str
    text: str

    @property
    def said(self) -> str:
        """What comes after the label, with its notes before it: '(softly) No.'"""
        return " ".join([*BRACKETED.findall(self.head), self.text]).strip()


def read_label(text: str) -> Label | None:
    """The part before a colon at the start of the line, whether or not it is anybody's name."""
    if match := PLAIN.match(text):
        return Label(match[1], match[1], text[match.end() :].lstrip(":： "))
    if ":" not in text[:LONGEST_HEAD]:
        return None
    match = HEAD.match(text) or UNCLOSED_HEAD.match(text)
    if match is None or match.end() > LONGEST_HEAD:
        return None
    head = match[0].rstrip().removesuffix(":").rstrip()
    name = " ".join(BRACKETED.sub(" ", head).split()).strip(' ,*-–—>"“”♪')
    if not name or text[0] in OPENERS:
        return None
    return Label(name, head, text[match.end() :].lstrip(":： "))


def speaker_label(text: str) -> Label | None:
    """The label at the start of the line, where it looks like somebody's."""
    label = read_label(text)
    return label if label is not None and looks_like_label(label.name) else None


@lru_cache(maxsize=16384)
def looks_like_label(name: str) -> bool:
    """Short, begins like a name and does not read like a sentence."""
    words = name.split()
    if not 1 <= len(words) <= 7 or len(name) > 60 or not any(letter.isalpha() for letter in name):
        return False
    first = words[0].casefold().replace("’", "'").strip(".,\"'“”")
    if first in STARTERS and not (first in ORDINALS and len(words) > 1) and not is_group(name):
        return False
    if name.isupper():
        return len(words) <= 6 and not is_credit(name + ":")
    if not (name[0].isupper() or name[0].isdigit() or len(words) == 1):
        return False
    if not name[0].isascii() and name.lower() == name.upper() and len(name) > LONGEST_CASELESS:
        return False  # in Chinese or Japanese, a whole sentence is one word
    if SENTENCE.search(ABBREVIATED.sub("", name)) and "," not in name:
        return False
    return not is_credit(name + ":") and (len(words) == 1 or not is_boilerplate(name))


KNOWN, FREQUENT = 2, 5
MOST_LABELS = 50_000  # a file with more distinct ones is no transcript; the count stays bounded
FULL = 0.72  # of the usual length of a line that goes on in the next

BROKEN_COLON = re.compile(r"([^\W\d_][\w'’-]*(?:\.? [\w'’-]+){0,2})\s?[;.]\s+(?=\S)")
TOGETHER = re.compile(
    r"[\s,]+(?:all )?(?:together|in unison|simultaneously|(?:both )?at (?:the )?same time|as one|both)$", re.IGNORECASE
)
COUPLE = re.compile(r"(Mr\.?|Mrs\.?|Ms\.?|Dr\.?)\s+(?:and|&)\s+(Mr\.?|Mrs\.?|Ms\.?|Dr\.?)\s+(.+)", re.IGNORECASE)
SEPARATOR = re.compile(r"\s*(?:,\s*(?:and|&)\s+|,\s+|\s+and\s+|\s*&\s*|\s+\+\s+)\s*", re.IGNORECASE)
DOING = re.compile(r"(?:[a-z]+(?:s|ing)|to|while|about|all|still|then|just)$")
DRESSED = "with"  # what a regular does or wears; `Man with Flowers` is a person of his own


@dataclass(slots=True)
class TranscriptStatistics:
    """Counts of labels (folded), where lines wrap, and how scenes are marked.

    `full_length` is the length from which a line may be wrapped, `inner_labels` counts what may be labels inside lines,
    `location_lines` lines in capitals that may be locations.
    """

    labels: Counter[str] = field(default_factory=Counter)
    capitals: bool = False
    full_length: int | None = None
    scene_marks: int = 0
    lines: int = 0
    inner_labels: Counter[str] = field(default_factory=Counter)
    location_lines: int = 0
    _people: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def count(self, name: str) -> int:
        return self.labels[fold(name)]

    @property
    def labelled(self) -> bool:
        """A few colons in a page of unlabelled talk are no labels."""
        return self.labels.total() * 20 > self.lines

    def speakers(self, name: str) -> tuple[str, ...]:
        """The people a label names: `Monica and Rachel` are two, `Buffay, the Vampire Layer` is one."""
        if (known := self._people.get(name)) is None:
            known = self._people[name] = self._parts(name) if len(self._people) < MOST_LABELS else (name,)
        return known

    def _parts(self, name: str) -> tuple[str, ...]:
        name = TOGETHER.sub("", name).strip(" ,") or name  # a label of commas alone is kept
        if couple := COUPLE.fullmatch(name):
            return f"{couple[1]} {couple[3]}", f"{couple[2]} {couple[3]}"
        parts = SEPARATOR.split(name)
        if len(parts) == 1 and "/" in name:
            parts = [part.strip() for part in name.split("/")]
            if not all(self.count(part) for part in parts):
                return (name,)
        if len(parts) == 1 or not all(_can_be_named_together(part) for part in parts):
            return (name,)
        known = any(self.count(part) for part in parts)
        return tuple(parts) if known or all(" " not in part for part in parts) else (name,)

    def speaker_of_action(self, name: str) -> str | None:
        """The known speaker at the start of a label that goes on to say what is done: `Amy turns to Ross`."""
        words = name.split()
        for size in range(min(4, len(words) - 1), 0, -1):
            who = " ".join(words[:size])
            regular = all(self.count(person) >= FREQUENT or is_group(person) for person in self.speakers(who))
            if regular and (DOING.match(words[size]) or (words[size] == DRESSED and self.count(who) >= 2 * FREQUENT)):
                return who
        return None

    def is_inner_label(self, name: str) -> bool:
        """May a new speech begin with this name in the middle of a line?"""
        begins = self.count(name)
        return begins > 0 and (begins + self.inner_labels[fold(name)] > KNOWN or is_group(name))

    def plain_speech(self, text: str) -> Label | None:
        """The fast path for most lines: a frequent name, a colon, and no other colon that could hide something."""
        match = PLAIN.match(text)
        if match is None or self.count(match[1]) < FREQUENT or ":" in text[match.end() :]:
            return None
        return Label(match[1], match[1], text[match.end() :]) if looks_like_label(match[1]) else None

    def label(self, text: str, wrapped: bool = False, broken: bool = False) -> Label | None:
        """The label a line begins with, if it does.

        `wrapped`: the line before is full, so that this one may merely go on. `broken`: and in mid-sentence.
        """
        label = read_label(text)
        if label is None:
            return self._without_colon(text)
        if self.count(label.name) >= KNOWN and looks_like_label(label.name):
            return label
        if (who := self.speaker_of_action(label.name)) is not None:
            return Label(who, label.head, label.text)
        if not looks_like_label(label.name):
            return None
        people = self.speakers(label.name)
        if len(people) > 1 and any(self.count(person) >= KNOWN for person in people):
            return label
        if broken or (wrapped and self.capitals and not label.name.isupper()):
            return None
        return label

    def _without_colon(self, text: str) -> Label | None:
        """`Monica; Ross!`, `EMILY No, what?`, `Sheldon You would not?`: only for those who speak often."""
        if (match := BROKEN_COLON.match(text)) and self.count(match[1]) >= FREQUENT:
            # in wrapped text, `Luke. I am here.` may be the end of a sentence begun a line before
            certain = not self.full_length or match[0].rstrip().endswith(";")
            return Label(match[1], match[1], text[match.end() :]) if certain else None
        words = text.split(maxsplit=3)
        for size in (2, 1):
            if len(words) <= size:
                continue
            name = " ".join(words[:size])
            speech = text[len(name) :].strip()
            enough = FREQUENT if size == 1 or self.full_length else KNOWN
            if not (self.count(name) >= enough and name[-1].isalpha() and text.startswith(name)):
                continue
            follows = words[size]
            if self.capitals != name.isupper() or (follows.isupper() and len(follows) > 1 and self.capitals):
                continue
            if follows[0].isupper() and not _goes_on_as_name(follows):
                return Label(name, name, speech)
        return None


def collect_statistics(lines: Iterable[TextLine]) -> TranscriptStatistics:
    """One light pass over the lines of a file."""
    result = TranscriptStatistics()
    capitals = unlabelled = 0
    before_unlabelled: Counter[int] = Counter()
    length = 0
    for line in lines:
        for text in split_page_text(line.text) if may_contain_page_text(line.text) else (line.text,):
            result.lines += 1
            if text.count(":") > 1 and len(result.inner_labels) < MOST_LABELS:
                result.inner_labels.update(fold(match["name"]) for match in INNER_LABEL.finditer(text))
            if is_scene_mark(text):
                result.scene_marks += 1
            elif (label := speaker_label(text)) is not None:
                if len(result.labels) < MOST_LABELS:
                    result.labels[fold(label.name)] += 1
                capitals += label.name.isupper()
            elif text[0] not in OPENERS:
                result.location_lines += text.isupper() and is_bare_location(text) and not is_boilerplate(text)
                if length and not line.gap:
                    unlabelled += 1
                    before_unlabelled[min(length, 1000)] += 1
            length = len(text)
    result.capitals = capitals * 2 > result.labels.total()
    if unlabelled >= 8 and unlabelled * 50 >= result.lines:
        middle = _median(before_unlabelled)
        if 40 <= middle <= 200:
            result.full_length = int(middle * FULL)
    return result


def _median(lengths: Counter[int]) -> int:
    stats, half = 0, lengths.total() / 2
    for length in sorted(lengths):
        stats += lengths[length]
        if stats >= half:
            return length
    return 0


def _can_be_named_together(part: str) -> bool:
    return bool(part) and len(part.split()) <= 4 and (not part[0].islower() or is_group(part))


def _goes_on_as_name(word: str) -> bool:
    """After a first name, `Geller` is a surname; `You`, `Oh`, `No` and other words that open sentences are not."""
    plain = word.strip(".,!?…\"'").casefold().replace("’", "'")
    return plain not in STARTERS and plain not in SENTENCE_OPENERS
