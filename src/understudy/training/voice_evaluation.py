"""Questions that evaluate `voice`: is this line of a novel the character's own?

The model sees a character's first lines. Questions are later lines of its own, lines of others of the same novel (the
topic is right, the voice is not) and lines of other novels; each kind of the others' weighs half. No line of a question
is among those shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.errors import InputError
from understudy.lexical.logistic import fit_binary, sigmoid
from understudy.lexical.rows import Reals
from understudy.metrics.statistics import auc, calibration_error
from understudy.metrics.voice.model import SpeakerComparison, SpeakerLines, VoiceModel
from understudy.metrics.voice.traits import Traits

__all__ = ["Novel", "VoiceQuestions", "together", "voice_figures", "voice_questions"]

Novel = Mapping[str, Sequence[Traits]]
"""The lines of each character."""

ASKED_ABOUT, SHOWN, LATEST = 45, 0.6, 200  # lines a character must have; the share shown; how many are looked at
OWN, OTHERS, EACH = 40, 30, 5  # questions by kind; at most so many of one other speaker
LONG_ENOUGH = 15  # letters: a line of two words has hardly a voice


@dataclass(frozen=True, slots=True)
class VoiceQuestions:
    """About one character: the parts of each line's score, whether it is its own, how much it counts.

    `fold` says which novels were left out together when the model learnt that was asked.
    """

    fold: int
    parts: Reals
    own: Reals
    weights: Reals


def voice_questions(model: VoiceModel, novels: Sequence[Novel], fold: int, seed: int) -> list[VoiceQuestions]:
    """About characters of novels that the model has not learnt from."""
    encoded = [{name: model.encode_traits(said) for name, said in novel.items()} for novel in novels]
    rng = np.random.default_rng((seed, fold))
    return [
        _asked(model, encoded, number, name, fold, rng)
        for number, novel in enumerate(encoded)
        for name, said in novel.items()
        if len(said) >= ASKED_ABOUT
    ]


def _asked(
    model: VoiceModel,
    novels: Sequence[Mapping[str, SpeakerLines]],
    number: int,
    name: str,
    fold: int,
    rng: np.random.Generator,
) -> VoiceQuestions:
    said = novels[number][name]
    length = min(len(said), LATEST)
    shown = int(length * SHOWN)
    own = [index for index in range(shown, length) if len(said.traits[index].text) >= LONG_ENOUGH]
    own = sorted(rng.permutation(own)[:OWN].tolist())
    same = _drawn({(number, speaker): speech for speaker, speech in novels[number].items() if speaker != name}, rng)
    foreign = _drawn(
        {(at, speaker): speech for at, novel in enumerate(novels) if at != number for speaker, speech in novel.items()},
        rng,
    )
    left = [
        speech.some([index for index in range(len(speech)) if index not in same.get((number, speaker), ())])
        for speaker, speech in novels[number].items()
        if speaker != name
    ]
    hearing = SpeakerComparison(model, said.some(range(shown)), left)
    parts = [hearing.parts(said.some(own))] if own else []
    for lines in (same, foreign):
        parts += [hearing.parts(novels[at][speaker].some(indices)) for (at, speaker), indices in lines.items()]
    counts = [len(own), sum(map(len, same.values())), sum(map(len, foreign.values()))]
    shares = [1.0 / max(counts[0], 1), 0.5 / max(counts[1], 1), 0.5 / max(counts[2], 1)]
    labels = np.repeat([1.0, 0.0, 0.0], counts)
    return VoiceQuestions(fold, np.concatenate(parts), labels, np.repeat(shares, counts))


def _drawn(
    speakers: Mapping[tuple[int, str], SpeakerLines], rng: np.random.Generator
) -> dict[tuple[int, str], list[int]]:
    """Lines of other speakers, so many in all and at most a few of each."""
    all_lines = [
        (who, index)
        for who, speech in speakers.items()
        for index in range(len(speech))
        if len(speech.traits[index].text) >= LONG_ENOUGH
    ]
    drawn_lines: dict[tuple[int, str], list[int]] = defaultdict(list)
    drawn = 0
    for number in rng.permutation(len(all_lines)).tolist():
        who, index = all_lines[number]
        if len(drawn_lines[who]) < EACH:
            drawn_lines[who].append(index)
            drawn += 1
        if drawn == OTHERS:
            break
    return {who: indices for who, indices in drawn_lines.items() if indices}


def together(questions: Sequence[VoiceQuestions]) -> tuple[Reals, Reals, Reals]:
    if not questions:
        raise InputError(f"the novels have no character with {ASKED_ABOUT} lines to ask about")
    return (
        np.concatenate([some.parts for some in questions]),
        np.concatenate([some.own for some in questions]),
        np.concatenate([some.weights for some in questions]),
    )


def voice_figures(questions: Sequence[VoiceQuestions]) -> dict[str, Any]:
    """AUC and calibration of later lines against others', each fold scored with weights fitted on the other folds."""
    areas, values, labels, counts = [], [], [], []
    for fold in sorted({asked.fold for asked in questions}):
        others = [asked for asked in questions if asked.fold != fold]
        if not others:
            return {}
        weights = fit_binary(*together(others))
        for asked in (asked for asked in questions if asked.fold == fold):
            value = sigmoid(asked.parts @ weights[:-1] + weights[-1])
            if 0 < asked.own.sum() < len(asked.own):
                areas.append(auc(value, asked.own > 0))
            values.append(value)
            labels.append(asked.own)
            counts.append(asked.weights)
    error = calibration_error(np.concatenate(values), np.concatenate(labels), np.concatenate(counts))
    return {
        "what": "later lines of a character among lines of others of the same and of other novels; a third of the "
        "novels left out of everything in turn",
        "auc": round(float(np.mean(areas)), 4),
        "calibration_error": round(error, 4),
        "characters": len(areas),
    }
