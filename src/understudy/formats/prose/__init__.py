"""Novels and stories: from running text to events. Chapters, conversations, speeches with who says them, narration.

    He shut the piano. "Sold," he said, "and gone."      a description, then his line of two parts
    "Gone?"                                              a line of whoever answers him
    * * *                                                a heading without a title; the scene ends

Chapters are headings, conversations are scenes, each quotation is one line with the spans of its parts; the narration
before it is a description before its line, and the rest of its paragraph one after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from understudy.formats.prose.corrections import (
    QUOTATIONS,
    QuotationEntry,
    corrected,
    quotations_file_of,
    read_corrections,
)
from understudy.formats.prose.narrator import Narrator
from understudy.formats.story_folder import CAST, read_characters
from understudy.novels.cast import find_cast
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Attribution, Chapter, NovelCharacter, Paragraph, Paratext, Prose, Quotation, Span
from understudy.sources import CastEntry, Event, Heading, Opening, Reader, Unread
from understudy.sources.names import fold, is_group, unambiguous_aliases
from understudy.sources.source import HEAD_BYTES, NovelSource, Progress, SourceFile
from understudy.story.types import Character

LARGEST = 64 * 1024 * 1024  # characters: a novel is parsed in memory


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
    decided = dict.fromkeys(
        attribution.speaker
        for attribution in attributions
        if attribution.speaker and fold(attribution.speaker) not in known
    )
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
    """The same events; the progress of the source names the chapter that is being read."""
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
    """Everybody who speaks or is spoken to, with their unambiguous names."""
    aliases = unambiguous_aliases({character.name: character.aliases for character in present})
    for character in present:
        if not is_group(character.name):
            yield CastEntry(source.at(1), Character(character.name, aliases[character.name]))


# Who is in a novel and who says what, over all its files together. A name that one chapter gives in full is known in
# the others, and who talks at the end of a file may go on in the next.
#
# The files are parsed one by one. Their texts stand one after the other only while people are looked for, so that all
# spans of a file are offsets into its own text.

PARSED, CAST_FOUND, ATTRIBUTED = 0.06, 0.3, 0.83
"""How much of the work on a novel is done when its chapters are known, its people, and who says what (as measured)."""
LARGEST_TOGETHER = 4 * 1024 * 1024  # bytes of files worked on together, in some 700 MB; a long novel has 2 or 3
BETWEEN = "\n\n"

NovelSpeakers = tuple[Sequence[NovelCharacter], Sequence[Attribution]]
"""(the cast of the novel, who says each quotation of one of its files)."""


class Novel:
    """The files of a novel with the prose of each; what is worked out of them is worked out once."""

    def __init__(self, sources: Sequence[SourceFile], prose_of: Callable[[SourceFile], Prose | None]) -> None:
        """`prose_of` parses a file; None where it turns out to be no prose."""
        self._sources, self._prose_of = sources, prose_of

    @cached_property
    def parsed(self) -> Mapping[Path, Prose]:
        parsed = dict[Path, Prose]()
        for source in self._sources:
            source.reach(0.0, "Looking for chapters and quotations")
            if (prose := self._prose_of(source)) is not None:
                parsed[source.path] = prose
        return dict(zip(parsed, align_levels(list(parsed.values()))))

    def speakers(self, source: SourceFile) -> NovelSpeakers:
        cast, attributions = self._attributed
        return cast, attributions[source.path]

    @cached_property
    def _attributed(self) -> tuple[Sequence[NovelCharacter], Mapping[Path, Sequence[Attribution]]]:
        from understudy.novels.attribution import attribute

        sources = [source for source in self._sources if source.path in self.parsed]

        def reach(share: float, doing: str) -> None:
            for source in sources:
                source.reach(share, doing)

        def working_out(share: float) -> None:
            reach(CAST_FOUND + (ATTRIBUTED - CAST_FOUND) * share, "Working out who says what")

        whole = join_prose(list(self.parsed.values()))
        reach(PARSED, "Finding out who is in it")
        cast = with_declared(find_cast(whole), [*_declared(sources[0]), *_said_to_be(sources)])
        working_out(0.0)
        remaining = iter(attribute(whole, cast, progress=working_out))
        return cast, {
            path: [next(remaining) for _ in range(len(prose.quotations))] for path, prose in self.parsed.items()
        }


def read_together(sources: Sequence[SourceFile], prose_of: Callable[[SourceFile], Prose | None]) -> None:
    """Have these sources read as one novel, unless they are so large that each has to be read by itself."""
    if sum(source.size for source in sources) <= LARGEST_TOGETHER:
        novel = Novel(sources, prose_of)
        for source in sources:
            source.novel = novel


def join_prose(parts: Sequence[Prose]) -> Prose:
    """One prose of several, whose texts stand one after the other."""
    if len(parts) == 1:
        return parts[0]
    chapters, paragraphs = list[Chapter](), list[Paragraph]()
    quotations, paratexts = list[Quotation](), list[Paratext]()
    offset = 0
    for part in parts:

        def moved(span: Span, by: int = offset) -> Span:
            return Span(span.start + by, span.end + by)

        quotations += [
            Quotation(tuple(map(moved, quotation.parts)), quotation.paragraph + len(paragraphs))
            for quotation in part.quotations
        ]
        paragraphs += [
            replace(
                paragraph,
                span=moved(paragraph.span),
                chapter=paragraph.chapter + len(chapters) if paragraph.chapter >= 0 else -1,
            )
            for paragraph in part.paragraphs
        ]
        chapters += [replace(chapter, span=moved(chapter.span)) for chapter in part.chapters]
        paratexts += [replace(paratext, span=moved(paratext.span)) for paratext in part.paratexts]
        offset += len(part.text) + len(BETWEEN)
    return replace(
        parts[0],
        text=BETWEEN.join(part.text for part in parts),
        chapters=tuple(chapters),
        paragraphs=tuple(paragraphs),
        quotations=tuple(quotations),
        paratexts=tuple(paratexts),
    )


def _said_to_be(sources: Sequence[SourceFile]) -> list[Character]:
    """The people that the author has merged or split, as the lists of quotations beside the sources have them."""
    paths = dict.fromkeys(quotations_file_of(source.story_folder or source.path) for source in sources)
    return [person for path in paths for person in read_corrections(path).people]


def _declared(source: SourceFile) -> list[Character]:
    cast_file = None if source.story_folder is None else source.story_folder / CAST
    return [] if cast_file is None or not cast_file.is_file() else read_characters(cast_file)


# The people that an author declares in a cast.toml, joined with those found in the text.


def with_declared(characters: Sequence[NovelCharacter], declared: Sequence[Character]) -> tuple[NovelCharacter, ...]:
    """Declared people keep their names; whoever was found under one of these is the same person.

    A declared name belongs to one person: where two declared people match one of the text, the full name decides.
    """
    owners: dict[str, int] = {}
    for index, person in enumerate(declared):
        owners[fold(person.name)] = index
    for index, person in enumerate(declared):
        for alias in person.aliases:
            owners.setdefault(fold(alias), index)
    same: dict[int, list[NovelCharacter]] = {}
    others: list[NovelCharacter] = []
    for character in characters:
        named = [owners[key] for name in (character.name, *character.aliases) if (key := fold(name)) in owners]
        if named:
            same.setdefault(named[0], []).append(character)
        else:
            others.append(character)
    people = [_joined(index, person, same.get(index, []), owners) for index, person in enumerate(declared)]
    return (*people, *others)


def _joined(
    index: int, person: Character, characters: Sequence[NovelCharacter], owners: dict[str, int]
) -> NovelCharacter:
    aliases = {fold(alias): alias for alias in person.aliases}
    for character in characters:
        for name in (character.name, *character.aliases):
            if owners.get(fold(name), index) == index and fold(name) != fold(person.name):
                aliases.setdefault(fold(name), name)
    gender = next((character.gender for character in characters if character.gender), "")
    return NovelCharacter(
        person.name, tuple(aliases.values()), gender, any(character.is_narrator for character in characters)
    )


# One way of counting for the files of a novel, where only some have the heading of a volume or a part.


def align_levels(parts: Sequence[Prose]) -> list[Prose]:
    """Chapters of files that count by fewer levels are in the volume that the file before ends in.

    Files whose levels are not the inner ones of the others', or that have no headings, are left as they are.
    """
    levels = max((part.levels for part in parts), key=len, default=())
    counted = [part for part in parts if part.levels and levels[-len(part.levels) :] == part.levels]
    if len(counted) < len(parts):
        return list(parts)
    position = _before(next((part for part in parts if part.levels == levels), parts[0]))
    aligned = []
    for part in parts:
        above = position[: len(levels) - len(part.levels)]
        chapters = tuple(replace(chapter, numbers=(*above, *chapter.numbers)) for chapter in part.chapters)
        aligned.append(replace(part, levels=levels, chapters=chapters))
        position = chapters[-1].numbers if chapters else position
    return aligned


def _before(part: Prose) -> tuple[int, ...]:
    """The position of what stands before a text that has all levels: the volume before its first one."""
    numbers = part.chapters[0].numbers if part.chapters else ()
    missing = len(part.levels) - len(numbers)
    return (*numbers[:-1], max(numbers[-1] - 1, 0), *[1] * missing) if missing and numbers else numbers


# Text that was taken out of a container (EPUB, DOCX): as a source for the readers of plain text, and as prose.

SHOWN = 200  # characters of what is left out


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A text with the spans of its headings, where they are known."""

    text: str
    headings: tuple[Span, ...] | None = None
    title: str | None = None
    language: str | None = None
    left_out: tuple[Unread, ...] = ()

    def parsed(self) -> Prose:
        return parse_prose(self.text, self.language, self.headings, self.title)


@dataclass(slots=True)
class TextSource(SourceFile):
    """A source whose lines are those of a text, and whose name and errors are those of the file it came from."""

    text: str = ""

    def head(self) -> bytes:
        return self.text[:HEAD_BYTES].encode()[:HEAD_BYTES]

    def chunks(self, size: int = 1 << 20) -> Iterator[bytes]:
        content = self.text.encode()
        yield from (content[start : start + size] for start in range(0, len(content), size))

    def lines(self, *_: Any, **_options: Any) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self.text.split("\n"), 1):
            self.units += bool(line and not line.isspace())
            yield number, line

    def reopened(self, progress: Progress | None = None) -> SourceFile:  # noqa: ARG002
        return TextSource(self.path, text=self.text)

    @property
    def size(self) -> int:
        return len(self.text)


def join_paragraphs(paragraphs: Iterable[tuple[str, bool]]) -> tuple[str, tuple[Span, ...]]:
    """(paragraph, is it a heading) as one text with blank lines between them, and the spans of the headings."""
    pieces, headings, length = list[str](), list[Span](), 0
    for text, is_heading in paragraphs:
        if is_heading:
            headings.append(Span(length, length + len(text)))
        pieces.append(text)
        length += len(text) + 2
    return "\n\n".join(pieces), tuple(headings)


def left_out(source: SourceFile, text: str, reason: str, units: int = 1) -> Unread:
    """Text of a container that is no part of the story, why, and how many units of it there are."""
    return Unread(source.at(1), text[:SHOWN], reason, units)


def story_events(source: SourceFile, extracted: ExtractedText) -> Iterator[Event]:
    """The events of prose, and what was left out."""
    yield from prose_events(source, lambda _: extracted.parsed())
    yield from _counted(source, extracted.left_out)


def script_events(source: SourceFile, reader: Reader, text: str, left_out: Sequence[Unread]) -> Iterator[Event]:
    """The events that a reader of plain text gives for the text of a container."""
    view = TextSource(source.path, text=text)
    source.reach(1.0)
    yield from reader.events(view)
    source.units = view.units
    yield from _counted(source, left_out)


def _counted(source: SourceFile, events: Sequence[Unread]) -> Iterator[Event]:
    for event in events:
        source.units += event.units
        yield event


READER = Reader("prose", partial(prose_events, prose_of=_parsed), together=partial(read_together, prose_of=_parsed))
