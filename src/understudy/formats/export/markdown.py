r"""A story as one Markdown file that anybody can read, and that the `markdown` reader reads back.

    ---
    title: "The Quarrel"
    language: en
    cast:
      - "Odile"
    ---

    # chapter 1: Night

    ## scene 1: A kitchen

    *The kettle sings.*

    **Odile:** You sold the piano.

Scenes, speakers, texts, title, language and cast come back the same; who comes and goes, facts and ties are in a story
folder only. A mark that would mean something has a backslash or is written as an entity, as Markdown has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import IO, Any

from understudy.errors import InputError
from understudy.formats.export.speech import check_speech
from understudy.story.storyfile import Story
from understudy.story.types import Line

__all__ = ["export_markdown"]

DEEPEST = 6
IN_TEXT = re.compile(r"[\\<]|&(?=#?\w+;)")
IN_DESCRIPTION = re.compile(r"[\\<*]|&(?=#?\w+;)|^[(\[_]")
IN_NAME = re.compile(r"[!-,.-/:-@\[-`{-~]|：")
LAST_COLON = re.compile(r"[:：]$")
TOGETHER = re.compile(r"[,&+]|\b(?:and|together|unison|simultaneously|time|one|both)\b", re.IGNORECASE)


def export_markdown(story: Story, stream: IO[str]) -> int:
    """Write a story as Markdown; returns how many lines of it were written."""
    check_speech(story)
    if len(story.levels) - 1 > DEEPEST:
        raise InputError(f"'{story.title}' has {len(story.levels) - 1} levels, but Markdown {DEEPEST}: use a folder")
    _write_front(story, stream.write)
    titles = {moment.numbers: title for moment, title in story.headings()}
    outer = len(story.levels) - 2
    last: tuple[int, ...] = ()
    count = 0
    for scene in story.scenes():
        position = scene.moment.numbers
        for depth in range(1, outer + 1):
            if position[:depth] != last[:depth]:
                stream.write(_heading(story, position[:depth], titles.get(position[:depth], "")))
        stream.write(_heading(story, position, scene.setting))
        for line in scene.lines:
            stream.write(_paragraph(line))
        count += len(scene.lines)
        last = position
    return count


def _write_front(story: Story, write: Callable[[str], Any]) -> None:
    write(f"---\ntitle: {json.dumps(story.title, ensure_ascii=False)}\nlanguage: {story.language}\ncast:\n")
    for member in story.cast():
        write(f"  - {json.dumps(member.character.name, ensure_ascii=False)}\n")
    write("---\n\n")


def _heading(story: Story, position: tuple[int, ...], title: str) -> str:
    plain = IN_TEXT.sub(_escaped, title)
    if plain.endswith("#"):
        plain = f"{plain[:-1]}\\#"
    label = f"{'#' * len(position)} {story.levels[len(position) - 1]} {position[-1]}"
    return f"{label}{': ' + plain if plain else ''}\n\n"


def _paragraph(line: Line) -> str:
    if line.speaker is None:
        text = LAST_COLON.sub(_as_entity, IN_DESCRIPTION.sub(_escaped, line.text))
        return f"*{text}*\n\n"
    return f"**{_name(line.speaker)}:** {IN_TEXT.sub(_escaped, line.text)}\n\n"


def _name(name: str) -> str:
    """A name that is read as one, whatever is in it."""
    plain = IN_NAME.sub(lambda match: _escaped(match) if match[0].isascii() else _as_entity(match), name)
    return f"&#{ord(name[0])};{plain[1:]}" if plain == name and TOGETHER.search(name) else plain


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[0]


def _as_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
