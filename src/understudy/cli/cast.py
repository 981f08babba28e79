"""`understudy cast`: who is in a story, and how much they say."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing
from understudy.cli.show import Column, Screen, bar, clean, heading, print_json, screen, table
from understudy.documents import cast_document
from understudy.storyfile import CastMember

__all__ = ["cast", "cast_table"]

BAR = 14
LONGEST_NAME = 20


@click.command()
@story_argument
@click.option("--at", metavar="MOMENT", help="Only who has spoken before this moment, and how much.")
@json_option
def cast(story: str, at: str | None, as_json: bool) -> None:
    """Who is in a story, how much they say, and from when to when.

    \b
    Examples:
        understudy cast demo
        understudy cast demo --at 2.1
    """
    opened = read_showing(story)
    members = opened.cast() if at is None else opened.cast_before(opened.moment(at))
    if as_json:
        print_json({"cast": cast_document(members)})
        return
    out = screen()
    out.print(heading(f"{opened.title}: cast" + ("" if at is None else f" before {opened.moment(at)}")))
    out.print(cast_table(out, members))


def cast_table(out: Screen, members: tuple[CastMember, ...], aliases: bool = True) -> Table:
    most = max((member.lines for member in members), default=0)
    rows = [
        (
            Text(clean(member.character.name)),
            Text(f"{member.lines:,}"),
            Text(bar(member.lines / most, BAR, out.options.ascii_only) if most else ""),
            Text(member.first.dotted if member.first else ""),
            Text(member.last.dotted if member.last else ""),
            Text(clean(", ".join(member.character.aliases if aliases else ()))),
        )
        for member in members
    ]
    for name, *_ in rows:
        name.truncate(LONGEST_NAME, overflow="ellipsis")
    widths = [max((cell.cell_len for cell in column), default=0) for column in zip(*rows)][:-1]
    room = out.width - sum(max(width, 5) + 2 for width in widths)
    for *_, names in rows:
        names.truncate(max(room, len("aliases")), overflow="ellipsis")
    columns: list[Column] = [(head, {"no_wrap": True}) for head in ("name", "", "first", "last")]
    columns.insert(1, ("lines", {"no_wrap": True, "justify": "right"}))
    return table([*columns, "aliases" if aliases else ""], rows)
