"""Trainer of `statements`: how probable is it that a sentence somebody said belongs into their profile?

    data/train_both_original_no_cands.txt       PersonaChat's dialogues with both profiles

Every claim that is found in a dialogue (`people.claims`) is a row; it is right where its sentence is like one of the
speaker's profile (cosine of the shipped encoder, role 'own', of at least .6). The weights are a logistic regression's;
the figures are of five folds over profiles, each judged with the weights of the other four.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.formats.personachat import examples
from understudy.language.encoding import Floats, SentenceEncoder
from understudy.language.lexical.logistic import fit_binary, sigmoid
from understudy.language.model_folder import atomic_folder, write_card
from understudy.people.claims import NAME, SceneSpeech, claims_of, feature_names
from understudy.people.statements import SAME, encoded, rows_of
from understudy.sources.source import SourceFile
from understudy.training.dialogues import sha256_of
from understudy.training.task import check_output, provenance

__all__ = ["Talk", "fit_statements", "talks_of", "train_statements"]

FILE = "train_both_original_no_cands.txt"
FOLDS = 5
DECIMALS = 4

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue and the profile of each of its two people."""

    speeches: tuple[SceneSpeech, ...]
    profiles: dict[str, tuple[str, ...]]


def talks_of(path: Path) -> list[Talk]:
    """The dialogues of a PersonaChat file that has both profiles."""
    last = {example.name.partition(".")[0]: example for example in examples(SourceFile(path))}
    talks = []
    for example in last.values():
        own, faced = example.situation.persona, example.situation.faced
        turns = [(turn.speaker, turn.text) for turn in example.history]
        turns.append((own.name, example.candidates[min(example.gold)]))
        speeches = tuple(SceneSpeech(speaker, text, number) for number, (speaker, text) in enumerate(turns, 1))
        profiles = {own.name: own.profile} | ({faced.name: faced.profile} if faced else {})
        talks.append(Talk(speeches, profiles))
    return talks


@dataclass(frozen=True, slots=True)
class Rows:
    """Features and vectors of claims, whether each is right, and the fold of its profile."""

    features: Reals
    vectors: Floats
    is_right: Reals
    folds: NDArray[np.int64]


def train_statements(data: Path, out: Path, fresh: bool = False) -> dict[str, Any]:
    """Fit the weights on a folder's training dialogues, and write the model folder; gives its card."""
    check_output(out, fresh)
    begun = time.perf_counter()
    path = data / FILE
    rows = _rows(talks_of(path), SentenceEncoder())
    weights = fit_statements(rows)
    names = feature_names()
    card: dict[str, Any] = {
        "agent": NAME,
        "what": "Whether a sentence that somebody said belongs into their profile: a logistic regression",
        "language": "en",
        "licence": "Apache-2.0",
        "source": "PersonaChat (CC BY 4.0): the first 1,355 training dialogues, both sides",
        "data": {path.name: sha256_of(path)},
        "claims": len(rows.is_right),
        "figures": _figures(rows),
        "weights": dict(zip(names, weights[: len(names)].round(DECIMALS).tolist(), strict=True)),
        "vector": weights[len(names) : -1].round(DECIMALS).tolist(),
        "intercept": round(float(weights[-1]), DECIMALS),
        **provenance(time.perf_counter() - begun),
    }
    with atomic_folder(out) as folder:
        write_card(folder, card)
    return card


def fit_statements(rows: Rows) -> Reals:
    """A weight for each feature, for each number of the vector, and the intercept."""
    return fit_binary(np.hstack([rows.features, rows.vectors]), rows.is_right, np.ones(len(rows.is_right)))


def _rows(talks: Sequence[Talk], encoder: SentenceEncoder) -> Rows:
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
