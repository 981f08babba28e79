"""From running text to events: chapters, conversations, what is said by whom, and what is told around it.

    He shut the piano. "Sold," he said, "and gone."      a description, then his line of two parts
    "Gone?"                                              a line of whoever answers him
    * * *                                                a heading without a title; the scene ends

Chapters are headings, conversations are scenes, each quotation is one line with the spans of its parts; the narration
before it is a description before its line, and the rest of its paragraph one after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from understudy.formats.prose.corrections import QUOTATIONS, QuotationEntry, corrected
from understudy.formats.prose.narrator import Narrator
from understudy.formats.prose.novel import ATTRIBUTED, Novel, read_together
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.sources.events import CastEntry, Event, Heading, Opening, Reader, Unread
from understudy.sources.names import fold, is_group, unambiguous_aliases
from understudy.sources.source import NovelSource, SourceFile
from understudy.story.types import Character

__all__ = ["READER", "events", "prose_events"]

LARGEST = 64 * 1024 * 1024  # characters: a novel is parsed in memory


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file of plain text."""
    yield from prose_events(source, _parsed)


def prose_events(source: SourceFile, prose_of: Callable[[SourceFile], Prose]) -> Iterator[Event]:
    """The events of a source's text; their units add up to its lines that are not blank."""
    novel = source.novel or Novel([source], prose_of)
    prose = novel.parsed[source.path]
    source.units = sum(not line.isspace() for line in prose.text.split("\n") if line)
    yield Opening((*prose.levels, "scene", "line"), prose.title, prose.language)
    if not prose.quotations and source.novel is None:
        raise source.error(
            "nobody speaks here: there are no quotation marks, and no dashes that begin what is said. Put what people "
            "say between quotation marks, or label it (Name: text)"
        )
    cast, attributions, gone = _who_speaks(source, prose, novel)
    said = Counter(attribution.speaker for attribution in attributions if attribution.speaker is not None)
    if not said and source.novel is None:
        raise source.error(
            "nobody who speaks here could be named: put it in a folder with a cast.toml that declares the people"
        )
    addressed = {who for attribution in attributions for who in attribution.addressees}
    present = [person for person in cast if person.name in addressed | said.keys() or person.is_narrator]
    yield from _cast_entries(source, sorted(present, key=lambda person: -said[person.name]))
    for entry in gone:
        yield Unread(source.at(1), entry.quote, f"decided in {QUOTATIONS}, but no longer in the text", units=0)
    yield from _telling_chapters(source, prose, Narrator(source, prose, cast, attributions).events())


def _parsed(source: SourceFile) -> Prose:
    lines: list[str] = []
    size = 0
    for number, line in source.lines(is_work=False):
        size += len(line) + 1
        if size > LARGEST:
            raise source.error(f"has over {LARGEST:,} characters: read it in parts, a file each", number)
        lines.append(line)
    return parse_prose("\n".join(lines))


def _who_speaks(
    source: SourceFile, prose: Prose, novel: NovelSource
) -> tuple[Sequence[NovelCharacter], Sequence[Attribution], Sequence[QuotationEntry]]:
    """(the cast, who says each quotation as corrected, decisions about what is in the text no more)."""
    cast, guessed = novel.speakers(source)
    attributions, gone = corrected(source, prose, guessed)
    attributions = _without_the_silenced(cast, guessed, attributions)
    known = {fold(name) for person in cast for name in (person.name, *person.aliases)}
    decided = dict.fromkeys(one.speaker for one in attributions if one.speaker and fold(one.speaker) not in known)
    return (*cast, *map(NovelCharacter, decided)), attributions, gone


def _without_the_silenced(
    cast: Sequence[NovelCharacter], guessed: Sequence[Attribution], attributions: Sequence[Attribution]
) -> list[Attribution]:
    """Whoever has no line left, because others said all of theirs, was never spoken to either: those others were."""
    speaking = {attribution.speaker for attribution in attributions}
    narrators = {person.name for person in cast if person.is_narrator}
    silenced: dict[str, set[str | None]] = {}
    for before, after in zip(guessed, attributions):
        if before.speaker is not None and before.speaker not in speaking | narrators:
            silenced.setdefault(before.speaker, set()).add(after.speaker)
    instead = {name: next(iter(others)) if len(others) == 1 else None for name, others in silenced.items()}
    return [
        replace(
            attribution,
            addressees=tuple(
                dict.fromkeys(
                    who
                    for name in attribution.addressees
                    if (who := instead.get(name, name)) is not None and who != attribution.speaker
                )
            ),
        )
        for attribution in attributions
    ]


def _telling_chapters(source: SourceFile, prose: Prose, events: Iterable[Event]) -> Iterator[Event]:
    """The same events; the source is told which chapter is being read."""
    depth = len(prose.levels)
    total = sum(len(chapter.numbers) == depth for chapter in prose.chapters)
    number = 0
    for event in events:
        if isinstance(event, Heading) and event.numbers is not None and len(event.numbers) == depth:
            share = ATTRIBUTED + (1 - ATTRIBUTED) * number / total
            number += 1
            source.reach(share, f"{prose.levels[-1].capitalize()} {number} of {total}")
        yield event
    source.reach(1.0, "Writing the story")


def _cast_entries(source: SourceFile, present: Sequence[NovelCharacter]) -> Iterator[CastEntry]:
    """Everybody who speaks or is spoken to, with the names that are nobody else's."""
    aliases = unambiguous_aliases({character.name: character.aliases for character in present})
    for character in present:
        if not is_group(character.name):
            yield CastEntry(source.at(1), Character(character.name, aliases[character.name]))


READER = Reader("prose", events, together=partial(read_together, prose_of=_parsed))
