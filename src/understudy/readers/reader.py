"""What a reader is: one format a module, each with one `Reader` at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from understudy.dialogue import Example
from understudy.readers.events import Event
from understudy.readers.source import SourceFile

__all__ = ["Reader"]


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: its name, how it is told by content, and how a file becomes events.

    `recognises(head, path)` sees the first 64 KiB; the path may decide only between formats that look the same.
    `events(source)` streams; it raises `source.error(message, line)` on what it cannot read.
    `examples(source)` is there where a format puts questions with right answers.
    """

    name: str
    recognises: Callable[[bytes, Path], bool]
    events: Callable[[SourceFile], Iterator[Event]]
    examples: Callable[[SourceFile], Iterator[Example]] | None = None
