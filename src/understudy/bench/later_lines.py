"""Whose line is it, and could it be said yet? The later lines of a story, heard by the earlier ones.

Nothing is trained and nobody is asked.

The people told apart are those who speak most before a moment, of those who have enough lines there for a voice. Each
of their later lines is scored for each of them; the one whose voice is the most probable is the guess.

    accuracy            the share of lines whose guess is right; by chance it is 1 / people
    calibration_error   ECE of `voice` itself over all pairs of a line and a person, own and others counting alike

What `anachronism` finds is asked of some hundreds of lines, drawn by the seed:

    found               the share of later lines that it finds when somebody says them at the moment
    found_pieces        the same of one to four words out of them, at least one of them not a small word
    false_alarms        the share of a person's later lines that it finds at their own moment, where they are in place;
                        the line itself is taken out of the story, or it would be found in it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from understudy.bench.run import Figure, Row, figure_row, manifest_of
from understudy.errors import Dead, InputError, Unborn
from understudy.language.lexical.rows import Reals
from understudy.metrics import LineMetric, Samples, Speakers, psprob, weighted_psprob
from understudy.metrics.knowing import LaterPassages, PassageIndex, find_anachronisms
from understudy.metrics.statistics import RESAMPLES, calibration_error, interval
from understudy.metrics.voice import ENOUGH_LINES, MIN_TRAINED_LINES, voice
from understudy.story.chronology import Chronology, PersonaKnowledge
from understudy.story.persona import Persona, persona_at
from understudy.story.spoiler_free import scenes_before
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.text import stop_words

SHORTEST = 5  # words, below which nobody could tell
ASKED = 400  # lines that `anachronism` is asked about
PIECES = (1, 2, 2, 3, 3, 4)  # lengths of pieces, in words, as often as they are drawn


def bench_later_lines(story: Story, since: str, people: int = 6, seed: int = 0) -> dict[str, Any]:
    """Rows and manifest."""
    at = story.moment(since)
    samples = Samples.of_story(story, at)
    enough = MIN_TRAINED_LINES if samples.language == "ja" else ENOUGH_LINES
    heard = [name for name in samples.names if samples.count(name) >= enough]
    names = sorted(heard, key=samples.count, reverse=True)[:people]
    later = _said_since(story, at, names, samples)
    if len(names) < 2 or not later:
        raise InputError(
            f"has no two people with {enough} lines before {since} and some after it: choose another moment"
        )
    texts, own = [text for text, _ in later], np.array([names.index(name) for _, name in later])
    probabilities = _probabilities(voice, samples, names, texts)
    among = Samples({name: samples.lines(name) for name in names}, samples.language)
    by_words = {
        "psprob": partial(psprob, speakers=Speakers.drawn(among)),
        "psprob-weighted": partial(weighted_psprob, speakers=Speakers.weighted(among)),
    }
    rows = [
        *_rows("voice", probabilities, own, names, seed),
        *(
            row
            for scorer, create in by_words.items()
            for row in _rows(scorer, _probabilities(create, among, names, texts), own, names, seed)
        ),
        _calibration(probabilities, own),
        *_knowing_rows(story, at, names, seed),
    ]
    settings = {"since": str(at), "people": names, "shortest": SHORTEST, "asked": ASKED, "resamples": RESAMPLES}
    return {"rows": rows, "manifest": manifest_of("voice", (), seed, None, settings)}


def _probabilities(
    create: Callable[[Samples, str], LineMetric], samples: Samples, names: Sequence[str], texts: Sequence[str]
) -> Reals:
    """A row for each line, a column for each person; who has too few lines to be told apart is never the guess."""
    lines = samples.tokenize(texts)
    return np.nan_to_num(np.stack([create(samples, name).values(lines) for name in names], axis=1), nan=0.0)


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
        figure = interval(right[some], seed=seed), int(some.sum())
        row = figure_row({"scorer": scorer, "character": character}, "accuracy", figure)
        rows.append(row | {"chance": 1 / len(names)})
    return rows


def _calibration(probabilities: Reals, own: np.ndarray[Any, np.dtype[np.int64]]) -> Row:
    is_own = np.zeros(probabilities.shape, dtype=np.bool_)
    is_own[np.arange(len(own)), own] = True
    weights = np.where(is_own, 1.0, 1 / (probabilities.shape[1] - 1))
    error = calibration_error(probabilities.ravel(), is_own.ravel(), weights.ravel())
    return figure_row({"scorer": "voice", "character": "all"}, "calibration_error", (error, probabilities.size))


def _knowing_rows(story: Story, at: Moment, names: Sequence[str], seed: int) -> list[Row]:
    """What `anachronism` finds in later lines, and what in lines that are said at their own time."""
    lines = [line for scene in story.scenes() for line in scene.lines]
    rng = np.random.default_rng(seed)
    later = [index for index, line in enumerate(lines) if not line.moment < at and line.speaker is not None]
    own = [index for index in later if lines[index].speaker in names]
    drawn, in_place = (rng.permutation(some)[:ASKED].tolist() for some in (later, own))
    personas = [persona_at(story, name, at) for name in names if _is_alive(story, name, at)]
    too_early = [(personas[number % len(personas)], lines[index].text, None) for number, index in enumerate(drawn)
             if personas]  # fmt: skip
    pieces = [(persona, piece, None) for persona, text, _ in too_early if (piece := _piece(text, story.language, rng))]
    at_their_time = [(persona_at(story, str(lines[index].speaker), lines[index].moment), lines[index].text, index)
                     for index in in_place
                     if _is_alive(story, str(lines[index].speaker), lines[index].moment)]  # fmt: skip
    groups = {"found": too_early, "found_pieces": pieces, "false_alarms": at_their_time}
    what = {"scorer": "anachronism", "character": "all"}
    return [figure_row(what, metric, _finds(story, some, seed)) for metric, some in groups.items()]


def _finds(story: Story, sayings: Sequence[tuple[Persona, str, int | None]], seed: int) -> Figure:
    """The share of texts in which something is found, each said by a persona."""
    chronology, index = Chronology.of(story), PassageIndex.of(story)
    is_found, by_persona = list[bool](), dict[int, tuple[PersonaKnowledge, LaterPassages]]()
    for persona, text, left_out in sayings:
        if id(persona) not in by_persona:
            knowledge = chronology.knowledge_of(persona)
            by_persona[id(persona)] = knowledge, LaterPassages(index, knowledge, persona)
        is_found.append(bool(find_anachronisms(*by_persona[id(persona)], text, left_out)))
    if not is_found:
        return "there are no such lines"
    return interval(np.array(is_found, np.float64), seed=seed), len(is_found)


def _piece(text: str, language: str, rng: np.random.Generator) -> str:
    """Some words of a text that stand side by side; nothing where they are all small words."""
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)
    length = int(rng.choice(PIECES))
    first = int(rng.integers(max(len(words) - length + 1, 1)))
    piece = words[first : first + length]
    return " ".join(piece) if any(word.lower() not in stop_words(language) for word in piece) else ""


def _is_alive(story: Story, name: str, at: Moment) -> bool:
    try:
        persona_at(story, name, at)
    except (Dead, Unborn):
        return False
    return True
