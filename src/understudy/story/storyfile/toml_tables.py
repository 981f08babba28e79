"""Reads `[[kind]]` tables of a TOML file that a person keeps, value by value; each error has the table's line."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from understudy.errors import CastError, InputError

__all__ = ["TableParser", "TomlTable", "load_toml", "quoted", "replace_text", "toml_pairs", "toml_value"]

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

    def steps(self, form: str) -> Iterator[tuple[int, list[TomlTable]]]:
        """The entries of each `[[undo]]`; `form` is what an error says of them."""
        for line, table in self.tables("undo"):
            entries = table.get("entries", [])
            if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
                raise self.error(f"'entries' must be a list of {form}", line)
            yield line, entries

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
