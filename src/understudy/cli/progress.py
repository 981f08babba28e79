"""Reading stories and longer work, with its progress on stderr where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from understudy.cli.show import clean
from understudy.errors import UnderstudyError
from understudy.formats import read, sources_of
from understudy.people.draft import StoryDraft, find_people, is_large, leave_pending
from understudy.sources.source import Progress as ReadingProgress
from understudy.story.storyfile import Story
from understudy.story.types import Fact, LoreEntry

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from understudy.formats.prose.decisions import DoubtfulQuotations
    from understudy.progress import Progress

__all__ = [
    "downloading",
    "find_while_reading",
    "found_document",
    "found_sentence",
    "read_showing",
    "read_with_people",
    "watching",
    "working",
]

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


# A story's people are looked for where it is read, or, in a large one, where a persona of it is first wanted.


def read_with_people(what: str | Path, annotated: bool = False) -> Story:
    """Open a story for its personas, and look for its people first where that is still to be done."""
    story = read_showing(what, annotated=annotated)
    if story.is_pending:
        _find(story)
    return story


def find_while_reading(story: Story) -> StoryDraft | None:
    """Look for the people of a story that was just read; None where they are left to be looked for later."""
    if is_large(story):
        leave_pending(story)
        return None
    return _find(story)


def _find(story: Story) -> StoryDraft | None:
    """A story is of use without what the text tells of its people, so that this never fails."""
    try:
        with watching() as progress:
            return find_people(story, progress)
    except UnderstudyError as error:
        click.echo(f"Its people could not be looked for: {clean(str(error))}", err=True)
        return None


def found_document(story: Story, found: StoryDraft | None) -> dict[str, Any]:
    entries = () if found is None else found.entries
    facts = sum(isinstance(placed.claim, Fact) for placed in entries)
    used = 0 if found is None else len(found.used)
    return {"facts": facts, "relations": len(entries) - facts, "used": used, "pending": story.is_pending}


def found_sentence(story: Story, found: StoryDraft | None) -> str:
    if story.is_pending:
        return f"Who its people are is looked for when one is first wanted (now: understudy draft {story.path})."
    counts = found_document(story, found)
    return (
        f"Of its people {counts['facts']:,} facts and {counts['relations']:,} ties were found, {counts['used']:,} of "
        f"them used: understudy draft review {story.path}"
    )
