"""Questions such as people are asked of `voice`, put about characters of novels: is this line theirs?

A character is known by its first lines. Asked about are later lines of its own, lines of others of the same novel (the
topic is right, the voice is not) and lines of other novels; each kind of the others' counts half. Of what is asked
about, nothing is among the lines that are shown.
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
from understudy.metrics.agreement import auc, calibration_error
from understudy.metrics.voice.model import SpeakerComparison, SpeakerLines, VoiceModel
from understudy.metrics.voice.traits import Traits

__all__ = ["Novel", "Questions", "figures_of", "questions_of", "together"]

Novel = Mapping[str, Sequence[Traits]]
"""The lines of each character."""

ASKED_ABOUT, SHOWN, LATEST = 45, 0.6, 200  # lines a character must have; the share shown; how many are looked at
OWN, OTHERS, EACH = 40, 30, 5  # questions by kind; at most so many of one other speaker
LONG_ENOUGH = 15  # letters: a line of two words has hardly a voice


@dataclass(frozen=True, slots=True)
class Questions:
    """About one character: the parts of each line's score, whether it is its own, how much it counts.

    `fold` says which novels were left out together when the model learnt that was asked.
    """

    fold: int
    parts: Reals
    own: Reals
    weights: Reals


def questions_of(model: VoiceModel, novels: Sequence[Novel], fold: int, seed: int) -> list[Questions]:
    """About characters of novels that the model has not learnt from."""
    heard = [{name: model.encode_traits(said) for name, said in novel.items()} for novel in novels]
    rng = np.random.default_rng((seed, fold))
    return [
        _asked(model, heard, number, name, fold, rng)
        for number, novel in enumerate(heard)
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
) -> Questions:
    said = novels[number][name]
    length = min(len(said), LATEST)
    shown = int(length * SHOWN)
    own = [place for place in range(shown, length) if len(said.traits[place].text) >= LONG_ENOUGH]
    own = sorted(rng.permutation(own)[:OWN].tolist())
    same = _drawn({(number, other): speech for other, speech in novels[number].items() if other != name}, rng)
    foreign = _drawn(
        {(at, other): speech for at, novel in enumerate(novels) if at != number for other, speech in novel.items()}, rng
    )
    left = [
        speech.some([place for place in range(len(speech)) if place not in same.get((number, other), ())])
        for other, speech in novels[number].items()
        if other != name
    ]
    hearing = SpeakerComparison(model, said.some(range(shown)), left)
    parts = [hearing.parts(said.some(own))] if own else []
    for lines in (same, foreign):
        parts += [hearing.parts(novels[at][other].some(places)) for (at, other), places in lines.items()]
    counts = [len(own), sum(map(len, same.values())), sum(map(len, foreign.values()))]
    shares = [1.0 / max(counts[0], 1), 0.5 / max(counts[1], 1), 0.5 / max(counts[2], 1)]
    labels = np.repeat([1.0, 0.0, 0.0], counts)
    return Questions(fold, np.concatenate(parts), labels, np.repeat(shares, counts))


def _drawn(
    speakers: Mapping[tuple[int, str], SpeakerLines], rng: np.random.Generator
) -> dict[tuple[int, str], list[int]]:
    """Lines of other speakers, so many in all and at most a few of each."""
    all_lines = [
        (who, place)
        for who, speech in speakers.items()
        for place in range(len(speech))
        if len(speech.traits[place].text) >= LONG_ENOUGH
    ]
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    drawn = 0
    for at in rng.permutation(len(all_lines)).tolist():
        who, place = all_lines[at]
        if len(found[who]) < EACH:
            found[who].append(place)
            drawn += 1
        if drawn == OTHERS:
            break
    return {who: places for who, places in found.items() if places}


def together(questions: Sequence[Questions]) -> tuple[Reals, Reals, Reals]:
    if not questions:
        raise InputError(f"the novels have no character with {ASKED_ABOUT} lines to ask about")
    return (
        np.concatenate([one.parts for one in questions]),
        np.concatenate([one.own for one in questions]),
        np.concatenate([one.weights for one in questions]),
    )


def figures_of(questions: Sequence[Questions]) -> dict[str, Any]:
    """How well later lines are told from others', each fold judged by weights that its questions had no part in."""
    areas, values, labels, counts = [], [], [], []
    for fold in sorted({one.fold for one in questions}):
        rest = [one for one in questions if one.fold != fold]
        if not rest:
            return {}
        weights = fit_binary(*together(rest))
        for one in (one for one in questions if one.fold == fold):
            value = sigmoid(one.parts @ weights[:-1] + weights[-1])
            if 0 < one.own.sum() < len(one.own):
                areas.append(auc(value, one.own > 0))
            values.append(value)
            labels.append(one.own)
            counts.append(one.weights)
    error = calibration_error(np.concatenate(values), np.concatenate(labels), np.concatenate(counts))
    return {
        "what": "later lines of a character among lines of others of the same and of other novels; a third of the "
        "novels left out of everything in turn",
        "auc": round(float(np.mean(areas)), 4),
        "calibration_error": round(error, 4),
        "characters": len(areas),
    }
