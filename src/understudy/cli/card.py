"""`understudy card`: a character as a character card, or a look into a card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from understudy.cli.found_people import read_with_people
from understudy.cli.options import (
    annotated_option,
    at_option,
    existing_refused,
    facing_option,
    force_option,
    json_option,
    story_argument,
)
from understudy.cli.show import clean, grid, heading, indented, print_json, screen, short
from understudy.formats import EMBEDDED
from understudy.formats.cards import (
    Card,
    card_from_text,
    is_charx,
    missing_assets,
    read_assets,
    read_card,
    read_charx,
    write_card,
)
from understudy.formats.cards.export import card_at
from understudy.story.dialogue import situation_at

__all__ = ["card"]

TEXTS = ("description", "personality", "scenario", "first_mes", "mes_example", "creator_notes")
LONGEST = 400
MOST_LISTED = 10


@click.command(short_help="Make, look into or convert a character card.")
@story_argument
@click.argument("name", metavar="[NAME]", required=False)
@at_option
@facing_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="A .png, .json or .charx file to write."
)
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

    A card carries a character to other chat programs, as a PNG picture, as JSON, or as CHARX with the pictures and
    sounds that belong to it. Converting keeps everything that is in it; what of CHARX's assets is not carried is named.

    \b
    Examples:
        understudy card demo Zita --at 2.3 -o zita.png
        understudy card zita.png
        understudy card zita.png -o zita.json
        understudy card zita.png -o zita.charx
    """
    if output is not None:
        existing_refused(output, force)
    if name is None and (story in EMBEDDED or Path(story).is_dir() or Path(story).suffix == ".story"):
        raise click.UsageError(f"{story} is a story: say whose card it should be, as in `card {story} NAME`")
    if name is None:
        exported = read_card(Path(story))
        own_picture, assets = _belongings(Path(story), output)
    else:
        opened = read_with_people(story, annotated)
        situation = situation_at(opened, name, at, facing)
        who = situation.persona.name
        exported = card_at(situation, opened.title, int(spec) if spec else None, card_from_text(opened.card(who)))
        own_picture, assets = opened.picture(who), {}
    if output is not None:
        write_card(exported, output, picture or own_picture, int(spec) if spec else None, assets)
    if as_json:
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
