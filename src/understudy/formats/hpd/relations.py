"""HPD's relations by chapter: a workbook a book, a sheet a chapter, a row a person, columns as below.

The book's number is in the file's name ('book-1_...'); without one the story counts by chapters alone. Sheets may
stand in any order and are read in that of their chapters. There are no scenes: the workbook says who is what to whom,
and since when. A unit is a row that is not blank: the heading of a sheet, or a person; lines are row numbers.

Read together with sessions the workbook only names its people: what it says of them is merged with the sessions, in
the order of time (`statements_beside`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from understudy.errors import InputError, MissingExtra
from understudy.sources import CastEntry, Event, Heading, Opening, Reader, RelationEntry, Unread
from understudy.sources.containers import SourceArchive
from understudy.sources.names import unambiguous_aliases
from understudy.sources.source import SourceFile
from understudy.story.types import Character, Moment, Relation, Schema, Source
from understudy.text import fold

BOOK = re.compile(r"book\W?(\d{1,4})(?!\d)", re.IGNORECASE)
CHAPTER = re.compile(r"\D*?(\d{1,4})\D*")
LARGEST = 64 * 1024 * 1024
MOST_FILES = 1000
MOST_ROWS = 100_000
MOST_COLUMNS = 64


class _Sheet(NamedTuple):
    chapter: int
    title: str
    headers: tuple[str, ...]
    rows: list[tuple[int, tuple[Any, ...]]]


class DatedStatement(NamedTuple):
    chapter: Moment
    source: Source
    statement: TieStatement


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one workbook. Its size is bounded before it is opened, so its rows are kept."""
    sheets = _checked_sheets(source)
    source.reach(1.0)
    levels = _levels(source)
    yield Opening(levels)
    first: dict[str, int] = {}
    for sheet in sheets:
        for row, cells in sheet.rows:
            first.setdefault(_name(cells), row)
    for name, aliases in _full_names(sheets).items():
        yield CastEntry(source.at(first[name]), Character(name, aliases))
    ties = TieHistory()
    full = _name_of_form(sheets)
    for sheet in sheets:
        chapter, owner = _moment(source, sheet), _owner(source, sheet)
        if source.annotates is None:
            yield Heading(source.at(1), f"Chapter {sheet.chapter}", chapter.numbers)
        yield CastEntry(source.at(1), Character(owner), units=int(source.annotates is not None))
        for row, cells in sheet.rows:
            name, at = _name(cells), source.at(row)
            if not name:
                yield Unread(at, " ".join(str(cell) for cell in cells if cell is not None), "a row without a name")
                continue
            yield CastEntry(at, Character(full[name]), units=1)
        if source.annotates is None:
            for _, at, statement in _statements(source, sheet, full):
                yield from ties.record(statement, chapter, chapter, at)
    yield from ties.open_spans()


def statements_beside(source: SourceFile, names: Mapping[str, Iterable[str]]) -> list[DatedStatement]:
    """The statements of the workbooks that are read together with a file, under the `names` of the file."""
    known = {fold(alias): name for name, aliases in unambiguous_aliases(names).items() for alias in aliases}
    known |= {fold(name): name for name in names}
    dated: list[DatedStatement] = []
    for workbook in map(SourceFile, source.annotations):
        if BOOK.search(workbook.path.stem) is None:
            raise workbook.error("does not say of which book it is: name it for that, as in 'book-1_relations.xlsx'")
        sheets = _checked_sheets(workbook)
        full = {form: known.get(fold(name), name) for form, name in _name_of_form(sheets).items()}
        for sheet in sheets:
            dated += _statements(workbook, sheet, full)
    return dated


def _checked_sheets(source: SourceFile) -> list[_Sheet]:
    _check_archive(source)
    return sorted(_sheets(source), key=lambda sheet: sheet.chapter)


def _levels(source: SourceFile) -> tuple[str, ...]:
    return (*(("book",) if BOOK.search(source.path.stem) else ()), "chapter", "scene", "line")


def _moment(source: SourceFile, sheet: _Sheet) -> Moment:
    book = BOOK.search(source.path.stem)
    return Moment((*((int(book[1]),) if book else ()), sheet.chapter), _levels(source))


def _owner(source: SourceFile, sheet: _Sheet) -> str:
    owner = owner_of(sheet.headers)
    if "name" not in sheet.headers or owner is None:
        wanted = '"name" and "...\'s affection to him"'
        raise source.error(f"sheet '{sheet.title}' has no columns {wanted}: this is no table of relations", 1)
    return owner


def _statements(source: SourceFile, sheet: _Sheet, full: Mapping[str, str]) -> Iterator[DatedStatement]:
    chapter, owner = _moment(source, sheet), _owner(source, sheet)
    for row, cells in sheet.rows:
        if name := _name(cells):
            errors = LocatedErrors(source, f"sheet '{sheet.title}'", row)
            for statement in statements(owner, full[name], dict(zip(sheet.headers, cells)), errors):
                yield DatedStatement(chapter, source.at(row), statement)


def _name_of_form(sheets: list[_Sheet]) -> dict[str, str]:
    return {form: name for name, aliases in _full_names(sheets).items() for form in (name, *aliases)}


def _full_names(sheets: list[_Sheet]) -> dict[str, tuple[str, ...]]:
    """Everybody, with the other forms of their names: 'James' in one sheet is 'James Potter' in the next.

    A form belongs to the one longer name that has it at either end and never stands in the same sheet with it.
    """
    where: dict[str, set[str]] = {}
    for sheet in sheets:
        for _, cells in sheet.rows:
            if name := _name(cells):
                where.setdefault(name, set()).add(sheet.title)
    full: dict[str, list[str]] = {}
    for name in where:
        longer = [
            full_name for full_name in where if full_name.startswith(name + " ") or full_name.endswith(" " + name)
        ]
        if len(longer) == 1 and not where[name] & where[longer[0]]:
            full.setdefault(longer[0], []).append(name)
        else:
            full.setdefault(name, [])
    return unambiguous_aliases(full)


def _name(cells: tuple[Any, ...]) -> str:
    return "" if not cells or cells[0] is None else " ".join(str(cells[0]).split())


def _check_archive(source: SourceFile) -> None:
    """Nothing is unpacked before its size is known, and nothing is parsed that is damaged."""
    with SourceArchive(source, "an XLSX workbook") as archive:
        if len(archive.names) > MOST_FILES or archive.size > LARGEST:
            raise source.error(f"unpacks to more than {LARGEST // 2**20} MiB: this is no table of relations")
        if "xl/workbook.xml" not in archive:
            raise source.error("is an archive, but not an XLSX workbook: save it as XLSX")
        for name in archive.names:
            if b"<!DOCTYPE" in archive.read(name).content:
                raise source.error(f"declares a document type in {name}, as no spreadsheet program does")


def _sheets(source: SourceFile) -> Iterator[_Sheet]:
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("reading XLSX", "xlsx") from error
    sheets: list[tuple[str, list[tuple[int, tuple[Any, ...]]]]] = []
    try:
        with source.path.open("rb") as file:
            workbook = openpyxl.load_workbook(file, read_only=True, data_only=True)
            for sheet in workbook.worksheets:
                numbered = enumerate(sheet.iter_rows(max_row=MOST_ROWS, max_col=MOST_COLUMNS, values_only=True), 1)
                sheets.append((sheet.title, [(number, row) for number, row in numbered if not _blank(row)]))
            workbook.close()
    except Exception as error:  # the parser says of nothing what it may raise on a workbook somebody tampered with
        raise source.error(f"cannot be read as a workbook ({error}): save it again as XLSX") from error
    if not any(rows for _, rows in sheets):
        raise source.error("has no rows: there is nothing to read")
    seen: dict[int, str] = {}
    for title, rows in sheets:
        source.units += len(rows)
        if not rows:
            continue
        chapter = CHAPTER.fullmatch(title)
        if chapter is None:
            raise source.error(f"sheet '{title}' should be named for one chapter, as in 'Chapter-3'")
        number = int(chapter[1])
        if number in seen:
            raise source.error(f"sheets '{seen[number]}' and '{title}' are of the same chapter: keep one")
        seen[number] = title
        headers = tuple("" if cell is None else str(cell).strip() for cell in rows[0][1])
        yield _Sheet(number, title, headers, rows[1:])


def _blank(row: tuple[Any, ...]) -> bool:
    return all(cell is None or (isinstance(cell, str) and not cell.strip()) for cell in row)


READER = Reader("HPD relations (XLSX)", events, annotates="HPD sessions")


# How HPD writes relations, and since when and until when they hold.
#
# A row a person, with what that person is to one other (Harry), and four levels:
#
#                                           | His affection to Harry   | His familiarity with Harry
#
# Kinds are 1 or 0. A blank cell is 0, which is also where every level begins.
#
# Annotators write down all they know of a character chapter by chapter, the same values hundreds of times and without
# an end. A `ChangeLog` remembers the current values and returns a span whenever one has ended.

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class DatedSpan(Generic[Key, Value]):
    """`value` holds from `since` on, until `until` if it is known to end."""

    key: Key
    value: Value
    since: Moment
    until: Moment | None
    source: Source


@dataclass(slots=True)
class ChangeLog(Generic[Key, Value]):
    """The values that hold at the last recorded moment. Moments must be recorded in order."""

    _holding: dict[Key, DatedSpan[Key, Value]] = field(default_factory=dict)
    _last_chapters: dict[Key, Moment] = field(default_factory=dict)

    def record(
        self, key: Key, value: Value | None, chapter: Moment, scene: Moment, source: Source
    ) -> DatedSpan[Key, Value] | None:
        """Record the value (None: it does not hold), and return the span this ends, if it ends one.

        A change is dated by its chapter; a second one within the chapter by its scene.
        """
        since = scene if self._last_chapters.get(key) == chapter else chapter
        self._last_chapters[key] = chapter
        current = self._holding.get(key)
        if current is not None and current.value == value:
            return None
        if value is None:
            self._holding.pop(key, None)
        else:
            self._holding[key] = DatedSpan(key, value, since, None, source)
        return None if current is None else DatedSpan(key, current.value, current.since, since, current.source)

    def open_spans(self) -> Iterator[DatedSpan[Key, Value]]:
        """The spans that have not ended."""
        yield from self._holding.values()


OWN = re.compile(r"(.+?)['’]s (affection|familiarity) (?:to|with) (?:him|her|them)\b.*", re.DOTALL)
THEIRS = re.compile(r"(?:his|her|their) (affection|familiarity) (?:to|with) .+", re.IGNORECASE | re.DOTALL)
ONE_WAY = frozenset(("teacher", "parent", "child", "grandparent", "grandchild", "confidant"))
"""'Is a teacher to Harry'; the others hold both ways. HPD itself has no other one-way kind than this."""
BLANK = frozenset(("", "none", "nan"))


@dataclass(frozen=True, slots=True)
class LocatedErrors:
    """Makes errors that say in which sheet and row, or in which session, the fault is."""

    source: SourceFile
    location: str
    line: int

    def __call__(self, message: str) -> InputError:
        return self.source.error(f"{self.location}: {message}", self.line)


class TieStatement(NamedTuple):
    """`kind` that `of` has to `to`: a level, or whether it holds at all (`level` None and `holds`)."""

    of: str
    to: str
    kind: str
    level: int | None
    holds: bool = True


class TieHistory:
    """The ties between people, from statements in the order of time; yields each tie when it has ended."""

    def __init__(self) -> None:
        self._changes: ChangeLog[tuple[str, str, str], int] = ChangeLog()

    def record(
        self, statement: TieStatement, chapter: Moment, scene: Moment, source: Source
    ) -> Iterator[RelationEntry]:
        value = statement.level if statement.level is not None else 1 if statement.holds else None
        if ended := self._changes.record((statement.of, statement.to, statement.kind), value, chapter, scene, source):
            yield _relation_entry(ended)

    def open_spans(self) -> Iterator[RelationEntry]:
        """The ties that hold to the end."""
        yield from map(_relation_entry, self._changes.open_spans())


def owner_of(headers: Mapping[str, Any] | tuple[str, ...]) -> str | None:
    """Whose relations these are: the name in 'Harry's affection to him'."""
    return next((match[1].strip() for header in headers if (match := OWN.fullmatch(header.strip()))), None)


def statements(
    owner: str, other: str, cells: Mapping[str, Any], error: Callable[[str], InputError]
) -> Iterator[TieStatement]:
    """All that a row says; `error` makes an error with the location of the row."""
    for header, cell in cells.items():
        header = header.strip()
        if not header or header == "name":
            continue
        number = _number(header, cell, error)
        if match := OWN.fullmatch(header):
            yield TieStatement(owner, other, match[2], _level(match[2], number, header, error))
        elif match := THEIRS.fullmatch(header):
            kind = match[1].lower()
            yield TieStatement(other, owner, kind, _level(kind, number, header, error))
        else:
            yield TieStatement(owner, other, header, None, number != 0)
            if header not in ONE_WAY:
                yield TieStatement(other, owner, header, None, number != 0)


def _number(header: str, cell: Any, error: Callable[[str], InputError]) -> float:
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in BLANK):
        return 0
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise error(f"'{header}' should be a number or blank, not {str(cell)[:60]!r}") from None
    return number


def _level(kind: str, number: float, header: str, error: Callable[[str], InputError]) -> int:
    low, high = Schema().bounds(kind) or (-10, 10)
    if not low <= number <= high or number != int(number):
        raise error(f"'{header}' should be a whole number from {low} to {high}, not {number:g}")
    return int(number)


def _relation_entry(span: DatedSpan[tuple[str, str, str], int]) -> RelationEntry:
    of, to, kind = span.key
    level = None if Schema().bounds(kind) is None else span.value
    return RelationEntry(span.source, Relation(of, to, kind, level, span.since, span.until, span.source))
