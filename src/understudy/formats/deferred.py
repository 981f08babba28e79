"""Readers whose modules are loaded only when a file may be theirs: a command reads one format, and starts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from understudy.sources.events import Event, Reader
from understudy.sources.source import SourceFile

__all__ = ["deferred"]


def deferred(
    name: str, module: str, may_be: Callable[[bytes, Path], bool] = lambda _head, _path: True, attribute: str = "READER"
) -> Reader:
    """The reader `attribute` of a module of this package; `may_be` is true of every file that it recognises."""

    @cache
    def loaded() -> Reader:
        reader: Reader = getattr(import_module(f"understudy.formats.{module}"), attribute)
        return reader

    def recognises(head: bytes, path: Path) -> bool:
        return may_be(head.replace(b"\0", b""), path) and loaded().recognises(head, path)

    def events(source: SourceFile) -> Iterator[Event]:
        return loaded().events(source)

    def together(sources: Sequence[SourceFile]) -> None:
        if (prepare := loaded().together) is not None:
            prepare(sources)

    return Reader(name, recognises, events, together=together)
