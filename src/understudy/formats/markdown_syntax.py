"""The syntax of Markdown as far as dialogue needs it: front matter, headings and their outline, emphasised names."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources.directions import WHOLE
from understudy.sources.source import SourceFile

# What the headings of a Markdown file stand for: a title, chapters (parts, acts, episodes) or scenes.
#
#
# Headings that number themselves keep their numbers; others are counted.

NUMBERED = re.compile(r"([^\W\d_]+)\s+(\d{1,9})\s*(?:(?:[:：.]|[–—-]\s)\s*(.*))?")
LARGER = frozenset("book volume part season episode act chapter canto day week letter".split())
SCENE = "scene"
UNNAMED = ("chapter", "part", "book", "volume")  # levels without a word of their own, from the lowest up


class MarkdownHeading(NamedTuple):
    """A heading: its depth, and its text with the marks taken off."""

    depth: int
    text: str

    def numbered(self) -> tuple[str, int, str] | None:
        """(word, number, title) of `Chapter 2: The Keys`."""
        match = NUMBERED.fullmatch(self.text)
        return (match[1].lower(), int(match[2]), match[3] or "") if match else None


@dataclass(frozen=True, slots=True)
class Outline:
    """The names of the levels above scenes, the depth of headings at which each stands, and which are numbered."""

    levels: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    scene_depth: int | None = None
    title: str | None = None
    numbered: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Depth:
    """What is known of the headings of one depth."""

    count: int = 0
    word: str | None = None
    """The word they are all numbered by."""
    last: int = 0

    def add(self, heading: MarkdownHeading) -> None:
        self.count += 1
        numbered = heading.numbered()
        word = numbered[0] if numbered is not None and numbered[1] > self.last else None
        self.word = word if self.count == 1 or word == self.word else None
        self.last = numbered[1] if numbered is not None else self.last


class OutlineSurvey:
    """Takes the headings of a file one by one; what it keeps does not grow with them."""

    def __init__(self) -> None:
        self._depths: dict[int, _Depth] = {}
        self._first: MarkdownHeading | None = None

    def add(self, heading: MarkdownHeading) -> None:
        self._first = self._first or heading
        for depth, deeper in self._depths.items():
            if depth > heading.depth:
                deeper.last = 0
        self._depths.setdefault(heading.depth, _Depth()).add(heading)

    def outline(self) -> Outline:
        known, first = self._depths, self._first
        if first is None:
            return Outline()
        title = None
        depths = sorted(known)
        if first.depth == depths[0] and known[depths[0]].count == 1 and len(depths) > 1 and not first.numbered():
            title, depths = first.text, depths[1:]
        scene_depth = next((depth for depth in depths if known[depth].word == SCENE), None)
        if scene_depth is None and known[depths[-1]].word not in LARGER:
            scene_depth = depths[-1]
        outer = tuple(depth for depth in depths if scene_depth is None or depth < scene_depth)
        numbered = frozenset(depth for depth in depths if known[depth].word is not None)
        return Outline(_names([known[depth].word for depth in outer]), outer, scene_depth, title, numbered)


def _names(words: list[str | None]) -> tuple[str, ...]:
    """A name for each level: its word, else one that is not used yet."""
    used = {word for word in words if word}
    if len(used) < sum(word is not None for word in words):
        words, used = [None for _ in words], set()
    free = [name for name in (*UNNAMED, *(f"level {depth}" for depth in range(1, 7))) if name not in used]
    names = [word or free.pop(0) for word in reversed(words)]
    return tuple(reversed(names))


ATX = re.compile(r" {0,3}(#{1,6})(\s.*)?")
UNDERLINE = re.compile(r"(?:=+|-+)\s*")
QUOTE = re.compile(r"(?:>\s?)+")
ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?=\S)")
CAST_LIST = re.compile(r"(?:cast|characters)\s*:", re.IGNORECASE)
FENCE = re.compile(r"```|~~~")
FRONT = re.compile(r"([\w-]+)\s*:\s*(.*)")


@dataclass(slots=True)
class MarkdownSurvey:
    """What the first pass shows; `front_end` is the last line of the front matter, 0 where there is none."""

    front_end: int = 0
    front: dict[str, str] = field(default_factory=dict)
    outline: Outline = field(default_factory=Outline)
    emphasised: bool = False


def survey_of(source: SourceFile) -> MarkdownSurvey:
    survey = MarkdownSurvey()
    survey.front_end, survey.front = _front_matter(source)
    headings = OutlineSurvey()
    above: str | None = None  # a line that an underline would make a heading
    fenced = False
    for number, line in SourceFile(source.path).lines():
        text = line.strip()
        if number <= survey.front_end:
            continue
        if FENCE.match(text):
            fenced = not fenced
        if fenced or not text:
            above = None
        elif heading := atx_heading(line):
            headings.add(heading)
            above = None
        elif above and UNDERLINE.fullmatch(text):
            headings.add(underlined(above, text))
            above = None
        else:
            begins = above is None
            bare, _ = bare_line(text)
            label = emphasised_label(bare)
            survey.emphasised = survey.emphasised or label is not None
            above = text if begins and label is None and bare == text and text[0] != "|" else None
    survey.outline = headings.outline()
    return survey


def atx_heading(line: str) -> MarkdownHeading | None:
    """`## The kitchen ##`"""
    match = ATX.fullmatch(line)
    if match is None:
        return None
    text = " ".join((match[2] or "").split())
    bare = text.rstrip("#")
    return MarkdownHeading(len(match[1]), bare.rstrip() if not bare or bare[-1] == " " else text)


def underlined(text: str, underline: str) -> MarkdownHeading:
    """The heading that a line is when there are `===` or `---` right below it."""
    return MarkdownHeading(1 if underline[0] == "=" else 2, text)


def bare_line(text: str) -> tuple[str, bool]:
    """A line without the marks of a quotation and of a list before it, and whether it is an item of a list."""
    quote = QUOTE.match(text)
    bare = text[quote.end() :] if quote else text
    item = ITEM.match(bare)
    return bare[item.end() :] if item else bare, item is not None


def _front_matter(source: SourceFile) -> tuple[int, dict[str, str]]:
    """The last line of what stands between `---` at the top, and its values."""
    values: dict[str, str] = {}
    for number, line in SourceFile(source.path).lines():
        if number == 1 and line.rstrip() != "---":
            break
        if number > 1 and line.rstrip() in ("---", "..."):
            return number, values
        if match := FRONT.fullmatch(line.rstrip()):
            values[match[1].lower()] = front_value(match[2])
    return 0, {}


def front_value(text: str) -> str:
    """A value of the front matter, with its quotes taken off."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except (ValueError, RecursionError):
            pass
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


# Marks inside a line of Markdown: an emphasised name before what is said, an emphasised description, backslashes.
#
# `**Odile:** Well.`, `**Odile**: Well.`, `*Odile:* Well.`, `__Odile__ (low): Well.` and `**ODILE (low):** Well.` are
# all the same label; the note on how something is said stays with what is said.


NAME = r"(?P<name>(?:\\.|[^\\*_:：]){1,200}?)"
NOTE = r"(?P<note>[*_]{0,2}[(\[（][^()\[\]（）]{0,200}[)\]）][*_]{0,2})"
INSIDE = re.compile(rf"(?P<mark>\*{{1,3}}|_{{1,3}}){NAME}\s{{0,9}}[:：]\s{{0,9}}(?P=mark)(?P<text>.*)")
OUTSIDE = re.compile(rf"(?P<mark>\*{{1,3}}|_{{1,3}}){NAME}(?P=mark)\s{{0,9}}{NOTE}?\s{{0,9}}[:：](?P<text>.*)")
NOTED = re.compile(r"(.*?[^\s\\])\s*([(（][^()（）\\]*[)）])")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)")
STARRED = re.compile(r"(\*{1,3})((?:\\.|[^\\*])+)\1")
UNDERSCORED = re.compile(r"(_{1,3})((?:\\.|[^\\_])+)\1")
NO_NAMES = frozenset("note notes warning tip tips important example caution info todo update edit summary".split())
LONGEST_NAME = 80


class EmphasisedLabel(NamedTuple):
    """A name as it is written, with its backslashes, and what is said."""

    raw_name: str
    text: str


def emphasised_label(text: str) -> EmphasisedLabel | None:
    """The label that a line begins with."""
    if text[:1] not in ("*", "_"):
        return None
    match = INSIDE.fullmatch(text) or OUTSIDE.fullmatch(text)
    if match is None:
        return None
    name, said = match["name"].strip(), match["text"].strip()
    note = (match.groupdict().get("note") or "").strip("*_")
    if noted := NOTED.fullmatch(name):
        name, note = noted[1], f"{noted[2]} {note}".strip()
    if not 0 < len(name) <= LONGEST_NAME or name.casefold() in NO_NAMES or not without_escapes(name).strip():
        return None
    return EmphasisedLabel(name, f"{note} {said}".strip())


def speakers_of(raw_name: str, statistics: TranscriptStatistics) -> tuple[str, ...]:
    """The people a label names; a name in which something is escaped is one."""
    name = " ".join(without_escapes(raw_name).split())
    return (name,) if ESCAPED.search(raw_name) else statistics.speakers(name)


def without_emphasis(text: str) -> str:
    """A description without the emphasis and the brackets around the whole of it."""
    if match := STARRED.fullmatch(text) or UNDERSCORED.fullmatch(text):
        text = match[2].strip() or text
    if text[0] in "([" and WHOLE.fullmatch(text):
        text = text[1:-1].strip() or text
    return text


def without_escapes(text: str) -> str:
    """Backslashes before marks taken off, entities read."""
    return ESCAPED.sub(lambda match: match[1] or html.unescape(match[2]), text)
