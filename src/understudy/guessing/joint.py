"""`joint`: all speakers of a scene at once. Which candidate fits which mask, one candidate for each?

    P(a) ~ exp( sum over masks m of  w . f(m, a(m)) )          a: an assignment, one candidate for each mask

The clues f(m, c) come from sub-models of the words that m says, hears and is answered with; from who is named where;
and from what c has said and heard so far, and lately. Their weights w are learned together, from whole scenes: the
sub-models are asked about scenes they have not seen (each fifth by sub-models of the other four), and a memory only
knows what came earlier. What is known of c (profile, attributes, ties) has fixed weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from understudy.errors import AgentError
from understudy.guessing.assignment import SceneClues, can_list, fit_weights, marginals, named
from understudy.guessing.baselines import TermRegression, TextEncoder, Vectors, fit_pooling
from understudy.guessing.clues import CONTEXT, CUES, FACTS, SAYINGS, TOPICS, SceneMemory, cue_table, fact_table
from understudy.guessing.features import SPACES, SceneFeatures, Terms, named_scene_features, scene_features
from understudy.guessing.scenes import Guesses, TrainingScenes, masks_of
from understudy.language.lexical.rows import Ints, Reals, SparseRows, index_ranges
from understudy.people.mentions import learned_words, named_in
from understudy.story.persona import Persona
from understudy.story.types import Scene

FOLDS = 5
REGULARISATION = 3.0  # of a weight, in standard deviations of its clue
LEAST_SPREAD = 0.01  # of a clue that hardly ever comes up
USUAL_LENGTH = 4.0  # ln of words: sub-models count as they are about masks that say so much
LINES_ENCODED = 12  # of a mask, the longest

SUB_MODELS: dict[str, Callable[[Terms, SparseRows, Ints, int], TermRegression]] = {
    "what it says": partial(TermRegression, spaces=("own", "shape")),
    "what it says and hears": partial(TermRegression, spaces=("own", "heard", "answer", "shape")),
}
"""Models of the words around a mask, by name, and how each is learned."""

MEANING = "what its lines mean"
"""The sub-model of an encoder, where there is one: attention over the vectors of lines."""

CLUES: dict[str, float] = {
    **dict.fromkeys(SUB_MODELS, 0.5),
    MEANING: 0.0,
    **SAYINGS,
    **{f"{name}, by how much is said": 0.0 for name in (*SUB_MODELS, MEANING, *SAYINGS)},
    **TOPICS,
    **{cue: weight for cue, (weight, _) in CUES.items()},
    **FACTS,
}
"""Every clue, and what it weighs before anything is learned."""

ABLATIONS: dict[str, Callable[[str], bool]] = {
    "assignment": lambda _clue: False,
    "history": lambda clue: clue in TOPICS,
    "names": lambda clue: clue in CUES,
    "context": lambda clue: clue in CONTEXT or "hear" in clue or "answer" in clue,
    "words": lambda clue: "what it says" in clue or "scenes, by" in clue or clue in SAYINGS,
    "facts": lambda clue: clue in FACTS,
}
"""What can be left out, and the clues that go with it. Without history, later scenes are not remembered either."""


@dataclass(frozen=True, slots=True)
class MaskFeatures:
    """What sub-models look at, a row for each mask: counts of terms and, with an encoder, vectors of lines."""

    counted: SparseRows
    vectors: Vectors | None = None
    starts: Ints | None = None

    def some(self, rows: Ints) -> MaskFeatures:
        if self.vectors is None or self.starts is None:
            return MaskFeatures(self.counted.take(rows))
        lengths = np.diff(self.starts)[rows]
        indices = index_ranges(self.starts[rows], lengths)
        return MaskFeatures(self.counted.take(rows), self.vectors[indices], np.concatenate(([0], np.cumsum(lengths))))


class SubModels:
    """All sub-models, learned from the same masks."""

    def __init__(self, terms: Terms, features: MaskFeatures, labels: Ints, classes: int) -> None:
        self.of_words = {name: learn(terms, features.counted, labels, classes) for name, learn in SUB_MODELS.items()}
        self._of_meaning = None
        if features.vectors is not None and features.starts is not None:
            self._of_meaning = fit_pooling(features.vectors, features.starts, labels, classes)

    def scores(self, features: MaskFeatures) -> Reals:
        """`[mask, main character, sub-model]`, meaning last; 0 where there is no encoder."""
        scores = [model.scores(features.counted) for model in self.of_words.values()]
        if self._of_meaning is None or features.vectors is None or features.starts is None:
            scores.append(np.zeros(scores[0].shape))
        else:
            scores.append(self._of_meaning.scores(features.vectors, features.starts))
        return np.stack(scores, axis=2)


class Joint:
    """`without` names what to leave out; `encoder` adds what lines mean, at the price of reading them all."""

    def __init__(
        self, training: TrainingScenes, without: Collection[str] = (), encoder: TextEncoder | None = None
    ) -> None:
        if unknown := set(without) - ABLATIONS.keys():
            raise AgentError(
                f"joint cannot do without {', '.join(sorted(unknown))}: choose from {', '.join(ABLATIONS)}"
            )
        self._main, self._names, self.language = training.main, training.names, training.language
        self._without, self._encoder = frozenset(without), encoder
        left_out = [ABLATIONS[name] for name in without]
        self._is_used = np.array([not any(goes(clue) for goes in left_out) for clue in CLUES], dtype=np.float64)
        scenes = [named_scene_features(scene, self._main, self._names, self.language) for scene in training.scenes]
        self._meant = learned_words(training.names, (scene.read for scene in scenes))
        self._terms = Terms([bag for scene in scenes for bag in scene.listed()], SPACES)
        self._memory = SceneMemory(self._terms, len(self._main))
        features = self._mask_features(scenes)
        labels = np.array([self._main.index(who) for scene in scenes for who in scene.speakers], dtype=np.int64)
        self._weights = self._fitted(self._scene_clues(scenes, features, labels))
        self._sub_models = SubModels(self._terms, features, labels, len(self._main))

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        scene, table = self.clues(masked, personas)
        scores = table @ self._weights
        if "assignment" in self._without:
            probabilities = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        else:
            probabilities = marginals(scores)
        return named(scene.speakers, [persona.name for persona in personas], probabilities)

    def clues(self, masked: Scene, personas: Sequence[Persona]) -> tuple[SceneFeatures, Reals]:
        """The scene as it was read, and `[mask, candidate, clue]`, the clues in the order of `CLUES`."""
        scene = scene_features(masked, masks_of(masked), self._names, self.language)
        features, candidates = self._mask_features([scene]), [persona.name for persona in personas]
        people = np.array([self._main.index(name) for name in candidates], dtype=np.int64)
        scores, memories = self._sub_models.scores(features)[:, people], self._memory.clues(features.counted)[:, people]
        return scene, np.dstack((self._table(scene, candidates, scores, memories), fact_table(scene, personas)))

    @property
    def weights(self) -> Reals:
        """What each clue weighs; one that was left out, nothing."""
        return self._weights

    def remember(self, scene: Scene) -> None:
        if "history" not in self._without:
            features = named_scene_features(scene, self._main, self._names, self.language)
            people = [self._main.index(who) for who in features.speakers]
            self._memory.remember(self._terms.counted(features.listed()), people)

    def named_in(self, text: str) -> set[str]:
        """Who of the main characters is named in a text."""
        return {who for who, _, _ in named_in(text, self._meant)}

    def telling_terms(self, scene: SceneFeatures, mask: str, who: str, rival: str) -> list[str]:
        """The terms that a mask says and that speak for one main character against another, the strongest first."""
        model = self._sub_models.of_words["what it says"]
        row = model.view.weighted(self._terms.counted([scene.bags[mask]]))
        weights = model.model.weights[:, row.columns]
        speaks_for = (weights[self._main.index(who)] - weights[self._main.index(rival)]) * row.values
        numbers = model.view.numbers[row.columns]
        strongest = [index for index in np.argsort(-speaks_for, kind="stable") if speaks_for[index] > 0]
        terms = [int(numbers[index]) for index in strongest]
        return [self._terms.term(number) for number in terms if self._terms.space(number) == "own"]

    def _mask_features(self, scenes: Sequence[SceneFeatures]) -> MaskFeatures:
        counted = self._terms.counted([bag for scene in scenes for bag in scene.listed()])
        if self._encoder is None:
            return MaskFeatures(counted)
        texts = [sorted(scene.texts(who), key=len)[-LINES_ENCODED:] for scene in scenes for who in scene.speakers]
        vectors = self._encoder.encode([text for of_mask in texts for text in of_mask])
        return MaskFeatures(counted, vectors, np.cumsum([0, *map(len, texts)]))

    def _scene_clues(self, scenes: Sequence[SceneFeatures], features: MaskFeatures, labels: Ints) -> list[SceneClues]:
        """The clues of every scene that can teach what they are worth, as they were when it began."""
        starts = np.cumsum([0, *(len(scene.speakers) for scene in scenes)])
        scores = self._held_out_scores(features, labels, starts)
        clues: list[SceneClues] = []
        for index, scene in enumerate(scenes):
            rows = np.arange(starts[index], starts[index + 1])
            people, counted = labels[rows], features.counted.take(rows)
            if len(people) > 1 and can_list(len(people)):
                memories = self._memory.clues(counted)[:, people]
                table = self._table(scene, scene.speakers, scores[rows][:, people], memories)
                no_facts = np.zeros((*table.shape[:2], len(FACTS)))
                clues.append(SceneClues(np.dstack((table, no_facts)), np.arange(len(people))))
            self._memory.remember(counted, people.tolist())
        return clues

    def _held_out_scores(self, features: MaskFeatures, labels: Ints, starts: Ints) -> Reals:
        """Scores of every mask, by sub-models that had not seen its fifth of the scenes."""
        fold_of = np.repeat(np.arange(len(starts) - 1) * FOLDS // max(len(starts) - 1, 1), np.diff(starts))
        scores = np.zeros((len(labels), len(self._main), len(SUB_MODELS) + 1))
        for fold in range(FOLDS):
            seen, unseen = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
            if len(seen) and len(unseen):
                models = SubModels(self._terms, features.some(seen), labels[seen], len(self._main))
                scores[unseen] = models.scores(features.some(unseen))
        return scores

    def _table(self, scene: SceneFeatures, candidates: Sequence[str], scores: Reals, memories: Reals) -> Reals:
        sayings, topics = memories[:, :, : len(SAYINGS)], memories[:, :, len(SAYINGS) :]
        by_words = np.dstack((scores - np.logaddexp.reduce(scores, axis=1, keepdims=True), sayings))
        length = np.array([math.log1p(scene.length(who)) for who in scene.speakers])[:, None, None] - USUAL_LENGTH
        cues = cue_table(scene.read, scene.speakers, candidates, self._meant)
        return np.dstack((by_words, by_words * length, topics, cues))

    def _fitted(self, scenes: Sequence[SceneClues]) -> Reals:
        """Weights are regularised by how much their clues vary, so that no clue's unit matters."""
        start = np.array(list(CLUES.values())) * self._is_used
        if not scenes:
            return start
        used = [SceneClues(scene.table * self._is_used, scene.answers) for scene in scenes]
        spread = np.concatenate([scene.table.reshape(-1, len(start)) for scene in used]).var(axis=0)
        return fit_weights(used, start, REGULARISATION * np.maximum(spread, LEAST_SPREAD))
