"""The rows of a file of positions, checked as they are asked: whatever is wrong is an error with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from understudy.errors import InputError
from understudy.readers.jsonstream import SURROGATE
from understudy.readers.source import SourceFile
from understudy.storyfile import Spans

__all__ = ["PositionRow", "position_rows"]

LARGEST_NUMBER, LONGEST_NUMBER = 2**31, 9


@dataclass(frozen=True, slots=True)
class PositionRow:
    """One object of JSON, and the line it stands on."""

    source: SourceFile
    line: int
    values: Mapping[str, Any]

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"'{key}' is missing or not a text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.error(f"'{key}' is not a list of texts")
        return tuple(value)

    def rows(self, key: str) -> tuple[PositionRow, ...]:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(f"'{key}' is not a list of objects")
        return tuple(PositionRow(self.source, self.line, item) for item in value)

    def number(self, key: str) -> int:
        value = self.values.get(key)
        if type(value) is not int or not 0 <= value < LARGEST_NUMBER:
            raise self.error(f"'{key}' is not a whole number")
        return value

    def numbers(self, key: str) -> tuple[int, ...]:
        """The numbers of a moment in dotted form."""
        parts = self.text(key).split(".")
        if not all(part.isascii() and part.isdigit() and len(part) <= LONGEST_NUMBER for part in parts):
            raise self.error(f"'{key}' is no moment of a story")
        return tuple(map(int, parts))

    def share(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
            raise self.error(f"'{key}' is not a number from 0 to 1")
        return None if value is None else float(value)

    def spans(self, length: int) -> Spans:
        """Pairs of offsets into a text of a length; none where the row has none."""
        value = self.values.get("spans") or []
        if not isinstance(value, list):
            raise self.error("'spans' is not a list of pairs")
        for span in value:
            is_pair = isinstance(span, list) and len(span) == 2 and all(type(offset) is int for offset in span)
            if not is_pair or not 0 <= span[0] <= span[1] <= length:
                raise self.error("'spans' are not pairs of offsets into the text")
        return tuple((start, end) for start, end in value)

    def error(self, message: str) -> InputError:
        return self.source.error(message, self.line)


def position_rows(source: SourceFile) -> Iterator[PositionRow]:
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            if SURROGATE.search(line):
                json.dumps(values, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise source.error(f"is not a row of JSON ({error}): the file is cut off or damaged", number) from error
        if not isinstance(values, dict):
            raise source.error("is JSON, but not an object: the file is damaged", number)
        yield PositionRow(source, number, values)
