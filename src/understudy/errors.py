"""Every error Understudy raises on purpose. A message says what is wrong and what to do next.

UnderstudyError
├── InputError            something handed in cannot be used (carries file and line)
│   ├── UnknownFormat     no reader recognises it
│   └── CastError         a cast.toml, probes.toml or found.toml is wrong
├── StoryError            a question the story cannot answer
│   ├── UnknownStory
│   ├── UnknownCharacter
│   ├── UnknownMoment
│   ├── Unborn
│   └── Dead
├── AgentError            an agent, or what it was given, cannot make a reply
│   └── BackendError      a language model cannot be reached, or does not answer as it should
├── MissingAnswer         a language model that is asked through files has not answered yet
├── Unreachable           a database that was there cannot be asked any more
└── MissingExtra          an optional dependency is not installed
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class UnderstudyError(Exception):
    """Base of all errors raised on purpose."""


class InputError(UnderstudyError):
    """Something handed in cannot be used; says where it stands."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        self.message, self.path, self.line = message, path, line
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)


class UnknownFormat(InputError):
    """No reader recognises the file's content."""


class CastError(InputError):
    """A file that a person keeps (cast.toml, probes.toml, found.toml) is out of range, unknown or contradictory."""


class StoryError(UnderstudyError):
    """A question the story cannot answer."""


class UnknownStory(StoryError):
    """No story of that name is open here."""


class UnknownCharacter(StoryError):
    """Nobody, or more than one person, goes by that name."""


class UnknownMoment(StoryError):
    """The moment cannot be read, or the story has no such moment."""


class Unborn(StoryError):
    """The character is not born yet at that moment."""


class Dead(StoryError):
    """The character has died by that moment."""


class AgentError(UnderstudyError):
    """An agent, or what it was given, cannot make a reply."""


class BackendError(AgentError):
    """A language model cannot be reached, refuses, or does not answer as it should."""


class MissingAnswer(UnderstudyError):
    """A language model that is asked through files has not answered yet: what was asked for is not wrong, but to come.

    `requests` are the bodies of the requests to send, by folder and id.
    """

    def __init__(self, requests: Mapping[tuple[Path, str], Mapping[str, Any]]) -> None:
        self.requests = requests
        folders = ", ".join(dict.fromkeys(str(folder) for folder, _ in requests))
        super().__init__(f"answers are still to come in {folders}: send the requests, and ask again")


class Unreachable(UnderstudyError):
    """A database that was there cannot be asked, or take anything, any more."""


class MissingExtra(UnderstudyError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an optional part: in Understudy's own folder, pip install '.[{extra}]'")
