"""Guessers that look at one mask at a time: by chance, by its words, by an encoder, or by any ranker of replies.

`vanilla` is logistic regression over the tf-idf weighted words of one speaker's lines, and nothing else of the scene:

    P(m is c) = exp(w_c . x(m) + b_c) / sum over candidates d of exp(w_d . x(m) + b_d)

x(m) are the words and pairs of words that m says in the scene (see `understudy.guessing.features`).

`ranker` asks a ranker of replies about the same lines as each candidate in turn: whom do they suit best?

    s(m, c) = mean over m's lines l of  score(l | c) - mean over candidates d of score(l | d)
    P(m is c) ~ exp(s(m, c) / spread)

score is `Ranker.score` in the situation of c: its profile, and beside it those of its own past lines that are most like
what m says. `spread` is the standard deviation of all s of the scene, so that rankers of any scale can be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.guessing.assignment import named
from understudy.guessing.features import Terms, named_scene_features, scene_features
from understudy.guessing.scenes import Guesses, Masking, TrainingScenes, is_mask, masks_of
from understudy.language.lexical import TfIdf
from understudy.language.lexical.logistic import fit, minimize
from understudy.language.lexical.rows import Ints, Reals, SparseRows
from understudy.story.dialogue import Ranker, Situation
from understudy.story.persona import Past, Persona
from understudy.story.types import Line, Scene

VANILLA_SPACES = ("own",)
C = 8.0
TOLERANCE = 1e-3  # a smaller one changes only the last digits, at eight times the time
LINES_ASKED = 8  # of a mask, the longest
LINES_RECALLED = 5  # of a candidate's past


class RandomGuesser:
    """Anybody may be behind any mask, one each."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks, names = masks_of(masked), sorted(persona.name for persona in personas)
        drawn = np.random.default_rng([self._seed, *masked.moment.numbers]).permutation(len(names))
        even = np.full((len(masks), len(names)), 1.0 / max(len(names), 1))
        even[np.arange(len(masks)), drawn[: len(masks)]] += 1e-6  # all are as likely; one is named first
        return named(masks, names, even / even.sum(axis=1, keepdims=True))


class TermRegression:
    """Logistic regression over the terms of some spaces."""

    def __init__(self, terms: Terms, counted: SparseRows, labels: Ints, classes: int, spaces: Sequence[str]) -> None:
        self.view = terms.view(spaces)
        self.model = fit(self.view.weighted(counted), labels, classes, C, tolerance=TOLERANCE)

    def scores(self, counted: SparseRows) -> Reals:
        """A row for each mask, a column for each main character; larger is likelier."""
        return self.view.weighted(counted).product(self.model.weights) + self.model.intercepts


class Vanilla:
    def __init__(self, training: TrainingScenes) -> None:
        self._main, self._names, self._language = training.main, training.names, training.language
        scenes = [
            named_scene_features(scene, training.main, training.names, training.language) for scene in training.scenes
        ]
        bags = [bag for scene in scenes for bag in scene.listed()]
        labels = np.array([self._main.index(who) for scene in scenes for who in scene.speakers])
        self._terms = Terms(bags, VANILLA_SPACES)
        self._model = TermRegression(self._terms, self._terms.counted(bags), labels, len(self._main), VANILLA_SPACES)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        candidates = [persona.name for persona in personas]
        features = scene_features(masked, masks, self._names, self._language)
        scores = self._model.scores(self._terms.counted(features.listed()))
        among = scores[:, [self._main.index(name) for name in candidates]]
        return named(masks, candidates, np.exp(among - np.logaddexp.reduce(among, axis=1, keepdims=True)))


class RankerGuesser:
    """Nothing is learned: it knows what the personas know."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker
        self._pasts: dict[str, tuple[Past, list[str], TfIdf]] = {}

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        names = [persona.name for persona in personas]
        scores = np.array([[self._score(masked, mask, persona) for persona in personas] for mask in masks])
        if not scores.size:
            return {}
        scores -= scores.mean(axis=1, keepdims=True)
        raised = np.exp(scores / (scores.std() or 1.0))
        return named(masks, names, raised / raised.sum(axis=1, keepdims=True))

    def _score(self, scene: Scene, mask: str, persona: Persona) -> float:
        texts = sorted((line.text for line in scene.lines if line.speaker == mask), key=len, reverse=True)[:LINES_ASKED]
        profile = (*persona.profile, *self._recalled(persona, texts))
        situation = Situation(replace(persona, profile=profile), scene.setting)
        return float(np.mean(self._ranker.score(situation, (), texts)))

    def _recalled(self, persona: Persona, texts: Sequence[str]) -> list[str]:
        """What a candidate has said that is most like these lines."""
        cached = self._pasts.get(persona.name)
        if cached is None or cached[0] is not persona.past:
            lines = [line.text for line in persona.past.lines()]
            cached = persona.past, lines, TfIdf(lines, persona.language)
            self._pasts[persona.name] = cached
        _, lines, search = cached
        scores = search.scores(" ".join(texts))
        best = np.argsort(-scores, kind="stable")[:LINES_RECALLED]
        return [lines[index] for index in best if scores[index] > 0]


# Guessers that read with a sentence encoder: `vanilla-encoder`, `multi-row` and `scene-pooling`.
#
# They differ in the texts that are read for each mask:
#
#     whole      all that the mask says in the scene, as one text (the paper's vanilla model)
#     rows       at most twelve rows a scene: an utterance, then what was said just before it, nearest first, up to a
#                row's length; `from_end` takes the rows from the scene's end, `fill_empty` gives a mask that got none
#                its last utterance (MR. BERT)
#     windows    the scene in windows of at most so many words, each read once for every mask that speaks in it, its own
#                lines marked (Longformer-P, whose attention is held to the tokens of the mask)
#
# Lengths are in words, which every encoder's own tokens more or less follow. The encoder stays as it is. Attention over
# the vectors x_j of a mask's texts and a classifier over the main characters c are learned together:
#
#     a_j      = exp(u . x_j) / sum over the texts k of the same mask of exp(u . x_k)
#     P(c)     ~ exp(w_c . sum over j of a_j x_j + b_c)
#
# To train the encoder itself, see `understudy train guesser`.


TextsByMask = dict[str, list[str]]
"""For each mask the texts to read."""

Vectors = NDArray[np.float32]
ROWS = 12
ROW_WORDS = 48
WINDOW_WORDS = 90
SCENE_WORDS = 1500  # the paper's 2,000 tokens
OWN, OTHER = "I", "you"
STEPS = 150
POOLING_TOLERANCE = 1e-5  # what a mask's loss may still fall
REGULARISATION = 0.5  # the same however many masks there are to learn from


class TextEncoder(Protocol):
    def encode(self, texts: Sequence[str]) -> Vectors: ...


def vanilla_encoder(training: TrainingScenes, encoder: TextEncoder | None = None) -> EncodedGuesser:
    """All that a mask says, as one text."""
    return EncodedGuesser(training, whole, encoder)


def multi_row(
    training: TrainingScenes,
    encoder: TextEncoder | None = None,
    from_end: bool = True,
    fill_empty: bool = True,
    alone: bool = False,
) -> EncodedGuesser:
    """Utterances with what was said before them, or `alone`."""
    return EncodedGuesser(training, partial(rows, from_end=from_end, fill_empty=fill_empty, alone=alone), encoder)


def scene_pooling(
    training: TrainingScenes, encoder: TextEncoder | None = None, longest: int = SCENE_WORDS
) -> EncodedGuesser:
    """The whole scene, window by window, as the mask hears it."""
    return EncodedGuesser(training, partial(windows, longest=longest), encoder)


def shipped_encoder() -> TextEncoder:
    """The encoder that comes with the package."""
    from understudy.language.encoding.encoder import SentenceEncoder

    return SentenceEncoder(threads=2)


class EncodedGuesser:
    """`texts_of` says which texts of a masked scene are read for each mask."""

    def __init__(
        self, training: TrainingScenes, texts_of: Callable[[Scene], TextsByMask], encoder: TextEncoder | None
    ) -> None:
        self._main, self._texts_of, self._encoder = training.main, texts_of, encoder or shipped_encoder()
        masking = Masking(training.main, training.names)
        texts: list[list[str]] = []
        labels: list[int] = []
        for masked in masking.scenes(training.scenes, fewest=1):
            for mask, of_mask in texts_of(masked.scene).items():
                if of_mask:
                    texts.append(of_mask)
                    labels.append(training.main.index(masked.answers[mask]))
        self._pooling = fit_pooling(*self._encoded(texts), np.array(labels), len(training.main))

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        texts = self._texts_of(masked)
        candidates = [persona.name for persona in personas]
        probabilities = np.full((len(texts), len(candidates)), 1 / max(len(candidates), 1))
        with_text = [index for index, of_mask in enumerate(texts.values()) if of_mask]
        if with_text:
            scores = self._pooling.scores(*self._encoded([of_mask for of_mask in texts.values() if of_mask]))
            raised = np.exp(scores[:, [self._main.index(name) for name in candidates]])
            probabilities[with_text] = raised / raised.sum(axis=1, keepdims=True)
        return named(list(texts), candidates, probabilities)

    def _encoded(self, texts: Sequence[Sequence[str]]) -> tuple[Vectors, Ints]:
        vectors = self._encoder.encode([text for of_mask in texts for text in of_mask])
        return vectors, np.cumsum([0, *map(len, texts)])


def whole(scene: Scene) -> TextsByMask:
    texts: TextsByMask = {mask: [] for mask in masks_of(scene)}
    for line in scene.lines:
        if line.speaker in texts:
            texts[line.speaker].append(line.text)
    return {mask: [" ".join(of_mask)] for mask, of_mask in texts.items()}


def rows(scene: Scene, from_end: bool = True, fill_empty: bool = True, alone: bool = False) -> TextsByMask:
    """Rows of an utterance and its nearest history; `alone` leaves the history out."""
    longest = 0 if alone else ROW_WORDS
    texts: TextsByMask = {mask: [] for mask in masks_of(scene)}
    spoken = [line for line in scene.lines if line.speaker is not None]
    own = [index for index, line in enumerate(spoken) if line.speaker in texts]
    for index in islice(reversed(own) if from_end else iter(own), ROWS):
        texts[str(spoken[index].speaker)].append(_row(spoken, index, longest))
    if fill_empty:
        last = {spoken[index].speaker: index for index in own}
        for mask, of_mask in texts.items():
            if not of_mask:
                of_mask.append(_row(spoken, last[mask], longest))
    return texts


def _row(spoken: Sequence[Line], index: int, longest: int) -> str:
    parts, length = [spoken[index].text], len(spoken[index].text.split())
    for line in reversed(spoken[:index]):
        length += len(line.text.split())
        if length > longest:
            break
        parts.append(line.text)
    return " / ".join(parts)


def windows(scene: Scene, longest: int = SCENE_WORDS) -> TextsByMask:
    """Windows of the whole scene, from its beginning, as each mask hears them."""
    texts: TextsByMask = {mask: [] for mask in masks_of(scene)}
    for window in windows_of_lines(scene.lines, _words, WINDOW_WORDS, longest):
        for mask in dict.fromkeys(line.speaker for line in window if line.speaker in texts):
            texts[str(mask)].append(" ".join(_as_heard(line, str(mask)) for line in window))
    for mask, of_mask in texts.items():
        if not of_mask:  # one who speaks only beyond the longest scene
            of_mask.append(next(_as_heard(line, mask) for line in scene.lines if line.speaker == mask))
    return texts


def windows_of_lines(
    lines: Sequence[Line], size: Callable[[Line], int], room: int, longest: int, taken: int = 0
) -> Iterator[list[Line]]:
    """Runs of lines that fit into a window, from the scene's beginning up to the longest scene.

    `taken` is what something else takes of the first window, and of the scene.
    """
    window: list[Line] = []
    length = total = taken
    for line in lines:
        line_size = size(line)
        total += line_size
        if total > longest:
            break
        if window and length + line_size > room:
            yield window
            window, length = [], 0
        window.append(line)
        length += line_size
    if window:
        yield window


def _words(line: Line) -> int:
    return len(line.text.split())


def _as_heard(line: Line, mask: str) -> str:
    if line.speaker is None:
        return f"({line.text})"
    return f"{OWN if line.speaker == mask else OTHER if is_mask(line.speaker) else line.speaker}: {line.text}"


@dataclass(frozen=True, slots=True)
class AttentionPooling:
    attention: Reals
    weights: Reals
    intercepts: Reals

    def scores(self, vectors: Vectors, starts: Ints) -> Reals:
        """The logarithm of how probable each class is, for each mask; its texts lie at `starts[i]:starts[i + 1]`."""
        shares = _softmax_by_mask(vectors @ self.attention, starts)
        logits = np.add.reduceat(vectors * shares[:, None], starts[:-1]) @ self.weights.T + self.intercepts
        log_shares: Reals = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return log_shares


def fit_pooling(
    vectors: Vectors, starts: Ints, labels: Ints, classes: int, regularisation: float = REGULARISATION
) -> AttentionPooling:
    """`labels` has the class of each mask, 0 .. classes - 1; every mask has a text."""
    masks, width = len(labels), vectors.shape[1]
    owners = np.repeat(np.arange(masks), np.diff(starts))
    every_mask = np.arange(masks)

    def objective(flat: Reals) -> tuple[float, Reals]:
        attention, weights, intercepts = _unpacked(flat, classes, width)
        shares = _softmax_by_mask(vectors @ attention, starts)
        pooled = np.add.reduceat(vectors * shares[:, None], starts[:-1])
        logits = pooled @ weights.T + intercepts
        logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
        loss = -float(logits[every_mask, labels].sum()) + regularisation * float(flat[:-classes] @ flat[:-classes]) / 2
        errors = np.exp(logits)
        errors[every_mask, labels] -= 1
        pull = np.einsum("ij,ij->i", vectors, (errors @ weights)[owners])
        mean = np.add.reduceat(shares * pull, starts[:-1])
        gradient = np.concatenate(
            (vectors.T @ (shares * (pull - mean[owners])), (errors.T @ pooled).ravel(), errors.sum(axis=0))
        )
        gradient[:-classes] += regularisation * flat[:-classes]
        return loss, gradient

    start = np.zeros(width + classes * width + classes)
    diagonal = np.full(len(start), regularisation + masks / width / classes)
    diagonal[-classes:] = masks / classes
    return AttentionPooling(
        *_unpacked(minimize(objective, start, diagonal, POOLING_TOLERANCE * masks, STEPS), classes, width)
    )


def _unpacked(flat: Reals, classes: int, width: int) -> tuple[Reals, Reals, Reals]:
    return flat[:width], flat[width:-classes].reshape(classes, width), flat[-classes:]


def _softmax_by_mask(scores: Reals, starts: Ints) -> Reals:
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    raised = np.exp(scores - np.maximum.reduceat(scores, starts[:-1])[owners])
    shares: Reals = raised / np.add.reduceat(raised, starts[:-1])[owners]
    return shares
