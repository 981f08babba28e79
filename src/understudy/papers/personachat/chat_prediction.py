"""Profile prediction in chats of people with models and of models with each other.

'whose words -> whose profile', after the paper's table: from the words of a person or of a model, the profile of a
person or of a model is told among 100 others. Own profiles ('human -> human', 'model -> model') ask how much somebody
says of themselves, the other side's ('human -> model', 'model -> human') how much somebody takes up what the other one
is. The paper's dialogues are all between a person and a model: its 'human -> human' is the person's own profile from
what that person says to a model. In a chat of two models the other side's profile is 'model -> other model', for which
the paper has no figure.

Where a person's part was replayed, 'human -> model' has no value: the person had answered somebody else, who was given
the same profile as the model, so that their words tell of that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from understudy.bench.published import profile_error
from understudy.errors import InputError
from understudy.formats.chat_records import HUMAN, ChatRecord, read_chats, read_judged_chats
from understudy.papers.personachat.chairs import ERRORS, Chair, ProfilePlace, Row, error_rows

__all__ = ["ChatChair", "chairs_in", "chat_rows", "direction_of"]

LEAST_TURNS = 4  # of each side of a chat with a volunteer: many left at once
REPLAYED = "the person answered somebody else, with the same profile"


class ChatChair(NamedTuple):
    """One side of a chat: its words and profiles, who sat there and who on the other side, and of which file."""

    chair: Chair
    speaker: str
    other: str
    source: str
    given: str
    replayed: bool


def chairs_in(path: Path, first: int = 1) -> list[ChatChair]:
    """Both sides of every chat of a file, of `self-chat` or of ConvAI2's volunteers; chats count from `first`."""
    records = list(_records(path))
    if not records:
        raise InputError("holds no chat to tell profiles from", path)
    return [
        ChatChair(
            Chair(number, bool(side), record.said(side), record.profiles[side], record.profiles[1 - side]),
            record.speakers[side],
            record.speakers[1 - side],
            path.stem,
            record.given,
            record.replayed,
        )
        for number, record in enumerate(records, first)
        for side in (0, 1)
    ]


def _records(path: Path) -> Iterable[ChatRecord]:
    with path.open("rb") as file:
        is_list = file.read(64).lstrip().startswith(b"[")
    if not is_list:
        return read_chats(path)
    records = (chat.record for chat in read_judged_chats(path))
    return (record for record in records if min(len(record.said(side)) for side in (0, 1)) >= LEAST_TURNS)


def direction_of(seat: ChatChair, whose: str) -> str:
    """'whose words -> whose profile' of the paper's table; `whose` is 'own' or 'partner'."""
    speaker, other = (HUMAN if name == HUMAN else "model" for name in (seat.speaker, seat.other))
    if whose == "own":
        return f"{speaker} -> {speaker}"
    return f"{speaker} -> {other}" if speaker != other else f"{speaker} -> other {other}"


def chat_rows(
    scorer: str, seats: Sequence[ChatChair], placements: Mapping[tuple[str, str, int | str], Sequence[ProfilePlace]],
    whole: str, seed: int,
) -> Iterator[Row]:  # fmt: skip
    """The rows of one file: error rates for each direction, unit and length."""
    by_chair = {f"{seat.chair.dialogue}.{seat.chair.letter}": seat for seat in seats}
    grouped: dict[tuple[str, str, str, str, int | str], list[ProfilePlace]] = {}
    for (whose, unit, length), of_key in placements.items():
        for place in of_key:
            seat = by_chair[place.chair]
            grouped.setdefault((seat.given, direction_of(seat, whose), whose, unit, length), []).append(place)
    for (given, direction, whose, unit, length), some in grouped.items():
        seat = by_chair[some[0].chair]
        what: Row = {"scorer": scorer, "chats": seat.source, "given": given, "told": direction, "profile": whose}
        what |= {"unit": unit, "length": length}
        paper = profile_error(direction, unit, None if length == whole else int(length), given != "none")
        if direction == "human -> model" and seat.replayed:
            for metric in ERRORS:
                missing = {"value": None, "low": None, "high": None, "n": 0, "paper": paper, "reason": REPLAYED}
                yield {**what, "metric": metric, **missing}
        else:
            yield from error_rows(what, some, paper, seed)
