"""Ren'Py scripts (`.rpy`): who says what in a visual novel, in the order of the file.

    define e = Character("Eileen", image="eileen")    somebody of the cast
    label start:                                      a scene; `scene bg kitchen` says where it is, or begins another
        show eileen happy                             she comes, `hide eileen`: she goes
        e happy "It was {i}here{/i}, [player]."       a speech, without its text tags
        extend " I know it."                          the rest of the same one
        "Rain."                                       a description
        menu:
            "Ask about the piano.":                   a choice: a description

Python and other statements are listed as unread. All branches are read, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources import (
    CastEntry,
    Description,
    Event,
    Heading,
    Movement,
    Opening,
    Reader,
    SceneStart,
    Speech,
    Unread,
)
from understudy.sources.source import SourceFile
from understudy.story.types import Character

# The statements of a Ren'Py script, with the strings in them.
#
# A statement is a line, and goes on in the next as long as a string or a bracket is open. Its block are the
# statements below that are indented more.

STRING = (
    r"(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)"
)
MARK = re.compile(r"\\.|\"\"\"|'''|[\"'`#()\[\]{}]")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
TEXT_TAG = re.compile(r"\{\{|\[\[|%%|\{[^{}]*\}")
NEW_LINE_TAGS = ("{p", "{w", "{vspace")  # after these the text goes on as a new sentence
EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\s*")
MOST_CHARACTERS = 1_000_000
TAB = 8


@dataclass(frozen=True, slots=True)
class RenpyStatement:
    """Its first line, how far that is indented, its text without that, and how many non-blank lines it has."""

    number: int
    indent: int
    text: str
    units: int

    @property
    def word(self) -> str:
        """The word it begins with."""
        return self.text.split(None, 1)[0].rstrip(":") if self.text else ""

    @property
    def has_block(self) -> bool:
        return self.text.rstrip().endswith(":")


def statements(source: SourceFile) -> Iterator[RenpyStatement]:
    """All statements of a script, comments among them."""
    open_marks = _OpenMarks()
    lines: list[str] = []
    first = units = length = 0
    for number, line in source.lines():
        blank = not line or line.isspace()
        if not lines and blank:
            continue
        if not lines:
            first = number
        lines.append(line)
        units += not blank
        length += len(line)
        open_marks.scan(line)
        if length > MOST_CHARACTERS:
            break
        if not open_marks:
            yield _statement(first, lines, units)
            lines, units, length = [], 0, 0
    if lines:
        raise source.error(f"{open_marks} opens in this statement and is never closed", first)


def _statement(number: int, lines: list[str], units: int) -> RenpyStatement:
    expanded = lines[0].expandtabs(TAB)
    text = "\n".join(lines).strip()
    return RenpyStatement(number, len(expanded) - len(expanded.lstrip()), text, units)


class _OpenMarks:
    """The string or the brackets that are open at the end of a line."""

    def __init__(self) -> None:
        self.quote: str | None = None
        self.depth = 0

    def __bool__(self) -> bool:
        return self.quote is not None or self.depth > 0

    def __str__(self) -> str:
        return f"a string ({self.quote})" if self.quote else "a bracket"

    def scan(self, line: str) -> None:
        for match in MARK.finditer(line):
            mark = match[0]
            if self.quote is not None:
                if mark == self.quote or (len(self.quote) == 1 and mark[0] == self.quote):
                    self.quote = None
            elif mark == "#":
                return
            elif mark[0] in "\"'`":
                self.quote = mark
            elif mark in "([{":
                self.depth += 1
            elif mark in ")]}":
                self.depth = max(self.depth - 1, 0)


def paragraphs(string: str) -> Iterator[tuple[int, int, str]]:
    """What a string says: (lines below its first, lines, text) of its paragraphs, where it has three quotes."""
    width = 3 if string[:3] in ('"""', "'''") else 1
    inner = string[width:-width]
    if width == 1:
        yield 0, inner.count("\n") + 1, without_tags(inner)
        return
    start = 0
    for end in [*EMPTY_LINE.finditer(inner), None]:
        piece = inner[start : end.start() if end else len(inner)]
        if piece.strip():
            before = inner[: start + len(piece) - len(piece.lstrip())].count("\n")
            yield before, piece.strip().count("\n") + 1, without_tags(piece)
        start = end.end() if end else start


def without_tags(text: str) -> str:
    """The words alone: text tags such as {i} and {w=1} taken off, escapes read, in one line; `[names]` stay."""
    plain = ESCAPE.sub(lambda match: " " if match[1] in "n \n" else match[1], text)
    return " ".join(TEXT_TAG.sub(_untagged, plain).split())


def _untagged(match: re.Match[str]) -> str:
    mark = match[0]
    if mark in ("{{", "[[", "%%"):
        return mark[0]
    return " " if mark.startswith(NEW_LINE_TAGS) else ""


LABEL = re.compile(r"label\s+([\w.]+)\s*(?:\(.*\)\s*)?(?:hide\s*)?:.*", re.DOTALL)
CHARACTER = re.compile(
    r"(?:define\s+|default\s+|\$\s*)?(?:-?\d+\s+)?(?P<id>[\w.]+)\s*=\s*(?P<kind>\w*)Character\s*\(\s*(?P<arguments>.*)",
    re.DOTALL,
)
NAME = re.compile(rf"(?:name\s*=\s*)?(?:_\s*\(\s*)?({STRING})", re.DOTALL)
NAMED_LATER = re.compile(rf"\bname\s*=\s*(?:_\s*\(\s*)?({STRING})", re.DOTALL)
TAG = re.compile(rf"\bimage\s*=\s*({STRING})")
SAYING = re.compile(
    rf"(?:(?P<name>{STRING})\s*|(?P<id>[A-Za-z_][\w.]*)(?:\s+(?:@\s*)?-?[A-Za-z_]\w*)*\s*)?(?P<text>{STRING})(?P<rest>.*)",
    re.DOTALL,
)
AFTER_TEXT = ("(", "with ", "nointeract", "id ", "#")  # what may stand behind what is said
SHOWN = re.compile(r"(?:show|scene|hide)\s+([A-Za-z_][\w-]*(?:\s+(?!(?:at|as|with|behind|onlayer|zorder)\b)[\w-]+)*)")
SHOWN_TEXT = re.compile(rf"show\s+text\s+({STRING})", re.DOTALL)

CODE_BLOCKS = re.compile(
    r"(?:init\b.*\bpython|python|screen|style|transform|image|layeredimage|testcase)\b|translate\s+\w+\s+(?:strings|python|style)\b"
)
CODE = frozenset(
    "$ python init define default image transform screen style if elif else while for pass translate rpy old new set "
    "layeredimage testcase".split()
)
JUMPS = frozenset(("jump", "call", "return"))
STAGING = frozenset("play stop queue voice pause with window nvl camera show hide scene".split())
NARRATORS = frozenset(("narrator", "centered", "vcentered"))


def events(source: SourceFile) -> Iterator[Event]:
    yield Opening()
    yield from _RenpyParser(source, _characters(source)).events()


@dataclass(frozen=True, slots=True)
class _Defined:
    """The characters of a script by the words it has for them: ids, and tags of their pictures."""

    names: dict[str, str | None] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


def _characters(source: SourceFile) -> _Defined:
    """A first pass: a character may be defined below what it says."""
    defined = _Defined()
    for statement in statements(SourceFile(source.path)):
        if "Character" not in statement.text or (match := CHARACTER.match(statement.text)) is None:
            continue
        arguments = match["arguments"]
        string = NAME.match(arguments) or NAMED_LATER.search(arguments)
        name = without_tags(string[1][1:-1]) if string else ""
        defined.names[match["id"]] = name or None
        if name:
            tag = TAG.search(arguments)
            for word in (tag[1][1:-1] if tag else match["id"], match["id"], name.lower()):
                defined.tags.setdefault(word, name)
    return defined


class _RenpyParser:
    """One pass over the statements; a speech is pending until it is known that nothing extends it."""

    def __init__(self, source: SourceFile, defined: _Defined) -> None:
        self.source, self.defined = source, defined
        self.pending: Speech | Description | None = None
        self.scene: SceneStart | None = None  # one that nothing was said in yet
        self.background = ""
        self.shown: set[str] = set()
        self.last_speakers: tuple[str, ...] = ()
        self.statistics = TranscriptStatistics()

    def events(self) -> Iterator[Event]:
        block: tuple[int, str] | None = None  # (indent, reason) of a block that is not read
        for statement in statements(self.source):
            if block is not None and (statement.indent > block[0] or statement.text[0] == "#"):
                reason = "a comment" if statement.text[0] == "#" else block[1]
                yield self._unread(statement, reason)
                continue
            block = None
            yield from self._statement(statement)
            if CODE_BLOCKS.match(statement.text) and statement.has_block:
                block = statement.indent, "code"
            elif statement.word in STAGING and statement.has_block:
                block = statement.indent, "pictures and sound"
        yield from self._flush()

    def _statement(self, statement: RenpyStatement) -> Iterator[Event]:
        text, word = statement.text, statement.word
        if text[0] == "#":
            yield self._unread(statement, "a comment")
        elif match := LABEL.fullmatch(text):
            self.background = ""
            yield from self._set_scene(statement, match[1], is_label=True)
        elif "Character" in text and (match := CHARACTER.match(text)):
            yield self._declaration(statement, self.defined.names.get(match["id"]))
        elif word in self.defined.names:
            yield from self._saying(statement)
        elif word in ("show", "scene", "hide"):
            yield from self._shown(statement)
        elif word == "menu":
            yield self._unread(statement, "a menu")
        elif text[0] == "$" or word in CODE:
            yield self._unread(statement, "code")
        elif word in JUMPS:
            yield self._unread(statement, "a jump")
        elif word in STAGING:
            yield self._unread(statement, "pictures and sound")
        else:
            yield from self._saying(statement)

    def _saying(self, statement: RenpyStatement) -> Iterator[Event]:
        match = SAYING.fullmatch(statement.text)
        if match is None:
            yield self._unread(statement, "code")
            return
        rest = match["rest"].strip()
        is_choice = match["name"] is None and match["id"] is None and _ends_in_colon(rest)
        if rest and not is_choice and not rest.startswith(AFTER_TEXT):
            yield self._unread(statement, "code")
            return
        said = [(below, lines, text) for below, lines, text in paragraphs(match["text"]) if text]
        if not said:
            yield self._unread(statement, "says nothing")
            return
        if match["id"] == "extend" and self.pending is not None:
            text = " ".join([self.pending.text, *(text for _, _, text in said)])
            self.pending = replace(self.pending, text=text, units=self.pending.units + statement.units)
            return
        speakers = () if is_choice else self._speakers(match)
        self.last_speakers = speakers
        remaining = statement.units - sum(lines for _, lines, _ in said[1:])
        above = statement.text[: match.start("text")].count("\n")
        for below, lines, text in said:
            yield from self._flush()
            at = self.source.at(statement.number + above + below)
            units, remaining = (remaining, 0) if remaining else (lines, 0)
            self.pending = Speech(at, speakers, text, units) if speakers else Description(at, text, units=units)

    def _speakers(self, match: re.Match[str]) -> tuple[str, ...]:
        if match["name"] is not None:
            name = without_tags(match["name"][1:-1])
            return self.statistics.speakers(name) if name else ()
        label = match["id"]
        if label == "extend":
            return self.last_speakers
        if label is None or label in NARRATORS:
            return ()
        name_of_id = self.defined.names.get(label, label)
        return (name_of_id,) if name_of_id else ()

    def _declaration(self, statement: RenpyStatement, name: str | None) -> Event:
        at = self.source.at(statement.number)
        if name is None:
            return Heading(at, statement.text, units=statement.units)
        return CastEntry(at, Character(name), units=statement.units)

    def _set_scene(self, statement: RenpyStatement, setting: str, is_label: bool) -> Iterator[Event]:
        """A label or a background: the setting of a scene that begins here, or of one that has just begun."""
        if self.scene is not None and (not is_label or self.scene.setting == ""):
            joined = ", ".join(filter(None, (self.scene.setting, setting)))
            self.scene = replace(self.scene, setting=joined, units=self.scene.units + statement.units)
            return
        yield from self._flush()
        self.shown.clear()
        self.scene = SceneStart(self.source.at(statement.number), setting, units=statement.units)

    def _shown(self, statement: RenpyStatement) -> Iterator[Event]:
        shown_text = SHOWN_TEXT.match(statement.text)
        if shown_text and (text := without_tags(shown_text[1][1:-1])):
            yield from self._flush()
            self.pending = Description(self.source.at(statement.number), text, units=statement.units)
            return
        match = SHOWN.match(statement.text)
        picture = match[1] if match else ""
        if statement.word == "scene" and picture not in ("", self.background) and not picture.startswith("expression"):
            self.background = picture
            yield from self._set_scene(statement, picture, is_label=False)
            return
        name = self.defined.tags.get(picture.split()[0]) if picture else None
        comes = statement.word == "show"
        if name is None or comes == (name in self.shown):
            yield self._unread(statement, "pictures and sound")
            return
        yield from self._flush()
        (self.shown.add if comes else self.shown.discard)(name)
        at = self.source.at(statement.number)
        yield Movement(at, (name,) if comes else (), () if comes else (name,), statement.units)

    def _unread(self, statement: RenpyStatement, reason: str) -> Unread:
        return Unread(self.source.at(statement.number), " ".join(statement.text[:200].split()), reason, statement.units)

    def _flush(self) -> Iterator[Event]:
        """Give out what is pending: the scene that has begun, or the last speech."""
        pending, self.pending = self.pending, None
        scene, self.scene = self.scene, None
        if pending is not None:
            yield pending
        if scene is not None:
            yield scene


def _ends_in_colon(rest: str) -> bool:
    """Does a block follow, as below a choice? A comment may stand behind the colon."""
    return rest.endswith(":") or rest.partition("#")[0].rstrip().endswith(":")


READER = Reader("renpy", events)
