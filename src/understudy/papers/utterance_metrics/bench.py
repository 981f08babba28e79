"""Which score agrees with people about who sounds like whom?

For each judged character and scorer: `spearman`, the correlation of ranks with the human score, and `aupr`, average
precision of finding replies that are unfit (at most one of five people said 'likely') by a low score. All scorers are
signed so that the larger is the closer. Scores are made from the character's sample lines and those of the others in
the same novel; a reply without a score counts as the least close. Intervals are bootstraps over replies; p values of
spearman are adjusted after Holm over all characters and scorers, those of comparisons over the scorers.

Beside it, can the speakers be told apart at all? Every tenth line is held back:

    precision   of the held-back lines given to a character, the share that is its own
    recall      of a character's held-back lines, the share given to it
    uppl        mean perplexity of a character's held-back lines under a model of the same or another character

Characters count alike, however many lines they have, so both are 1 / characters by chance.

Two more kinds of scorer need more than sample lines: `p_f1` and `p_cover` descriptions of the characters (the paper's
appendix A), `uppl-masked` or `uppl-causal` a transformer to fine-tune on each character's lines
(`training.persona_lm`).

The replies that people have judged lie in a folder:

DIR/*.json          a character each: {"what the user said<TAB>the reply": how many of five said 'likely'}
DIR/names.json      {file: [novel file, character]}, novel files as they lie in the data folder

Descriptions are one file {character: [sentences]}, with every judged character.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.run import Figure, Row, figure_row, manifest_of
from understudy.errors import InputError
from understudy.language.lexical.logistic import balanced_weights
from understudy.language.lexical.rows import Reals
from understudy.metrics import (
    Samples,
    Speakers,
    maxbleu,
    p_cover,
    p_f1,
    psprob,
    ptsal,
    ptsal_ends,
    uppl,
    weighted_psprob,
)
from understudy.metrics.line_metric import load_lines
from understudy.metrics.statistics import (
    RESAMPLES,
    Interval,
    adjust_p_values,
    average_precision,
    interval,
    paired_p,
    precision_recall,
    spearman,
    spearman_p,
)
from understudy.metrics.voice import VoiceCast, voice
from understudy.papers.utterance_metrics.published import paper_figure, paper_mean
from understudy.progress import Progress, ignore_progress
from understudy.sources.jsonstream import load_json
from understudy.training.persona_lm import PersonaTuning, fine_tune, fine_tuned_scorer, line_perplexities

NAMES = "names.json"
UNFIT = 1  # a reply that at most so many found likely

Scores = dict[str, Reals]
SCORERS = ("voice", "psprob", "psprob-weighted", "ptsal", "ptsal-ends", "uppl", "maxbleu", "length")
DESCRIBED = ("p_f1", "p_cover")
Descriptions = Mapping[str, Sequence[str]]
MEAN = "mean of all"
HELD_BACK = 10  # every tenth line
NONE = {"precision": "no line was given to it", "recall": "it has too few lines to hold one back"}
SHUFFLES = 100_000  # of replies: p is at least 1 / (1 + SHUFFLES), and after Holm still below .001 for 99 tests


@dataclass(frozen=True, slots=True)
class JudgedReplies:
    """One character's replies; `novel` is the file of {character: [lines]} that has the sample lines."""

    file: Path
    novel: Path
    character: str
    replies: tuple[str, ...]
    scores: Reals

    @property
    def unfit(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return self.scores <= UNFIT


def judged_in(folder: Path, data: Path) -> list[JudgedReplies]:
    """Every character of a folder of judgements; novels are looked for in `data`, or in its folder NaroU."""
    names = _object(folder / NAMES)
    novels = data / "NaroU" if (data / "NaroU").is_dir() else data
    judged = []
    for file in sorted(names):
        entry = names[file]
        if not isinstance(entry, list) or len(entry) != 2 or not all(isinstance(part, str) for part in entry):
            raise InputError(f"does not say for '{file}' [novel file, character]", folder / NAMES)
        novel, character = novels / entry[0], entry[1]
        if not novel.is_file():
            raise InputError(f"is not there, and {file} is about a character of it: name the folder with --data", novel)
        scores = _object(folder / file)
        if not scores or not all("\t" in key and _is_number(score) for key, score in scores.items()):
            raise InputError("is not {'user utterance<TAB>reply': score}", folder / file)
        replies = tuple(key.split("\t", 1)[1] for key in scores)
        judged.append(
            JudgedReplies(folder / file, novel, character, replies, np.array(list(scores.values()), dtype=np.float64))
        )
    if not judged:
        raise InputError("names no file of judgements", folder / NAMES)
    return judged


def _object(path: Path) -> Mapping[str, Any]:
    document = load_json(path, ": judgements are JSON files, and names.json says whose")
    if not isinstance(document, dict):
        raise InputError("is not a JSON object", path)
    return document


def _is_number(score: object) -> bool:
    return isinstance(score, int | float) and not isinstance(score, bool)


def descriptions_in(path: Path, judged: Sequence[JudgedReplies]) -> Descriptions:
    """The sentences that describe each judged character."""
    described = load_lines(path)
    for replies in judged:
        if not described.get(replies.character):
            raise InputError(f"has no sentences about {replies.character}, a character that is judged", path)
    return described


def bench_voice(
    data: Path,
    judge: Path | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    scorers: Sequence[str] | None = None,
    descriptions: Path | None = None,
    tuning: PersonaTuning | None = None,
) -> dict[str, Any]:
    """Rows, precision-recall curves, comparisons and manifest; without a wish every scorer that can be had."""
    judged = sorted(judged_in(judge or data / "evaluation", data), key=lambda replies: (replies.novel, replies.file))
    tuned = () if tuning is None else (fine_tuned_scorer(tuning),)
    scorers = _chosen(scorers, (*SCORERS, *(() if descriptions is None else DESCRIBED), *tuned))
    described = {} if descriptions is None else descriptions_in(descriptions, judged)
    scored: list[tuple[JudgedReplies, Scores]] = [(replies, {}) for replies in judged]
    rows: list[Row] = []
    of_samples = [scorer for scorer in scorers if scorer not in tuned]
    if of_samples:
        done = 0
        for novel, group in groupby(scored, key=lambda pair: pair[0].novel):
            samples, members = Samples.load(novel), list(group)
            cast = VoiceCast(samples) if "voice" in scorers and samples.language == "ja" else None
            for replies, scores in members:
                scores |= _scores(samples, replies, cast, of_samples, described.get(replies.character, ()))
                done += 1
                progress("Judging", done, len(judged))
            rows += classifier_rows(samples, [replies.character for replies, _ in members], novel.name)
        rows += cross_rows(judged)
    for scorer in tuned:
        if tuning is not None and scorer in scorers:
            rows += _fine_tuned(scorer, tuning, scored, progress)
    rows = [*_judged_rows(scored, scorers, seed), *rows]
    settings: Row = {
        "scorers": list(scorers),
        "unfit": UNFIT,
        "resamples": RESAMPLES,
        "shuffles": SHUFFLES,
        "paper": "other characters",
    }
    if tuning is not None:
        settings["fine_tuning"] = {"base": Path(tuning.base).name, **asdict(tuning.settings)}
    files = [*{replies.novel for replies in judged}, *(replies.file for replies in judged)]
    return {
        "rows": rows,
        "curves": [_curve(replies, scorer, scores[scorer]) for replies, scores in scored for scorer in scorers],
        "comparisons": _comparisons(rows, scorers, seed),
        "manifest": manifest_of("voice", [*files, *([descriptions] if descriptions else [])], seed, None, settings),
    }


def _chosen(wanted: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The scorers asked for, in the order of those there are."""
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        raise InputError(
            f"there is no scorer '{unknown[0]}' here: choose from {', '.join(known)}; {', '.join(DESCRIBED)} need "
            "descriptions of the characters, uppl-masked and uppl-causal a model to fine-tune"
        )
    return tuple(name for name in known if not wanted or name in wanted)


def _scores(
    samples: Samples,
    judged: JudgedReplies,
    cast: VoiceCast | None,
    names: Sequence[str],
    description: Sequence[str],
) -> Scores:
    """For each scorer a value for each reply, the larger the closer."""
    lines = samples.tokenize(judged.replies)
    name = judged.character
    scorers: Mapping[str, Callable[[], Reals]] = {
        "voice": lambda: voice(samples, name, cast).values(lines),
        "psprob": lambda: psprob(samples, name).values(lines),
        "psprob-weighted": lambda: weighted_psprob(samples, name).values(lines),
        "ptsal": lambda: ptsal(samples, name).values(lines),
        "ptsal-ends": lambda: ptsal_ends(samples, name).values(lines),
        "uppl": lambda: -uppl(samples, name).values(lines),
        "maxbleu": lambda: maxbleu(samples, name).values(lines),
        "length": lambda: -lines.plain.lengths.astype(np.float64),
        "p_f1": lambda: p_f1(samples, description).values(lines),
        "p_cover": lambda: p_cover(samples, description).values(lines),
    }
    return {scorer: _filled(scorers[scorer]()) for scorer in names}


def _fine_tuned(
    scorer: str, tuning: PersonaTuning, scored: Sequence[tuple[JudgedReplies, Scores]], progress: Progress
) -> list[Row]:
    """Adds each character's scores by a model of its lines; rows of what each model thinks of everybody's lines."""
    parted = {
        replies.file: _parted([line for line in load_lines(replies.novel)[replies.character] if line.strip()])
        for replies, _ in scored
    }
    rows: list[Row] = []
    for done, (replies, scores) in enumerate(scored, 1):
        model = fine_tune(tuning, replies.character, parted[replies.file][0], replies.novel.name)
        scores[scorer] = _filled(-line_perplexities(model, replies.replies))
        for reference, _ in scored:
            values = line_perplexities(model, parted[reference.file][1])
            rows.append(_cross_row(scorer, reference.character, replies.character, values))
        progress("Fine-tuning", done, len(scored))
    return rows


def _filled(values: Reals) -> Reals:
    """Where there is no score, the least."""
    missing = np.isnan(values)
    return np.where(missing, 0.0 if missing.all() else np.nanmin(values), values) if missing.any() else values


def _judged_rows(scored: Sequence[tuple[JudgedReplies, Scores]], scorers: Sequence[str], seed: int) -> list[Row]:
    rows: list[Row] = []
    for scorer in scorers:
        drawn: dict[str, list[Reals]] = {"spearman": [], "aupr": []}
        for judged, scores in scored:
            for metric, figure in (("spearman", _spearman), ("aupr", _aupr)):
                value, resampled = _with_interval(figure, scores[scorer], judged, seed)
                drawn[metric].append(resampled)
                row = _row(scorer, judged.character, metric, value, resampled, len(judged.scores))
                row["paper"] = paper_figure(metric, scorer, judged.file.stem)
                if metric == "spearman":
                    row["p"] = spearman_p(scores[scorer], judged.scores, seed, SHUFFLES)
                rows.append(row)
        for metric, all_drawn in drawn.items():
            values = [row["value"] for row in rows if row["scorer"] == scorer and row["metric"] == metric]
            known = [value for value in values if value is not None]
            mean = float(np.mean(known)) if known else None
            total = sum(len(judged.scores) for judged, _ in scored)
            rows.append(_row(scorer, MEAN, metric, mean, _mean_of_known(np.stack(all_drawn)), total))
            rows[-1]["paper"] = paper_mean(metric, scorer)
    adjust_p_values(rows)
    return rows


def _mean_of_known(drawn: Reals) -> Reals:
    """Of each column; NaN where no row has a value, as where one character alone was judged."""
    known = ~np.isnan(drawn)
    counts = known.sum(axis=0)
    sums = np.where(known, drawn, 0.0).sum(axis=0)
    means: Reals = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


def _spearman(scores: Reals, judged: JudgedReplies, indices: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    return spearman(scores[indices], judged.scores[indices])


def _aupr(scores: Reals, judged: JudgedReplies, indices: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    unfit = judged.unfit[indices]
    return average_precision(-scores[indices], unfit) if unfit.any() else float("nan")


def _with_interval(
    figure: Callable[..., float], scores: Reals, judged: JudgedReplies, seed: int
) -> tuple[float | None, Reals]:
    """The figure, and what it would have been for replies drawn with replacement."""
    rng = np.random.default_rng(seed)
    size = len(scores)
    drawn = np.array([figure(scores, judged, rng.integers(0, size, size)) for _ in range(RESAMPLES)])
    value = figure(scores, judged, np.arange(size))
    return (None if np.isnan(value) else value), drawn


def _row(scorer: str, character: str, metric: str, value: float | None, drawn: Reals, n: int) -> Row:
    what = {"scorer": scorer, "character": character}
    if value is None:
        reason = "all scores are equal" if metric == "spearman" else "no reply is unfit"
        return figure_row(what, metric, reason) | {"n": n}
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return figure_row(what, metric, (Interval(value, float(low), float(high)), n))


def _curve(judged: JudgedReplies, scorer: str, scores: Reals) -> Row:
    """Points of precision against recall, from the strictest threshold."""
    keys = {"scorer": scorer, "character": judged.character, "chance": float(judged.unfit.mean())}
    if not judged.unfit.any():
        return {**keys, "precision": [], "recall": []}
    precision, recall = precision_recall(-scores, judged.unfit)
    return {**keys, "precision": precision.round(4).tolist(), "recall": recall.round(4).tolist()}


def _comparisons(rows: Sequence[Row], scorers: Sequence[str], seed: int) -> list[Row]:
    """`voice` with each other scorer, over the characters."""
    comparisons: list[Row] = []
    for metric in ("spearman", "aupr"):
        figures: dict[str, dict[str, float]] = {}
        for row in rows:
            if row["metric"] == metric and row["character"] != MEAN and row["value"] is not None:
                figures.setdefault(row["scorer"], {})[row["character"]] = row["value"]
        compared: list[Row] = []
        for scorer in scorers[1:]:
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
        adjust_p_values(compared)
        comparisons += compared
    return comparisons


def classifier_rows(samples: Samples, characters: Sequence[str], novel: str) -> list[Row]:
    """Precision and recall of each character among the speakers of its novel that are told apart."""
    learned = Samples({name: _parted(samples.lines(name))[0] for name in samples.names}, samples.language)
    rows: list[Row] = []
    for name in characters:
        speakers = Speakers.drawn(learned, name)
        keys = {"scorer": "speaker classifier", "character": name, "novel": novel}
        if name not in speakers:
            rows += [figure_row(keys, metric, "too few lines to be told apart") for metric in ("precision", "recall")]
            continue
        held_back = {speaker: _parted(samples.lines(speaker))[1] for speaker in speakers.names}
        lines = [line for some in held_back.values() for line in some]
        predicted = speakers.probabilities(learned.tokenize(lines))[:, : len(held_back)].argmax(axis=1)
        own = np.repeat(np.arange(len(held_back)), [len(some) for some in held_back.values()])
        counts = balanced_weights(own, len(held_back))
        it = speakers.names.index(name)
        for metric, among in (("precision", predicted == it), ("recall", own == it)):
            right = counts[among & (predicted == own)].sum()
            figure: Figure = NONE[metric]
            if among.any():
                figure = float(right / counts[among].sum()), int(among.sum())
            rows.append(figure_row(keys, metric, figure) | {"chance": 1 / len(held_back)})
    return rows


def cross_rows(judged: Sequence[JudgedReplies]) -> list[Row]:
    """uPPL of every judged character's held-back lines under every judged character's model."""
    parted = {replies.character: _parted(Samples.load(replies.novel).lines(replies.character)) for replies in judged}
    rows: list[Row] = []
    for replies in judged:
        samples = Samples.load(replies.novel)
        learned = Samples(
            {name: parted[name][0] if name in parted else samples.lines(name) for name in samples.names},
            samples.language,
        )
        model = uppl(learned, replies.character)
        for reference in judged:
            values = model.values(learned.tokenize(parted[reference.character][1]))
            rows.append(_cross_row("uppl", reference.character, replies.character, values))
    return rows


def _cross_row(scorer: str, character: str, under: str, values: Reals) -> Row:
    keys = {"scorer": scorer, "character": character, "under": under}
    return figure_row(keys, "uppl", (float(np.nanmean(values)), len(values)))


def _parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those kept, those held back."""
    held_back = list(lines[HELD_BACK - 1 :: HELD_BACK])
    return [line for number, line in enumerate(lines, 1) if number % HELD_BACK], held_back
