"""`understudy export`: a story's lines for other programs, or the story as scripts again."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

import click

from understudy.cli.options import annotated_option, existing_refused, force_option, json_option, story_argument
from understudy.cli.progress import read_showing, working
from understudy.cli.show import clean, print_json, shows_letters
from understudy.export import (
    Addressees,
    export_convokit,
    export_folder,
    export_jsonl,
    export_messages,
    export_parquet,
    export_sharegpt,
    export_sillytavern,
)
from understudy.readers import sources_of
from understudy.storyfile import Story

__all__ = ["export"]

FOLDERS = {"folder": export_folder, "convokit": export_convokit}
CHATS = {"sharegpt": export_sharegpt, "messages": export_messages, "sillytavern": export_sillytavern}
FORMATS = ["jsonl", "parquet", *FOLDERS, *CHATS]


@click.command(short_help="Write a story out, for other programs or as scripts.")
@story_argument
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="jsonl", show_default=True,
    help="JSON lines, a Parquet table, a folder of scripts with a cast.toml, a ConvoKit corpus (a folder), or chats.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File or folder to write (JSON and chats: stdout)."
)
@click.option(
    "--as", "character", metavar="NAME", help="Chats: from whose chair; NAME's turns are the assistant's (`gpt`)."
)
@click.option(
    "--addressees", is_flag=True, help="JSON lines: add whom each line is said to, `to: {name: probability}`."
)
@force_option
@annotated_option
@json_option
def export(
    story: str, form: str, output: Path | None, character: str | None, addressees: bool, force: bool, annotated: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write out a story: one row a line {moment, scene, speaker, text, source}, scripts that read back the same, or
    conversations for other programs: ConvoKit's, ShareGPT's, messages by role, SillyTavern's.

    \b
    Examples:
        understudy export demo --format jsonl | head
        understudy export demo --addressees -o demo.jsonl
        understudy export friends.story --format parquet -o friends.parquet
        understudy export demo --format folder -o my-demo
        understudy export demo --format convokit -o my-corpus
        understudy export demo --format sharegpt --as Zita -o zita.jsonl
    """
    if output is None and (form not in ("jsonl", *CHATS) or as_json):
        raise click.UsageError("say with -o where it should be written")
    if addressees and form != "jsonl":
        raise click.UsageError("--addressees goes with --format jsonl")
    if character is not None and form not in CHATS:
        raise click.UsageError(f"--as goes with --format {', '.join(CHATS)}")
    opened = read_showing(story, annotated=annotated)
    chair = None if character is None else opened.character(character).name
    reader = _addressees(opened) if addressees else None
    if output is None:
        _write_lines(opened, form, sys.stdout, chair, reader, not shows_letters())
        return
    if form not in FOLDERS:
        existing_refused(output, force, sources_of(story)[0])
    lines = _write(opened, form, output, chair, reader)
    if as_json:
        print_json({"story": opened.title, "format": form, "output": str(output), "lines": lines})
    else:
        click.echo(f"'{clean(opened.title)}': {lines:,} lines are in {output}.")


def _addressees(story: Story) -> Addressees:
    from understudy.people.addressees import AddresseeReader

    with working("Learning who is called what"):
        return AddresseeReader.of_story(story).read


def _write(story: Story, form: str, output: Path, chair: str | None, addressees: Addressees | None) -> int:
    if form in FOLDERS:
        return FOLDERS[form](story, output)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")  # an interrupted export leaves the old file
    try:
        if form == "parquet":
            lines = export_parquet(story, partial)
        else:
            with partial.open("w", encoding="utf-8", newline="\n") as stream:
                lines = _write_lines(story, form, stream, chair, addressees)
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)
    return lines


def _write_lines(
    story: Story, form: str, stream: IO[str], chair: str | None, addressees: Addressees | None, ascii_only: bool = False
) -> int:
    if form in CHATS:
        return CHATS[form](story, stream, chair, ascii_only)
    return export_jsonl(story, stream, ascii_only, addressees)
