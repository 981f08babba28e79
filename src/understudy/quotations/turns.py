"""Turn-taking: probabilities of speakers that fit each other, by forward-backward over the quotations of a novel.

    P(y_1 ... y_n) ~ product over q of  u_q(y_q)^a * f(e_q, k_q)

u_q are the probabilities that each quotation by itself gives its candidates, e_q what happens at it: the same speaker
goes on, the one who spoke before the last speaker returns, or another takes the turn; k_q is the kind of gap before it
(`gap_kinds`). f(e, k) says how much more often an event happens after such a gap than the u alone would have it. A
state of the chain is a pair: who speaks, and who was the last to speak before them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from understudy.quotations.context import Floats, NovelContext
from understudy.quotations.features import CandidatePairs

__all__ = ["EVENTS", "GAP_KINDS", "event_factors", "gap_kinds", "turn_marginals"]

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


def turn_marginals(
    pairs: CandidatePairs, probabilities: Floats, kinds: Ints, factors: Floats, power: float = 1.0
) -> Floats:
    """For each pair, the probability that the candidate speaks, given all quotations."""
    count = len(pairs.starts)
    width = len(pairs) // count if count else 0
    if width < 2:
        return probabilities
    people = pairs.candidates.reshape(count, width)
    unary = np.maximum(probabilities.reshape(count, width), FLOOR).astype(np.float64) ** power
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
