"""Progress of reading and of longer work, on stderr where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from understudy.formats import read, sources_of
from understudy.sources.source import Progress as ReadingProgress
from understudy.story.storyfile import Story
from understudy.story.types import LoreEntry

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from understudy.formats.prose.corrections_file import DoubtfulQuotations
    from understudy.progress import Progress

__all__ = ["downloading", "read_showing", "watching", "working"]

READING = "Reading"
SHOWN_AFTER_S = 0.4  # what is read faster needs no bar
STEP = 1 << 18  # bytes between two updates of the bar while they are only read


def read_showing(
    what: str | Path | Sequence[str | Path],
    into: Path | None = None,
    lore: Sequence[LoreEntry] = (),
    annotated: bool = False,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    texts: Sequence[Path] = (),
    quotations: DoubtfulQuotations | None = None,
) -> Story:
    """`understudy.formats.read`, with its progress shown."""
    with _bar(what) as progress:
        return read(
            what, into, progress, lore, annotated, form=form, columns=columns, texts=texts, quotations=quotations
        )


@contextmanager
def working(doing: str) -> Iterator[None]:
    """A spinner for work of unknown length."""
    out = Console(stderr=True)
    with out.status(doing) if out.is_terminal else nullcontext():
        yield


@contextmanager
def watching() -> Iterator[Progress]:
    """A progress bar for work that counts its steps; on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    from rich import progress as rich

    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.MofNCompleteColumn())
    with rich.Progress(*columns, rich.TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading", total=None)
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total)


@contextmanager
def downloading() -> Iterator[Progress]:
    """A progress bar for work that counts bytes; on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    from rich import progress as rich

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TransferSpeedColumn(),
    )
    with rich.Progress(*columns, rich.TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Looking", total=None)
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total or None)


@contextmanager
def _bar(what: str | Path | Sequence[str | Path]) -> Iterator[ReadingProgress | None]:
    """A bar of bytes with what is being done to them, on a terminal, once reading has taken a moment."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _ReadingBar(sum(path.stat().st_size for path in sources_of(what)[0] if path.exists()))
    try:
        yield bar.add
    finally:
        bar.stop()


class _ReadingBar:
    def __init__(self, total: int) -> None:
        self._total = total
        self._shown_from = time.monotonic() + SHOWN_AFTER_S
        self._done = self._updated_at = 0
        self._bar: RichProgress | None = None

    def add(self, size: int, doing: str) -> None:
        self._done += size
        if not doing and self._done - self._updated_at < STEP:
            return
        self._updated_at = self._done
        if self._bar is None and time.monotonic() >= self._shown_from:
            self._bar = _started_bar(self._total)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, description=doing or READING)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _started_bar(total: int) -> RichProgress:
    from rich import progress as rich

    columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), rich.DownloadColumn())
    bar = rich.Progress(*columns, rich.TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    bar.add_task(READING, total=total)
    bar.start()
    return bar
