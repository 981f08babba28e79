"""Whose line is it? The later lines of a story, heard by the earlier ones: nothing is trained and nobody is asked.

The people told apart are those who speak most before a moment. Each of their later lines is scored for each of them;
the one whose voice is the most probable is the guess.

    accuracy            the share of lines whose guess is right; by chance it is 1 / people
    calibration_error   ECE of `voice` itself over all pairs of a line and a person, own and others counting alike
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.bench.items import manifest_of
from understudy.errors import InputError
from understudy.lexical.rows import Reals
from understudy.metrics import Samples, Speakers
from understudy.metrics.statistics import RESAMPLES, calibration_error, interval
from understudy.metrics.voice import voice
from understudy.spoiler_free import scenes_before
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["bench_later_lines"]

SHORTEST = 5  # words, below which nobody could tell

Row = dict[str, Any]


def bench_later_lines(story: Story, since: str, people: int = 6, seed: int = 0) -> dict[str, Any]:
    """Rows and manifest."""
    at = story.moment(since)
    samples = Samples.of_story(story, at)
    names = sorted(samples.names, key=samples.count, reverse=True)[:people]
    later = _said_since(story, at, names, samples)
    if len(names) < 2 or not later:
        raise InputError(f"has no lines of at least two people before and after {since}: choose another moment")
    texts, own = [text for text, _ in later], np.array([names.index(name) for _, name in later])
    lines = samples.tokenize(texts)
    probabilities = np.stack([voice(samples, name).values(lines) for name in names], axis=1)
    probabilities = np.where(np.isnan(probabilities), 0.0, probabilities)
    speakers = Speakers(Samples({name: samples.lines(name) for name in names}, samples.language))
    psprob = speakers.probabilities(speakers.samples.tokenize(texts))[:, [speakers.names.index(name) for name in names]]
    rows = [
        *_rows("voice", probabilities, own, names, seed),
        *_rows("psprob", psprob, own, names, seed),
        _calibration(probabilities, own),
    ]
    settings = {"since": str(at), "people": names, "shortest": SHORTEST, "resamples": RESAMPLES}
    return {"rows": rows, "manifest": manifest_of("voice", (), seed, None, settings)}


def _said_since(story: Story, at: Moment, names: Sequence[str], samples: Samples) -> list[tuple[str, str]]:
    lines = [
        (line.text, line.speaker)
        for scene in scenes_before(story, Moment.end(), since=at)
        for line in scene.lines
        if line.speaker is not None and line.speaker in names and not line.moment < at
    ]
    lengths = samples.tokenize([text for text, _ in lines]).plain.lengths
    return [line for line, length in zip(lines, lengths.tolist()) if length >= SHORTEST]


def _rows(scorer: str, scores: Reals, own: np.ndarray[Any, np.dtype[np.int64]], names: Sequence[str],
          seed: int) -> list[Row]:  # fmt: skip
    right = (scores.argmax(axis=1) == own).astype(np.float64)
    groups: Mapping[str, Any] = {"all": np.ones(len(own), dtype=np.bool_)}
    groups = {**groups, **{name: own == index for index, name in enumerate(names)}}
    rows = []
    for character, some in groups.items():
        if not some.any():
            continue
        figure = interval(right[some], seed=seed)
        keys = {"scorer": scorer, "character": character, "metric": "accuracy"}
        rows.append({**keys, **figure._asdict(), "n": int(some.sum()), "paper": None, "chance": 1 / len(names)})
    return rows


def _calibration(probabilities: Reals, own: np.ndarray[Any, np.dtype[np.int64]]) -> Row:
    is_own = np.zeros(probabilities.shape, dtype=np.bool_)
    is_own[np.arange(len(own)), own] = True
    weights = np.where(is_own, 1.0, 1 / (probabilities.shape[1] - 1))
    error = calibration_error(probabilities.ravel(), is_own.ravel(), weights.ravel())
    keys = {"scorer": "voice", "character": "all", "metric": "calibration_error", "value": error}
    return {**keys, "low": None, "high": None, "n": probabilities.size, "paper": None}
