"""The quotations of an upload whose speakers are doubtful, and what its author decides about them.

A reading lists them in a quotations.toml beside the story file, with the guess and who else it may be. The database has
the decided ones of every fix, as a quotations.toml too. They are laid over the list at once, while the story is read
again behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from understudy.errors import InputError
from understudy.formats.prose.corrections import (
    QUOTATIONS,
    Corrections,
    QuotationEntry,
    SpeakerDecision,
    parse_corrections,
    read_corrections,
)
from understudy.formats.prose.decisions import set_not_speech, set_speaker
from understudy.server.uploads.fixes import QuotationFix, SetSpeaker
from understudy.sources.names import fold
from understudy.story.storyfile import Story
from understudy.story.types import Character, Line

LINES_BEFORE, LINES_AFTER = 3, 2
ENOUGH, LONGEST_LINE = 240, 300  # characters of text around a quotation, and of one line of it
LONGEST_TOLD = 60  # characters of a quotation in the list of fixes
MOST_CANDIDATES = 5
DECISIONS = Path(QUOTATIONS)


class QuotationFilter(NamedTuple):
    """Which quotations are shown: decided or doubtful ones, of a chapter, of a speaker; so many, from one on."""

    decided: bool = False
    chapter: str = ""
    speaker: str = ""
    offset: int = 0
    limit: int = 20


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


def list_beside(story_file: Path) -> Path:
    """Where the list of a story file's doubtful quotations lies."""
    return story_file.with_suffix(f".{QUOTATIONS}")


def listed_quotations(story: Story, decided_toml: str) -> Corrections:
    """What was listed when a story was read, with the decisions as they are now."""
    listed = Corrections(DECISIONS) if story.path is None else _read_list(list_beside(story.path))
    decided = {entry.id: entry for entry in _decided_entries(decided_toml)}
    entries = [
        replace(entry, decision=decided[entry.id].decision if entry.id in decided else SpeakerDecision())
        for entry in listed.entries
    ]
    known = {entry.id for entry in entries}
    entries += [entry for entry in decided.values() if entry.id not in known]
    return replace(listed, entries=tuple(entries), undo=())


@lru_cache(8)
def _read_list(path: Path) -> Corrections:
    """A list is written once, with its story file."""
    return read_corrections(path)


@lru_cache(8)
def _decided_entries(text: str) -> tuple[QuotationEntry, ...]:
    return parse_corrections(text, DECISIONS).entries if text else ()


def decided_only(corrections: Corrections) -> str:
    """A quotations.toml of what is decided, "" where nothing is."""
    entries = tuple(entry for entry in corrections.entries if entry.decision.is_made)
    return replace(corrections, entries=entries, undo=()).render() if entries else ""


def decide(corrections: Corrections, fix: QuotationFix, cast: Iterable[Character]) -> tuple[str, str]:
    """The quotations.toml with one more decision, and in words what was decided."""
    entry = next((entry for entry in corrections.entries if entry.id == fix.quotation), None)
    if entry is None:
        raise InputError(f"no doubtful quotation has the id '{fix.quotation[:40]}': look at the list again")
    shown = _shortened(entry.quote)
    if isinstance(fix, SetSpeaker):
        names = _names(cast)
        to = names.get(fold(fix.to), fix.to)
        changed = set_speaker(corrections, entry.id, to)
        is_new = fold(fix.to) not in names
        what = f"“{shown}” is said by {' '.join(to.split())}{', who is new' if is_new else ''}"
    else:
        changed = set_not_speech(corrections, entry.id)
        what = f"“{shown}” is said by nobody"
    return decided_only(changed), what


def doubtful_quotations(story: Story, corrections: Corrections, wanted: QuotationFilter) -> QuotationListing:
    """The quotations to look at, the least sure first, with the text around them and what they can be chosen by."""
    names = _names(member.character for member in story.cast())
    titles = {moment.dotted: title for moment, title in story.headings()}
    decided = [entry for entry in corrections.entries if entry.decision.is_made]
    doubtful = [entry for entry in corrections.entries if not entry.decision.is_made]
    of_kind = decided if wanted.decided else doubtful
    chapters = Counter(entry.chapter for entry in of_kind)
    speakers = Counter(_speaker(entry, names) for entry in of_kind)
    chosen = [
        entry
        for entry in of_kind
        if wanted.chapter in ("", entry.chapter) and wanted.speaker in ("", _speaker(entry, names))
    ]
    if not wanted.decided:
        chosen.sort(key=lambda entry: entry.confidence)
    shown = chosen[wanted.offset : wanted.offset + wanted.limit]
    passages = _Passages(story) if shown else None
    return QuotationListing(
        doubtful=len(doubtful),
        decided=len(decided),
        total=len(chosen),
        offset=wanted.offset,
        quotations=[_shown(entry, names, passages) for entry in shown] if passages else [],
        chapters=[ChapterCount(chapter, titles.get(chapter, ""), count) for chapter, count in chapters.items()],
        speakers=[SpeakerCount(name, count) for name, count in speakers.most_common() if name],
    )


class _Passages:
    """The lines of a story as they stand in its text, by where they begin."""

    def __init__(self, story: Story) -> None:
        self.lines: list[Line] = []
        self.index: dict[tuple[str, int], int] = {}
        for line_spans in story.spans():
            source, spans = line_spans.line.source, line_spans.spans
            if spans and source is not None:
                self.index[source.file, spans[0][0]] = len(self.lines)
            self.lines.append(line_spans.line)

    def around(self, entry: QuotationEntry) -> tuple[Line | None, Iterable[Line], Iterable[Line]]:
        """The line of a quotation, those before it and those after it; no line where it is in the story no more."""
        at = self.index.get((entry.file, entry.context.span.start))
        if at is None:
            return None, (), ()
        line = self.lines[at]
        before = _near(line, reversed(self.lines[max(0, at - LINES_BEFORE) : at]))
        return line, reversed(before), _near(line, self.lines[at + 1 : at + 1 + LINES_AFTER])


def _near(line: Line, neighbours: Iterable[Line]) -> list[Line]:
    """Those of a line's chapter, until there is enough to read."""
    near, length = list[Line](), 0
    for neighbour in neighbours:
        if length >= ENOUGH or neighbour.moment.numbers[:-2] != line.moment.numbers[:-2]:
            break
        near.append(neighbour)
        length += len(neighbour.text)
    return near


def _shown(entry: QuotationEntry, names: dict[str, str], passages: _Passages) -> ListedQuotation:
    line, before, after = passages.around(entry)
    earlier = [PassageLine(near.speaker, _end_of(near.text)) for near in before]
    later = [PassageLine(near.speaker, _beginning_of(near.text)) for near in after]
    if line is None:
        earlier, later = [PassageLine(None, entry.context.before)], [PassageLine(None, entry.context.after)]
    guess = names.get(fold(entry.guess), entry.guess) or None
    return ListedQuotation(
        id=entry.id,
        file=entry.file,
        chapter=entry.chapter,
        moment=None if line is None else line.moment.dotted,
        text=entry.passage or (entry.quote if line is None or line.speaker is None else line.text),
        before=earlier,
        after=later,
        guess=guess,
        confidence=entry.confidence,
        candidates=list(_candidates(entry, names)),
        speaker=names.get(fold(entry.decision.speaker), entry.decision.speaker) or None,
        not_speech=entry.decision.not_speech,
    )


def _candidates(entry: QuotationEntry, names: dict[str, str]) -> Iterator[CandidateSpeaker]:
    """Who it may be, likeliest first, by the names they have now."""
    pairs = entry.candidates or ([(entry.guess, entry.confidence)] if entry.guess else [])
    shares: dict[str, float] = {}
    for label, share in pairs:
        name = names.get(fold(label), label)
        shares[name] = min(shares.get(name, 0.0) + share, 1.0)
    for name, share in sorted(shares.items(), key=lambda item: -item[1])[:MOST_CANDIDATES]:
        yield CandidateSpeaker(name, share)


def _speaker(entry: QuotationEntry, names: dict[str, str]) -> str:
    label = entry.decision.speaker or ("" if entry.decision.not_speech else entry.guess)
    return names.get(fold(label), label)


def _names(cast: Iterable[Character]) -> dict[str, str]:
    """Whoever goes by a name, by the folded name; a full name wins over somebody's alias."""
    people = list(cast)
    names = {fold(alias): person.name for person in people for alias in person.aliases}
    return names | {fold(person.name): person.name for person in people}


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TOLD else f"{text[:LONGEST_TOLD].rstrip()}…"


def _beginning_of(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE].rsplit(' ', 1)[0]} …"


def _end_of(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"… {text[-LONGEST_LINE:].split(' ', 1)[-1]}"
