"""Tables: how the cells of their rows are separated, and which column holds what.

Columns are known by the names that tables usually give them, or are named by whoever reads.

Names are compared without case, spaces and punctuation: `Season No.`, `season_no` and `SeasonNo` are one.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from understudy.errors import InputError
from understudy.sources.source import HEAD_BYTES

LEVELS = ("book", "part", "season", "episode", "act", "chapter")
"""What rows may be dated by, from the top down."""

USUAL: dict[str, tuple[str, ...]] = {
    "speaker": (
        "speaker", "speakername", "character", "charactername", "name", "who", "player", "person", "role", "saidby",
        "rawcharactertext",
    ),
    "text": (
        "text", "linetext", "line", "lines", "dialogue", "dialog", "utterance", "quote", "quotetext", "quotation",
        "speech", "sentence", "spokenline", "spokenwords", "playerline", "words", "fulltext",
    ),
    "scene": ("scene", "sceneno", "scenenumber", "sceneid", "scenenum"),
    "setting": ("setting", "location", "place", "rawlocationtext"),
    "book": ("booknum", "bookno", "booknumber", "book"),
    "part": ("partno", "partnumber", "part"),
    "season": ("seasonno", "seasonnum", "seasonnumber", "season"),
    "episode": ("episodeno", "episodenum", "episodenumber", "episode", "episodeid"),
    "act": ("actno", "actnumber", "act"),
    "chapter": ("chapternum", "chapterno", "chapternumber", "chapter"),
    "title": ("title", "episodetitle", "episodename", "chaptertitle", "chaptername"),
    "to": ("to", "addressee", "addressees", "listener", "listeners"),
}  # fmt: skip

CERTAIN = ("speaker", "text", "dialogue")  # what they hold is what they say, even where it is a number


@dataclass(frozen=True, slots=True)
class Columns:
    """The column that holds each, by its name in the file; None where there is none."""

    speaker: str | None = None
    text: str | None = None
    scene: str | None = None
    setting: str | None = None
    book: str | None = None
    part: str | None = None
    season: str | None = None
    episode: str | None = None
    act: str | None = None
    chapter: str | None = None
    title: str | None = None
    to: str | None = None

    @classmethod
    def of(cls, named: Mapping[str, str]) -> Columns:
        """From names that are given: `{"speaker": "Sprecher", "text": "Zeile"}`."""
        known = [field.name for field in fields(cls)]
        for kind, column in named.items():
            if kind not in known:
                raise InputError(f"a table has no column for '{kind}': name columns for {', '.join(known)}")
            if not column.strip():
                raise InputError(f"no column is named for '{kind}': write {kind}=NAME with a name of the first row")
        return cls(**{kind: column.strip() for kind, column in named.items()})

    def completed(self, header: Iterable[str], numeric: frozenset[str] = frozenset()) -> Columns:
        """With the usual names for what is not named; a `line` that is `numeric` holds numbers of lines, no words."""
        by_name: dict[str, str] = {}
        for column in header:
            by_name.setdefault(_plain(column), column)
        taken = {_plain(column) for column in self.named().values()}
        columns: dict[str, str | None] = {}
        for kind, usual in USUAL.items():
            if (own := getattr(self, kind)) is not None:
                columns[kind] = by_name.get(_plain(own), own)
                continue
            free = [name for name in usual if name in by_name and name not in taken]
            if kind in ("speaker", "text"):
                free = [name for name in free if name in CERTAIN or by_name[name] not in numeric]
            columns[kind] = by_name[free[0]] if free else None
        return Columns(**columns)

    def named(self) -> dict[str, str]:
        """Kind and column of those that are there."""
        columns = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {kind: column for kind, column in columns if column is not None}


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name


# The shape of a table: how the cells of its first rows are separated.

DELIMITERS = (",", ";", "\t", "|")
SEPARATOR_LINE = "sep="  # a first line by which spreadsheets note the delimiter
SAMPLE_ROWS = 200
LONGEST_NAME = 60
NUMBER = re.compile(r"\s*\d+(?:\.\d*)?\s*|\s*")
TABLE_SUFFIXES = (".csv", ".tsv", ".tab")


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How the cells of a table are separated, and whether quotation marks are quotes."""

    delimiter: str
    quoted: bool

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        if not self.quoted:
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        return csv.reader(lines, delimiter=self.delimiter, strict=True)


@dataclass(frozen=True, slots=True)
class TableSample:
    """What the first rows show of a table."""

    form: TableFormat
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def agreement(self) -> float:
        """The share of rows that are as wide as the header."""
        return sum(len(row) == len(self.header) for row in self.rows) / max(len(self.rows), 1)

    def columns(self, named: Columns) -> Columns:
        return named.completed(self.header, self._numeric())

    def _numeric(self) -> frozenset[str]:
        columns = self._cells().items()
        return frozenset(name for name, cells in columns if any(cells) and all(map(NUMBER.fullmatch, cells)))

    def _cells(self) -> dict[str, list[str]]:
        return {name: [row[at] for row in self.rows if at < len(row)] for at, name in enumerate(self.header)}

    def suggestion(self, columns: Columns) -> str:
        """What to name columns that are not known: the longest cells may be the text, words before it the speaker."""
        taken = {*columns.named().values(), "", *self._numeric()}
        free = {name: sum(map(len, cells)) for name, cells in self._cells().items() if name not in taken}
        if columns.text is None and free:
            text = max(free, key=lambda name: free[name])
            del free[text]
        else:
            text = columns.text or "NAME"
        return f"speaker={columns.speaker or next(iter(free), 'NAME')},text={text}"

    def is_plainly_a_table(self, path: Path) -> bool:
        """Told by its shape alone, where its columns have names of their own."""
        names = [name for name in self.header if 0 < len(name) <= LONGEST_NAME and name[-1] not in ".:!?"]
        if len(self.rows) < 2 or self.agreement < 1 or len({*names}) < len(self.header):
            return False
        return len(self.header) > 2 or self.form.delimiter == "\t" or path.suffix.lower() in TABLE_SUFFIXES


def table_sample(head: bytes, named: Columns) -> TableSample | None:
    """The way of separating cells in which the columns are known and most rows agree; None where there is none."""
    whole = len(head) < HEAD_BYTES
    lines = table_lines(head if whole else head[: max(head.rfind(b"\n"), head.rfind(b"\r"))])
    while lines and (lines[0].isspace() or lines[0].lower().startswith(SEPARATOR_LINE)):
        del lines[0]
    if not lines or lines[0].lstrip()[:1] in ("{", "[", "<", "#", "|"):
        return None
    samples = [
        sample
        for delimiter in DELIMITERS
        if delimiter in lines[0]
        for quoted in (True, False)
        if (sample := _parsed(lines, TableFormat(delimiter, quoted), whole)) is not None
    ]
    return max(samples, default=None, key=lambda sample: _rank(sample, named))


def table_lines(head: bytes) -> list[str]:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return [line + "\n" for line in head.decode("utf-16", "ignore").split("\n")]
    lines = []
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        try:
            lines.append(line.decode() + "\n")
        except UnicodeDecodeError:
            lines.append(line.decode("cp1252", "replace") + "\n")
    return lines


def _rank(sample: TableSample, named: Columns) -> tuple[int, float, bool, int]:
    columns = sample.columns(named)
    known = sum(column in sample.header for column in (columns.speaker, columns.text))
    return known, sample.agreement, sample.form.quoted, len(sample.header)


def _parsed(lines: list[str], form: TableFormat, whole: bool) -> TableSample | None:
    rows: list[tuple[str, ...]] = []
    try:
        for row in form.rows(lines):
            if row:
                rows.append(tuple(row))
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error as error:
        if whole or "end of data" not in str(error):  # else a quoted cell that goes on behind the sample
            return None
    header = tuple(name.strip() for name in rows[0]) if rows else ()
    return TableSample(form, header, tuple(rows[1:])) if len(header) > 1 and len(rows) > 1 else None
