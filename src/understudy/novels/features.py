"""Who could say each quotation, and the evidence for each of them.

Candidates are those of the cast who are named or speak near a quotation. Evidence about a pair (quotation, candidate)
is computed as columns over all pairs of a novel. This is what the text shows; what is known of the speakers around is
in `turns`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.novels.context import Floats, NovelContext
from understudy.novels.subjects import SubjectKind, Tag, best_tag

Ints = NDArray[np.int64]
CANDIDATES = 16  # of a quotation, at most
FAR = 9.0  # logarithm of a distance that stands for 'never'


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Pairs of quotations and candidates, ordered by quotation; `starts` is where each quotation's begin."""

    quotations: Ints
    candidates: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.quotations)


def candidate_pairs(context: NovelContext) -> CandidatePairs:
    """The nearest of those named in narration or speech around each quotation, and the narrator."""
    named, said = context.mention_counts(said=False), context.mention_counts(said=True)
    first, last = context.paragraphs, context.final_paragraphs
    size = len(named) - 1
    score = np.zeros(context.shape, np.float32)
    for before, after, weight in ((0, 0, 8.0), (2, 1, 4.0), (6, 3, 2.0), (20, 6, 1.0), (60, 20, 0.5)):
        low, high = np.maximum(first - before, 0), np.minimum(last + after + 1, size)
        score += weight * np.log1p(named[high] - named[low])
        score += 0.4 * weight * np.log1p(said[high] - said[low])
    sure = np.cumsum(np.vstack([np.zeros((1, context.shape[1]), np.float32), context.sure]), axis=0)
    count = context.shape[0]
    indices = np.arange(count)
    for reach, weight in ((0, 99.0), (2, 8.0), (5, 5.0), (12, 3.0), (40, 1.0)):
        score += weight * np.log1p(sure[np.minimum(indices + reach + 1, count)] - sure[np.maximum(indices - reach, 0)])
    score += 1e-3 * np.log1p(named[-1] + said[-1])
    if context.narrator >= 0:
        score[:, context.narrator] += 50.0
    kept = min(CANDIDATES, context.shape[1])
    order = np.sort(np.argpartition(-score, kept - 1, axis=1)[:, :kept], axis=1) if kept else np.zeros((count, 0), int)
    return CandidatePairs(np.repeat(indices, kept), order.ravel(), indices * kept)


def static_columns(context: NovelContext, pairs: CandidatePairs) -> dict[str, Floats]:
    """Evidence that does not depend on who says the other quotations."""
    columns: dict[str, Floats] = {}
    columns |= _tag_columns(context, pairs)
    columns |= _mention_columns(context, pairs)
    columns |= call_columns(context, pairs)
    columns |= _quotation_columns(context, pairs)
    return columns


def _tag_columns(context: NovelContext, pairs: CandidatePairs) -> dict[str, Floats]:
    columns: dict[str, Floats] = {}
    gender = context.genders[pairs.candidates]
    chosen = [best_tag(tags) for tags in context.tags]
    for name, tags in (
        ("tag", chosen),
        ("between", [tags.between for tags in context.tags]),
        ("after", [tags.after for tags in context.tags]),
        ("before", [tags.before for tags in context.tags]),
        ("lead", [tags.lead for tags in context.tags]),
        ("beat before", [tags.beat_before for tags in context.tags]),
        ("beat after", [tags.beat_after for tags in context.tags]),
        ("beat between", [tags.beat_between for tags in context.tags]),
        ("beat lead", [tags.beat_lead for tags in context.tags]),
    ):
        kind, who, agreed, verb, gap, inverted, direct = _tag_arrays(tags)[:, pairs.quotations]
        columns[f"{name} kind"] = kind
        columns[f"{name} is candidate"] = np.where(kind == 0, 0, np.where(who == pairs.candidates, 1, -1) * (who >= 0))
        columns[f"{name} gender"] = agreed * gender
        columns[f"{name} gap"] = gap
        if not name.startswith("beat"):
            columns[f"{name} verb"] = verb
            columns[f"{name} inverted"] = inverted
            columns[f"{name} direct"] = direct
    columns["is led"] = np.array([tags.is_led for tags in context.tags], np.float32)[pairs.quotations]
    return {name: column.astype(np.float32) for name, column in columns.items()}


def _tag_arrays(tags: list[Tag]) -> Floats:
    codes = {"m": 1.0, "f": -1.0}
    rows = [
        (tag.kind, tag.who if tag.kind != SubjectKind.NONE else -1, codes.get(tag.gender, 0.0), tag.verb,
         min(tag.gap, 20), tag.is_inverted, tag.is_direct)
        for tag in tags
    ]  # fmt: skip
    return np.array(rows, np.float32).reshape(-1, 7).T


def _mention_columns(context: NovelContext, pairs: CandidatePairs) -> dict[str, Floats]:
    columns: dict[str, Floats] = {}
    named = context.mention_counts(said=False)
    resolved = context.mention_counts(said=False, pronouns=True)
    subjects = context.mention_counts(said=False, pronouns=True, subjects=True)
    said = context.mention_counts(said=True)
    first, last = context.paragraphs[pairs.quotations], context.final_paragraphs[pairs.quotations]
    who, size = pairs.candidates, len(named) - 1

    def counted(counts: Floats, low: Ints, high: Ints) -> Floats:
        low, high = np.clip(low, 0, size), np.minimum(high, size)
        result: Floats = np.log1p(counts[high, who] - counts[low, who])
        return result

    for name, counts in (("named", named), ("resolved", resolved), ("subject", subjects)):
        columns[f"{name} here"] = counted(counts, first, last + 1)
        columns[f"{name} 1 before"] = counted(counts, first - 1, first)
        columns[f"{name} 1 after"] = counted(counts, last + 1, last + 2)
    for name, counts in (("named", named), ("said", said), ("resolved", resolved)):
        columns[f"{name} 3 before"] = counted(counts, first - 3, first)
        columns[f"{name} 10 before"] = counted(counts, first - 10, first)
        columns[f"{name} 30 before"] = counted(counts, first - 30, first)
        columns[f"{name} 3 after"] = counted(counts, last + 1, last + 4)
        columns[f"{name} 10 after"] = counted(counts, last + 1, last + 11)
        columns[f"{name} in all"] = np.log((counts[-1, who] + 1) / (counts[-1].sum() + 1))
    place = context.first_words[pairs.quotations].astype(np.float32)
    gender = context.genders
    for name, latest in (
        ("last named", context.last_mention(pronouns=False)),
        ("last resolved", context.last_mention(pronouns=True)),
        ("last subject", context.last_mention(pronouns=True, subjects=True)),
    ):
        columns[f"{name} distance"] = _log_distance(place - latest[pairs.quotations, who])
        columns[f"{name} rank"] = ranks_of(latest)[pairs.quotations, who]
        columns[f"{name} rank of gender"] = gender_ranks(latest, gender)[pairs.quotations, who]
    ahead = context.next_mention(pronouns=False)
    columns["next named distance"] = _log_distance(
        ahead[pairs.quotations, who] - context.last_words[pairs.quotations].astype(np.float32)
    )
    columns["next named rank"] = ranks_of(-ahead)[pairs.quotations, who]
    return columns


def _log_distance(distance: Floats) -> Floats:
    return np.minimum(np.log1p(np.where(np.isfinite(distance), np.maximum(distance, 0), 1e9)), FAR).astype(np.float32)


def ranks_of(values: Floats) -> Floats:
    """0 for the largest of a row."""
    order = np.argsort(-values, axis=1, kind="stable")
    ranks = np.empty(values.shape, np.float32)
    np.put_along_axis(
        ranks, order, np.arange(values.shape[1], dtype=np.float32)[None, :].repeat(len(values), 0), axis=1
    )
    return np.minimum(ranks, 12)


def gender_ranks(values: Floats, gender: Floats) -> Floats:
    """The same among those of one gender; who has none known stands in both rows."""
    result = np.zeros(values.shape, np.float32)
    for code in (0.0, -1.0, 1.0):
        within = (gender == code) | (gender == 0)
        result = np.where(gender == code, ranks_of(np.where(within, values, -np.inf)), result)
    return result


def call_columns(context: NovelContext, pairs: CandidatePairs) -> dict[str, Floats]:
    called, spoken_of = context.calls
    columns: dict[str, Floats] = {}
    for offset in (-3, -2, -1, 0, 1, 2, 3):
        columns[f"called {offset}"] = shifted_rows(called, offset)[pairs.quotations, pairs.candidates]
        columns[f"others called {offset}"] = (
            shifted_rows(called.sum(1, keepdims=True), offset)[pairs.quotations, 0] - columns[f"called {offset}"]
        )
        if abs(offset) <= 2:
            columns[f"spoken of {offset}"] = shifted_rows(spoken_of, offset)[pairs.quotations, pairs.candidates]
            terms = shifted_rows(context.called_gender[:, None], offset)[pairs.quotations, 0]
            columns[f"term {offset}"] = terms * context.genders[pairs.candidates]
    return {name: np.clip(column, -2, 2) for name, column in columns.items()}


def shifted_rows(matrix: Floats, offset: int) -> Floats:
    """Row q is that of quotation q + offset, zero beyond the ends."""
    result = np.zeros_like(matrix)
    if offset == 0:
        return matrix
    if abs(offset) < len(matrix):
        if offset > 0:
            result[:-offset] = matrix[offset:]
        else:
            result[-offset:] = matrix[:offset]
    return result


def _quotation_columns(context: NovelContext, pairs: CandidatePairs) -> dict[str, Floats]:
    """What holds for a quotation as a whole, and for a candidate as such."""
    rows = []
    for quotation, tags in zip(context.prose.quotations, context.tags):
        text = context.prose.said(quotation)
        end = text.rstrip("\"'”’_ ")[-1:]
        has_you = " you" in text or text.startswith("You")
        rows.append((np.log1p(len(text)), len(quotation.parts), ".,?!-".find(end), len(tags.narration_before),
                     len(tags.narration_after), text.count("?"), has_you))  # fmt: skip
    facts = np.array(rows, np.float32).reshape(-1, 7)
    facts[:, 3:5] = np.log1p(facts[:, 3:5])
    names = ("length", "parts", "end", "words before", "words after", "questions", "you")
    columns = {name: facts[pairs.quotations, column] for column, name in enumerate(names)}
    columns["asked before"] = shifted_rows(facts[:, 5:6], -1)[pairs.quotations, 0]
    columns |= gap_columns(context, pairs)
    columns["gender"] = context.genders[pairs.candidates]
    columns["narrator"] = (pairs.candidates == context.narrator).astype(np.float32)
    columns["told in first person"] = np.full(len(pairs), context.narrator >= 0, np.float32)
    return columns


def gap_columns(context: NovelContext, pairs: CandidatePairs) -> dict[str, Floats]:
    return {name: column[pairs.quotations] for name, column in turn_gaps(context).items()}


def turn_gaps(context: NovelContext) -> dict[str, Floats]:
    """How far the quotations before and after are: words of narration between, paragraphs between."""
    words = np.concatenate([[300], context.first_words[1:] - context.last_words[:-1]]).astype(np.float32)
    paragraphs = np.concatenate([[9], context.paragraphs[1:] - context.final_paragraphs[:-1]]).astype(np.float32)
    words, paragraphs = np.log1p(np.clip(words, 0, 2000)), np.clip(paragraphs, 0, 9)
    return {
        "gap before": words, "gap after": np.append(words[1:], np.float32(FAR)),
        "paragraphs before": paragraphs, "paragraphs after": np.append(paragraphs[1:], np.float32(9)),
    }  # fmt: skip
