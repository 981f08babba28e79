r"""Stories written in ink (`.ink`): what is said in them, in the order of the file.

    === kitchen ===                         a knot is a scene, and so is a stitch (`= window`)
    The kettle sings. # night               a description; its tags are listed as unread
    ODILE: You sold the piano. -> yard      a speech, without the divert
    * [Ask about the money] BASTIEN: What money?     a choice: a description, and what is printed when it is taken
    ~ sold = true                           logic is listed as unread

All branches are read, one after the other; `{alternatives|and conditions}` in a line stay as they are written. What a
playthrough prints has no marks any more: that is a `transcript`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from understudy.formats.transcript.labels import TranscriptStatistics, speaker_label
from understudy.sources import Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.directions import comings_and_goings
from understudy.sources.source import SourceFile

KNOT = re.compile(r"={2,} ?(?P<function>function )?(?P<name>[^\W\d]\w*) ?(?:\([^()]*\))? ?=*")
STITCH = re.compile(r"= ?([^\W\d]\w*) ?(?:\([^()]*\))?")
DECLARATION = re.compile(r"(?:VAR|CONST|LIST|INCLUDE|EXTERNAL)\s")
TO_DO = re.compile(r"TODO\s*:")
CHOICE = re.compile(r"(?:[*+]\s*)+")
GATHER = re.compile(r"(?:-(?!>)\s*)+")
NAME_OF_POINT = re.compile(r"\(\s*[^\W\d]\w*\s*\)\s*")
CONDITION = re.compile(r"\{[^{}|]*\}\s*")
OFFERED = re.compile(r"(?P<before>[^\[\]]*)\[(?P<offered>[^\[\]]*)\](?P<after>.*)")
DIVERT = re.compile(r" ?(?<!\\)(?:->|<-)[^{}]*$")
DIVERTS_ONLY = re.compile(r"\{[^{}]*->[^{}]*\}")
SEQUENCE = re.compile(r"\{\s*(?:stopping|cycle|once|shuffle)\b[^:]*:\s*")
COMMENT = re.compile(r"(?<![:\\])//.*$")
BLOCK_COMMENT = re.compile(r"/\*.*?\*/")
TAG = re.compile(r" ?(?<!\\)# ?(.*)$")
SPEAKER_TAG = re.compile(r"(?:^|#)\s*(?:speaker|character|name)\s*:\s*([^#]+)", re.IGNORECASE)
TITLE_TAG = re.compile(r"#\s*title\s*:\s*(.+)", re.IGNORECASE)
BRANCH = re.compile(r"([^:{}\"]*):\s*(.*)")
ESCAPED = re.compile(r"\\(.)")
GLUE = "<>"


def events(source: SourceFile) -> Iterator[Event]:
    title = TITLE_TAG.search(source.head()[:2000].decode("utf-8", "replace"))
    yield Opening(title=title[1].strip() if title else None)
    yield from _InkParser(source).events()


class _InkParser:
    """One pass over the lines; a line that is glued to the next is pending."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.knot = ""
        self.in_function = False
        self.depth = 0  # of { blocks that run over several lines
        self.in_sequence = False
        self.pending: Speech | Description | None = None
        self.pending_is_glued = False
        self.statistics = TranscriptStatistics()

    def events(self) -> Iterator[Event]:
        in_comment = False
        for number, line in self.source.lines():
            if not line or line.isspace():
                continue
            text = BLOCK_COMMENT.sub("", line)
            if in_comment:
                in_comment = "*/" not in text
                text = "" if in_comment else text.partition("*/")[2]
            before, opened, _ = text.partition("/*")
            in_comment = in_comment or bool(opened)
            text = " ".join(COMMENT.sub("", before).split())
            if text:
                yield from self._line(number, text)
            else:
                yield Unread(self.source.at(number), line.strip()[:200], "a comment")
        yield from self._flush()

    def _line(self, number: int, text: str) -> Iterator[Event]:
        at = self.source.at(number)
        if match := KNOT.fullmatch(text):
            yield from self._flush()
            self.knot, self.in_function, self.depth = match["name"], match["function"] is not None, 0
            yield Unread(at, text, "code") if self.in_function else SceneStart(at, self.knot)
        elif self.in_function or text[0] == "~" or DECLARATION.match(text):
            yield Unread(at, text[:200], "code")
        elif match := STITCH.fullmatch(text):
            yield from self._flush()
            yield SceneStart(at, f"{self.knot}.{match[1]}" if self.knot else match[1])
        elif TO_DO.match(text):
            yield Unread(at, text[:200], "a note to the author")
        elif text[0] == "#":
            yield Heading(at, text) if TITLE_TAG.fullmatch(text) else Unread(at, text[:200], "a tag")
        elif self.depth or text.count("{") != text.count("}"):
            yield from self._in_block(number, text)
        elif match := CHOICE.match(text):
            yield from self._choice(number, text[match.end() :], text)
        else:
            yield from self._content(number, self._after_gather(text), text)

    def _after_gather(self, text: str) -> str:
        match = GATHER.match(text)
        return NAME_OF_POINT.sub("", text[match.end() :], count=1) if match else text

    def _in_block(self, number: int, text: str) -> Iterator[Event]:
        """A line of a conditional block: `{ met:`, `- else: ODILE: Who?`, `}`, or content like any other."""
        opens, is_branch = not self.depth, text[0] == "-" and not text.startswith("->")
        self.depth = max(self.depth + text.count("{") - text.count("}"), 0)
        if opens:
            self.in_sequence = SEQUENCE.match(text) is not None
        if (opens and text[0] == "{") or (is_branch and not self.in_sequence):
            match = BRANCH.fullmatch(text[1:].strip() if opens else self._after_gather(text))
            said = match[2] if match else "" if opens else self._after_gather(text)
            yield from self._content(number, said, text, "code")
        elif not text.strip("{}"):
            yield Unread(self.source.at(number), text, "code")
        elif choice := CHOICE.match(text):
            yield from self._choice(number, text[choice.end() :], text)
        else:
            yield from self._content(number, self._after_gather(text), text)

    def _choice(self, number: int, text: str, line: str) -> Iterator[Event]:
        bare = NAME_OF_POINT.sub("", text, count=1) if NAME_OF_POINT.match(text) else text
        while (condition := CONDITION.match(bare)) is not None:
            bare = bare[condition.end() :]
        match = OFFERED.fullmatch(bare)
        offered = self._words(match["before"] + match["offered"]) if match else ""
        printed = match["before"] + match["after"] if match else bare
        if not offered:
            yield from self._content(number, printed, line, "a choice without words")
            return
        yield from self._flush()
        yield Description(self.source.at(number), offered)
        if self._words(printed):
            yield from self._content(number, printed, line, units=0)

    def _content(self, number: int, text: str, line: str, reason: str = "", units: int = 1) -> Iterator[Event]:
        """What is printed: a speech or a description; a line that prints nothing is unread for the `reason`."""
        at = self.source.at(number)
        tag = TAG.search(text)
        bare = text[: tag.start()] if tag else text
        words = self._words(bare)
        if not words or DIVERTS_ONLY.fullmatch(words):
            yield Unread(at, line[:200], "code" if words else reason or _reason(text), units)
            return
        ends_glued = DIVERT.sub("", bare).rstrip().endswith(GLUE)
        if self.pending is not None and (self.pending_is_glued or bare.lstrip().startswith(GLUE)):
            self.pending = replace(self.pending, text=f"{self.pending.text} {words}", units=self.pending.units + units)
        else:
            yield from self._flush()
            self.pending = self._event(number, words, tag[1] if tag else "", units)
        self.pending_is_glued = ends_glued
        if tag:
            yield Unread(at, tag[0].strip()[:200], "a tag", 0)

    def _event(self, number: int, words: str, tags: str, units: int) -> Speech | Description:
        at = self.source.at(number)
        label = speaker_label(words)
        if label is not None and label.text:
            return Speech(at, self.statistics.speakers(label.name), label.said, units)
        if speaker := SPEAKER_TAG.search(tags):
            return Speech(at, self.statistics.speakers(speaker[1].strip()), words, units)
        return Description(at, words, comings_and_goings(words), units)

    def _words(self, text: str) -> str:
        """A piece of content without its diverts, glue and backslashes."""
        bare = DIVERT.sub("", text).replace(GLUE, " ")
        return " ".join(ESCAPED.sub(r"\1", bare).split())

    def _flush(self) -> Iterator[Event]:
        pending, self.pending = self.pending, None
        self.pending_is_glued = False
        if pending is not None:
            yield pending


def _reason(text: str) -> str:
    return "a divert" if DIVERT.search(text) else "marks without words"


READER = Reader("ink", events)
