"""What the operations on uploads answer with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal

import msgspec

from understudy.documents import reading_document
from understudy.storyfile import CastMember, Story

__all__ = [
    "Change",
    "FixTold",
    "Person",
    "Reading",
    "Sent",
    "Upload",
    "UploadReport",
    "Uploads",
    "change",
    "people",
    "reading",
]


class Sent(msgspec.Struct):
    """A file as it was sent."""

    number: int
    name: str
    size: int


class FixTold(msgspec.Struct):
    number: int
    what: str
    made: str


class Upload(msgspec.Struct, kw_only=True):
    """A story somebody sent. Where it cannot be read, `problem` says why."""

    id: str
    state: Literal["reading", "ready", "failed", "deleted"]
    story: str | None
    """Its name on stage, once it is there."""
    title: str
    language: str | None
    scenes: int
    lines: int
    people: int
    made: str
    files: list[Sent]
    fixes: list[FixTold]
    fixable: bool
    """Whether its cast can be put right here; that of a story file was settled when it was made."""
    share: float
    """How much of it has been read, 0 to 1."""
    problem: str | None = None
    already: bool = False
    """It was there before: the same files had been sent."""


class Uploads(msgspec.Struct):
    uploads: list[Upload]


class FileRead(msgspec.Struct):
    """What became of one file's lines. The last four counts add up to `units`."""

    file: str
    format: str
    units: int
    lines: int
    descriptions: int
    headings: int
    unread: int
    reasons: dict[str, int]


class Total(msgspec.Struct):
    units: int
    lines: int
    descriptions: int
    headings: int
    unread: int


class UnreadLine(msgspec.Struct):
    file: str
    line: int
    text: str
    reason: str


class Person(msgspec.Struct):
    name: str
    aliases: list[str]
    profile: list[str]
    lines: int
    first: str | None
    last: str | None


class Reading(msgspec.Struct):
    """The reader's account of every line. It tells the whole story: it is for whoever sent it."""

    levels: list[str]
    files: list[FileRead]
    total: Total
    unread: list[UnreadLine]
    """The first of them; `total` counts all."""
    cast: list[Person]


class Change(msgspec.Struct):
    """What a fix made of the cast."""

    what: str
    gone: list[str]
    new: list[str]
    lines: dict[str, tuple[int, int]]
    """How many lines somebody had, and has now, where that differs."""


class UploadReport(Upload, kw_only=True):
    report: Reading | None = None
    cast_toml: str = ""
    change: Change | None = None


def reading(story: Story, unread: int) -> Reading:
    document = reading_document(story, islice(story.unread(), unread))
    return msgspec.convert({**document, "cast": list(people(story.cast()))}, Reading, from_attributes=True)


def people(cast: tuple[CastMember, ...]) -> Iterator[Person]:
    for member in cast:
        who = member.character
        first, last = (moment.dotted if moment else None for moment in (member.first, member.last))
        yield Person(who.name, list(who.aliases), list(who.profile), member.lines, first, last)


def change(what: str, before: tuple[CastMember, ...], after: tuple[CastMember, ...]) -> Change:
    had = {member.character.name: member.lines for member in before}
    has = {member.character.name: member.lines for member in after}
    return Change(
        what,
        gone=[name for name in had if name not in has],
        new=[name for name in has if name not in had],
        lines={name: (had[name], has[name]) for name in has if name in had and had[name] != has[name]},
    )
