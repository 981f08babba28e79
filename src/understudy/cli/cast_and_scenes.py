"""`understudy cast` and `understudy scenes`: who is in a story, and what happens in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click
from rich.text import Text

from understudy.cli.options import Options, shared
from understudy.cli.progress import read_showing
from understudy.cli.show import Screen, bar, clean, heading, indented, print_json, screen, spoken
from understudy.cli.tables import print_table
from understudy.formats.documents import cast_document, scene_document
from understudy.story.spoiler_free import scenes_before
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Scene

__all__ = ["cast", "print_cast", "scenes"]

BAR = 14
LONGEST_NAME = 20


@click.command()
@shared("story")
@click.option("--at", "before", metavar="MOMENT", help="Only who has spoken before this moment, and how much.")
@shared("json")
def cast(options: Options, before: str | None) -> None:
    """Who is in a story, how much they say, and from when to when.

    \b
    Examples:
        understudy cast demo
        understudy cast demo --at 2.1
    """
    opened = read_showing(options.story)
    members = opened.cast() if before is None else opened.cast_before(opened.moment(before))
    if options.as_json:
        print_json({"cast": cast_document(members)})
        return
    out = screen()
    out.print(heading(f"{opened.title}: cast" + ("" if before is None else f" before {opened.moment(before)}")))
    print_cast(out, members)


def print_cast(out: Screen, members: Sequence[CastMember], aliases: bool = True) -> None:
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
    print_table(out, ["<name", ">lines", "<", "<first", "<last", "aliases" if aliases else ""], rows, indent=0)


@click.command()
@shared("story")
@click.option("--from", "since", metavar="MOMENT", help="Begin with this moment.")
@click.option("--to", "before", metavar="MOMENT", help="Stop before this moment.")
@click.option("--text", is_flag=True, help="Print the scenes to read, not a table of them.")
@shared("json")
def scenes(options: Options, since: str | None, before: str | None, text: bool) -> None:
    """The scenes of a story: when, where, who is there, how many lines.

    \b
    Examples:
        understudy scenes demo --from 2.1 --to 2.3
        understudy scenes demo --from 2.1 --to 2.2 --text
    """
    opened = read_showing(options.story)
    selected = scenes_before(opened, opened.moment(before) if before else None, opened.moment(since) if since else None)
    if options.as_json:
        print_json({"title": opened.title, "scenes": [scene_document(scene) for scene in selected]})
    elif text:
        _print_text(screen(), opened, selected)
    else:
        rows = (
            (scene.moment.dotted, scene.setting, ", ".join(scene.present), f"{len(scene.lines):,}")
            for scene in selected
        )
        print_table(screen(), ["<scene", "setting", "present", ">lines"], rows, indent=0)


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
