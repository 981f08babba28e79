"""Reading stories and longer work, with its progress on stderr where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from understudy.cli.options import Options
from understudy.cli.show import clean
from understudy.errors import UnderstudyError
from understudy.formats import read, sources_of
from understudy.people.draft import StoryDraft, find_people, is_large, leave_pending
from understudy.sources.source import Progress as ReadingProgress
from understudy.story.dialogue import Situation, situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Fact, LoreEntry

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn

    from understudy.formats.prose.decisions import DoubtfulQuotations
    from understudy.progress import Progress

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
def working(doing: str) -> Iterator[Callable[[str], None]]:
    """A spinner for work of unknown length; what it yields is called with how far the work is."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield lambda _: None
        return
    with out.status(doing) as status:
        yield lambda how_far: status.update(f"{doing}: {how_far}")


@contextmanager
def watching() -> Iterator[Progress]:
    """A progress bar for work that counts its steps; on a terminal only."""
    from rich import progress as rich

    with _counting("Reading", rich.MofNCompleteColumn()) as progress:
        yield progress


@contextmanager
def downloading() -> Iterator[Progress]:
    """A progress bar for work that counts bytes; on a terminal only."""
    from rich import progress as rich

    with _counting("Looking", rich.DownloadColumn(), rich.TransferSpeedColumn()) as progress:
        yield progress


@contextmanager
def _counting(doing: str, *counts: ProgressColumn) -> Iterator[Progress]:
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    with bar_of(doing, None, *counts) as bar:
        task = bar.task_ids[0]
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total or None)


def bar_of(doing: str, total: int | None, *counts: ProgressColumn, **values: Any) -> RichProgress:
    """A bar with one task, which is still to be started; `values` are what its `counts` show beside those of all."""
    from rich import progress as rich

    columns = rich.TextColumn("{task.description}"), rich.BarColumn(), *counts, rich.TimeRemainingColumn()
    bar = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(doing, total=total, **values)
    return bar


@contextmanager
def _bar(what: str | Path | Sequence[str | Path]) -> Iterator[ReadingProgress | None]:
    """A bar of bytes with what is being done to them, on a terminal, once reading has taken a moment."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import DownloadColumn

    total = sum(path.stat().st_size for path in sources_of(what)[0] if path.exists())
    bar, shown_from = bar_of(READING, total, DownloadColumn()), time.monotonic() + SHOWN_AFTER_S
    done = updated_at = 0

    def add(size: int, doing: str) -> None:
        nonlocal done, updated_at
        done += size
        if doing or done - updated_at >= STEP:
            updated_at = done
            if time.monotonic() >= shown_from:
                bar.start()
            bar.update(bar.task_ids[0], completed=done, description=doing or READING)

    try:
        yield add
    finally:
        bar.stop()


# A story's people are looked for where it is read, or, in a large one, where a persona of it is first wanted.


def read_with_people(what: str | Path, annotated: bool = False) -> Story:
    """Open a story for its personas, and look for its people first where that is still to be done."""
    story = read_showing(what, annotated=annotated)
    if story.is_pending:
        _find(story)
    return story


def situation_of(options: Options) -> tuple[Story, Situation]:
    """The story and the character at the moment that a command's options name."""
    story = read_with_people(options.story, options.annotated)
    return story, situation_at(story, options.name, options.at, options.facing)


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
