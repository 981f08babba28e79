"""Response types of the operations on uploads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal

import msgspec

from understudy.formats.documents import reading_document
from understudy.story.storyfile import CastMember, Story

__all__ = [
    "AppliedFix",
    "CandidateSpeaker",
    "CastChange",
    "ChapterCount",
    "ListedQuotation",
    "PassageLine",
    "PersonReport",
    "QuotationListing",
    "ReadingReport",
    "SpeakerCount",
    "Upload",
    "UploadReport",
    "UploadedFile",
    "Uploads",
    "cast_change",
    "reading_report",
]


class UploadedFile(msgspec.Struct):
    """A file as it was sent."""

    number: int
    name: str
    size: int


class AppliedFix(msgspec.Struct):
    number: int
    what: str
    made: str


class Upload(msgspec.Struct, kw_only=True):
    """An uploaded story. If it cannot be read, `problem` says why."""

    id: str
    state: Literal["reading", "ready", "failed", "deleted"]
    story: str | None
    """The name it is served by, once it has been read."""
    title: str
    language: str | None
    scenes: int
    lines: int
    people: int
    made: str
    files: list[UploadedFile]
    fixes: list[AppliedFix]
    fixable: bool
    """Whether its cast can be corrected here; that of a story file was settled when it was made."""
    share: float
    """How much of it has been read, 0 to 1."""
    step: str | None = None
    """What of it is being read: 'Chapter 12 of 55'."""
    form: str | None = None
    """The format that it was to be read as; null where its content decided."""
    doubtful: int = 0
    """Lines whose speakers were worked out less surely than they should be."""
    updating: bool = False
    """Whether corrections are being read into it; it is served as it was until then."""
    finding: bool = False
    """Whether its text is being looked through for who its people are; `share` and `step` say how far."""
    problem: str | None = None
    can_retry: bool = False
    """Whether it failed, and its files are still here to be read as another format."""
    already: bool = False
    """Whether the same files had been uploaded before."""


class Uploads(msgspec.Struct):
    uploads: list[Upload]


class FileReport(msgspec.Struct):
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


class PersonReport(msgspec.Struct):
    name: str
    aliases: list[str]
    profile: list[str]
    lines: int
    first: str | None
    last: str | None


class ReadingReport(msgspec.Struct):
    """What became of every source line. It covers the whole story, its end included: it is for authors."""

    levels: list[str]
    files: list[FileReport]
    total: Total
    unread: list[UnreadLine]
    """The first of them; `total` counts all."""
    cast: list[PersonReport]


class CastChange(msgspec.Struct):
    """How a fix changed the cast."""

    what: str
    gone: list[str]
    new: list[str]
    lines: dict[str, tuple[int, int]]
    """Number of lines before and after, by name, where they differ."""


class PassageLine(msgspec.Struct):
    """A line near a quotation: said by somebody, or narration."""

    speaker: str | None
    text: str


class CandidateSpeaker(msgspec.Struct):
    name: str
    probability: float


class ListedQuotation(msgspec.Struct, kw_only=True):
    """A quotation that was listed when the story was read, and what its author decided about it."""

    id: str
    file: str
    chapter: str
    moment: str | None
    """Null where it is no line of its own now."""
    text: str
    before: list[PassageLine]
    after: list[PassageLine]
    guess: str | None
    confidence: float
    candidates: list[CandidateSpeaker]
    speaker: str | None
    """Who says it, as decided."""
    not_speech: bool
    """Whether it was decided that nobody says it."""


class ChapterCount(msgspec.Struct):
    chapter: str
    title: str
    count: int


class SpeakerCount(msgspec.Struct):
    name: str
    count: int


class QuotationListing(msgspec.Struct, kw_only=True):
    """Quotations to look at, the least sure first, or those that were decided, in the order of the text."""

    doubtful: int
    decided: int
    total: int
    """How many are in this selection."""
    offset: int
    quotations: list[ListedQuotation]
    chapters: list[ChapterCount]
    speakers: list[SpeakerCount]


class UploadReport(Upload, kw_only=True):
    report: ReadingReport | None = None
    cast_toml: str = ""
    change: CastChange | None = None


def reading_report(story: Story, max_unread: int) -> ReadingReport:
    document = reading_document(story, islice(story.unread(), max_unread))
    document["cast"] = list(_people(story.cast()))
    return msgspec.convert(document, ReadingReport, from_attributes=True)


def _people(cast: tuple[CastMember, ...]) -> Iterator[PersonReport]:
    for member in cast:
        who = member.character
        first, last = (moment.dotted if moment else None for moment in (member.first, member.last))
        yield PersonReport(who.name, list(who.aliases), list(who.profile), member.lines, first, last)


def cast_change(what: str, before: tuple[CastMember, ...], after: tuple[CastMember, ...]) -> CastChange:
    lines_before = {member.character.name: member.lines for member in before}
    lines_after = {member.character.name: member.lines for member in after}
    return CastChange(
        what,
        gone=[name for name in lines_before if name not in lines_after],
        new=[name for name in lines_after if name not in lines_before],
        lines={
            name: (lines_before[name], count)
            for name, count in lines_after.items()
            if lines_before.get(name, count) != count
        },
    )
