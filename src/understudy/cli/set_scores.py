"""Metrics of whole sets for `understudy score`: one figure for all lines of a file, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.dialogue import Score
from understudy.errors import InputError
from understudy.judging import read_labelled
from understudy.metrics.psprob import SetMetric, Speakers, persona_accuracy, personality_classification_accuracy
from understudy.metrics.registry import MetricContext
from understudy.metrics.samples import Samples

__all__ = ["PERSONA", "SETS", "OfSet", "score_sets", "set_metrics"]

PERSONALITY, PERSONA = "personality_classification_accuracy", "persona_accuracy"
SETS = (PERSONALITY, PERSONA)


@dataclass(frozen=True, slots=True)
class OfSet:
    """A metric of a set, made for a persona; `chance` is what guessing would have."""

    name: str
    metric: SetMetric
    chance: float


def set_metrics(names: Iterable[str], grounds: MetricContext, labelled: Path | None) -> list[OfSet]:
    """Metrics by name. `persona_accuracy` is learnt from lines that somebody called fit or unfit."""
    who, samples = grounds.situation.persona.name, grounds.samples
    made = []
    for name in names:
        if name == PERSONALITY:
            speakers = Speakers(samples, always=who)
            metric = personality_classification_accuracy(samples, who, speakers)
            made.append(OfSet(name, metric, 1 / max(len(speakers.names), 1)))
        else:
            assert labelled is not None
            told = read_labelled(labelled)
            fit, unfit = ([line.text for line in told if line.fit is wanted] for wanted in (True, False))
            if not fit or not unfit:
                raise InputError("needs lines of both kinds, fit and unfit, to learn from", labelled)
            made.append(OfSet(name, persona_accuracy(fit, unfit, samples.language), 1 / 2))
    return made


def score_sets(pieces: Iterable[list[str]], sets: Sequence[OfSet], samples: Samples) -> tuple[int, list[Score]]:
    """How many lines there are, and each metric's share over all of them; lines without words take no part."""
    count = spoken = 0
    won = dict.fromkeys((one.name for one in sets), 0)
    lacks: dict[str, str] = {}
    for piece in pieces:
        count += len(piece)
        with_words = int((samples.tokenize(piece).lengths > 0).sum())
        spoken += with_words
        for one in sets:
            score = one.metric(piece)
            if score.value is not None:
                won[one.name] += round(score.value * with_words)
            elif with_words:
                lacks[one.name] = score.reason
    return count, [_whole(one, won[one.name], spoken, lacks.get(one.name, "")) for one in sets]


def _whole(one: OfSet, won: int, spoken: int, lack: str) -> Score:
    if lack or not spoken:
        return Score(one.name, None, lack or "no line has words")
    return Score(one.name, won / spoken, f"{won:,} of {spoken:,} lines; by chance {one.chance:.2f}")
