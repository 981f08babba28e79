"""Trainer of `statements`: how probable is it that a sentence somebody said belongs into their profile?

    data/train_both_original_no_cands.txt       PersonaChat's dialogues with both profiles

Every claim that is found in a dialogue (`people.claims`) is a row; it is right where its sentence is like one of the
speaker's profile (cosine of the shipped encoder, role 'own', of at least .6). The weights are a logistic regression's;
the figures are of five folds over profiles, each judged with the weights of the other four.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout, so that it runs from anywhere

from recipes.command import recipe
from understudy.errors import InputError
from understudy.language.encoding import Floats
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.language.lexical.logistic import fit_binary
from understudy.language.lexical.rows import sigmoid
from understudy.language.model_folder import ModelFolder, write_card
from understudy.people.claims import NAME, claims_of, feature_names
from understudy.people.statements import SAME, encoded, rows_of
from understudy.sources.source import sha256_of
from understudy.training.dialogues import ProfiledTalk, talks_of
from understudy.training.loop import Progress
from understudy.training.run import TrainingRun, TrainingTask

__all__ = ["StatementSettings", "fit_statements", "train"]

FILE = "train_both_original_no_cands.txt"
FOLDS = 5
DECIMALS = 4

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Features and vectors of claims, whether each is right, and the fold of its profile."""

    features: Reals
    vectors: Floats
    is_right: Reals
    folds: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StatementSettings:
    """There is nothing to choose."""


def train(task: TrainingTask[Path, StatementSettings], progress: Progress) -> ModelFolder:
    """Fit the weights on a folder's training dialogues, and write the model folder."""
    run = TrainingRun(task, progress, uses_torch=False)
    path = task.data / FILE
    if not path.is_file():
        raise InputError(f"has no {FILE}: give the folder with PersonaChat's files", task.data)
    run.begin({"agent": NAME, "data": {path.name: sha256_of(path)}})
    rows = _rows(talks_of(path), SentenceEncoder())
    weights = fit_statements(rows)
    names = feature_names()
    card = run.card(
        what="Whether a sentence that somebody said belongs into their profile: a logistic regression",
        language="en",
        licence="Apache-2.0",
        source="PersonaChat (CC BY 4.0): the first 1,355 training dialogues, both sides",
        claims=len(rows.is_right),
        figures=_figures(rows),
        weights=dict(zip(names, weights[: len(names)].round(DECIMALS).tolist(), strict=True)),
        vector=weights[len(names) : -1].round(DECIMALS).tolist(),
        intercept=round(float(weights[-1]), DECIMALS),
    )
    with run.output() as folder:
        write_card(folder, card)
    return ModelFolder(card, {}, task.out)


def fit_statements(rows: Rows) -> Reals:
    """A weight for each feature, for each number of the vector, and the intercept."""
    return fit_binary(np.hstack([rows.features, rows.vectors]), rows.is_right, np.ones(len(rows.is_right)))


def _rows(talks: Sequence[ProfiledTalk], encoder: SentenceEncoder) -> Rows:
    features, vectors, is_right, folds = [], [], [], []
    profiles = dict[str, int]()  # by their first sentence in the order of the alphabet
    for talk in talks:
        claims = list(claims_of(talk.speeches, {}, is_chat=True))
        own = encoded([claim.said.sentence for claim in claims], encoder)
        features += rows_of(claims, own, encoder)
        vectors.append(own)
        for claim, vector in zip(claims, own):
            profile = talk.profiles[claim.who]
            is_right.append(float((encoded(profile, encoder) @ vector).max(initial=-1.0) >= SAME))
            folds.append(profiles.setdefault(min(profile, default=""), len(profiles)) % FOLDS)
    return Rows(np.array(features), np.concatenate(vectors), np.array(is_right), np.array(folds, np.int64))


def _figures(rows: Rows) -> dict[str, float]:
    """Of claims whose profiles were not fitted on: how many are right, and the mean loss, also of the mean alone."""
    columns = np.hstack([rows.features, rows.vectors])
    probable = np.zeros(len(rows.is_right))
    for fold in range(FOLDS):
        known = rows.folds != fold
        weights = fit_binary(columns[known], rows.is_right[known], np.ones(int(known.sum())))
        probable[~known] = sigmoid(columns[~known] @ weights[:-1] + weights[-1])
    mean = float(rows.is_right.mean())
    loss = -np.log(np.where(rows.is_right > 0, probable, 1 - probable)).mean()
    chance = -(mean * np.log(mean) + (1 - mean) * np.log(1 - mean))
    sure = probable >= 0.6
    return {
        "right": round(mean, DECIMALS),
        "right of those at .6 and above": round(float(rows.is_right[sure].mean()), DECIMALS),
        "loss": round(float(loss), DECIMALS),
        "loss of the mean": round(float(chance), DECIMALS),
    }


main = recipe("statements", train, StatementSettings)

if __name__ == "__main__":
    main()
