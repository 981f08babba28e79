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

from understudy.quotations.cast import find_cast
from understudy.quotations.prose import (
    Attribution,
    Chapter,
    NovelCharacter,
    Paragraph,
    Paratext,
    Prose,
    Quotation,
    Span,
)
from understudy.readers.casttoml import read_characters
from understudy.readers.prose.corrections import quotations_file_of, read_corrections
from understudy.readers.prose.declared import with_declared
from understudy.readers.prose.levels import align_levels
from understudy.readers.source import SourceFile
from understudy.readers.story_folder import CAST
from understudy.story import Character

__all__ = ["ATTRIBUTED", "Novel", "NovelSpeakers", "join_prose", "read_together"]

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
        from understudy.quotations.attribution import attribute

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
