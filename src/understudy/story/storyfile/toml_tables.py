"""TOML files that a person keeps: tables read value by value, each error with its line; and an author's decisions."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar, cast

from understudy.errors import CastError, InputError

TomlTable: TypeAlias = dict[str, Any]


class TableParser:
    """A document and where its tables begin. A subclass says which keys each kind has and how a file is mended."""

    KEYS: ClassVar[Mapping[str, AbstractSet[str]]]
    """The keys of each kind of table; those of the document itself under ''."""
    REPAIR: ClassVar[str] = ""
    """What to do about a broken file, at the end of every error."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        """`text` is what the file holds, if it is known already."""
        self.path = path
        try:
            if text is None:
                self.document, text = load_toml(path)
            else:
                self.document = parse_toml(text, path)
        except CastError as error:
            if not self.REPAIR:
                raise
            raise CastError(f"{error.message}; {self.REPAIR}", path, error.line) from error
        self.text = text
        self._lines = table_lines(text)

    def tables(self, kind: str) -> Iterator[tuple[int, TomlTable]]:
        """The tables of a kind, each with the line it begins on."""
        tables, lines = self.document.get(kind, []), self._lines.get(kind, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error(f"write [[{kind}]] with two brackets, one for each")
        for index, table in enumerate(tables):
            line = lines[index] if len(lines) == len(tables) else 1
            self.only_known(kind, table, line)
            yield line, table

    def only_known(self, kind: str, table: TomlTable, line: int = 1) -> None:
        for key in table.keys() - self.KEYS[kind]:
            where = f"[[{kind}]]" if kind else "this file"
            raise self.error(f"'{key}' is unknown in {where}: it has {', '.join(sorted(self.KEYS[kind]))}", line)

    def unique(self, ids: Iterable[str]) -> None:
        seen = set[str]()
        for each in ids:
            if each in seen:
                raise self.error(f"two entries have the id '{each}'")
            seen.add(each)

    def required_text(self, table: TomlTable, key: str, line: int) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"'{key}' is missing or not a text", line)
        return value

    def optional_text(self, table: TomlTable, key: str, line: int) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self.error(f"'{key}' is {quoted(value)}, not a text", line)
        return value

    def texts(self, table: TomlTable, key: str, line: int) -> tuple[str, ...]:
        values = table.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.error(f"'{key}' must be a list of texts", line)
        return tuple(values)

    def share(self, table: TomlTable, key: str, line: int, default: float | None = None) -> float:
        """A number from 0 to 1; without a default it must be there."""
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise self.error(f"'{key}' is {quoted(value)}, not a number from 0 to 1", line)
        return float(value)

    def error(self, message: str, line: int | None = 1) -> CastError:
        return CastError(f"{message}: {self.REPAIR}" if self.REPAIR else message, self.path, line)


# TOML that a person keeps beside a story: whatever is wrong with it is a `CastError` that says where.

LARGEST_FILE = 16 * 1024 * 1024
LONGEST_QUOTED = 60
AT_LINE = re.compile(r"at line (\d+)")
TABLE = re.compile(r"\s*\[\[\s*(\w+)\s*\]\]")


def load_toml(path: Path) -> tuple[dict[str, Any], str]:
    """A file's document and its text, in which every line ends with a line feed."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CastError(f"is over {LARGEST_FILE:,} bytes: this is no list that a person keeps", path)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CastError(f"cannot be read: {error.strerror}", path) from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise CastError("is not UTF-8 text", path, line) from error
    return parse_toml(text, path), text


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The document of a file's text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = AT_LINE.search(str(error))
        raise CastError(f"is not TOML: {error}", path, int(match[1]) if match else None) from error
    except RecursionError as error:
        raise CastError("is nested too deeply: write plain lists of texts", path) from error
    except ValueError as error:  # a number of thousands of digits, a date that is none
        raise CastError(f"holds a value that is none ({error}): write texts in quotes", path) from error


def quoted(value: object) -> str:
    """A value as a message shows it, however large or deep it is."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):
        return "a value that is too large to show"
    return shown if len(shown) <= LONGEST_QUOTED else f"{shown[:LONGEST_QUOTED]}..."


def table_lines(text: str) -> dict[str, list[int]]:
    """The lines on which the tables of each `[[kind]]` begin."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if match := TABLE.match(line):
            lines.setdefault(match[1], []).append(number)
    return lines


def toml_value(value: object) -> str:
    """JSON's strings, numbers and lists are TOML's too, but for one control character and half a surrogate pair."""
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return text.encode("utf-8", "replace").decode("utf-8")


def toml_pairs(values: Mapping[str, object]) -> Iterator[str]:
    """A line for each value; None is left out."""
    return (f"{key} = {toml_value(value)}" for key, value in values.items() if value is not None)


def replace_text(path: Path, text: str) -> None:
    """Put a text in place at once: whoever reads it meanwhile sees the old one or the new one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", newline="\n")
        os.replace(partial, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path) from error
    finally:
        partial.unlink(missing_ok=True)


# What an author decided about entries that were found in a text: one TOML file beside the source.
#
# An entry is known by an id that is made of the words it was found in, so its decision survives another reading of the
# text. The file keeps the decisions that its latest steps replaced: they can be taken back, the last step first.


UNDO_STEPS = 50

DecisionT = TypeVar("DecisionT")
DecisionT_co = TypeVar("DecisionT_co", covariant=True)


class DecidedEntry(Protocol[DecisionT_co]):
    """An entry of a file, a dataclass."""

    @property
    def id(self) -> str: ...
    @property
    def decision(self) -> DecisionT_co: ...


EntryT = TypeVar("EntryT", bound=DecidedEntry[Any])


@dataclass(frozen=True, slots=True)
class DecisionFile(Generic[EntryT, DecisionT]):
    """Entries with their decisions. Every change makes another one, which `write` puts in its place."""

    path: Path
    bound: float
    """How sure an entry has to be to need no decision."""
    entries: tuple[EntryT, ...] = ()
    undo: tuple[tuple[tuple[str, DecisionT], ...], ...] = ()
    """The decisions, by their entries' ids, before each step, the latest last."""

    def entry(self, entry_id: str) -> EntryT | None:
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    def decided(self, ids: Collection[str], decision: DecisionT) -> Self:
        """The same decision about some entries, as one step."""
        step = tuple((entry.id, entry.decision) for entry in self.entries if entry.id in ids)
        undo = (*self.undo, step)[-UNDO_STEPS:] if step else self.undo
        return replace(self, entries=self._with_decisions(dict.fromkeys(ids, decision)), undo=undo)

    def undone(self) -> Self:
        """The file before the last step."""
        if not self.undo:
            raise InputError("there is no decision to take back", self.path)
        return replace(self, entries=self._with_decisions(dict(self.undo[-1])), undo=self.undo[:-1])

    def with_entries(self, entries: Iterable[EntryT]) -> Self:
        """Other entries; of the steps that can be taken back, what is about those that are no longer there is gone."""
        listed = tuple(entries)
        ids = {entry.id for entry in listed}
        steps = (tuple(before for before in step if before[0] in ids) for step in self.undo)
        return replace(self, entries=listed, undo=tuple(filter(None, steps)))

    def write(self) -> None:
        """Put the file in place, whole or not at all."""
        replace_text(self.path, self.render())

    def render(self) -> str:
        """The text of the file."""
        raise NotImplementedError

    def rendered(
        self,
        header: str,
        first: Iterable[tuple[str, Mapping[str, object]]],
        entries: Iterable[tuple[str, Mapping[str, object]]],
        decision_values: Callable[[DecisionT], Mapping[str, object]],
        top: Mapping[str, object] = MappingProxyType({}),
    ) -> str:
        """The text of a file: a header, values, and tables by their kinds; what is None is left out."""
        lines = [header, f"bound = {self.bound:g}", *toml_pairs(top)]
        for kind, values in first:
            lines += ["", f"[[{kind}]]", *toml_pairs(values)]
        for step in self.undo:
            decisions = (", ".join(toml_pairs({"id": id_, **decision_values(decision)})) for id_, decision in step)
            lines += ["", "[[undo]]", f"entries = [{', '.join(f'{{ {decision} }}' for decision in decisions)}]"]
        for kind, values in entries:
            lines += ["", f"[[{kind}]]", *toml_pairs(values)]
        return "\n".join(lines) + "\n"

    def _with_decisions(self, decisions: Mapping[str, DecisionT]) -> tuple[EntryT, ...]:
        return tuple(
            cast("EntryT", replace(cast("Any", entry), decision=decisions[entry.id]))
            if entry.id in decisions
            else entry
            for entry in self.entries
        )


class DecisionFileParser(TableParser):
    def undo_steps(
        self, form: str, decision: Callable[[TomlTable, int], DecisionT]
    ) -> Iterator[tuple[tuple[str, DecisionT], ...]]:
        """The entries of each `[[undo]]`; `form` is what an error says of them."""
        for line, table in self.tables("undo"):
            entries = table.get("entries", [])
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise self.error(f"'entries' must be a list of {form}", line)
            yield tuple((self.required_text(entry, "id", line), decision(entry, line)) for entry in entries)
