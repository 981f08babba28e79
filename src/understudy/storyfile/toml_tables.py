"""Reads `[[kind]]` tables of a TOML file that a person keeps, value by value; each error has the table's line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from understudy.errors import CastError
from understudy.storyfile.toml_file import load_toml, parse_toml, quoted, table_lines

__all__ = ["TableParser", "TomlTable"]

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
