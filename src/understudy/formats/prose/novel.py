"""Who is in a novel and who says what, over all its files together.

A name that one chapter gives in full is known in the others, and who talks at the end of a file may go on in the next.

The files are parsed one by one. Their texts stand one after the other only while people are looked for, so that all
spans of a file are offsets into its own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from understudy.formats.casttoml import read_characters
from understudy.formats.prose.corrections import quotations_file_of, read_corrections
from understudy.formats.story_folder import CAST
from understudy.novels.cast import find_cast
from understudy.novels.prose import Attribution, Chapter, NovelCharacter, Paragraph, Paratext, Prose, Quotation, Span
from understudy.sources.names import fold
from understudy.sources.source import SourceFile
from understudy.story.types import Character

__all__ = ["ATTRIBUTED", "Novel", "NovelSpeakers", "align_levels", "join_prose", "read_together", "with_declared"]

PARSED, CAST_FOUND, ATTRIBUTED = 0.06, 0.3, 0.83
"""How much of the work on a novel is done when its chapters are known, its people, and who says what (as measured)."""
LARGEST = 4 * 1024 * 1024  # bytes of files that are worked on together, in some 700 MB; a long novel has 2 or 3
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
    if sum(source.size for source in sources) <= LARGEST:
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
            Quotation(tuple(map(moved, one.parts)), one.paragraph + len(paragraphs)) for one in part.quotations
        ]
        paragraphs += [
            replace(one, span=moved(one.span), chapter=one.chapter + len(chapters) if one.chapter >= 0 else -1)
            for one in part.paragraphs
        ]
        chapters += [replace(one, span=moved(one.span)) for one in part.chapters]
        paratexts += [replace(one, span=moved(one.span)) for one in part.paratexts]
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


def with_declared(found: Sequence[NovelCharacter], declared: Sequence[Character]) -> tuple[NovelCharacter, ...]:
    """Declared people keep their names; whoever was found under one of these is the same person.

    A declared name is nobody else's: where two declared people share somebody found, the one with the full name has it.
    """
    owners: dict[str, int] = {}
    for index, person in enumerate(declared):
        owners[fold(person.name)] = index
    for index, person in enumerate(declared):
        for alias in person.aliases:
            owners.setdefault(fold(alias), index)
    same: dict[int, list[NovelCharacter]] = {}
    others: list[NovelCharacter] = []
    for character in found:
        named = [owners[key] for name in (character.name, *character.aliases) if (key := fold(name)) in owners]
        if named:
            same.setdefault(named[0], []).append(character)
        else:
            others.append(character)
    people = [_joined(index, person, same.get(index, []), owners) for index, person in enumerate(declared)]
    return (*people, *others)


def _joined(index: int, person: Character, found: Sequence[NovelCharacter], owners: dict[str, int]) -> NovelCharacter:
    aliases = {fold(alias): alias for alias in person.aliases}
    for character in found:
        for name in (character.name, *character.aliases):
            if owners.get(fold(name), index) == index and fold(name) != fold(person.name):
                aliases.setdefault(fold(name), name)
    gender = next((character.gender for character in found if character.gender), "")
    return NovelCharacter(
        person.name, tuple(aliases.values()), gender, any(character.is_narrator for character in found)
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
