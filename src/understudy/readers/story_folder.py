"""A story folder: the way an author keeps a story in git.

    my-story/
        cast.toml        who is who, and what is so from when on     (see casttoml)
        probes.toml      what a character must and must not know     (see probes)
        part-1.txt       scripts, in any form a reader knows, read in the order of their names
        part-2.txt

Files that are notes to people (README, NOTES, LICENSE, anything beginning with a dot) are not scripts. Its TOML
is written by a person: whatever is wrong with it is a `CastError` that says where.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from understudy.errors import CastError, InputError

__all__ = ["CAST", "LARGEST_FILE", "PROBES", "in_order", "load_toml", "quoted", "scripts_in"]

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


LARGEST_FILE = 16 * 1024 * 1024
LONGEST_QUOTED = 60
AT_LINE = re.compile(r"at line (\d+)")


def load_toml(path: Path) -> tuple[dict[str, Any], str]:
    """A file's document and its text, in which every line ends with a line feed."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CastError(f"is over {LARGEST_FILE:,} bytes: this is no list that a person keeps", path)
        text = path.read_text(encoding="utf-8-sig")
        return tomllib.loads(text), text
    except OSError as error:
        raise CastError(f"cannot be read: {error.strerror}", path) from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise CastError("is not UTF-8 text", path, line) from error
    except tomllib.TOMLDecodeError as error:
        match = AT_LINE.search(str(error))
        raise CastError(f"is not TOML: {error}", path, int(match[1]) if match else None) from error
    except RecursionError as error:
        raise CastError("is nested too deeply: write plain lists of texts", path) from error
    except ValueError as error:  # a number of thousands of digits, a date that is none
        raise CastError(f"holds a value that is none ({error}): write texts in quotes", path) from error


def quoted(value: object) -> str:
    """A value as a message shows it, however large or deep it is."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):
        return "a value that is too large to show"
    return shown if len(shown) <= LONGEST_QUOTED else f"{shown[:LONGEST_QUOTED]}..."
