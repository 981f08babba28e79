"""Personas as they lie in a file: JSON lines, an object a persona.

    {"persona": ["i love to ski.", "i have two cats."], "original": ["..."]}

`original` are the sentences that a persona was revised from, one for each of its own; it is there only where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.chat_records import parse_profile

__all__ = ["PersonaRecord", "read_persona_records"]

WRITE = 'write {"persona": ["...", "..."]} on each line'


@dataclass(frozen=True, slots=True)
class PersonaRecord:
    """The sentences of a persona, and those they were revised from."""

    sentences: tuple[str, ...]
    original: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        document = {"persona": list(self.sentences)}
        return document | ({"original": list(self.original)} if self.original else {})


def read_persona_records(path: Path) -> Iterator[PersonaRecord]:
    """The personas of a file, one a line."""
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _record(line, path, number)
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error}", path) from error


def _record(line: str, path: Path, number: int) -> PersonaRecord:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}): {WRITE}", path, number) from error
    sentences = parse_profile(document.get("persona")) if isinstance(document, Mapping) else None
    if not sentences:
        raise InputError(f"has no persona: {WRITE}", path, number)
    return PersonaRecord(sentences, parse_profile(document.get("original")) or ())
