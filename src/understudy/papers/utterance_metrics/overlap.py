"""Do P-F1 and P-Cover tell whose words they are? The appendix of the metrics paper, on data that has profiles.

The paper takes r_s of both with how many of five people said that a character would say a line. It finds next to none:
lines share few words with a description. Here each is held against

    own profile     1 for an utterance with the profile of who said it, 0 for the same utterance with a profile of
                    somebody else that shares no sentence with it (PersonaChat's dialogues, both sides)
    liked           1 or 0: whether a person liked a message of the bot that they chatted with, by the message with the
                    bot's profile (ConvAI2's volunteers, where their file lies beside)
    p_cover         the other metric, on the utterances with their own profiles

`wording` is that of PersonaChat's profiles: revised ones share no word of meaning with the original ones that people
had before them. Rows are `spearman` and, of the first two, `auc`; `copying` stands beside as a third scorer. Intervals
are over dialogues, or over people; p values are adjusted after Holm over all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.run import Row, figure_row, manifest_of
from understudy.errors import InputError
from understudy.formats.chat_records import BOT_SIDE, read_judged_chats, volunteers_file
from understudy.language.lexical.rows import Reals
from understudy.metrics import Samples, copying, p_cover, p_f1
from understudy.metrics.overlap import corpus_ranks
from understudy.metrics.ratings import correlations
from understudy.metrics.statistics import RESAMPLES, adjust_p_values, auc_interval
from understudy.papers.personachat.profiles import Side, fields_of, sampled_sides, sides_of, training_of
from understudy.papers.utterance_metrics.published import paper_mean
from understudy.progress import Progress, ignore_progress

SCORERS = ("p_f1", "p_cover", "copying")
WORDINGS = ("original", "revised")
SHUFFLES = 5000


def bench_overlap(
    data: Path, split: str = "valid", limit: int | None = None, seed: int = 0, progress: Progress = ignore_progress
) -> dict[str, Any]:
    """Rows and manifest; with a limit, of so many dialogues."""
    files = {wording: data / f"{split}_both_{wording}.txt" for wording in WORDINGS}
    if not files["original"].is_file():
        raise InputError(f"holds no {files['original'].name}: name the folder that has it", data)
    training, used = training_of(data)
    rows: list[Row] = []
    for wording, path in files.items():
        if path.is_file():
            sides = sides_of(path)
            samples = Samples({"everybody": training.utterances or [text for side in sides for text in side.said]})
            metrics = _Overlaps(samples)
            rows += _profile_rows(metrics, sampled_sides(sides, limit, seed), sides, wording, seed, progress)
    used = [*(path for path in files.values() if path.is_file()), *used]
    if list(data.glob("*volunteers*.json")):
        path = volunteers_file(data)
        samples = Samples({"everybody": training.utterances or ["hello"]})
        rows += _liked_rows(_Overlaps(samples), path, seed)
        used.append(path)
    adjust_p_values(rows)
    paper = "the mean of ten characters' r_s with how many people said 'likely', Japanese"
    settings = {"split": split, "resamples": RESAMPLES, "shuffles": SHUFFLES, "paper": paper}
    return {"rows": rows, "manifest": manifest_of("overlap", used, seed, limit, settings)}


class _Overlaps:
    """The metrics of utterances against profiles."""

    def __init__(self, samples: Samples) -> None:
        self._samples, self._ranks = samples, corpus_ranks(samples)

    def values(self, texts: Sequence[str], *profiles: Sequence[str]) -> list[dict[str, Reals]]:
        """For each profile, a value of each utterance by each scorer; 0 for one without words."""
        lines = self._samples.tokenize(texts)
        by_profile = []
        for profile in profiles:
            metrics = {"p_f1": p_f1(self._samples, profile), "p_cover": p_cover(self._samples, profile, self._ranks)}
            metrics["copying"] = copying(self._samples, profile)
            by_profile.append({name: np.nan_to_num(metric.values(lines)) for name, metric in metrics.items()})
        return by_profile


def _profile_rows(
    metrics: _Overlaps, judged: Sequence[Side], sides: Sequence[Side], wording: str, seed: int, progress: Progress
) -> Iterator[Row]:
    profiles, fields = fields_of(sides, (), 1, seed)
    values: dict[str, list[Reals]] = {name: [] for name in SCORERS}
    own: list[bool] = []
    groups: list[int] = []
    for done, side in enumerate(judged, 1):
        field = fields.get(tuple(sorted(side.profile)))
        if field is None or len(field) < 2 or not side.said:
            continue
        for is_own, scored in zip((True, False), metrics.values(side.said, side.profile, profiles[field[1]])):
            for name in SCORERS:
                values[name].append(scored[name])
            own += [is_own] * len(side.said)
            groups += [side.dialogue] * len(side.said)
        progress(f"{wording} profiles", done, len(judged))
    if not own:
        return
    columns = {name: np.concatenate(some) for name, some in values.items()}
    labels = np.array(own)
    what = {"wording": wording, "reference": "own profile"}
    yield from _agreement_rows(columns, labels, groups, what, seed)
    with_own = {name: column[labels] for name, column in columns.items()}
    own_groups = [group for group, is_own in zip(groups, own) if is_own]
    other = with_own["p_cover"]
    yield from _spearman_rows(
        {"p_f1": with_own["p_f1"]}, other, own_groups, {"wording": wording, "reference": "p_cover"}, seed, paper=False
    )


def _liked_rows(metrics: _Overlaps, path: Path, seed: int) -> Iterator[Row]:
    values: dict[str, list[float]] = {name: [] for name in SCORERS}
    liked: list[bool] = []
    people: list[str] = []
    for chat in read_judged_chats(path):
        marked = [
            (turn.text, mark)
            for turn, mark in zip(chat.record.turns, chat.liked)
            if mark is not None and turn.side == BOT_SIDE and turn.text.strip()
        ]
        if marked:
            scored = metrics.values([text for text, _ in marked], chat.record.profiles[BOT_SIDE])[0]
            for name in SCORERS:
                values[name] += scored[name].tolist()
            liked += [mark for _, mark in marked]
            people += [chat.person] * len(marked)
    if 0 < sum(liked) < len(liked):
        columns = {name: np.array(column) for name, column in values.items()}
        yield from _agreement_rows(
            columns, np.array(liked), people, {"wording": "original", "reference": "liked"}, seed
        )


def _agreement_rows(
    columns: Mapping[str, Reals],
    labels: np.ndarray[Any, np.dtype[np.bool_]],
    groups: Sequence[Any],
    what: Row,
    seed: int,
) -> Iterator[Row]:
    yield from _spearman_rows(columns, labels.astype(np.float64), groups, what, seed, paper=True)
    for name, column in columns.items():
        figure = auc_interval(column, labels, groups, seed), len(column)
        yield figure_row({"scorer": name, **what}, "auc", figure) | {"chance": 0.5}


def _spearman_rows(
    columns: Mapping[str, Reals], reference: Reals, groups: Sequence[Any], what: Row, seed: int, paper: bool
) -> Iterator[Row]:
    for name, correlation in correlations(columns, reference, groups, seed, SHUFFLES, fewest=2).items():
        row = {"scorer": name, **what, **correlation.row(), "paper": paper_mean("spearman", name) if paper else None}
        row.pop("p_adjusted", None)  # over all rows of the bench, in the end
        yield row
