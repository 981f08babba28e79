"""uPPL: how surprised is a language model of this persona by the line? The perplexity of its words.

    uPPL(u, p) = exp(- mean over tokens w of u of ln P_p(w | what stands before it))

P_p is given by any `LanguageModel`; by default it is an n-gram model of the persona's lines (see
`language.lexical.kneserney`). It backs off to the unigram frequencies of all characters and the background, so that a
word which the persona happened not to say is no surprise where it is usual. The end of the line
counts as a token. The smaller, the closer. A transformer is asked in its own tokens, for each line alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from understudy.language.backends.transformer import Transformer
from understudy.language.lexical import Lines
from understudy.language.lexical.kneserney import KneserNey, unigram_shares
from understudy.language.lexical.rows import Reals, segment_sums
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.samples import Samples
from understudy.story.dialogue import LanguageModel, Situation, Turn
from understudy.story.persona import Persona

__all__ = ["PersonaModel", "TransformerPerplexity", "perplexity", "uppl"]

NAMED = 3  # words or tokens named as reasons


def uppl(
    samples: Samples, name: str, model: LanguageModel | None = None, situation: Situation | None = None
) -> LineMetric:
    """The metric for a persona. A `model` is asked in a `situation`, by default with the persona's bare name."""
    if model is not None:
        context = situation or Situation(Persona(name, language=samples.language))
        return Perplexity(samples, model, context)
    return NgramPerplexity(samples, name)


class PersonaModel:
    """How one persona talks, as far as lines tell. It is a `LanguageModel` that looks at the line alone."""

    def __init__(self, samples: Samples, name: str) -> None:
        self._samples = samples
        own = np.zeros(len(samples.corpus.lines), dtype=np.bool_)
        own[slice(*samples.span(name))] = True
        self._model = KneserNey(samples.corpus, own, unigram_shares(samples.corpus))

    def probabilities(self, lines: Lines) -> Reals:
        """For every position but the first, the probability of its word (or of the end of the line) there."""
        return self._model.probabilities(lines)

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:  # noqa: ARG002
        """Of the words of a text and of its end."""
        logs: list[float] = np.log(self.probabilities(self._samples.tokenize([text]))).tolist()
        return logs


class NgramPerplexity(LineMetric):
    def __init__(self, samples: Samples, persona: str) -> None:
        super().__init__("uppl", samples, "" if samples.count(persona) else f"no sample lines of {persona}")
        self.persona = persona
        self.model = PersonaModel(samples, persona)

    def measured(self, lines: Lines) -> Reals:
        surprise = -np.log(self.model.probabilities(lines))
        return np.exp(segment_sums(surprise, lines.starts) / (lines.lengths + 1))

    def why(self, lines: Lines, index: int) -> str:
        words = lines.words(index)
        probabilities = self.model.probabilities(self.samples.tokenize([lines.texts[index]]))[: len(words)]
        least = list(dict.fromkeys(words[at] for at in np.argsort(probabilities, kind="stable").tolist()))[:NAMED]
        return "least expected: " + ", ".join(least)


class Perplexity(LineMetric):
    """By any language model, in its own tokens."""

    def __init__(self, samples: Samples, model: LanguageModel, situation: Situation) -> None:
        super().__init__("uppl", samples)
        self._model, self._situation = model, situation

    def measured(self, lines: Lines) -> Reals:
        log_probs = [self._model.log_probs(self._situation, (), text) for text in lines.texts]
        return np.array([np.exp(-np.mean(logs)) if logs else np.nan for logs in log_probs])

    def why(self, lines: Lines, index: int) -> str:
        log_probs = self._model.log_probs(self._situation, (), lines.texts[index])
        return f"{len(log_probs)} tokens, the least expected one with probability {np.exp(min(log_probs)):.2g}"


LARGEST = 700.0  # exp of more overflows


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
