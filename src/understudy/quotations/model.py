"""The model of who says a quotation, and to whom: three forests and the factors of turn-taking.

1  u     = softmax of the first forest's scores            static evidence: tags, mentions, vocatives
2  m     = forward-backward of u' with the factors f       turn-taking (`quotations.turns`)
3  v     = softmax of the second forest's scores           the same evidence, u, m, and who speaks around by m
4  P     ~ (forward-backward of v' with f^g)^t             what is given as the speakers' probabilities
5  Q     = softmax of the third forest's scores            who is addressed: evidence of turns by P

    p'(c) = s [c is whom the tag names] + (1 - s) p(c)      where a tag names the speaker beyond doubt
    p'(c) ~ p(c)^2                                          where another tag does; else p' = p
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.model_folder import ModelFolder, Tensors, read_card, read_model
from understudy.quotations.addressees import addressee_columns
from understudy.quotations.context import Floats, NovelContext
from understudy.quotations.features import CandidatePairs, candidate_pairs, static_columns
from understudy.quotations.forest import Forest, softmax_of_groups
from understudy.quotations.idiolect import idiolect_columns
from understudy.quotations.turn_features import turn_columns
from understudy.quotations.turns import EVENTS, GAP_KINDS, gap_kinds, turn_marginals

__all__ = ["MODEL", "SECOND_POWER", "NovelEvidence", "QuotationModel", "shipped_quotation_model"]

MODEL = "quotations"
SECOND_POWER = 0.5  # g: the second forest has seen who speaks around already
CONFIDENCE_POWER = 0.83  # t: turn-taking makes too sure; this makes probabilities of novels left out agree with shares
TAGGED_POWER = 2  # of the probabilities of a quotation whose tag names the speaker
NAMED_SHARE = 0.97  # s: of names beside a verb of speech, 0.98 are the speaker's
SMALLEST = 1e-4


@dataclass(frozen=True)
class NovelEvidence:
    """A novel with its pairs and what does not change between passes."""

    context: NovelContext
    pairs: CandidatePairs
    static: dict[str, Floats]
    first_turns: dict[str, Floats]

    @classmethod
    def of(cls, context: NovelContext) -> NovelEvidence:
        pairs = candidate_pairs(context)
        turns = turn_columns(context, pairs, context.sure)
        return cls(
            context,
            pairs,
            static_columns(context, pairs),
            {f"tagged: {name}": column for name, column in turns.items()},
        )

    def dense(self, probabilities: Floats) -> Floats:
        """Probabilities of pairs as a matrix of quotations by cast."""
        result = np.zeros(self.context.shape, np.float32)
        result[self.pairs.quotations, self.pairs.candidates] = probabilities
        return result

    def softmax(self, scores: Floats) -> Floats:
        return softmax_of_groups(scores, self.pairs.starts, self.pairs.quotations)

    def decode(self, probabilities: Floats, factors: Floats) -> Floats:
        """Turn-taking over the probabilities of pairs; where a tag names the speaker, that outweighs it."""
        tagged = (self.context.sure.sum(1) > 0)[self.pairs.quotations]
        named = self.context.named[self.pairs.quotations]
        sharp = np.where(tagged, np.maximum(probabilities, SMALLEST) ** TAGGED_POWER, probabilities)
        mixed = NAMED_SHARE * (named == self.pairs.candidates) + (1 - NAMED_SHARE) * probabilities
        sharp = np.where(named >= 0, mixed, sharp)
        return turn_marginals(self.pairs, sharp.astype(np.float32), gap_kinds(self.context), factors)

    def first(self) -> dict[str, Floats]:
        """The columns that the first forest sees."""
        return self.static

    def second(self, alone: Floats, marginals: Floats) -> dict[str, Floats]:
        """The columns that the second forest sees."""
        speakers = self.dense(marginals)
        return {
            **self.static,
            **self.first_turns,
            **turn_columns(self.context, self.pairs, speakers),
            **idiolect_columns(self.context, self.pairs, speakers),
            "alone": np.log(np.maximum(alone, SMALLEST)),
            "in turn": np.log(np.maximum(marginals, SMALLEST)),
        }

    def third(self, speakers: Floats) -> dict[str, Floats]:
        """The columns that the third forest sees."""
        return addressee_columns(self.context, self.pairs, self.dense(speakers))


def matrix(columns: dict[str, Floats]) -> Floats:
    return np.stack(list(columns.values()), axis=1).astype(np.float32)


@dataclass(frozen=True, slots=True)
class QuotationModel:
    """The forests, f, and the names of the columns that each forest sees."""

    first: Forest
    second: Forest
    third: Forest
    factors: Floats
    columns: Mapping[str, Sequence[str]]

    @classmethod
    def load(cls, folder: ModelFolder) -> QuotationModel:
        first, second, third = (_forest(folder, name) for name in FORESTS)
        factors = folder.tensor("factors", GAP_KINDS, len(EVENTS))
        return cls(first, second, third, factors, {name: folder.card["columns"][name] for name in FORESTS})

    def tensors(self) -> Tensors:
        tensors: dict[str, NDArray[Any]] = {"factors": self.factors}
        for name, forest in zip(FORESTS, (self.first, self.second, self.third)):
            tensors |= forest_tensors(name, forest)
        return tensors

    def speakers(self, evidence: NovelEvidence) -> Floats:
        """P for each pair."""
        alone, marginals = self.in_turn(evidence)
        again = evidence.softmax(self._scores("second", evidence.second(alone, marginals)))
        decoded = evidence.decode(again, self.factors**SECOND_POWER)
        return evidence.softmax((CONFIDENCE_POWER * np.log(np.maximum(decoded, SMALLEST))).astype(np.float32))

    def in_turn(self, evidence: NovelEvidence) -> tuple[Floats, Floats]:
        """u and m for each pair."""
        alone = evidence.softmax(self._scores("first", evidence.first()))
        return alone, evidence.decode(alone, self.factors)

    def addressees(self, evidence: NovelEvidence, speakers: Floats) -> Floats:
        """Q for each pair."""
        return evidence.softmax(self._scores("third", evidence.third(speakers)))

    def _scores(self, name: str, columns: dict[str, Floats]) -> Floats:
        if list(columns) != list(self.columns[name]):
            raise InputError("the quotations model reads other evidence than this version has: train it again")
        forest: Forest = getattr(self, name)
        return forest.scores(matrix(columns))


FORESTS = ("first", "second", "third")


def forest_tensors(name: str, forest: Forest) -> Tensors:
    return {
        f"{name}.features": forest.features.astype(np.int32),
        f"{name}.thresholds": np.minimum(forest.thresholds, np.finfo(np.float32).max),
        f"{name}.values": forest.values,
    }


def _forest(folder: ModelFolder, name: str) -> Forest:
    thresholds, values = folder.tensor(f"{name}.thresholds", None, None), folder.tensor(f"{name}.values", None, None)
    features = folder.tensors.get(f"{name}.features")
    trees, inner = thresholds.shape
    columns = folder.card.get("columns", {}).get(name, [])
    if features is None or features.dtype != np.int32 or features.shape != (trees, inner):
        raise folder.error(f"the columns that the forest '{name}' asks for are missing or of another shape")
    if values.shape != (trees, inner + 1) or (inner + 1) & inner:
        raise folder.error(f"the trees of the forest '{name}' are not complete")
    if features.size and not 0 <= features.min() <= features.max() < len(columns):
        raise folder.error(f"the forest '{name}' asks for columns that the card does not name")
    return Forest(features, thresholds, values)


@cache
def shipped_training_files() -> Mapping[str, str]:
    """What the model that ships has learned from: files by name, with their sha256."""
    with as_file(files("understudy") / "models" / MODEL) as folder:
        data: dict[str, str] = read_card(folder, MODEL)["data"]
        return data


@cache
def shipped_quotation_model() -> QuotationModel:
    with as_file(files("understudy") / "models" / MODEL) as folder:
        return QuotationModel.load(read_model(folder, MODEL))
