"""From running text to events: chapters, conversations, what is said by whom, and what is told around it.

    He shut the piano. "Sold," he said, "and gone."      a description, then his line of two parts
    "Gone?"                                              a line of whoever answers him
    * * *                                                a heading without a title; the scene ends

Chapters are headings, conversations are scenes, each quotation is one line with the spans of its parts; the narration
before it is a description before its line, and the rest of its paragraph one after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

from understudy.quotations.parsing import parse_prose
from understudy.quotations.prose import Attribution, NovelCharacter, Prose, Span
from understudy.readers.events import CastEntry, Event, Opening, Reader, Unread
from understudy.readers.names import is_group, unambiguous_aliases
from understudy.readers.prose.corrections import corrected
from understudy.readers.prose.narrator import Narrator
from understudy.readers.prose.running_text import recognises
from understudy.readers.source import SourceFile
from understudy.story import Character

__all__ = ["READER", "events", "prose_events"]

LARGEST = 64 * 1024 * 1024  # characters: a novel is parsed in memory


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file of plain text."""
    lines: list[str] = []
    size = 0
    for number, line in source.lines():
        size += len(line) + 1
        if size > LARGEST:
            raise source.error(f"has over {LARGEST:,} characters: read it in parts, a file each", number)
        lines.append(line)
    yield from prose_events(source, "\n".join(lines))


def prose_events(
    source: SourceFile, text: str, headings: Sequence[Span] | None = None, title: str | None = None
) -> Iterator[Event]:
    """The events of a text; their units add up to its lines that are not blank."""
    prose = parse_prose(text, headings=headings, title=title)
    yield Opening((*prose.levels, "scene", "line"), prose.title, prose.language)
    if not prose.quotations:
        raise source.error(
            "nobody speaks here: there are no quotation marks, and no dashes that begin what is said. Put what people "
            "say between quotation marks, or label it (Name: text)"
        )
    cast, worked_out = _who_speaks(prose)
    attributions, gone = corrected(source, prose, worked_out)
    named = [attribution.speaker for attribution in attributions if attribution.speaker is not None]
    if not named:
        raise source.error(
            "nobody who speaks here could be named: put it in a folder with a cast.toml that declares the people"
        )
    yield from _cast_entries(source, cast, {*named, *(who for one in attributions for who in one.addressees)})
    yield from Narrator(source, prose, cast, attributions).events()
    for entry in gone:
        yield Unread(source.at(1), entry.quote, "was decided about, but is in the text no more", units=0)


def _who_speaks(prose: Prose) -> tuple[Sequence[NovelCharacter], Sequence[Attribution]]:
    cast = import_module("understudy.quotations.cast").find_cast(prose)
    return cast, import_module("understudy.quotations.attribution").attribute(prose, cast)


def _cast_entries(source: SourceFile, cast: Sequence[NovelCharacter], heard: Iterable[str]) -> Iterator[CastEntry]:
    """Everybody who speaks or is spoken to, with the names that are nobody else's."""
    wanted = set(heard)
    aliases = unambiguous_aliases({character.name: character.aliases for character in cast})
    for character in cast:
        if (character.name in wanted or character.is_narrator) and not is_group(character.name):
            yield CastEntry(source.at(1), Character(character.name, aliases[character.name]))


READER = Reader("prose", recognises, events)
