"""A novel read from its text alone, against its annotation.

An annotated quotation is right if the found quotation that shares most of its text has a speaker who has a name of the
annotated one. Figures of the quotations and of the cast are those of `quotations` and `cast`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.bench.novels.cast import AnnotatedCharacter, CastFigures, cast_figures
from understudy.bench.novels.quotations import QuotationFigures, quotation_figures
from understudy.quotations.attribution import attribute
from understudy.quotations.cast import find_cast
from understudy.quotations.model import QuotationModel
from understudy.quotations.parsing import parse_prose
from understudy.quotations.prose import Prose
from understudy.training.quotations.corpus import AnnotatedNovel

__all__ = ["FoundNovel", "read_found"]


@dataclass(frozen=True)
class FoundNovel:
    """`is_right` has an entry for each annotated quotation: is its speaker the one who was found?"""

    quotations: QuotationFigures
    cast: CastFigures
    is_right: NDArray[np.bool_]


def read_found(novel: AnnotatedNovel, people: list[AnnotatedCharacter], model: QuotationModel) -> FoundNovel:
    prose = parse_prose(novel.prose.text, "en")
    cast = find_cast(prose)
    speakers = [each.speaker for each in attribute(prose, cast, model)]
    names = {who.name: _plain((who.name, *who.aliases)) for who in cast}
    gold = [_plain((who.name, *who.aliases)) for who in novel.cast]
    right = []
    for speaker, index in zip(novel.speakers, _overlapping(novel.prose, prose)):
        who = None if index is None else speakers[index]
        right.append(speaker >= 0 and who is not None and bool(names[who] & gold[speaker]))
    return FoundNovel(quotation_figures(prose, novel.prose), cast_figures(cast, people), np.array(right, np.bool_))


def _plain(names: Iterable[str]) -> set[str]:
    return {" ".join(name.replace(".", " ").lower().removeprefix("the ").split()) for name in names}


def _overlapping(annotated: Prose, found: Prose) -> list[int | None]:
    """For each annotated quotation the found one that shares most of its characters."""
    owner = np.full(len(annotated.text) + 1, -1, np.int64)
    for index, quotation in enumerate(found.quotations):
        for part in quotation.parts:
            owner[part.start : part.end] = index
    result: list[int | None] = []
    for quotation in annotated.quotations:
        inside = np.concatenate([owner[part.start : part.end] for part in quotation.parts])
        inside = inside[inside >= 0]
        result.append(int(np.bincount(inside).argmax()) if len(inside) else None)
    return result
