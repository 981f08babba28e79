"""`understudy cast` and `understudy scenes`: who is in a story, and what happens in it."""

from __future__ import annotations

from collections.abc import Iterable

import click
from rich.table import Table
from rich.text import Text

from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing
from understudy.cli.show import Column, Screen, bar, clean, heading, indented, print_json, screen, spoken, table
from understudy.formats.documents import cast_document, scene_document
from understudy.story.spoiler_free import scenes_before
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Scene

__all__ = ["cast", "cast_table", "scenes"]

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


@click.command()
@story_argument
@click.option("--from", "since", metavar="MOMENT", help="Begin with this moment.")
@click.option("--to", "before", metavar="MOMENT", help="Stop before this moment.")
@click.option("--text", is_flag=True, help="Print the scenes to read, not a table of them.")
@json_option
def scenes(story: str, since: str | None, before: str | None, text: bool, as_json: bool) -> None:
    """The scenes of a story: when, where, who is there, how many lines.

    \b
    Examples:
        understudy scenes demo --from 2.1 --to 2.3
        understudy scenes demo --from 2.1 --to 2.2 --text
    """
    opened = read_showing(story)
    selected = scenes_before(opened, opened.moment(before) if before else None, opened.moment(since) if since else None)
    if as_json:
        print_json({"title": opened.title, "scenes": [scene_document(scene) for scene in selected]})
    elif text:
        _print_text(screen(), opened, selected)
    else:
        columns: list[Column] = [
            ("scene", {"no_wrap": True}),
            "setting",
            "present",
            ("lines", {"justify": "right", "no_wrap": True}),
        ]
        rows = (
            (scene.moment.dotted, scene.setting, ", ".join(scene.present), f"{len(scene.lines):,}")
            for scene in selected
        )
        screen().print(table(columns, rows))


def _print_text(out: Screen, story: Story, scenes: Iterable[Scene]) -> None:
    titles = [(moment, title) for moment, title in story.headings() if title]
    for scene in scenes:
        while titles and titles[0][0] <= scene.moment:
            moment, title = titles.pop(0)
            if scene.moment.within(moment):
                out.print(heading(f"\n{moment}: {title}"))
        out.print(heading(f"\n{scene.moment}" + (f": {scene.setting}" if scene.setting else "")))
        out.print(indented(f"Present: {clean(', '.join(scene.present))}"), style="dim")
        out.print(indented(spoken(scene.lines, moments=False)))
