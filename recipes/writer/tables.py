"""The tables that examples are made with, from tables.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["answers_for", "asked_patterns", "names", "random_name", "table"]


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))


def table(name: str) -> Any:
    return _tables()[name]


@cache
def names(kind: str) -> tuple[str, ...]:
    """Words of a kind, which are exchanged for one another: 'f', 'm' and 's' are names, then 'place', 'ship' ..."""
    return tuple(table("names")[kind].split())


def random_name(rng: Random, surname: float = 0.0) -> str:
    """A first name, now and then with a surname."""
    first = rng.choice((*names("f"), *names("m")))
    return f"{first} {rng.choice(names('s'))}" if rng.random() < surname else first


def answers_for(kind: str, level: int) -> Sequence[str]:
    """The answers of table 'tie' or 'to_you' for somebody who is liked so much."""
    return next(row["answers"] for row in table(kind) if row["low"] <= level <= row["high"])


@cache
def asked_patterns() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Patterns of profile sentences, with questions that they answer."""
    return tuple((re.compile(row["pattern"]), tuple(row["questions"])) for row in table("asked"))
