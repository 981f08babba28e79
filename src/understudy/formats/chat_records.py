"""A chat of two sides as it lies in a file: JSON lines, an object a chat.

    {"id": "7", "speakers": ["kv", "human"], "profiles": [["i sail."], ["i knit."]],
     "turns": [{"speaker": 0, "text": "hello"}, {"speaker": 1, "text": "hi"}], "given": "self"}

`speakers` says who sat on each side: the agent as it was named, or 'human'. A turn's speaker is its side, 0 or 1,
since both sides may be the same agent. `given` is what an agent was shown of the profiles: 'self', 'both' or 'none'.
`replayed` is true where a person's side was taken from another chat, so that it answers nobody here. A chat of a
story's characters has their `names` and the `moment` too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from understudy.errors import InputError

__all__ = ["GIVEN", "HUMAN", "ChatLine", "ChatRecord", "parse_profile", "read_chats"]

HUMAN = "human"
GIVEN = ("self", "both", "none")


class ChatLine(NamedTuple):
    """One turn, and which side said it."""

    side: int
    text: str


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """One chat; everything with a place for each side has side 0 first."""

    id: str
    speakers: tuple[str, str]
    profiles: tuple[tuple[str, ...], tuple[str, ...]]
    turns: tuple[ChatLine, ...]
    given: str = "self"
    replayed: bool = False
    names: tuple[str, str] | None = None
    moment: str = ""

    def said(self, side: int) -> tuple[str, ...]:
        """What one side said, turn by turn; turns without words are left out."""
        return tuple(turn.text for turn in self.turns if turn.side == side and turn.text.strip())

    def document(self) -> dict[str, Any]:
        about: dict[str, Any] = {"given": self.given}
        if self.replayed:
            about["replayed"] = True
        if self.names is not None:
            about |= {"names": list(self.names), "moment": self.moment}
        return {
            "id": self.id,
            "speakers": list(self.speakers),
            "profiles": [list(profile) for profile in self.profiles],
            **about,
            "turns": [{"speaker": turn.side, "text": turn.text} for turn in self.turns],
        }


def read_chats(path: Path) -> Iterator[ChatRecord]:
    """The chats of a file, one a line."""
    seen: set[str] = set()
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    record = _record(line, path, number)
                    if record.id in seen:
                        raise InputError(f"has the chat '{record.id}' a second time", path, number)
                    seen.add(record.id)
                    yield record
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error}", path) from error


def _record(line: str, path: Path, number: int) -> ChatRecord:
    def problem(what: str) -> InputError:
        return InputError(f"{what}: a chat is {{id, speakers, profiles, turns: [{{speaker, text}}]}}", path, number)

    try:
        document = json.loads(line)
    except ValueError as error:
        raise problem(f"is not JSON ({error})") from error
    if not isinstance(document, Mapping):
        raise problem("is no object")
    speakers = _pair_of_texts(document.get("speakers"))
    if speakers is None:
        raise problem("'speakers' are not two names")
    profiles = document.get("profiles")
    if not isinstance(profiles, list) or len(profiles) != 2:
        raise problem("'profiles' are not two lists of sentences")
    own, partner = (parse_profile(profile) for profile in profiles)
    if own is None or partner is None:
        raise problem("'profiles' are not two lists of sentences")
    turns = document.get("turns")
    lines = [_line(turn) for turn in turns] if isinstance(turns, list) else [None]
    if not all(lines):
        raise problem("'turns' are not objects with a speaker, 0 or 1, and a text")
    given = document.get("given", GIVEN[0])
    if given not in GIVEN:
        raise problem(f"'given' is none of {', '.join(GIVEN)}")
    names = None
    if "names" in document and (names := _pair_of_texts(document["names"])) is None:
        raise problem("'names' are not two names")
    return ChatRecord(
        str(document.get("id", number)), speakers, (own, partner), tuple(line for line in lines if line), given,
        document.get("replayed") is True, names, str(document.get("moment", "")),
    )  # fmt: skip


def parse_profile(sentences: object) -> tuple[str, ...] | None:
    """The sentences of a profile; None where it is no list of texts."""
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        return None
    return tuple(sentence.strip() for sentence in sentences if sentence.strip())


def _pair_of_texts(value: object) -> tuple[str, str] | None:
    match value:
        case [str(first), str(second)]:
            return first, second
        case _:
            return None


def _line(turn: object) -> ChatLine | None:
    match turn:
        case {"speaker": (0 | 1) as side, "text": str(text)} if not isinstance(side, bool):
            return ChatLine(side, text)
        case _:
            return None
