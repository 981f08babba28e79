"""`understudy export`: a story's lines for other programs, or the story as scripts again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import click

from understudy.cli.options import annotated_option, existing_refused, force_option, json_option, story_argument
from understudy.cli.progress import read_showing, working
from understudy.cli.show import clean, print_json, shows_letters
from understudy.export import (
    Addressees,
    export_folder,
    export_fountain,
    export_jsonl,
    export_markdown,
    export_parquet,
)
from understudy.readers import sources_of
from understudy.storyfile import Story

__all__ = ["export"]

TEXT_WRITERS: dict[str, Callable[[Story, IO[str]], int]] = {"fountain": export_fountain, "markdown": export_markdown}


@click.command(short_help="Write a story out, for other programs or as scripts.")
@story_argument
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "parquet", "folder", "fountain", "markdown"]),
    default="jsonl", show_default=True,
    help="JSON lines, a Parquet table, a folder of scripts with a cast.toml, a screenplay in Fountain, a Markdown "
    "dialogue.",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File or folder to write (JSON lines: stdout).")
@click.option(
    "--addressees", is_flag=True, help="JSON lines: add whom each line is said to, `to: {name: probability}`."
)
@force_option
@annotated_option
@json_option
def export(
    story: str, form: str, output: Path | None, addressees: bool, force: bool, annotated: bool, as_json: bool
) -> None:
    """Write out a story: one row a line {moment, scene, speaker, text, source}, or scripts that read back the same.

    \b
    Examples:
        understudy export demo --format jsonl | head
        understudy export demo --addressees -o demo.jsonl
        understudy export friends.story --format parquet -o friends.parquet
        understudy export demo --format markdown -o demo.md
        understudy export demo --format folder -o my-demo
        understudy export demo --format fountain -o demo.fountain
    """
    if output is None and (form != "jsonl" or as_json):
        raise click.UsageError("say with -o where it should be written")
    if addressees and form != "jsonl":
        raise click.UsageError("--addressees goes with --format jsonl")
    opened = read_showing(story, annotated=annotated)
    reader = _addressees(opened) if addressees else None
    if output is None:
        export_jsonl(opened, sys.stdout, not shows_letters(), reader)
        return
    if form != "folder":
        existing_refused(output, force, sources_of(story)[0])
    lines = _write(opened, form, output, reader)
    if as_json:
        print_json({"story": opened.title, "format": form, "output": str(output), "lines": lines})
    else:
        click.echo(f"'{clean(opened.title)}': {lines:,} lines are in {output}.")


def _addressees(story: Story) -> Addressees:
    from understudy.people.addressees import AddresseeReader

    with working("Learning who is called what"):
        return AddresseeReader.of_story(story).read


def _write(story: Story, form: str, output: Path, addressees: Addressees | None) -> int:
    if form == "folder":
        return export_folder(story, output)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")  # an interrupted export leaves the old file
    try:
        if form == "parquet":
            lines = export_parquet(story, partial)
        else:
            with partial.open("w", encoding="utf-8", newline="\n") as stream:
                if form in TEXT_WRITERS:
                    lines = TEXT_WRITERS[form](story, stream)
                else:
                    lines = export_jsonl(story, stream, addressees=addressees)
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
    return lines
