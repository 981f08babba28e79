"""Beam search over next-token probabilities, for many questions at once.

    score(y) = (1 / |y|) sum over t of ln p(y_t | y<t)

Of every question the `beams` best unfinished beginnings are extended; one beam is greedy decoding. No reply repeats
a run of `NO_REPEAT` tokens, and none is shorter than `SHORTEST`. Equal scores go to the lower token id, so the same
probabilities always give the same reply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Hypothesis", "beam_search"]

NO_REPEAT = 3
SHORTEST = 2

NextLogProbs = Callable[[Sequence[Sequence[int]], Sequence[int]], "Tensor"]
"""From beginnings of one length and the question of each to the log-probability of each word to come next."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A reply or its beginning: the tokens after the first, and the log-probability of each."""

    question: int
    tokens: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()

    @property
    def score(self) -> float:
        return sum(self.log_probs) / max(len(self.log_probs), 1)

    def extended(self, token: int, log_prob: float) -> Hypothesis:
        return Hypothesis(self.question, (*self.tokens, token), (*self.log_probs, log_prob))


def beam_search(
    next_log_probs: NextLogProbs,
    questions: int,
    first: int,
    last: int,
    unspeakable: Sequence[int],
    beams: int = 1,
    longest: int = 64,
) -> list[Hypothesis]:
    """The best reply to each question; its last token is `last`, unless it reached the `longest` number of tokens."""
    finished: list[list[Hypothesis]] = [[] for _ in range(questions)]
    live = [Hypothesis(question) for question in range(questions)]
    for length in range(1, longest + 1):
        log_probs = next_log_probs([[first, *reply.tokens] for reply in live], [reply.question for reply in live])
        log_probs[:, list(unspeakable)] = -float("inf")
        if length <= SHORTEST:
            log_probs[:, last] = -float("inf")
        repeating = [(row, token) for row, reply in enumerate(live) for token in _repeating(reply.tokens)]
        if repeating:  # in one assignment: on a GPU each costs a transfer
            log_probs[[row for row, _ in repeating], [token for _, token in repeating]] = -float("inf")
        extended: list[list[Hypothesis]] = [[] for _ in range(questions)]
        best = log_probs.topk(min(2 * beams, log_probs.shape[1]))
        for reply, values, tokens in zip(live, best.values.tolist(), best.indices.tolist()):
            extended[reply.question] += [reply.extended(*option) for option in zip(tokens, values)]
        live = []
        for question, options in enumerate(extended):
            options.sort(key=lambda option: (-sum(option.log_probs), option.tokens))
            if length == longest:
                finished[question] += options[:beams]
                continue
            finished[question] += [option for option in options[:beams] if option.tokens[-1] == last]
            if len(finished[question]) < beams:
                live += [option for option in options if option.tokens[-1] != last][:beams]
        if not live:
            break
    return [min(replies, key=lambda reply: (-reply.score, reply.tokens)) for replies in finished]


def _repeating(tokens: tuple[int, ...]) -> list[int]:
    """Tokens that would end a run that stands in the reply already."""
    if len(tokens) < NO_REPEAT:
        return []
    begun = tokens[len(tokens) - NO_REPEAT + 1 :]
    return [
        tokens[start + NO_REPEAT - 1]
        for start in range(len(tokens) - NO_REPEAT + 1)
        if tokens[start : start + NO_REPEAT - 1] == begun
    ]
