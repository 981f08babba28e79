"""A story as conversations for training: ShareGPT's form, and messages by role. One JSON object a scene.

    {"id": "2.3", "setting": "The yard", "conversations": [{"from": "Zita", "value": "..."}]}
    {"id": "2.3", "setting": "The yard", "messages": [{"role": "user", "name": "Zita", "content": "..."}]}

Without a character, `from` is whoever speaks, and everybody is a user. From a character's chair its own turns are
`gpt` (`assistant`), those of others `human` (`user`), each with the `name` beside the role. Descriptions are `system`.
The readers `sharegpt` and `messages` read them back as the same scenes; who was there without a word is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import IO

from understudy.story.storyfile import Story
from understudy.story.types import Line

__all__ = ["export_messages", "export_sharegpt"]

ROLES = frozenset(
    "human user prompter gpt assistant chatgpt model bot bing bard system developer tool function function_call "
    "tool_call function_response observation".split()
)
"""What a reader takes for a role and not for a name."""


def export_sharegpt(story: Story, stream: IO[str], character: str | None = None, ascii_only: bool = False) -> int:
    """Returns how many lines were written."""

    def turn(line: Line) -> dict[str, str]:
        if line.speaker is None:
            return {"from": "system", "value": line.text}
        if character is None and line.speaker.casefold() not in ROLES:
            return {"from": line.speaker, "value": line.text}
        role = "gpt" if line.speaker == character else "human"
        return {"from": role, "name": line.speaker, "value": line.text}

    return _write_scenes(story, stream, "conversations", turn, ascii_only)


def export_messages(story: Story, stream: IO[str], character: str | None = None, ascii_only: bool = False) -> int:
    """Returns how many lines were written."""

    def message(line: Line) -> dict[str, str]:
        if line.speaker is None:
            return {"role": "system", "content": line.text}
        role = "assistant" if line.speaker == character else "user"
        return {"role": role, "name": line.speaker, "content": line.text}

    return _write_scenes(story, stream, "messages", message, ascii_only)


def _write_scenes(
    story: Story, stream: IO[str], key: str, turn: Callable[[Line], dict[str, str]], ascii_only: bool
) -> int:
    """One object a scene, its turns under `key`."""
    count = 0
    for scene in story.scenes():
        record = {"id": scene.moment.dotted, "setting": scene.setting, key: list(map(turn, scene.lines))}
        stream.write(json.dumps(record, ensure_ascii=ascii_only) + "\n")
        count += len(scene.lines)
    return count
