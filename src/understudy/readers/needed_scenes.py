"""Which earlier scenes telling a masked speaker took: JSON Lines, one masked speaker a line.

    {"episode": "09x01", "scene": 2510, "place": 0, "needed": [2501, 2504]}

`place` counts the masked speakers of a scene in the order of their first lines, from 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from understudy.readers.annotations import Instance
from understudy.readers.jsonstream import json_lines
from understudy.readers.source import SourceFile
from understudy.readers.tvshowguess import EPISODE

__all__ = ["read_needed_scenes"]


def read_needed_scenes(path: Path) -> dict[Instance, frozenset[int]]:
    """The numbers of the scenes that each speaker took; empty where history was not needed."""
    source = SourceFile(path)
    needed_scenes: dict[Instance, frozenset[int]] = {}
    for location, record in json_lines(source):
        match record:
            case {"episode": str(episode), "scene": scene, "place": place, "needed": list(needed)}:
                at = EPISODE.fullmatch(episode.strip())
            case _:
                raise source.error("should be an object with 'episode', 'scene', 'place' and 'needed'", location.line)
        if at is None:
            raise source.error(f"'episode' is {episode!r:.40}: it should look like '09x01'", location.line)
        if not all(_is_count(number) for number in (scene, place, *needed)):
            raise source.error(
                "'scene', 'place' and all that is 'needed' should be whole numbers from 0", location.line
            )
        instance = Instance((int(at[1]), int(at[2])), scene, place)
        if instance in needed_scenes:
            raise source.error("says the same speaker of the same scene twice", location.line)
        needed_scenes[instance] = frozenset(needed)
    return needed_scenes


def _is_count(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0
