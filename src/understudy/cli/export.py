"""`understudy export` and `card`: a story's lines and characters for other programs, or as scripts again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import IO

import click

from understudy.cli.options import FILE, IN_FILE, PATH, Options, check_output, shared
from understudy.cli.progress import read_showing, situation_of, working
from understudy.cli.show import clean, grid, heading, indented, print_json, screen, short, shows_letters
from understudy.errors import InputError
from understudy.formats import EMBEDDED, read, sources_of
from understudy.formats.cards import Card, card_from_text
from understudy.formats.cards.export import card_at
from understudy.formats.cards.file import is_charx, missing_assets, read_assets, read_card, read_charx, write_card
from understudy.formats.conversations import export_messages, export_sharegpt
from understudy.formats.convokit import export_convokit
from understudy.formats.export import Addressees, export_folder, export_jsonl, export_parquet
from understudy.formats.fountain import export_fountain
from understudy.formats.markdown import export_markdown
from understudy.formats.positions import export_positions
from understudy.formats.sillytavern import export_sillytavern
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Moment

FOLDERS = {"folder": export_folder, "convokit": export_convokit}
SCRIPTS: dict[str, Callable[[Story, IO[str]], int]] = {"fountain": export_fountain, "markdown": export_markdown}
CHATS = {"sharegpt": export_sharegpt, "messages": export_messages, "sillytavern": export_sillytavern}
POSITIONS = "positions"
FORMATS = ["jsonl", "parquet", *FOLDERS, *SCRIPTS, *CHATS, POSITIONS]


@click.command(short_help="Write a story out, for other programs or as scripts.")
@shared("story")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), metavar="FORMAT", default="jsonl", show_default=True,
    help=f"One of {', '.join(FORMATS)}: JSON lines, a Parquet table, a folder of scripts with a cast.toml, a ConvoKit "
    "corpus (a folder), a screenplay, a Markdown dialogue, chats, or who speaks where without the text.",
)  # fmt: skip
@click.option("-o", "--output", type=PATH, help="File or folder to write (JSON and chats: stdout).")
@click.option(
    "--as", "character", metavar="NAME", help="Chats: from whose chair; NAME's turns are the assistant's (`gpt`)."
)
@click.option("--positions", is_flag=True, help="The same as --format positions.")
@click.option(
    "--addressees", is_flag=True, help="JSON lines: add whom each line is said to, `to: {name: probability}`."
)
@click.option(
    "--text", "texts", type=PATH, multiple=True, metavar="FILE",
    help="Positions: the text the story was read from, where it does not lie beside it; may be repeated.",
)  # fmt: skip
@shared("force annotated json")
def export(
    options: Options, form: str, character: str | None, positions: bool, addressees: bool, texts: tuple[Path, ...]
) -> None:
    """Write out a story: one row a line {moment, scene, speaker, text, source}, scripts that read back the same, or
    conversations for other programs: ConvoKit's, ShareGPT's, messages by role, SillyTavern's.

    \b
    Examples:
        understudy export demo --format jsonl | head
        understudy export demo --addressees -o demo.jsonl
        understudy export friends.story --format parquet -o friends.parquet
        understudy export demo --format markdown -o demo.md
        understudy export demo --format folder -o my-demo
        understudy export demo --format fountain -o demo.fountain
        understudy export demo --format convokit -o my-corpus
        understudy export demo --format sharegpt --as Zita -o zita.jsonl
        understudy export emma.txt --format positions -o emma.positions.jsonl

    Positions hold who speaks, when, and who is there, by offsets into the text and without a word of it; whoever has
    the same text reads them back with `understudy read emma.positions.jsonl --text emma.txt`.
    """
    form, output = POSITIONS if positions else form, options.output
    if output is None and (form not in ("jsonl", *CHATS) or options.as_json):
        raise click.UsageError("say with -o where it should be written")
    if addressees and form != "jsonl":
        raise click.UsageError("--addressees goes with --format jsonl")
    if texts and form != POSITIONS:
        raise click.UsageError("--text goes with --format positions")
    if character is not None and form not in CHATS:
        raise click.UsageError(f"--as goes with --format {', '.join(CHATS)}")
    opened = read_showing(options.story, annotated=options.annotated)
    chair = None if character is None else opened.character(character).name
    reader = _addressees(opened) if addressees else None
    if output is None:
        _write_lines(opened, form, sys.stdout, chair, reader, not shows_letters())
        return
    if form not in FOLDERS:
        check_output(output, sources_of(options.story)[0], options.force)
    sources = _source_texts(opened, options.story, texts) if form == POSITIONS else {}
    lines = _write(opened, form, output, chair, reader, sources)
    if options.as_json:
        print_json({"story": opened.title, "format": form, "output": str(output), "lines": lines})
    else:
        click.echo(f"'{clean(opened.title)}': {lines:,} lines are in {output}.")


def _addressees(story: Story) -> Addressees:
    from understudy.people.addressees import AddresseeReader

    with working("Learning who is called what"):
        return AddresseeReader.of_story(story).read


def _source_texts(story: Story, name: str, texts: tuple[Path, ...]) -> dict[str, Path]:
    """The text of each source of a story, by the source's name: beside the story, or as given."""
    sources = sources_of(name)[0]
    beside = [path.with_name(file.name) for path in sources[:1] for file in story.files()]
    paths = {path.name: path for path in (*beside, *sources, *texts) if path.is_file()}
    wanted = [file.name for file in story.files() if file.lines or file.descriptions]
    if len(texts) == len(wanted) == 1:
        paths[wanted[0]] = texts[0]  # whatever it is called
    for file in wanted:
        if file not in paths:
            raise InputError(f"was read from '{file}', which is not beside it: give it with --text FILE", name)
    return {file: paths[file] for file in wanted}


def _write_positions(story: Story, output: Path, sources: Mapping[str, Path]) -> int:
    """Positions are true of one text only: what was written is read with it before it is let go."""
    from understudy.formats.positions import digest_of

    forms = {file.name: file.format for file in story.files()}
    digests = {name: digest_of(SourceFile(path), forms[name]) for name, path in sources.items()}
    with output.open("w", encoding="utf-8", newline="\n") as stream:
        count = export_positions(story, stream, digests)
    try:
        again = read(output, texts=list(sources.values()))
    except InputError:
        same = False
    else:
        same = all(one == two for one, two in zip_longest(_lines(story), _lines(again)))
    if not same:
        raise InputError(
            "is not the text that the story was read from: it was changed since, or was read in another way "
            "(--columns, another version). Read it again, then export",
            next(iter(sources.values())),
        )
    return count


def _lines(story: Story) -> Iterator[tuple[Moment, str | None, str]]:
    return ((line.moment, line.speaker, line.text) for scene in story.scenes() for line in scene.lines)


def _write(
    story: Story, form: str, output: Path, chair: str | None, addressees: Addressees | None, sources: Mapping[str, Path]
) -> int:
    if form in FOLDERS:
        return FOLDERS[form](story, output)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")  # an interrupted export leaves the old file
    try:
        if form == "parquet":
            lines = export_parquet(story, partial)
        elif form == POSITIONS:
            lines = _write_positions(story, partial, sources)
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
    if form in SCRIPTS:
        return SCRIPTS[form](story, stream)
    return export_jsonl(story, stream, ascii_only, addressees)


TEXTS = ("description", "personality", "scenario", "first_mes", "mes_example", "creator_notes")
LONGEST = 400
MOST_LISTED = 10


@click.command(short_help="Make, look into or convert a character card.")
@shared("story")
@click.argument("name", metavar="[NAME]", default="")
@shared("at facing")
@click.option("-o", "--output", type=FILE, help="A .png, .json or .charx file to write.")
@click.option("--spec", type=click.Choice(["2", "3"]), help="Which version of the card format to write.")
@click.option("--picture", type=IN_FILE, help="A PNG to put the card into.")
@shared("force annotated json")
def card(options: Options, spec: str | None, picture: Path | None) -> None:
    """Make a character card of a character at a moment; or, without NAME, look into a card and convert it.

    A card carries a character to other chat programs, as a PNG picture, as JSON, or as CHARX with the pictures and
    sounds that belong to it. Converting keeps everything that is in it; what of CHARX's assets is not carried is named.

    \b
    Examples:
        understudy card demo Zita --at 2.3 -o zita.png
        understudy card zita.png
        understudy card zita.png -o zita.json
        understudy card zita.png -o zita.charx
    """
    story, output = options.story, options.output
    check_output(output, force=options.force)
    if not options.name:
        if story in EMBEDDED or Path(story).is_dir() or Path(story).suffix == ".story":
            raise click.UsageError(f"{story} is a story: say whose card it should be, as in `card {story} NAME`")
        exported = read_card(Path(story))
        own_picture, assets = _belongings(Path(story), output)
    else:
        opened, situation = situation_of(options)
        who = situation.persona.name
        exported = card_at(situation, opened.title, int(spec) if spec else None, card_from_text(opened.card(who)))
        own_picture, assets = opened.picture(who), {}
    if output is not None:
        write_card(exported, output, picture or own_picture, int(spec) if spec else None, assets)
    if options.as_json:
        print_json(
            {"output": str(output), "name": exported.name, "version": exported.version} if output else exported.document
        )
    elif output is not None:
        click.echo(f"The card of {clean(exported.name)} is in {output}.")
    else:
        _show(exported)
    if output is not None:
        has_picture = output.suffix.lower() != ".json" and (picture or own_picture) is not None
        _show_missing(missing_assets(exported, assets, has_picture))


def _belongings(source: Path, output: Path | None) -> tuple[Path | bytes | None, dict[str, bytes]]:
    """The picture of a card that is converted, and the assets that can go with it."""
    if source.suffix.lower() == ".png":
        return source, {}
    if not is_charx(source):
        return None, {}
    is_charx_again = output is not None and output.suffix.lower() == ".charx"
    return read_charx(source).icon, read_assets(source) if is_charx_again else {}


def _show_missing(paths: Sequence[str]) -> None:
    if paths:
        listed = ", ".join(map(clean, paths[:MOST_LISTED])) + (", ..." if len(paths) > MOST_LISTED else "")
        click.echo(f"Not carried over, {len(paths)} of its assets: {listed}. They stay in the CHARX file.", err=True)


def _show(card: Card) -> None:
    out = screen()
    out.print(heading(f"{card.name}, a character card (V{card.version})"))
    texts = [(field, card.text(field).strip()) for field in TEXTS]
    rows = [(field, short(text, LONGEST)) for field, text in texts if text]
    if tags := card.texts("tags"):
        rows.append(("tags", ", ".join(tags)))
    if card.book:
        rows.append(("lorebook", f"{len(card.book)} entries"))
    if assets := missing_assets(card):
        rows.append(("assets", ", ".join(assets[:MOST_LISTED]) + (", ..." if len(assets) > MOST_LISTED else "")))
    out.print(indented(grid(rows)))
