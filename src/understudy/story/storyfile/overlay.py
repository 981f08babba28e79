"""What was found, laid over what an author wrote: as it can be used in one story.

    used   iff  its people and lines are in the story, its attribute or kind in the schema,
                it is accepted or not below the bound, and the author wrote nothing of the same key at any time

A line is found again by its text where the story has changed since. Who was there for it is asked of the story,
whatever the file may say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from understudy.story.storyfile.found import REJECTED, FoundEntry, FoundFile, line_after, quote_of, read_found
from understudy.story.types import KIN, PROFILE, Fact, Moment, Relation

if TYPE_CHECKING:
    from understudy.story.storyfile.story import Story

__all__ = ["GIVES_WAY", "FoundClaims", "FoundOverlay", "PlacedEntry", "coarse_kind", "place_entries"]

GIVES_WAY = "the story's author wrote of it"
FAMILY = frozenset({*KIN, "family", "immediate family"})


class PlacedEntry(NamedTuple):
    """An entry in a story: the claim with its lines where they stand there, and why it is not used, if it is not."""

    entry: FoundEntry
    claim: Fact | Relation
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FoundClaims:
    """The facts and ties of a found.toml that a story uses."""

    facts: tuple[Fact, ...] = ()
    relations: tuple[Relation, ...] = ()
    is_pending: bool = False
    """Is the text still to be looked through?"""


class FoundOverlay:
    """The claims of a file that may change while the story is open; it is then read again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, int, int] | None, FoundClaims] = (None, FoundClaims())

    def claims(self, story: Story) -> FoundClaims:
        """The claims as they are used in the story that the overlay belongs to."""
        read_at, claims = self._read
        stamp = _stamp(self._path)
        if stamp == read_at:
            return claims
        file = read_found(self._path, story.levels, story.schema)
        used = [placed.claim for placed in place_entries(story, file) if not placed.problem]
        claims = FoundClaims(
            tuple(claim for claim in used if isinstance(claim, Fact)),
            tuple(claim for claim in used if isinstance(claim, Relation)),
            file.is_pending,
        )
        self._read = stamp, claims
        return claims


def coarse_kind(kind: str) -> str:
    """Kinds that say the same of two people, one of them in less detail: every kind of family is one."""
    return "family" if kind in FAMILY else kind


def place_entries(story: Story, file: FoundFile) -> list[PlacedEntry]:
    """Every entry of a file as it stands in a story."""
    moved = _moved_lines(story, file.entries)
    people = {member.character.name: frozenset(member.character.profile) for member in story.cast()}
    written = _written_keys(story, people)
    return [_placed(story, file, entry, moved, people, written) for entry in file.entries]


def _placed(
    story: Story,
    file: FoundFile,
    entry: FoundEntry,
    moved: Mapping[tuple[Moment, str], Moment | None],
    people: Mapping[str, object],
    written: frozenset[tuple[str, ...]],
) -> PlacedEntry:
    claim, finding = entry.decided(), entry.finding
    lines = [moved[line] for line in zip(finding.sources, entry.quotes)]
    sources = tuple(sorted(line for line in lines if line is not None))
    absent = [name for name in claim.people if name not in people]
    if absent or not sources:
        why = f"nobody in the story is called {absent[0]}" if absent else "its lines are no longer in the story"
        return PlacedEntry(entry, claim, why)
    witnesses = frozenset[str]().union(*(story.present_at(source) for source in sources))
    assert claim.found is not None
    placed = replace(claim, found=replace(claim.found, sources=sources, witnesses=tuple(sorted(witnesses))))
    if sources != finding.sources:
        placed = replace(placed, since=line_after(sources[0]))
        if placed.until is not None and placed.until <= placed.since:
            placed = replace(placed, until=None)
    return PlacedEntry(entry, placed, _why_unused(story, file, entry, placed, written))


def _why_unused(
    story: Story, file: FoundFile, entry: FoundEntry, claim: Fact | Relation, written: frozenset[tuple[str, ...]]
) -> str:
    if entry.decision.verdict == REJECTED:
        return "rejected"
    known = story.schema.attributes if isinstance(claim, Fact) else (*story.schema.kinds, *_level_kinds(story))
    if (named := claim.attribute if isinstance(claim, Fact) else claim.kind) not in known:
        return f"the story has no '{named}': add it under [schema] of its cast.toml"
    if _key(claim) in written:
        return GIVES_WAY
    return "" if entry.is_used(file.bound) else f"below the bound of {file.bound:g}"


def _level_kinds(story: Story) -> list[str]:
    return [kind for kind, _, _ in story.schema.levels]


def _key(claim: Fact | Relation) -> tuple[str, ...]:
    """What an author's own word stands for, whenever it holds."""
    if isinstance(claim, Fact):
        return (
            "fact",
            claim.who,
            claim.attribute,
            *(_bare(value) for value in claim.values if claim.attribute == PROFILE),
        )
    return ("relation", claim.of, claim.to, coarse_kind(claim.kind))


def _bare(sentence: str) -> str:
    return sentence.strip().rstrip(".。").casefold()


def _written_keys(story: Story, people: Mapping[str, Iterable[str]]) -> frozenset[tuple[str, ...]]:
    written = {_key(fact) for fact in story.annotated_facts()} | {_key(tie) for tie in story.annotated_relations()}
    written |= {("fact", name, PROFILE, _bare(text)) for name, profile in people.items() for text in profile}
    return frozenset(written)


def _moved_lines(story: Story, entries: Iterable[FoundEntry]) -> dict[tuple[Moment, str], Moment | None]:
    """Where the lines of the entries stand now; None for those that are gone."""
    lines: dict[tuple[Moment, str], Moment | None] = {}
    for entry in entries:
        for source, quote in zip(entry.finding.sources, entry.quotes):
            if (source, quote) not in lines:
                line = story.line(source)
                lines[source, quote] = source if line is not None and quote_of(line) == quote else None
    lost = {quote for (_, quote), now in lines.items() if now is None}
    if lost:
        elsewhere = _lines_quoted(story, lambda quote: quote in lost)
        for (source, quote), now in list(lines.items()):
            if now is None and (places := elsewhere.get(quote)):
                lines[source, quote] = min(places, key=lambda place: _distance(place, source))
    return lines


def _lines_quoted(story: Story, wanted: Callable[[str], bool]) -> dict[str, list[Moment]]:
    places: dict[str, list[Moment]] = {}
    for line in story.lines_with(bool, Moment.end()):
        if wanted(quote := quote_of(line)):
            places.setdefault(quote, []).append(line.moment)
    return places


def _distance(place: Moment, source: Moment) -> tuple[int, ...]:
    return tuple(abs(a - b) for a, b in zip(place.numbers, source.numbers))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
