"""TOML that a person keeps beside a story: whatever is wrong with it is a `CastError` that says where."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from understudy.errors import CastError, InputError

__all__ = ["LARGEST_FILE", "load_toml", "parse_toml", "quoted", "replace_text", "table_lines", "toml_value"]

LARGEST_FILE = 16 * 1024 * 1024
LONGEST_QUOTED = 60
AT_LINE = re.compile(r"at line (\d+)")
TABLE = re.compile(r"\s*\[\[\s*(\w+)\s*\]\]")


def load_toml(path: Path) -> tuple[dict[str, Any], str]:
    """A file's document and its text, in which every line ends with a line feed."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CastError(f"is over {LARGEST_FILE:,} bytes: this is no list that a person keeps", path)
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CastError(f"cannot be read: {error.strerror}", path) from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise CastError("is not UTF-8 text", path, line) from error
    return parse_toml(text, path), text


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The document of a file's text."""
    try:
        return tomllib.loads(text)
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


def table_lines(text: str) -> dict[str, list[int]]:
    """The lines on which the tables of each `[[kind]]` begin."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if match := TABLE.match(line):
            lines.setdefault(match[1], []).append(number)
    return lines


def toml_value(value: object) -> str:
    """JSON's strings, numbers and lists are TOML's too, but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def replace_text(path: Path, text: str) -> None:
    """Put a text in place at once: whoever reads it meanwhile sees the old one or the new one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", newline="\n")
        os.replace(partial, path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path) from error
    finally:
        partial.unlink(missing_ok=True)
