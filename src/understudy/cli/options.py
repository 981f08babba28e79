"""The arguments and options that several commands share, said the same way everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from understudy.errors import InputError

__all__ = [
    "at_option",
    "existing_refused",
    "facing_option",
    "force_option",
    "json_option",
    "name_argument",
    "story_argument",
]

story_argument = click.argument("story", metavar="STORY")
name_argument = click.argument("name", metavar="NAME")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
facing_option = click.option("--facing", metavar="OTHER", help="Whom the character stands before.")
at_option = click.option(
    "--at", metavar="MOMENT", default="end", show_default=True,
    help="When: the character knows what came before this moment, and nothing of what comes after.",
)  # fmt: skip
force_option = click.option("--force", is_flag=True, help="Replace the file if it is there already.")


def existing_refused(path: Path, force: bool, sources: Iterable[Path] = ()) -> None:
    """What stands somewhere already is not written over unasked; what is being read, never."""
    if path.exists() and any(source.exists() and path.samefile(source) for source in sources):
        raise InputError("is what is being read, and would be lost: say with -o another place", path)
    if path.exists() and not force:
        raise InputError("is there already: say --force to replace it, or -o for another place", path)
