"""Figures of a run of guessing: how often each model is right, on what, against whom, and who is taken for whom.

    accuracy               the share of masked speakers that are named rightly, of one show or of all together
    scene_accuracy         the same share of each scene, and the mean over scenes
    accuracy_by_speakers   accuracy in scenes with so many masked speakers; likewise by character, and by whatever
                           groups of speakers the caller has

Masked speakers of a scene are not independent, so intervals and tests draw whole scenes. `paper` is left empty: a bench
that knows which scenes it judges fills it in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from understudy.errors import InputError
from understudy.formats.annotations import Annotation
from understudy.guessing.scenes import Guesses, Masked, masks_of
from understudy.metrics.agreement import kappa_interval
from understudy.metrics.statistics import Estimate, holm, interval, paired_p

# Do two people say the same about what telling masked speakers took? Cohen's kappa of their annotations.
#
# Only speakers that both have annotated are looked at. Of evidence, what somebody says is the whole set of kinds: to
# leave one out is to disagree. Intervals are bootstraps over scenes.

SAID: Mapping[str, Callable[[Annotation], Hashable]] = {
    "coarse evidence": lambda annotation: frozenset(annotation.coarse_evidence),
    "evidence": lambda annotation: frozenset(annotation.evidence),
    "direct history": lambda annotation: annotation.needs_history == "direct",
    "history": lambda annotation: annotation.needs_history,
    "reasoning": lambda annotation: annotation.reasoning,
}
PAPER_AGREEMENT = {
    "coarse evidence": 0.8153,
    "evidence": 0.8099,
    "direct history": 0.8202,
    "history": 0.7551,
    "reasoning": 0.8721,
}
"""Of the two annotators of TVShowGuess."""


def annotation_agreement(ours: Sequence[Annotation], theirs: Sequence[Annotation], seed: int = 0) -> list[Row]:
    """A row for each thing that annotations tell."""
    by_instance = {annotation.instance: annotation for annotation in theirs}
    pairs = [
        (annotation, by_instance[annotation.instance]) for annotation in ours if annotation.instance in by_instance
    ]
    if not pairs:
        raise InputError("the two tables have no speaker of a scene in common: they must be about the same scenes")
    return agreement_of_pairs(pairs, [annotation.instance[:2] for annotation, _ in pairs], seed)


def agreement_of_pairs(
    pairs: Sequence[tuple[Annotation, Annotation]], scenes: Sequence[Hashable], seed: int = 0
) -> list[Row]:
    """A row for each thing that annotations tell, of pairs about the same speakers and the scenes they are of."""
    rows = []
    for name, said in SAID.items():
        tables = _tables(
            [
                (scene, said(annotation), said(counterpart))
                for scene, (annotation, counterpart) in zip(scenes, pairs, strict=True)
            ]
        )
        kappa = Estimate.of(
            "kappa", kappa_interval(tables, seed=seed), len(pairs), "both say one and the same throughout"
        )
        rows.append({"annotation": name, **kappa.row(), "paper": PAPER_AGREEMENT[name]})
    return rows


def _tables(labelled: Sequence[tuple[Hashable, Hashable, Hashable]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each scene, how often one said the row while the other said the column."""
    scenes: dict[Hashable, int] = {}
    answers: dict[Hashable, int] = {}
    cells = [
        (scenes.setdefault(scene, len(scenes)), *(answers.setdefault(answer, len(answers)) for answer in said))
        for scene, *said in labelled
    ]
    counts = np.zeros((len(scenes), len(answers), len(answers)))
    np.add.at(counts, tuple(np.array(cells).T), 1.0)
    return counts


ALL = "all"

Row = dict[str, Any]
SceneKey = tuple[str, tuple[int, ...], int]


@dataclass(frozen=True, slots=True)
class GuessedSpeaker:
    """A masked speaker and whom a model took them for.

    `index` counts the scene's masked speakers in the order in which they first speak, from 0.
    """

    model: str
    show: str
    episode: tuple[int, ...]
    scene: int
    index: int
    who: str
    guess: str
    probabilities: Mapping[str, float]
    """Of every candidate of the scene, as the model had them."""

    @property
    def right(self) -> bool:
        return self.guess == self.who

    @property
    def speakers(self) -> int:
        """How many masked speakers the scene has."""
        return len(self.probabilities)

    @property
    def scene_key(self) -> SceneKey:
        return self.show, self.episode, self.scene

    @property
    def key(self) -> str:
        """The same for every model, so that two can be compared; up to its dot, the same for a whole scene."""
        numbers = "x".join(f"{number:02d}" for number in self.episode)
        return f"{self.show.replace('.', '')}/{numbers}/{self.scene}.{self.index}"


@dataclass(frozen=True, slots=True)
class Grouping:
    """A way to group speakers: its name, the groups in order, and which of them a speaker is in."""

    name: str
    order: Sequence[str | int]
    groups_of: Callable[[GuessedSpeaker], Iterable[str | int]]


def guessed_speakers(model: str, show: str, masked: Masked, guesses: Guesses) -> list[GuessedSpeaker]:
    """The guesses about one scene, speaker by speaker."""
    *episode, number = masked.scene.moment.numbers
    speakers = []
    for order, mask in enumerate(masks_of(masked.scene)):
        shares = guesses[mask]
        guess = max(shares, key=lambda name: shares[name])
        speakers.append(GuessedSpeaker(model, show, tuple(episode), number, order, masked.answers[mask], guess, shares))
    return speakers


def analyse(
    guessed: Sequence[GuessedSpeaker], seed: int = 0, groupings: Sequence[Grouping] = ()
) -> dict[str, list[Row]]:
    """Rows, comparisons and confusions of one or more models judged on the same scenes; `flows` is left empty."""
    by_model: dict[str, list[GuessedSpeaker]] = {}
    for speaker in guessed:
        by_model.setdefault(speaker.model, []).append(speaker)
    return {
        "rows": [row for model, ours in by_model.items() for row in _model_rows(model, ours, groupings, seed)],
        "comparisons": _comparisons(by_model, seed),
        "confusions": [_confusion(model, show, ours) for model, ours in by_model.items() for show in _shows(ours)],
        "flows": [],
    }


def _model_rows(model: str, ours: Sequence[GuessedSpeaker], groupings: Sequence[Grouping], seed: int) -> Iterator[Row]:
    for show in (*_shows(ours), ALL):
        of_show = [speaker for speaker in ours if show in (speaker.show, ALL)]
        yield _accuracy({"model": model, "show": show, "metric": "accuracy"}, of_show, seed)
        yield _scene_accuracy(model, show, of_show, seed)
        for grouping in (*_own_groupings(of_show), *groupings):
            if grouping.name == "character" and show == ALL:
                continue
            groups: dict[str | int, list[GuessedSpeaker]] = {}
            for speaker in of_show:
                for label in grouping.groups_of(speaker):
                    groups.setdefault(label, []).append(speaker)
            for label in grouping.order:
                if label in groups:
                    metric = f"accuracy_by_{grouping.name}"
                    keys = {"model": model, "show": show, grouping.name: label, "metric": metric}
                    yield _accuracy(keys, groups[label], seed)


def _own_groupings(ours: Sequence[GuessedSpeaker]) -> Iterator[Grouping]:
    crowds = sorted({speaker.speakers for speaker in ours})
    yield Grouping("speakers", crowds, lambda speaker: (speaker.speakers,))
    characters = [name for name, _ in Counter(speaker.who for speaker in ours).most_common()]
    yield Grouping("character", characters, lambda speaker: (speaker.who,))


def _accuracy(keys: Row, speakers: Sequence[GuessedSpeaker], seed: int) -> Row:
    return _row(keys, [speaker.right for speaker in speakers], [speaker.scene_key for speaker in speakers], seed)


def _scene_accuracy(model: str, show: str, speakers: Sequence[GuessedSpeaker], seed: int) -> Row:
    scenes: dict[SceneKey, list[bool]] = {}
    for speaker in speakers:
        scenes.setdefault(speaker.scene_key, []).append(speaker.right)
    keys = {"model": model, "show": show, "metric": "scene_accuracy"}
    means = [float(np.mean(scene)) for scene in scenes.values()]
    return _row(keys, means, list(scenes), seed)


def _row(keys: Row, values: Sequence[float], scenes: Sequence[SceneKey], seed: int) -> Row:
    """One scene alone has no interval: drawn again it is always itself."""
    figure = interval(values, scenes, seed)
    several = len(set(scenes)) > 1
    low, high = (figure.low, figure.high) if several else (None, None)
    return {**keys, "value": figure.value, "low": low, "high": high, "n": len(values), "paper": None}


def _comparisons(by_model: Mapping[str, Sequence[GuessedSpeaker]], seed: int) -> list[Row]:
    """Models two by two on the speakers that both were asked about, over all shows."""
    rows: list[Row] = []
    for first, second in combinations(by_model, 2):
        theirs = {speaker.key: speaker for speaker in by_model[second]}
        pairs = [(speaker, theirs[speaker.key]) for speaker in by_model[first] if speaker.key in theirs]
        if pairs:
            scenes = [speaker.scene_key for speaker, _ in pairs]
            a, b = (np.array([pair[side].right for pair in pairs], dtype=np.float64) for side in (0, 1))
            difference = interval(a - b, scenes, seed)
            rows.append(
                {"metric": "accuracy", "set": ALL, "agents": [first, second], "difference": difference.value,
                 "low": difference.low, "high": difference.high, "p": paired_p(a, b, scenes, seed), "n": len(pairs)}
            )  # fmt: skip
    for row, adjusted in zip(rows, holm([row["p"] for row in rows])):
        row["p_adjusted"] = adjusted
    return rows


def _confusion(model: str, show: str, ours: Sequence[GuessedSpeaker]) -> Row:
    """Rows of `counts` are who it was, columns whom they were taken for; who is masked most comes first."""
    of_show = [speaker for speaker in ours if speaker.show == show]
    names = [name for name, _ in Counter(speaker.who for speaker in of_show).most_common()]
    names += sorted({speaker.guess for speaker in of_show} - set(names))
    counts = Counter((speaker.who, speaker.guess) for speaker in of_show)
    return {"model": model, "show": show, "names": names, "counts": [[counts[a, b] for b in names] for a in names]}


def _shows(guessed: Iterable[GuessedSpeaker]) -> list[str]:
    return list(dict.fromkeys(speaker.show for speaker in guessed))
