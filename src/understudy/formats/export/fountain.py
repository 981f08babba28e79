r"""A whole story as a screenplay in Fountain, which the `fountain` reader reads back as the same scenes and lines.

    Title: The Quarrel

    # act 1: Before Dark                   a level above scenes is a section
    .A kitchen at night #1#                a setting is forced unless it is an INT. or EXT.; without one, `.SCENE 1`
    !(The kettle sings.)                   a description is action, forced where it could be taken for something else
    @Odile                                 a cue is forced, so that a name keeps its spelling
    (softly)                               an aside at the start of a speech is a parenthetical
    You sold the piano.

A backslash stands before every character that would mean something where it stands. Who is present without speaking,
facts and ties have no place in Fountain: `export_folder` writes these.
"""

from __future__ import annotations

import re
from typing import IO

from understudy.formats.export.speech import check_speech
from understudy.story.storyfile import Story
from understudy.story.types import Scene

__all__ = ["export_fountain"]

MEANING = r"[*_\[\]()^@!.>~=#]"
ESCAPED = re.compile(rf"(?<!\\)(\\*+)({MEANING})")
BEGINS = ("@", "!", ">", "~", "=", "#")
INTERIOR = re.compile(r"(?:INT|EXT|EST|INT\./EXT|INT/EXT|I/E)\.? \S")
INTERIOR_LIKE = re.compile(r"(?:INT|EXT|EST|I/E|E/I)\b", re.IGNORECASE)
ASIDE = re.compile(r"(\([^()]*\)) (\S.*)")


def export_fountain(story: Story, stream: IO[str]) -> int:
    """Write the story; returns how many lines it has."""
    check_speech(story)
    stream.write(f"Title: {_escaped(story.title)}\n")
    if story.levels[-2] != "scene":
        stream.write(f"Scenes are: {story.levels[-2]}\n")
    titles = {moment.numbers: title for moment, title in story.headings()}
    last: tuple[int, ...] = ()
    count = 0
    for scene in story.scenes():
        position = scene.moment.numbers
        for depth in range(1, len(position)):
            if position[:depth] != last[:depth]:
                title = titles.get(position[:depth], "")
                section = f"{'#' * depth} {story.levels[depth - 1]} {position[depth - 1]}"
                stream.write(f"\n{section}{': ' + _escaped(title) if title else ''}\n")
        _write_scene(scene, stream)
        last = position
        count += len(scene.lines)
    return count


def _write_scene(scene: Scene, stream: IO[str]) -> None:
    number = scene.moment.numbers[-1]
    if not scene.setting:
        stream.write(f"\n.SCENE {number}\n")
    elif INTERIOR.match(scene.setting):
        stream.write(f"\n{_escaped(scene.setting)} #{number}#\n")
    else:
        escape = "\\" if scene.setting[0] == "." else ""
        stream.write(f"\n.{escape}{_escaped(scene.setting)} #{number}#\n")
    for line in scene.lines:
        if line.speaker is None:
            stream.write(f"\n{_action(line.text)}\n")
        else:
            stream.write(f"\n@{_cue(line.speaker)}\n{_dialogue(line.text)}\n")


def _action(text: str) -> str:
    is_plain = text[:1].isalpha() and any(letter.islower() for letter in text) and not INTERIOR_LIKE.match(text)
    return _escaped(text) if is_plain else "!" + _escaped(text)


def _dialogue(text: str) -> str:
    if aside := ASIDE.fullmatch(text):
        return f"{_escaped(aside[1])}\n{_spoken(aside[2])}"
    return _spoken(text)


def _spoken(text: str) -> str:
    begins_element = text[:1] in BEGINS or (text[:1] == "." and text[1:2] != ".")
    return ("\\" if begins_element else "") + _escaped(text)


def _cue(name: str) -> str:
    return ESCAPED.sub(lambda match: 2 * match[1] + ("\\" if match[2] in "*_[()^" else "") + match[2], name)


def _escaped(text: str) -> str:
    """Text in which asterisks, underscores and doubled brackets are no marks, and backslashes stay what they are."""

    def escape(match: re.Match[str]) -> str:
        opens_note = match[2] == "[" and text[match.start() - 1 : match.start()] == "[" and not match[1]
        return 2 * match[1] + ("\\" if match[2] in "*_" or opens_note else "") + match[2]

    return ESCAPED.sub(escape, text)
