"""How the values of a file of tests are read: each key's reader gives a value, or an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from understudy.bench.check.faults import FAULTS, LANGUAGES
from understudy.errors import InputError
from understudy.judging import Rule
from understudy.metrics.registry import METRICS
from understudy.storyfile.toml_file import quoted
from understudy.text import did_you_mean

__all__ = ["INHERITED", "VALUES"]

MOST_REPEATS, MOST_TURNS = 1000, 200
JUDGED_BY = ("share", "low")


def _text(value: Any, _path: Path) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"is {quoted(value)}, not a text in quotes")
    return value


def _texts(value: Any, _path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) and item.strip() for item in value):
        raise InputError('must be a list of texts, as in ["one", "two"]')
    return tuple(value)


def _turns(value: Any, path: Path) -> tuple[str, ...]:
    turns = (value,) if isinstance(value, str) and value.strip() else _texts(value, path)
    if len(turns) > MOST_TURNS:
        raise InputError(f"has {len(turns)} messages: at most {MOST_TURNS} are put in one conversation")
    return turns


def _lines(value: Any, path: Path) -> tuple[str, ...]:
    """A list of lines, or the path of a text file that has one a line."""
    if not isinstance(value, str):
        return _texts(value, path)
    file = path.parent / value
    try:
        lines = tuple(line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"names {quoted(value)}, which cannot be read as UTF-8 text: {error}") from error
    if not lines:
        raise InputError(f"names {quoted(value)}, which holds no lines")
    return lines


def _faults(value: Any, path: Path) -> tuple[str, ...]:
    names = _texts(value, path)
    for name in names:
        if name not in FAULTS:
            raise InputError(f"has '{name}'{did_you_mean(name, FAULTS)}: choose from {', '.join(FAULTS)}")
    return names


def _rules(value: Any, path: Path) -> tuple[Rule, ...]:
    rules = tuple(Rule.parse(text) for text in _texts(value, path))
    for rule in rules:
        if rule.metric not in METRICS:
            raise InputError(
                f"has the metric '{rule.metric}'{did_you_mean(rule.metric, METRICS)}: choose from {', '.join(METRICS)}"
            )
    return rules


def _choice(*choices: str) -> Callable[[Any, Path], str]:
    def read(value: Any, _path: Path) -> str:
        if value not in choices:
            raise InputError(f"is {quoted(value)}: choose from {', '.join(choices)}")
        return str(value)

    return read


def _whole(least: int, most: int) -> Callable[[Any, Path], int]:
    def read(value: Any, _path: Path) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise InputError(f"is {quoted(value)}, not a whole number from {least} to {most:,}")
        return value

    return read


def _number(least: float, most: float) -> Callable[[Any, Path], float]:
    def read(value: Any, _path: Path) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            raise InputError(f"is {quoted(value)}, not a number from {least:g} to {most:g}")
        return float(value)

    return read


INHERITED: dict[str, Callable[[Any, Path], Any]] = {
    "kind": _text, "model": _text, "system": _text, "must_not": _texts, "never": _faults,
    "language": _choice(*LANGUAGES), "max_words": _whole(1, 100_000),
    "voice_like": _lines, "voice_unlike": _lines, "voice_at_least": _number(0, 1),
    "who": _text, "at": _text, "facing": _text, "rules": _rules,
    "repeats": _whole(1, MOST_REPEATS), "pass_at": _number(0, 1), "judged_by": _choice(*JUDGED_BY),
    "temperature": _number(0, 2), "max_tokens": _whole(1, 1_000_000),
}  # fmt: skip
"""Keys that may also stand before the first test, and how each is read."""

VALUES = INHERITED | {"name": _text, "turns": _turns, "ask": _turns, "must": _texts}
