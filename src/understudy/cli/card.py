"""`understudy card`: a character as a character card, or a look into a card."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cards import Card, card_from_text, read_card, write_card
from understudy.cli.options import (
    annotated_option,
    at_option,
    existing_refused,
    facing_option,
    force_option,
    json_option,
    story_argument,
)
from understudy.cli.progress import read_showing
from understudy.cli.show import clean, grid, heading, indented, print_json, screen, short
from understudy.dialogue import situation_at
from understudy.export import card_at
from understudy.readers import EMBEDDED

__all__ = ["card"]

TEXTS = ("description", "personality", "scenario", "first_mes", "mes_example", "creator_notes")
LONGEST = 400


@click.command(short_help="Make, look into or convert a character card.")
@story_argument
@click.argument("name", metavar="[NAME]", required=False)
@at_option
@facing_option
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="A .png or .json file to write.")
@click.option("--spec", type=click.Choice(["2", "3"]), help="Which version of the card format to write.")
@click.option(
    "--picture", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A PNG to put the card into."
)
@force_option
@annotated_option
@json_option
def card(
    story: str, name: str | None, at: str, facing: str | None, output: Path | None, spec: str | None,
    picture: Path | None, force: bool, annotated: bool, as_json: bool,
) -> None:  # fmt: skip
    """Make a character card of a character at a moment; or, without NAME, look into a card and convert it.

    A card carries a character to other chat programs, as a PNG picture or as JSON. Converting keeps everything that
    is in it.

    \b
    Examples:
        understudy card demo Zita --at 2.3 -o zita.png
        understudy card zita.png
        understudy card zita.png -o zita.json
    """
    if output is not None:
        existing_refused(output, force)
    if name is None and (story in EMBEDDED or Path(story).is_dir() or Path(story).suffix == ".story"):
        raise click.UsageError(f"{story} is a story: say whose card it should be, as in `card {story} NAME`")
    if name is None:
        exported = read_card(Path(story))
        own_picture: Path | bytes | None = Path(story) if Path(story).suffix.lower() == ".png" else None
    else:
        opened = read_showing(story, annotated=annotated)
        situation = situation_at(opened, name, at, facing)
        who = situation.persona.name
        exported = card_at(situation, opened.title, int(spec) if spec else None, card_from_text(opened.card(who)))
        own_picture = opened.picture(who)
    if output is not None:
        write_card(exported, output, picture or own_picture, int(spec) if spec else None)
    if as_json:
        print_json(
            {"output": str(output), "name": exported.name, "version": exported.version} if output else exported.document
        )
    elif output is not None:
        click.echo(f"The card of {clean(exported.name)} is in {output}.")
    else:
        _show(exported)


def _show(card: Card) -> None:
    out = screen()
    out.print(heading(f"{card.name}, a character card (V{card.version})"))
    texts = [(field, card.text(field).strip()) for field in TEXTS]
    rows = [(field, short(text, LONGEST)) for field, text in texts if text]
    if tags := card.texts("tags"):
        rows.append(("tags", ", ".join(tags)))
    if card.book:
        rows.append(("lorebook", f"{len(card.book)} entries"))
    out.print(indented(grid(rows)))
