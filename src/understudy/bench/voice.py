"""Which score agrees with people about who sounds like whom?

For each judged character and scorer: `spearman`, the correlation of ranks with the human score, and `aupr`, average
precision of finding replies that are unfit (at most one of five people said 'likely') by a low score. All scorers are
turned so that the larger is the closer. Scores are made from the character's sample lines and those of the others in
the same novel; a reply without a score counts as the least close. Intervals are bootstraps over replies; p values of
spearman are adjusted after Holm over all characters and scorers, those of comparisons over the scorers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.judged_lines import UNFIT, Judged, judged_in
from understudy.bench.manifest import Watch, manifest_of, unwatched
from understudy.bench.published_voice import paper_figure
from understudy.bench.speakers import classifier_rows, cross_rows
from understudy.lexical import Lines
from understudy.lexical.rows import Reals
from understudy.metrics import Samples, maxbleu, psprob, ptsal, uppl
from understudy.metrics.agreement import average_precision, precision_recall, spearman, spearman_p
from understudy.metrics.significance import RESAMPLES, holm, interval, paired_p
from understudy.metrics.voice import VoiceCast, voice

__all__ = ["SCORERS", "bench_voice"]

Row = dict[str, Any]
Scores = dict[str, Reals]

SCORERS = ("voice", "psprob", "ptsal", "uppl", "maxbleu", "length")
MEAN = "mean of all"


def bench_voice(data: Path, judge: Path | None = None, seed: int = 0, progress: Watch = unwatched) -> dict[str, Any]:
    """Rows, precision-recall curves, comparisons and manifest."""
    judged = sorted(judged_in(judge or data / "evaluation", data), key=lambda one: (one.novel, one.file))
    found: list[tuple[Judged, Scores]] = []
    rows: list[Row] = []
    done = 0
    for novel, group in groupby(judged, key=lambda one: one.novel):
        samples, members = Samples.load(novel), list(group)
        cast = VoiceCast(samples) if samples.language == "ja" else None
        for one in members:
            found.append((one, _scores(samples, one, cast)))
            done += 1
            progress("Judging", done, len(judged))
        rows += classifier_rows(samples, [one.character for one in members], novel.name)
    rows = [*_judged_rows(found, seed), *rows, *cross_rows(judged)]
    settings = {"scorers": list(SCORERS), "unfit": UNFIT, "resamples": RESAMPLES, "paper": "other characters"}
    files = [*{one.novel for one in judged}, *(one.file for one in judged)]
    return {
        "rows": rows,
        "curves": [_curve(one, scorer, scores[scorer]) for one, scores in found for scorer in SCORERS],
        "comparisons": _comparisons(rows, seed),
        "manifest": manifest_of("voice", files, seed, None, settings),
    }


def _scores(samples: Samples, one: Judged, cast: VoiceCast | None) -> Scores:
    """For each scorer a value for each reply, the larger the closer."""
    lines = samples.tokenize(one.replies)
    name = one.character
    made: Mapping[str, Callable[[Lines], Reals]] = {
        "voice": voice(samples, name, cast).values,
        "psprob": psprob(samples, name).values,
        "ptsal": ptsal(samples, name).values,
        "uppl": lambda lines: -uppl(samples, name).values(lines),
        "maxbleu": maxbleu(samples, name).values,
        "length": lambda lines: -lines.plain.lengths.astype(np.float64),
    }
    return {scorer: _filled(made[scorer](lines)) for scorer in SCORERS}


def _filled(values: Reals) -> Reals:
    """Where there is no score, the least."""
    missing = np.isnan(values)
    return np.where(missing, 0.0 if missing.all() else np.nanmin(values), values) if missing.any() else values


def _judged_rows(found: Sequence[tuple[Judged, Scores]], seed: int) -> list[Row]:
    rows: list[Row] = []
    for scorer in SCORERS:
        drawn: dict[str, list[Reals]] = {"spearman": [], "aupr": []}
        for one, scores in found:
            for metric, figure in (("spearman", _spearman), ("aupr", _aupr)):
                value, resampled = _with_interval(figure, scores[scorer], one, seed)
                drawn[metric].append(resampled)
                row = _row(scorer, one.character, metric, value, resampled, len(one.scores))
                row["paper"] = paper_figure(metric, scorer, one.file.stem)
                if metric == "spearman":
                    row["p"] = spearman_p(scores[scorer], one.scores, seed)
                rows.append(row)
        for metric, all_drawn in drawn.items():
            values = [row["value"] for row in rows if row["scorer"] == scorer and row["metric"] == metric]
            known = [value for value in values if value is not None]
            mean = float(np.mean(known)) if known else None
            total = sum(len(one.scores) for one, _ in found)
            rows.append(_row(scorer, MEAN, metric, mean, np.nanmean(np.stack(all_drawn), axis=0), total))
    tested = [row for row in rows if "p" in row]
    for row, adjusted in zip(tested, holm([row["p"] for row in tested])):
        row["p_adjusted"] = adjusted
    return rows


def _spearman(scores: Reals, one: Judged, places: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    return spearman(scores[places], one.scores[places])


def _aupr(scores: Reals, one: Judged, places: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    unfit = one.unfit[places]
    return average_precision(-scores[places], unfit) if unfit.any() else float("nan")


def _with_interval(figure: Callable[..., float], scores: Reals, one: Judged, seed: int) -> tuple[float | None, Reals]:
    """The figure, and what it would have been for replies drawn with replacement."""
    rng = np.random.default_rng(seed)
    size = len(scores)
    drawn = np.array([figure(scores, one, rng.integers(0, size, size)) for _ in range(RESAMPLES)])
    value = figure(scores, one, np.arange(size))
    return (None if np.isnan(value) else value), drawn


def _row(scorer: str, character: str, metric: str, value: float | None, drawn: Reals, n: int) -> Row:
    told = {"scorer": scorer, "character": character, "metric": metric, "value": value, "low": None, "high": None}
    row: Row = {**told, "n": n, "paper": None}
    if value is None:
        row["reason"] = "all scores are equal" if metric == "spearman" else "no reply is unfit"
    else:
        low, high = np.nanpercentile(drawn, [2.5, 97.5])
        row["low"], row["high"] = float(low), float(high)
    return row


def _curve(one: Judged, scorer: str, scores: Reals) -> Row:
    """Points of precision against recall, from the strictest threshold."""
    told = {"scorer": scorer, "character": one.character, "chance": float(one.unfit.mean())}
    if not one.unfit.any():
        return {**told, "precision": [], "recall": []}
    precision, recall = precision_recall(-scores, one.unfit)
    return {**told, "precision": precision.round(4).tolist(), "recall": recall.round(4).tolist()}


def _comparisons(rows: Sequence[Row], seed: int) -> list[Row]:
    """`voice` with each other scorer, over the characters."""
    found: list[Row] = []
    for metric in ("spearman", "aupr"):
        figures: dict[str, dict[str, float]] = {}
        for row in rows:
            if row["metric"] == metric and row["character"] != MEAN and row["value"] is not None:
                figures.setdefault(row["scorer"], {})[row["character"]] = row["value"]
        compared: list[Row] = []
        for scorer in SCORERS[1:]:
            both = [name for name in figures.get("voice", {}) if name in figures.get(scorer, {})]
            if len(both) < 2:
                continue
            ours, theirs = (np.array([figures[which][name] for name in both]) for which in ("voice", scorer))
            apart = interval(ours - theirs, seed=seed)
            p = paired_p(ours, theirs, seed=seed)
            compared.append(
                {"metric": metric, "set": f"{len(both)} characters", "agents": ["voice", scorer],
                 "difference": apart.value, "low": apart.low, "high": apart.high, "p": p}
            )  # fmt: skip
        for row, adjusted in zip(compared, holm([row["p"] for row in compared])):
            row["p_adjusted"] = adjusted
        found += compared
    return found
