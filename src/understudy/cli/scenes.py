"""`understudy scenes`: the scenes of a story, as a table or to read."""

from __future__ import annotations

from collections.abc import Iterable

import click

from understudy.cli.options import json_option, story_argument
from understudy.cli.progress import read_showing
from understudy.cli.show import Column, Screen, clean, heading, indented, print_json, screen, spoken, table
from understudy.documents import scene_document
from understudy.spoiler_free import scenes_before
from understudy.story import Scene
from understudy.storyfile import Story

__all__ = ["scenes"]


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
