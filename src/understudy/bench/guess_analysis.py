"""What a run of guessing tells: how often each model is right, on what, against whom, and whom it takes for whom.

    accuracy               the share of masked speakers that are told, of one show or of all together
    scene_accuracy         the same share of each scene, and the mean over scenes
    accuracy_by_speakers   accuracy in scenes with so many masked speakers; likewise by character, and by what telling
                           took when people did it: kind of evidence (fine and coarse), need of history, reasoning

One speaker may have taken several kinds of evidence, and counts for each. Masked speakers of a scene are not
independent, so intervals and tests draw whole scenes. `paper` is left empty: a bench that knows which scenes it judges
fills it in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from understudy.bench.guess_annotated import SceneOfShow, annotated, flows, shows_of
from understudy.bench.guessed import Guessed
from understudy.metrics.significance import holm, interval, paired_p
from understudy.readers.annotations import COARSE, EVIDENCE, HISTORY, REASONING, Annotation

__all__ = ["ALL", "analyse"]

ALL = "all"

Row = dict[str, Any]
Labels = Callable[[Guessed], Iterable[str | int]]


def analyse(guessed: Sequence[Guessed], annotations: Sequence[Annotation], seed: int = 0) -> dict[str, list[Row]]:
    """Rows, comparisons, confusions and flows of one or more models judged on the same scenes."""
    about = annotated(guessed, annotations)
    by_model: dict[str, list[Guessed]] = {}
    for one in guessed:
        by_model.setdefault(one.model, []).append(one)
    rows = [row for model, ours in by_model.items() for row in _model_rows(model, ours, about, seed)]
    return {
        "rows": rows,
        "comparisons": _comparisons(by_model, seed),
        "confusions": [_confusion(model, show, ours) for model, ours in by_model.items() for show in _shows(ours)],
        "flows": flows(annotations, shows_of(guessed, annotations)),
    }


def _model_rows(model: str, ours: Sequence[Guessed], about: Mapping[str, Annotation], seed: int) -> Iterator[Row]:
    for show in (*_shows(ours), ALL):
        of_show = [one for one in ours if show in (one.show, ALL)]
        yield _accuracy({"model": model, "show": show, "metric": "accuracy"}, of_show, seed)
        yield _scene_accuracy(model, show, of_show, seed)
        for name, order, labels in _cuts(of_show, about):
            if name == "character" and show == ALL:
                continue
            groups: dict[str | int, list[Guessed]] = {}
            for one in of_show:
                for label in labels(one):
                    groups.setdefault(label, []).append(one)
            for label in order:
                if label in groups:
                    what = {"model": model, "show": show, name: label, "metric": f"accuracy_by_{name}"}
                    yield _accuracy(what, groups[label], seed)


def _cuts(
    ours: Sequence[Guessed], about: Mapping[str, Annotation]
) -> Iterator[tuple[str, Sequence[str | int], Labels]]:
    """Ways to cut speakers into groups: the name, the groups in order, and which of them a speaker is in."""
    yield "speakers", sorted({one.speakers for one in ours}), lambda one: (one.speakers,)
    yield "character", [name for name, _ in Counter(one.who for one in ours).most_common()], lambda one: (one.who,)

    def of_annotation(told: Callable[[Annotation], Sequence[str]]) -> Labels:
        return lambda one: told(about[one.key]) if one.key in about else ()

    yield "evidence", tuple(EVIDENCE), of_annotation(lambda one: one.evidence)
    yield "coarse_evidence", COARSE, of_annotation(lambda one: one.coarse_evidence)
    yield "history", HISTORY, of_annotation(lambda one: (one.needs_history,))
    yield "reasoning", tuple(REASONING), of_annotation(lambda one: (one.reasoning,))


def _accuracy(what: Row, told: Sequence[Guessed], seed: int) -> Row:
    return _row(what, [one.right for one in told], [_scene(one) for one in told], seed)


def _scene_accuracy(model: str, show: str, told: Sequence[Guessed], seed: int) -> Row:
    scenes: dict[SceneOfShow, list[bool]] = {}
    for one in told:
        scenes.setdefault(_scene(one), []).append(one.right)
    what = {"model": model, "show": show, "metric": "scene_accuracy"}
    means = [float(np.mean(scene)) for scene in scenes.values()]
    return _row(what, means, list(scenes), seed)


def _row(what: Row, values: Sequence[float], scenes: Sequence[SceneOfShow], seed: int) -> Row:
    """One scene alone has no interval: drawn again it is always itself."""
    found = interval(values, scenes, seed)
    several = len(set(scenes)) > 1
    low, high = (found.low, found.high) if several else (None, None)
    return {**what, "value": found.value, "low": low, "high": high, "n": len(values), "paper": None}


def _comparisons(by_model: Mapping[str, Sequence[Guessed]], seed: int) -> list[Row]:
    """Models two by two on the speakers that both were asked about, over all shows."""
    found: list[Row] = []
    for first, second in combinations(by_model, 2):
        theirs = {one.key: one for one in by_model[second]}
        pairs = [(one, theirs[one.key]) for one in by_model[first] if one.key in theirs]
        if pairs:
            scenes = [_scene(one) for one, _ in pairs]
            a, b = (np.array([pair[side].right for pair in pairs], dtype=np.float64) for side in (0, 1))
            apart = interval(a - b, scenes, seed)
            found.append(
                {"metric": "accuracy", "set": ALL, "agents": [first, second], "difference": apart.value,
                 "low": apart.low, "high": apart.high, "p": paired_p(a, b, scenes, seed), "n": len(pairs)}
            )  # fmt: skip
    for row, adjusted in zip(found, holm([row["p"] for row in found])):
        row["p_adjusted"] = adjusted
    return found


def _confusion(model: str, show: str, ours: Sequence[Guessed]) -> Row:
    """Rows of `counts` are who it was, columns whom they were taken for; who is masked most comes first."""
    told = [one for one in ours if one.show == show]
    names = [name for name, _ in Counter(one.who for one in told).most_common()]
    names += sorted({one.guess for one in told} - set(names))
    counts = Counter((one.who, one.guess) for one in told)
    return {"model": model, "show": show, "names": names, "counts": [[counts[a, b] for b in names] for a in names]}


def _shows(guessed: Iterable[Guessed]) -> list[str]:
    return list(dict.fromkeys(one.show for one in guessed))


def _scene(one: Guessed) -> SceneOfShow:
    return one.show, one.episode, one.scene
