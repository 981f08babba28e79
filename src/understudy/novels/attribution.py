"""Who says each quotation of a novel, how surely, and to whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from understudy.novels.context import NovelContext
from understudy.novels.model import NovelEvidence, QuotationModel, shipped_quotation_model
from understudy.novels.prose import Attribution, NovelCharacter, Prose

__all__ = ["attribute"]

SHOWN = 0.01  # probability from which on a candidate is listed
MOST_SHOWN = 5
CONTEXT_SHARE, EVIDENCE_SHARE, SPEAKERS_SHARE = 0.3, 0.43, 0.94  # of the work, when each is done
LIKELY = 0.5  # of the likeliest addressee's probability: whoever is as likely is addressed too


def attribute(
    prose: Prose,
    cast: Sequence[NovelCharacter],
    model: QuotationModel | None = None,
    progress: Callable[[float], None] = lambda _share: None,
) -> list[Attribution]:
    """An attribution for each quotation, in order. `progress` is told how much of the work is done, 0 to 1."""
    if not prose.quotations:
        return []
    if not cast:
        return [Attribution(None, 0.0) for _ in prose.quotations]
    chosen = model or shipped_quotation_model()
    context = NovelContext.of(prose, cast)
    progress(CONTEXT_SHARE)
    evidence = NovelEvidence.of(context)
    progress(EVIDENCE_SHARE)
    speakers = chosen.speakers(evidence)
    progress(SPEAKERS_SHARE)
    addressed = chosen.addressees(evidence, speakers)
    shape = (len(prose.quotations), -1)
    people = evidence.pairs.candidates.reshape(shape)
    return [_attribution(cast, *row) for row in zip(people, speakers.reshape(shape), addressed.reshape(shape))]


def _attribution(
    cast: Sequence[NovelCharacter],
    people: np.ndarray[tuple[int], np.dtype[np.int64]],
    speakers: np.ndarray[tuple[int], np.dtype[np.float32]],
    addressed: np.ndarray[tuple[int], np.dtype[np.float32]],
) -> Attribution:
    order = np.argsort(-speakers, kind="stable")[:MOST_SHOWN].tolist()
    names = [cast[index].name for index in people.tolist()]
    best = order[0]
    others = np.where(np.arange(len(names)) == best, 0, addressed)
    to = [names[at] for at in np.argsort(-others, kind="stable").tolist() if others[at] >= LIKELY * others.max() > 0]
    candidates = tuple(
        (names[at], round(float(speakers[at]), 4)) for at in order if at == best or speakers[at] >= SHOWN
    )
    return Attribution(names[best], float(speakers[best]), tuple(to), candidates)
