"""What the first bytes and the name of a file show, by which its format is recognised.

`measure` is called once a file. Each kind of evidence is worked out when a format first asks for it, and then kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from understudy.formats.screenplay import SCENE_HEADING
from understudy.formats.transcript.headings import is_cut, is_scene_mark
from understudy.formats.transcript.labels import speaker_label
from understudy.sources.columns import Columns, TableSample, table_sample
from understudy.sources.containers import leading_names

__all__ = ["EPISODE", "TIMES", "FileEvidence", "measure"]

UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LINE_END = re.compile(r"\r\n?")
BLANKS = "\ufeff \t\r\n"

EPISODE = re.compile(r"(?<![a-z0-9])s(\d{1,2})[\s._-]*e(\d{1,3})|(?<!\d)(\d{1,2})x(\d{2,3})", re.IGNORECASE)
EPISODE_DIGITS = re.compile(r"(\d{1,2})(\d{2})(?=\D|$)")
EPISODE_WORDS = re.compile(r"season\s+(\d{1,2})\W{1,3}(?:episode|ep\.?)\s+(\d{1,3})", re.IGNORECASE)
TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.:](\d{1,3}))?"
TIMES = re.compile(rf"\s*{TIME}\s*--?>\s*{TIME}(?:\s.*)?")
"""The times of a subtitle."""

HTML_TAG = re.compile(r"<(?:!doctype html|html|head|title|body|p|br|div|h[1-6]|td|font|pre)\b[^<>]*>", re.IGNORECASE)
TOP = 3000  # characters in which a file says which episode it is


@dataclass(eq=False)
class FileEvidence:
    """The first bytes of a file, and what can be seen in them."""

    head: bytes
    path: Path
    _labels: dict[str, str] = field(default_factory=dict)

    @property
    def is_wide(self) -> bool:
        """UTF-16 with its mark."""
        return self.head.startswith(UTF_16_MARKS)

    @property
    def has_nul(self) -> bool:
        return not self.is_wide and b"\0" in self.head

    @cached_property
    def text(self) -> str:
        """The bytes as text with every line end as one character; blank where they are no text."""
        if self.is_wide:
            text = self.head[: len(self.head) // 2 * 2].decode("utf-16", "ignore")
        elif self.head.count(b"\0") * 20 > len(self.head):
            return ""
        else:
            text = self.head.decode("utf-8", "replace")
        return LINE_END.sub("\n", text.removeprefix("\ufeff"))

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank, without the blanks around them."""
        return [bare for line in self.text.split("\n") if (bare := line.strip())]

    @property
    def first_line(self) -> str:
        return self.lines[0] if self.lines else ""

    @cached_property
    def json_text(self) -> str:
        """The text of a file that may be JSON, in any of its encodings."""
        return self.head.decode(json.detect_encoding(self.head), "ignore").lstrip(BLANKS)

    @cached_property
    def first_row(self) -> dict[str, Any] | None:
        """The object that the first line of JSON lines is."""
        row = _json_of(self.first_line) if self.first_line.startswith("{") else None
        return row if isinstance(row, dict) else None

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The first object of JSON lines, or of a list, over however many lines it goes."""
        text = self.text.lstrip(BLANKS).removeprefix("[").lstrip()
        row = _json_of(text, whole=False) if text.startswith("{") else None
        return row if isinstance(row, dict) else None

    @cached_property
    def xml_text(self) -> str:
        """The text of a file that begins with a tag; blank for others."""
        text = self.text.lstrip(BLANKS)
        return text if text.startswith("<") else ""

    @cached_property
    def is_html(self) -> bool:
        """A page says so itself, or shows at least three tags that break lines."""
        start = self.text[:1000].lstrip(BLANKS).lower()
        if start.startswith(("<!doctype html", "<html", "<head", "<body")):
            return True
        tags = HTML_TAG.findall(self.text)
        return len(tags) >= 3 or any(tag.lower().startswith("<html") for tag in tags)

    @cached_property
    def archive_names(self) -> tuple[str, ...]:
        """The names of the parts with which a zip archive begins."""
        return tuple(leading_names(self.head))

    @cached_property
    def table(self) -> TableSample | None:
        """The rows of cells that the lines are."""
        return table_sample(self.head, Columns())

    @cached_property
    def screenplay(self) -> ScreenplayMarks:
        return _screenplay_marks(self.text)

    @cached_property
    def episode(self) -> tuple[int, int] | None:
        """(season, episode), where the name or the top of the file says."""
        return _episode_in_name(self.path.stem) or _first_episode(self.text[:TOP], EPISODE, EPISODE_WORDS)

    def label(self, line: str) -> str:
        """The speaker before a colon, by whose name a line seems to begin; blank where it begins otherwise."""
        if line not in self._labels:
            label = speaker_label(line)
            self._labels[line] = label.name if label else ""
        return self._labels[line]

    def labelled(self, lines: Iterable[str]) -> int:
        """How many lines begin with a speaker."""
        return sum(self.label(line) != "" for line in lines)

    def has_scene_marks(self, most_lines: int) -> bool:
        return any(is_scene_mark(line) or is_cut(line) for line in self.lines[:most_lines])


def measure(head: bytes, path: Path) -> FileEvidence:
    """The evidence of a file by its first `HEAD_BYTES`; the name decides only between formats that look the same."""
    return FileEvidence(head, path)


def _episode_in_name(name: str) -> tuple[int, int] | None:
    """(season, episode) in the name of a file."""
    if (numbers := _first_episode(name, EPISODE)) is not None:
        return numbers
    match = EPISODE_DIGITS.match(name)
    return (int(match[1]), int(match[2])) if match else None


def _first_episode(text: str, *patterns: re.Pattern[str]) -> tuple[int, int] | None:
    match = next((match for pattern in patterns if (match := pattern.search(text))), None)
    if match is None:
        return None
    season, episode = (int(group) for group in match.groups() if group)
    return season, episode


def _json_of(text: str, whole: bool = True) -> Any:
    try:
        return json.loads(text) if whole else json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


# How screenplays show in plain text: names in capitals on lines of their own with what is said below, where a
# transcript has `Name: text` and prose has neither. Scene headings and a title page count with them.

MOST_LINES = 1000
LABEL = re.compile(r"[^\W\d_][^:：\n]{0,40}[:：]\s*\S")
NO_CUE_ENDS = ".:;,!?"


class ScreenplayMarks(NamedTuple):
    """How many lines of a text are what, read as Fountain."""

    title_entries: int = 0
    headings: int = 0
    """`INT. KITCHEN`"""
    forced_headings: int = 0
    """`.KITCHEN`"""
    numbered_headings: int = 0
    cues: int = 0
    forced_cues: int = 0
    """`@Odile`"""
    spoken: int = 0
    """Cues, and what stands under them."""
    others: int = 0
    """Other lines with marks of Fountain."""
    labels: int = 0
    lines: int = 0


def _screenplay_marks(text: str) -> ScreenplayMarks:
    from understudy.formats.fountain import SYNOPSIS, UnclosedBoneyard, fountain_elements

    counts = dict.fromkeys(ScreenplayMarks._fields, 0)
    is_cue = False
    try:
        for element in fountain_elements(enumerate(text.split("\n")[:MOST_LINES], 1)):
            if element.kind != "unread" or element.key == SYNOPSIS:
                counts["lines"] += element.units
            match element.kind:
                case "title entry":
                    counts["title_entries"] += 1
                case "heading":
                    counts["headings" if SCENE_HEADING.match(element.text) else "forced_headings"] += 1
                    counts["numbered_headings"] += element.number != ""
                case "transition" | "centered" | "song" | "section":
                    counts["others"] += 1
                case "cue" | "forced cue":
                    is_cue = element.kind == "forced cue" or element.text[-1] not in NO_CUE_ENDS
                    counts["forced_cues" if element.kind == "forced cue" else "cues"] += is_cue
                    counts["spoken"] += is_cue
                case "action" | "parenthetical" | "dialogue" | "lyric":
                    counts["spoken"] += element.units if is_cue and element.kind != "action" else 0
                    counts["labels"] += sum(LABEL.match(line) is not None for line in element.text.split("\n"))
    except UnclosedBoneyard:  # the first bytes of a file may end in one
        pass
    return ScreenplayMarks(**counts)
