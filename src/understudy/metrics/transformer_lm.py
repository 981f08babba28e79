"""uPPL by a transformer language model: exp of minus the mean log-probability of the tokens of a line, read alone."""

from __future__ import annotations

import math

import numpy as np

from understudy.language.backends.transformer import Transformer
from understudy.language.lexical import Lines
from understudy.language.lexical.rows import Reals
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.samples import Samples

__all__ = ["TransformerPerplexity", "perplexity"]

LARGEST = 700.0  # exp of more overflows
NAMED = 3  # tokens named as reasons


class TransformerPerplexity(LineMetric):
    """uPPL by a transformer, in its own tokens."""

    def __init__(self, samples: Samples, model: Transformer) -> None:
        super().__init__("uppl", samples)
        self._model = model
        self._last: tuple[Lines, list[list[float]]] | None = None

    def measured(self, lines: Lines) -> Reals:
        log_probs = self._model.many(lines.texts)
        self._last = lines, log_probs  # reasons are asked for next, and need not be computed again
        return np.array([perplexity(float(np.mean(values))) if values else np.nan for values in log_probs])

    def why(self, lines: Lines, index: int) -> str:
        text = lines.texts[index]
        known = self._last is not None and self._last[0] is lines
        log_probs = self._last[1][index] if known and self._last else self._model.many([text])[0]
        tokens = self._model.tokens(text)
        least = dict.fromkeys(tokens[position] for position in np.argsort(log_probs, kind="stable").tolist())
        more = len(self._model.tokenizer(text, add_special_tokens=False)["input_ids"]) - len(tokens)
        cut = f"; {more:,} more tokens are beyond what the model reads" if more > 0 else ""
        return f"least expected: {', '.join(list(least)[:NAMED])}{cut}"


def perplexity(mean_log_prob: float) -> float:
    """exp(-mean), and a very large number where that would be larger than any."""
    return math.exp(min(-mean_log_prob, LARGEST))
