"""Who says each quotation of a novel, how surely, and to whom."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.model_folder import ModelFolder, Tensors, read_card, read_model
from understudy.novels.context import Floats, NovelContext
from understudy.novels.features import CandidatePairs, call_columns, candidate_pairs, gap_columns, static_columns
from understudy.novels.mentions import NARRATION
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.novels.turns import EVENTS, GAP_KINDS, gap_kinds, turn_columns, turn_marginals

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


# The model of who says a quotation, and to whom: three forests and the factors of turn-taking.
#
# 1  u     = softmax of the first forest's scores            static evidence: tags, mentions, vocatives
# 2  m     = forward-backward of u' with the factors f       turn-taking (`novels.turns`)
# 3  v     = softmax of the second forest's scores           the same evidence, u, m, and who speaks around by m
# 4  P     ~ (forward-backward of v' with f^g)^t             what is given as the speakers' probabilities
# 5  Q     = softmax of the third forest's scores            who is addressed: evidence of turns by P
#
#     p'(c) = s [c is whom the tag names] + (1 - s) p(c)      where a tag names the speaker beyond doubt
#     p'(c) ~ p(c)^2                                          where another tag does; else p' = p


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


# Evidence for whom a quotation is said to, given probabilities of who says each.


def addressee_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """Who is called, who speaks before and after, how often the two speak beside each other."""
    at = (pairs.quotations, pairs.candidates)
    columns = {
        **call_columns(context, pairs),
        **gap_columns(context, pairs),
        **turn_columns(context, pairs, speakers),
        "speaks": speakers[at],
        "gender": context.genders[pairs.candidates],
        "narrator": (pairs.candidates == context.narrator).astype(np.float32),
    }
    beside = speakers[1:].T @ speakers[:-1]
    beside = beside + beside.T
    share = beside / np.maximum(beside.sum(1, keepdims=True), 1e-6)
    columns["beside the speaker"] = (speakers @ share)[at].astype(np.float32)
    for offset in (-1, 1):
        columns[f"another than the speaker {offset}"] = _others_near(speakers, offset)[at]
    return columns


def _others_near(speakers: Floats, direction: int) -> Floats:
    """The nearest turn that is not the speaker's: for each person, how likely it is theirs."""
    count = len(speakers)
    result = np.zeros_like(speakers)
    best = speakers.argmax(1) if speakers.shape[1] else np.zeros(count, np.int64)
    order = range(count) if direction < 0 else range(count - 1, -1, -1)
    for index in order:
        beside = index + direction
        if 0 <= beside < count:
            result[index] = result[beside] if best[beside] == best[index] else speakers[beside]
    return result


# Own words: how much more likely a candidate's words make a quotation than everybody's words do.
#
#   score(q, c) = sum over words w of q of  ln((n_cw + a b_w) / (n_c + a)) - ln b_w
#
# n_cw is how often c says w, as far as speakers are known, b_w the share of w in all that is said, a the weight of b.
# So that a quotation is not judged by its own words, those of every other stretch of quotations are counted apart:
# each stretch is judged by the words of the other half.

Ints = NDArray[np.int64]
MARKS = re.compile(r"[!?;:—]|--|\.\.\.|_")
STRETCH = 25  # quotations
FEWEST = 3  # times that a word is said, to be counted
MOST_WORDS = 3_000
PRIOR = 200.0  # a
BOUND = 2.0  # of a word's logarithm


def idiolect_columns(context: NovelContext, pairs: CandidatePairs, speakers: Floats) -> dict[str, Floats]:
    """`speakers` holds probabilities, by quotation and person."""
    quotations, words, size = _said(context)
    likeliest = speakers.argmax(1)
    weight = speakers.max(1)
    half = (np.arange(len(speakers)) // STRETCH) % 2
    scores = np.zeros(len(pairs), np.float32)
    lengths = np.bincount(quotations, minlength=len(speakers)).astype(np.float32)
    if size:
        share = np.bincount(words, minlength=size) / len(words)
        width = len(pairs) // len(pairs.starts)
        people = pairs.candidates.reshape(-1, width)
        totals = np.zeros((len(speakers), width))
        for side in (0, 1):
            counts = np.zeros((context.shape[1], size))
            learned = half[quotations] != side
            np.add.at(counts, (likeliest[quotations[learned]], words[learned]), weight[quotations[learned]])
            ratio = (counts + PRIOR * share) / (counts.sum(1, keepdims=True) + PRIOR) / share
            logs = np.clip(np.log(ratio), -BOUND, BOUND)
            judged = half[quotations] == side
            rows, spoken = quotations[judged], words[judged]
            np.add.at(totals, rows, logs[people[rows], spoken[:, None]])
        scores = totals.ravel().astype(np.float32)
    spread: Floats = (scores / np.sqrt(lengths[pairs.quotations] + 5)).astype(np.float32)
    best = np.maximum.reduceat(spread, pairs.starts)[pairs.quotations] if len(pairs) else spread
    return {"own words": scores, "own words by length": spread, "own words below best": spread - best}


def _said(context: NovelContext) -> tuple[Ints, Ints, int]:
    """The quotation and the number of each word that is said often enough, and how many such words there are.

    Marks of punctuation and the first word of a quotation are words of their own.
    """
    inside = np.flatnonzero(context.words.quotations != NARRATION)
    lowered = context.words.lowered
    said = [lowered[index] for index in inside.tolist()]
    owners = context.words.quotations[inside].tolist()
    for index, quotation in enumerate(context.prose.quotations):
        text = context.prose.said(quotation)
        marks = MARKS.findall(text)
        opening = text.split(maxsplit=1)[:1]
        said += [*marks, *(f"{word.lower()}..." for word in opening)]
        owners += [index] * (len(marks) + len(opening))
    common = [word for word, count in Counter(said).most_common(MOST_WORDS) if count >= FEWEST]
    numbers = {word: number for number, word in enumerate(common)}
    indices = np.array([numbers.get(word, -1) for word in said], np.int64)
    kept = indices >= 0
    return np.array(owners, np.int64)[kept], indices[kept], len(common)


# Gradient-boosted trees that score the candidates of a quotation.
#
#   z_c  = sum over trees t of  v_t[leaf_t(x_c)]           x_c the evidence for candidate c
#   P(c) = exp(z_c) / sum over candidates d of exp(z_d)
#
# Trees are complete, of one depth: node i asks whether x[feature_i] <= threshold_i and goes on with node 2i + 1 or 2i
# + 2.

ROWS_AT_ONCE = 8192  # so that what is worked on stays in the processor's cache


@dataclass(frozen=True, slots=True)
class Forest:
    """Arrays of trees by nodes, and of trees by leaves."""

    features: NDArray[np.int32]
    thresholds: Floats
    values: Floats

    @property
    def depth(self) -> int:
        return int(self.values.shape[1]).bit_length() - 1

    def scores(self, evidence: Floats) -> Floats:
        """A score for each row of evidence."""
        result = np.zeros(len(evidence), np.float32)
        inner = self.features.shape[1]
        for begin in range(0, len(evidence), ROWS_AT_ONCE):
            rows = np.ascontiguousarray(evidence[begin : begin + ROWS_AT_ONCE].T)
            flat, count = rows.ravel(), rows.shape[1]
            position = np.arange(count)
            total = np.zeros(count, np.float32)
            for features, thresholds, values in zip(
                self.features.astype(np.int64) * count, self.thresholds, self.values
            ):
                node = np.zeros(count, np.int64)
                for _ in range(self.depth):
                    right = flat[features[node] + position] > thresholds[node]
                    node = 2 * node + 1 + right
                total += values[node - inner]
            result[begin : begin + ROWS_AT_ONCE] = total
        return result


def softmax_of_groups(scores: Floats, starts: Ints, groups: Ints) -> Floats:
    """Probabilities within each group of rows; `starts` are the first rows of groups, `groups` each row's group."""
    if not len(scores):
        return scores
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[groups])
    result: Floats = (powers / np.add.reduceat(powers, starts)[groups]).astype(np.float32)
    return result
