"""`understudy score --engine daft`: files by a pattern, scored by many workers into Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from understudy import __version__
from understudy.errors import InputError
from understudy.persona import Persona
from understudy.scoring.engine import score_files
from understudy.scoring.request import ScoringRequest, story_digest
from understudy.storyfile import Story

if TYPE_CHECKING:
    from understudy.scoring.output import Tally

__all__ = ["score_scaled"]


def score_scaled(
    pattern: str,
    asked: ScoringRequest,
    story: Story,
    persona: Persona,
    output: Path | None,
    cluster: str | None,
    force: bool,
) -> Tally:
    if output is None:
        raise click.UsageError("--engine daft writes Parquet: say where with -o OUT.parquet, or -o FOLDER")
    if pattern == "-":
        raise InputError("stdin cannot be shared among workers: write the lines to a file first")
    if output.exists() and not output.is_dir() and output.suffix.lower() != ".parquet":
        raise InputError("is a file that is there already: say -o OUT.parquet, or -o FOLDER", output)
    about = {
        "version": __version__,
        "story": story_digest(story),
        "character": persona.name,
        "moment": persona.moment.dotted,
        "facing": asked.facing,
        "metrics": asked.metrics,
        "glove": asked.glove,
        "why": asked.why,
        "model": asked.model,
    }
    with _counting() as done:
        return score_files(pattern, asked, about, output, cluster, force, done)


@contextmanager
def _counting() -> Iterator[Any]:
    """On a terminal, how many parts are done."""
    out = Console(stderr=True)
    if not out.is_terminal:
        yield lambda *_: None
        return
    with out.status("Scoring") as status:
        yield lambda count, of: status.update(f"Scoring: {count:,} of {of:,} parts")
