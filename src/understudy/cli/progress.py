"""Progress of reading and of longer work, on stderr where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from understudy.readers import read, sources_of
from understudy.readers.source import Progress as BytesRead
from understudy.story import LoreEntry
from understudy.storyfile import Story

if TYPE_CHECKING:
    from understudy.progress import Progress
    from understudy.readers.prose.corrections_file import DoubtfulQuotations

__all__ = ["downloading", "read_showing", "watching", "working"]

SHORT = 1 << 20  # bytes that are read too fast for a bar
STEP = 1 << 18  # bytes between two updates of the bar


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
    """`understudy.readers.read`, with its progress shown."""
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
def _bar(what: str | Path | Sequence[str | Path]) -> Iterator[BytesRead | None]:
    total = sum(path.stat().st_size for path in sources_of(what)[0] if path.exists()) if sys.stderr.isatty() else 0
    if total < SHORT:
        yield None
        return
    from rich import progress as rich

    columns = (rich.TextColumn("Reading"), rich.BarColumn(), rich.DownloadColumn(), rich.TimeRemainingColumn())
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task, waiting = bar.add_task("", total=total), 0

        def advance(size: int) -> None:
            nonlocal waiting
            waiting += size
            if waiting >= STEP:
                bar.advance(task, waiting)
                waiting = 0

        yield advance
