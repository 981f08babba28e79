"""What history adds to guessing, and whether the scenes that were needed are found.

history_gain        accuracy of a model less that of the same model without history, on the same speakers
history_recall@k    the share of speakers for whom a scene that was needed is among the k earlier scenes most alike

Earlier scenes are ranked by the cosine of their tf-idf weighted words with this one's or, with an encoder, of the mean
of their lines' vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.bench.guess.annotated import annotated
from understudy.bench.published import PAPER_RECALL
from understudy.guessing.analysis import GuessedSpeaker
from understudy.guessing.encoded import TextEncoder
from understudy.lexical import TfIdf
from understudy.lexical.rows import Reals
from understudy.metrics.significance import holm, interval, paired_p
from understudy.readers.annotations import Annotation, Instance
from understudy.story import Scene

__all__ = ["RECALLED", "WINDOW", "history_gain", "ranked_scenes", "retrieval_rows"]

Row = dict[str, Any]
WINDOW = 20  # earlier scenes among which those that were needed are looked for
RECALLED = (1, 3, 5)
NEEDS: Mapping[str, tuple[str, ...]] = {
    "needed": ("direct", "indirect"),
    "direct": ("direct",),
    "indirect": ("indirect",),
    "none": ("none",),
}


def history_gain(
    guessed: Sequence[GuessedSpeaker], annotations: Sequence[Annotation], model: str, without: str, seed: int = 0
) -> list[Row]:
    """A row for speakers who take history, for each way of taking it, and for those who take none."""
    by_key = annotated(guessed, annotations)
    theirs = {speaker.key: speaker for speaker in guessed if speaker.model == without}
    pairs = [(speaker, theirs[speaker.key]) for speaker in guessed if speaker.model == model and speaker.key in theirs]
    keys = {"model": model, "without": without, "show": "all"}
    rows = []
    for name, kinds in NEEDS.items():
        of_kind = [pair for pair in pairs if pair[0].key in by_key and by_key[pair[0].key].needs_history in kinds]
        row: Row = {**keys, "history": name, "metric": "history_gain", "value": None, "low": None, "high": None}
        row |= {"n": len(of_kind), "paper": None}
        if of_kind:
            scenes = [speaker.scene_key for speaker, _ in of_kind]
            a, b = (np.array([pair[side].right for pair in of_kind], dtype=np.float64) for side in (0, 1))
            gain = interval(a - b, scenes, seed)
            row |= {"value": gain.value, "low": gain.low, "high": gain.high, "p": paired_p(a, b, scenes, seed)}
        else:
            row["reason"] = f"no speaker judged under both names is annotated with {name} history"
        rows.append(row)
    tested = [row for row in rows if "p" in row]
    for row, adjusted in zip(tested, holm([row["p"] for row in tested])):
        row["p_adjusted"] = adjusted
    return rows


def retrieval_rows(
    model: str, ranked: Mapping[Instance, Sequence[int]], needed: Mapping[Instance, frozenset[int]], seed: int = 0
) -> list[Row]:
    """`ranked` has the earlier scenes found for each speaker, best first, out of the last WINDOW scenes."""
    instances = [instance for instance in ranked if needed.get(instance)]
    rows = []
    for k in RECALLED:
        row: Row = {"model": model, "metric": f"history_recall@{k}", "value": None, "low": None, "high": None}
        row |= {"n": len(instances), "paper": PAPER_RECALL.get(k)}
        if instances:
            hits = [bool(needed[instance] & set(ranked[instance][:k])) for instance in instances]
            recall = interval(hits, [instance[:2] for instance in instances], seed)
            row |= {"value": recall.value, "low": recall.low, "high": recall.high}
        else:
            row["reason"] = "no file says which earlier scenes were needed"
        rows.append(row)
    return rows


def ranked_scenes(
    scene: Scene, earlier: Sequence[Scene], language: str, encoder: TextEncoder | None = None
) -> list[Scene]:
    """The last scenes before this one, the most alike first."""
    last = list(earlier[-WINDOW:])
    if not last:
        return []
    if encoder is None:
        scores: Reals = TfIdf([*map(scene_text, last)], language).scores(scene_text(scene)).astype(np.float64)
    else:
        own, *vectors = (_mean(ranked, encoder) for ranked in (scene, *last))
        scores = np.array([0.0 if own is None or vector is None else float(own @ vector) for vector in vectors])
    return [last[index] for index in np.argsort(-scores, kind="stable")]


def scene_text(scene: Scene) -> str:
    return " ".join((scene.setting, *(line.text for line in scene.lines)))


def _mean(scene: Scene, encoder: TextEncoder) -> Reals | None:
    """None where nobody speaks: such a scene is like no other."""
    said = [line.text for line in scene.lines if line.speaker is not None]
    if not said:
        return None
    mean = encoder.encode(said).mean(axis=0).astype(np.float64)
    unit: Reals = mean / (np.sqrt(mean @ mean) or 1.0)
    return unit
