"""Turn-taking: probabilities of speakers that fit each other, by forward-backward over the quotations of a novel.

    P(y_1 ... y_n) ~ product over q of  u_q(y_q) * f(e_q, k_q)

u_q are the probabilities that each quotation by itself gives its candidates, e_q what happens at it: the same speaker
goes on, the one who spoke before the last speaker returns, or another takes the turn; k_q is the kind of gap before it
(`gap_kinds`). f(e, k) says how much more often an event happens after such a gap than the u alone would have it. A
state of the chain is a pair: who speaks, and who was the last to speak before them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.novels.context import Floats, NovelContext
from understudy.novels.features import FAR, CandidatePairs, gender_ranks, ranks_of, shifted_rows, turn_gaps
from understudy.novels.subjects import best_tag

# Evidence from who says the quotations around: those whom tags name, or the probabilities of the pass before.

NEAR_NOUN = 60  # quotations between which 'the girl' is likely to be the same
DECAY = 0.8  # of what is known of a turn, with each turn between


def turn_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """Evidence from who says the quotations around: `speakers` holds probabilities, by quotation and person."""
    columns: dict[str, Floats] = {}
    at = (pairs.quotations, pairs.candidates)
    for offset in (-4, -3, -2, -1, 1, 2, 3, 4):
        moved = shifted_rows(speakers, offset)
        columns[f"speaks {offset}"] = moved[at]
        if abs(offset) <= 2:
            columns[f"best other {offset}"] = _best_other(moved, at)
    own = speakers[at]
    total = np.cumsum(np.vstack([np.zeros((1, speakers.shape[1]), np.float32), speakers]), axis=0)
    count = len(speakers)
    for reach in (6, 15, 40):
        columns[f"speaks {reach} before"] = np.log1p(
            total[at] - total[np.maximum(pairs.quotations - reach, 0), pairs.candidates]
        )
        columns[f"speaks {reach} after"] = np.log1p(
            total[np.minimum(pairs.quotations + reach + 1, count), pairs.candidates]
            - total[pairs.quotations + 1, pairs.candidates]
        )
    columns["speaks in all"] = np.log((total[-1, pairs.candidates] - own + 0.5) / (total[-1].sum() + 1))
    gaps = turn_gaps(context)
    back_same, back_other = _alternation(speakers, gaps["gap before"], gaps["paragraphs before"])
    ahead_same, ahead_other = (
        matrix[::-1] for matrix in _alternation(speakers[::-1], gaps["gap after"][::-1], gaps["paragraphs after"][::-1])
    )
    columns["turn before"], columns["not turn before"] = back_same[at], back_other[at]
    columns["turn after"], columns["not turn after"] = ahead_same[at], ahead_other[at]
    columns["turn"] = (
        columns["turn before"] + columns["turn after"] - columns["not turn before"] - columns["not turn after"]
    )
    columns |= _noun_columns(context, pairs, speakers)
    recency = _last_speaking(speakers)
    columns["last speaks distance"] = np.minimum(np.log1p(pairs.quotations - recency[at]), FAR).astype(np.float32)
    columns["last speaks rank"] = ranks_of(recency)[at]
    columns["last speaks rank of gender"] = gender_ranks(recency, context.genders)[at]
    ahead = (count - 1) - _last_speaking(speakers[::-1])[::-1]
    columns["next speaks distance"] = np.minimum(np.log1p(ahead[at] - pairs.quotations), FAR).astype(np.float32)
    columns["next speaks rank"] = ranks_of(-ahead)[at]
    return columns


def _noun_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """Who else is tagged by the same noun ('the old gentleman', 'her mother'): the last and the next, and in all."""
    nouns = [best_tag(tags).noun for tags in context.tags]
    last, following, share = (np.zeros(context.shape, np.float32) for _ in range(3))
    by_noun: dict[str, list[int]] = {}
    for index, noun in enumerate(nouns):
        if noun:
            by_noun.setdefault(noun, []).append(index)
    for indices in by_noun.values():
        rows = np.array(indices)
        near = np.diff(rows)[:, None] <= NEAR_NOUN
        last[rows[1:]] = np.where(near, speakers[rows[:-1]], 0)
        following[rows[:-1]] = np.where(near, speakers[rows[1:]], 0)
        share[rows] = (speakers[rows].sum(0) - speakers[rows]) / len(rows)
    at = (pairs.quotations, pairs.candidates)
    return {"same noun last": last[at], "same noun next": following[at], "same noun share": share[at]}


def _best_other(speakers: Floats, at: tuple[Ints, Ints]) -> Floats:
    """The largest probability of anybody but the candidate."""
    if speakers.shape[1] < 2:
        return np.zeros(len(at[0]), np.float32)
    top = np.partition(speakers, -2, axis=1)[:, -2:]
    best, second = top[at[0], 1], top[at[0], 0]
    result: Floats = np.where(speakers[at] >= best, second, best)
    return result


def _alternation(speakers: Floats, gap: Floats, paragraphs: Floats) -> tuple[Floats, Floats]:
    """Who has this turn, if two take turns, and who has not: from the quotations before, the nearer the more.

    A quotation of the same paragraph is the same turn. The chain weakens with narration between.
    """
    same, other = np.zeros_like(speakers), np.zeros_like(speakers)
    for index in range(1, len(speakers)):
        if paragraphs[index] == 0:
            same[index] = np.minimum(speakers[index - 1] + same[index - 1], 3)
            other[index] = other[index - 1]
            continue
        link = np.float32(DECAY * np.exp(-max(0.0, float(gap[index]) - 2.0) / 2))
        same[index] = link * other[index - 1]
        other[index] = link * np.minimum(speakers[index - 1] + same[index - 1], 3)
    return same, other


def _last_speaking(speakers: Floats) -> Floats:
    """The index of the quotation before each that each person last said, more likely than not; far below 0: none."""
    rows = np.arange(len(speakers), dtype=np.float32)[:, None]
    said = np.where(speakers > 0.4, rows, -1e6).astype(np.float32)
    latest = np.maximum.accumulate(said, axis=0)
    return np.vstack([np.full((1, speakers.shape[1]), -1e6, np.float32), latest[:-1]])


Ints = NDArray[np.int64]
EVENTS = ("same", "return", "other")
GAP_KINDS = 12
FLOOR = 1e-4
FAR_WORDS = 150


def gap_kinds(context: NovelContext) -> Ints:
    """The kind of gap before each quotation: how many paragraphs on, whether narration is between, was it asked."""
    words = np.concatenate([[FAR_WORDS + 1], context.first_words[1:] - context.last_words[:-1]])
    paragraphs = np.concatenate([[9], context.paragraphs[1:] - context.final_paragraphs[:-1]])
    kind = np.select(
        [paragraphs <= 0, words > FAR_WORDS, (paragraphs == 1) & (words <= 0), paragraphs == 1, paragraphs == 2],
        [0, 5, 1, 2, 3],
        4,
    )
    text = context.prose.text
    asked = [text[quotation.span.end - 1] == "?" for quotation in context.prose.quotations]
    return 2 * kind + np.concatenate([[0], np.array(asked[:-1], np.int64)]).astype(np.int64)


def event_factors(settings: list[tuple[Ints, CandidatePairs, Floats, Ints]]) -> Floats:
    """f: how often each event happens (by the speakers given), over how often it would by probabilities alone.

    Each novel is (kinds of gaps, pairs, probabilities of pairs, speakers).
    """
    happened, expected = np.full((GAP_KINDS, 3), 2.0), np.full((GAP_KINDS, 3), 2.0)
    for kinds, pairs, probabilities, speakers in settings:
        dense = np.zeros((len(speakers), int(max(pairs.candidates.max(), speakers.max())) + 1), np.float32)
        dense[pairs.quotations, pairs.candidates] = probabilities
        before, last = -1, int(speakers[0])
        for index in range(1, len(speakers)):
            now = int(speakers[index])
            if now < 0 or last < 0:
                before, last = (last, now) if now >= 0 else (before, last)
                continue
            event = 0 if now == last else 1 if now == before else 2
            happened[kinds[index], event] += 1
            share = dense[index]
            by_chance = float(share[last]), float(share[before]) if before >= 0 else 0.0
            expected[kinds[index]] += (*by_chance, max(0.0, 1.0 - sum(by_chance)))
            if now != last:
                before, last = last, now
    result: Floats = (happened / expected).astype(np.float32)
    return result


def turn_marginals(pairs: CandidatePairs, probabilities: Floats, kinds: Ints, factors: Floats) -> Floats:
    """For each pair, the probability that the candidate speaks, given all quotations."""
    count = len(pairs.starts)
    width = len(pairs) // count if count else 0
    if width < 2:
        return probabilities
    people = pairs.candidates.reshape(count, width)
    unary = np.maximum(probabilities.reshape(count, width), FLOOR).astype(np.float64)
    # known[q]: where each candidate of q - 1 stands among those of q (width: nowhere)
    forward = np.zeros((count, width, width + 1))
    matches = [people[index - 1][:, None] == people[index][None, :] for index in range(1, count)]
    state = np.zeros((width, width + 1))
    state[:, width] = unary[0] / unary[0].sum()
    forward[0] = state
    for index in range(1, count):
        state = _step(state, matches[index - 1], factors[kinds[index]], unary[index])
        state /= state.sum()
        forward[index] = state
    backward = np.ones((width, width + 1))
    marginals = np.empty((count, width))
    marginals[-1] = forward[-1].sum(1)
    for index in range(count - 1, 0, -1):
        backward = _step_back(backward, matches[index - 1], factors[kinds[index]], unary[index])
        backward /= backward.max()
        joint = (forward[index - 1] * backward).sum(1)
        marginals[index - 1] = joint / joint.sum()
    result: Floats = marginals.ravel().astype(np.float32)
    return result


def _step(
    state: NDArray[np.float64], match: NDArray[np.bool_], factor: Floats, unary: NDArray[np.float64]
) -> NDArray[np.float64]:
    """From (speaker, other) of one quotation to those of the next."""
    width = len(unary)
    move = match.astype(np.float64)
    same, back, third = (float(value) for value in factor)
    total = state.sum(1)
    new = np.zeros_like(state)
    carried = state[:, :width] @ move  # the other, as a candidate of the next quotation
    lost = total - carried.sum(1)
    new[:, :width] += same * (move.T @ carried)
    new[:, width] += same * (move.T @ lost)
    # a change: k speaks, i spoke; `carried[i, k]` is how likely k was the one before i
    change = back * carried + third * (total[:, None] - carried)
    change = np.where(match, 0.0, change)
    new[:, :width] += change.T @ move
    new[:, width] += change.sum(0) - (change.T @ move).sum(1)
    return np.maximum(new, 0) * unary[:, None]


def _step_back(
    after: NDArray[np.float64], match: NDArray[np.bool_], factor: Floats, unary: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The transpose of `_step`: from what states of a quotation are worth to what those of the one before are."""
    width = len(unary)
    move = match.astype(np.float64)
    same, back, third = (float(value) for value in factor)
    worth = after * unary[:, None]
    stands = np.asarray(match.any(1))
    # worth of 'i spoke, now k does': the other is i, where i is a candidate of the next quotation
    changed = np.where(stands[:, None], move @ worth[:, :width].T, worth[:, width][None, :])
    changed = np.where(match, 0.0, changed)
    everyone = third * changed.sum(1)
    result = np.empty_like(after)
    gone_on = move @ worth  # [i, other at the next quotation]
    result[:, width] = same * gone_on[:, width] + everyone
    at_next = same * gone_on[:, :width] + (back - third) * changed
    missing = ~stands
    result[:, :width] = at_next @ move.T + everyone[:, None]
    result[:, :width] += (same * gone_on[:, width])[:, None] * missing[None, :]
    return result
