"""`contradiction`: the probability that a line contradicts what its speaker is or feels, from 0 to 1.

For each sentence s of the line and each sentence p of the profile and the ties, with u and v their vectors (the
sentence encoder's, of length 1):

    x = (u, v, |u - v|, u * v) / scale
    (contradicts, neutral, follows) = softmax(relu(x W + b) W' + b')
    contradiction(line) = max over s and p of contradicts(s, p)

A question contradicts nothing, and a tie is asked only about a sentence that names the other one.

The classifier was trained on pairs of sentences that people say of themselves (Dialogue NLI; see its card). It is of
use for personas of that kind. What a story's people say of themselves it does not understand well enough to stop
anything by: docs/notes/metrics.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np

from understudy.language.encoding import Encoder, Floats
from understudy.language.encoding.encoder import shared_encoder
from understudy.language.lexical import Lines
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import ModelFolder, Tensors, read_model
from understudy.metrics.line_metric import LineMetric, Samples
from understudy.story.persona import Persona

LABELS = ("contradicts", "neutral", "follows")
ROLE = "reply"  # what sentences are encoded as
SENTENCE = re.compile(r"[^.!?…]+[.!?…]*[\"'”’)]*")
SHORTEST_NAME = 3  # letters of a part of a name
REMEMBERED = 256  # texts, so that a value and its reason are worked out once


def pair_features(first: Floats, second: Floats) -> Floats:
    """A row for each pair of vectors."""
    features: Floats = np.concatenate([first, second, np.abs(first - second), first * second], axis=-1)
    return features


@dataclass(frozen=True, slots=True)
class ContradictionModel:
    """Two layers over the features of a pair; `scale` is how much each feature varies in training."""

    scale: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    @classmethod
    def of(cls, folder: ModelFolder) -> ContradictionModel:
        scale = folder.tensor("scale", None)
        hidden = folder.tensor("hidden", len(scale), None)
        width = hidden.shape[1]
        if not (scale > 0).all():
            raise folder.error("'scale' is not above 0 throughout: train the model again")
        return cls(
            scale,
            hidden,
            folder.tensor("hidden_bias", width),
            folder.tensor("output", width, len(LABELS)),
            folder.tensor("output_bias", len(LABELS)),
        )

    def tensors(self) -> Tensors:
        return {name: getattr(self, name) for name in self.__slots__}

    def probabilities(self, first: Floats, second: Floats) -> Floats:
        """Of pairs of vectors, a row each: how probable it is that they contradict, are neutral, follow."""
        activation = np.maximum(pair_features(first, second) / self.scale @ self.hidden + self.hidden_bias, 0)
        scores = activation @ self.output + self.output_bias
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        probabilities: Floats = scores / scores.sum(axis=-1, keepdims=True)
        return probabilities


@cache
def shipped_contradiction_model() -> ContradictionModel:
    with as_file(files("understudy") / "models" / "contradiction") as folder:
        return ContradictionModel.of(read_model(folder, "contradiction"))


def contradiction(
    samples: Samples, persona: Persona, encoder: Encoder | None = None, model: ContradictionModel | None = None
) -> LineMetric:
    """The metric of a persona; `encoder` is the one that the model was trained with."""
    ties = zip(persona.relations, persona.feelings(), strict=True)
    statements = (*((sentence, "") for sentence in persona.profile), *((sentence, tie.to) for tie, sentence in ties))
    missing = ""
    if not statements:
        missing = f"there is no profile of {persona.name} to contradict"
    elif persona.language != "en":
        missing = f"sentences can be compared in English only, and this story is in '{persona.language}'"
    return Contradiction(samples, statements, encoder, model, missing)


class Contradiction(LineMetric):
    """`statements` are sentences, each with the name of whom it is about where it is a tie."""

    def __init__(
        self, samples: Samples, statements: Sequence[tuple[str, str]], encoder: Encoder | None,
        model: ContradictionModel | None, missing: str,
    ) -> None:  # fmt: skip
        super().__init__("contradiction", samples, missing)
        self._statements = tuple(sentence for sentence, _ in statements)
        self._about = tuple(_name_pattern(name) for _, name in statements)
        self._cache: dict[str, tuple[float, str, str]] = {}
        if not missing:
            self._encoder = encoder or shared_encoder()
            self._model = model or shipped_contradiction_model()
            self._profile = self._encoder.encode(self._statements, ROLE)

    def measured(self, lines: Lines) -> Reals:
        return np.array([strongest[0] for strongest in self._strongest(lines.texts)], dtype=np.float64)

    def why(self, lines: Lines, index: int) -> str:
        ((value, sentence, statement),) = self._strongest([lines.texts[index]])
        return f"'{sentence}' against '{statement}'" if value else "states nothing that the profile speaks of"

    def _strongest(self, texts: Sequence[str]) -> list[tuple[float, str, str]]:
        """Of each text the largest probability, its sentence and that of the profile."""
        results = {text: self._cache[text] for text in texts if text in self._cache}
        sentences = {text: sentences_of(text) for text in texts if text not in results}
        against = self._against(list(dict.fromkeys(sentence for said in sentences.values() for sentence in said)))
        for text, said in sentences.items():
            results[text] = max((against[sentence] for sentence in said), default=(0.0, "", ""))
        if len(self._cache) > REMEMBERED:
            self._cache.clear()
        self._cache.update(results)
        return [results[text] for text in texts]

    def _against(self, sentences: Sequence[str]) -> dict[str, tuple[float, str, str]]:
        """All pairs of all sentences go through the model at once: many small products take longer."""
        strongest = {sentence: (0.0, sentence, "") for sentence in sentences}
        pairs = [
            (row, column)
            for row, sentence in enumerate(sentences)
            for column, about in enumerate(self._about)
            if about is None or about.search(sentence) is not None
        ]
        if pairs:
            rows, columns = np.array(pairs).T
            said = self._encoder.encode(sentences, ROLE, keep=False)
            contradicts = self._model.probabilities(said[rows], self._profile[columns])[:, 0]
            for (row, column), value in zip(pairs, contradicts.tolist()):
                sentence = sentences[row]
                strongest[sentence] = max(strongest[sentence], (value, sentence, self._statements[column]))
        return strongest


def _name_pattern(name: str) -> re.Pattern[str] | None:
    """Finds any part of a name of at least three letters."""
    parts = [re.escape(part) for part in name.split() if len(part) >= SHORTEST_NAME] or [re.escape(name)]
    return re.compile(rf"\b(?:{'|'.join(parts)})\b", re.IGNORECASE) if name else None


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that state something: a question contradicts nothing."""
    parts = (match.group().strip() for match in SENTENCE.finditer(text))
    return [sentence for sentence in parts if any(map(str.isalpha, sentence)) and "?" not in sentence]
