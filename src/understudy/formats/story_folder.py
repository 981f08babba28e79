"""A story folder: the way an author keeps a story in git.

    my-story/
        cast.toml        who is who, and what is so from when on     (see casttoml)
        probes.toml      what a character must and must not know     (see probes)
        found.toml       what was found in the text (see storyfile.found)
        part-1.txt       scripts, in any form a reader knows, read in the order of their names
        part-2.txt

Files that are notes to people (README, NOTES, LICENSE, anything beginning with a dot) are not scripts. Its TOML
is written by a person: whatever is wrong with it is a `CastError` that says where.
"""

from __future__ import annotations

import re
from pathlib import Path

from understudy.errors import InputError

__all__ = ["CAST", "PROBES", "in_order", "scripts_in"]

CAST, PROBES = "cast.toml", "probes.toml"
NOTES = re.compile(r"(readme|notes|licen[sc]e|changelog|copying)\b", re.IGNORECASE)
DIGITS = re.compile(r"(\d+)")


def scripts_in(folder: Path) -> list[Path]:
    """The scripts of a story folder, in order; an error where there is none."""
    scripts = [
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix != ".toml" and not path.name.startswith(".") and not NOTES.match(path.name)
    ]
    if not scripts:
        raise InputError("this folder holds no scripts: put script files beside its cast.toml", folder)
    return in_order(scripts)


def in_order(paths: list[Path]) -> list[Path]:
    """By name, numbers by their value: part-2 before part-10."""

    def by_value(path: Path) -> list[tuple[int, str]]:
        return [(int(part), "") if part.isdecimal() else (0, part.lower()) for part in DIGITS.split(path.name)]

    return sorted(paths, key=by_value)
