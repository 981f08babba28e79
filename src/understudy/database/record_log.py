"""Results of long work, written down one by one, so that a run that was stopped goes on where it was.

A file of JSON lines, an object a line with a `key` by which it is asked for; a line that was cut off by a crash is
dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from understudy.errors import InputError

__all__ = ["Record", "RecordLog"]

Record = Mapping[str, Any]


class RecordLog:
    """`records` are those that are known, by key; without a path nothing is written down."""

    def __init__(self, path: Path | None, key: str = "key") -> None:
        self.records: dict[str, Record] = {}
        self._path, self._key = path, key
        if path is not None:
            self._load(path)

    def add(self, records: Iterable[Record]) -> None:
        new = list(records)
        self.records |= {record[self._key]: record for record in new}
        if self._path is not None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in new)
            except OSError as error:
                raise InputError(f"cannot be written: {error.strerror}", self._path) from error

    def _load(self, path: Path) -> None:
        if not path.is_file():
            return
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):  # stopped while it was written
            with path.open("r+b") as file:
                file.truncate(sum(map(len, lines[:-1])))
            lines.pop()
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                self.records[record[self._key]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise InputError("is damaged: delete the file to begin again", path, number) from error
