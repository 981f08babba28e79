"""A story as one of SillyTavern's chats, which the `sillytavern` reader reads back as the same scenes.

A line is a message under its speaker's name, a description a narrator's message. The dates are made up: a minute from
message to message and a day from scene to scene, so that each scene is a session. A scene's setting stands before it as
a narrator's message that says so in its `extra`.

From a character's chair everybody else is the user. Without one, where only two speak, the one who says less is; with
more it is a group chat, in which nobody is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import IO, Any

from understudy.story.macros import fill_macros
from understudy.story.storyfile import Story
from understudy.story.types import Scene

__all__ = ["export_sillytavern"]

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
PAUSE, NIGHT = timedelta(minutes=1), timedelta(days=1)
NARRATOR, UNUSED = "System", "unused"
MARK, SETTING, VERBATIM = "understudy", "setting", "verbatim"


def export_sillytavern(story: Story, stream: IO[str], character: str | None = None, ascii_only: bool = False) -> int:
    """Returns how many lines were written."""
    speakers = [member.character.name for member in story.cast() if member.lines]
    chosen = character or (speakers[0] if len(speakers) == 2 else None)
    user = next((name for name in speakers if name != chosen), None) if len(speakers) == 2 else None
    date = BEGINNING
    names = {"user_name": user or UNUSED, "character_name": chosen or UNUSED}
    _write({**names, "create_date": _dated(date), "chat_metadata": {}}, stream, ascii_only)
    count = 0
    for scene in story.scenes():
        for message in _messages(scene, chosen, date):
            _write(message, stream, ascii_only)
        count += len(scene.lines)
        date += NIGHT + PAUSE * len(scene.lines)
    return count


def _messages(scene: Scene, character: str | None, date: datetime) -> Iterator[dict[str, Any]]:
    if scene.setting or not scene.lines:
        yield _message(NARRATOR, False, date, scene.setting, {"type": "narrator", MARK: SETTING})
    for line in scene.lines:
        extra: dict[str, str] = {}
        if line.speaker is None:
            extra["type"] = "narrator"
        if fill_macros(line.text, "?") != line.text:  # said as it stands, not a place for a name
            extra[MARK] = VERBATIM
        is_user = character is not None and line.speaker not in (None, character)
        yield _message(line.speaker or NARRATOR, is_user, date, line.text, extra)
        date += PAUSE


def _message(name: str, is_user: bool, date: datetime, text: str, extra: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "is_user": is_user,
        "is_system": False,
        "send_date": _dated(date),
        "mes": text,
        "extra": extra,
    }


def _write(row: dict[str, Any], stream: IO[str], ascii_only: bool) -> None:
    stream.write(json.dumps(row, ensure_ascii=ascii_only) + "\n")


def _dated(date: datetime) -> str:
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
