"""Guesses beside human annotations: what telling a masked speaker took, by people and by guessers.

Tables of annotations name episode and scene, not the show: each table is taken to be about the show in which most of
what it names is found. One speaker may have taken several kinds of evidence, and counts for each.

What history adds, and whether the scenes that were needed are found:

history_gain        accuracy of a model less that of the same model without history, on the same speakers
history_recall@k    the share of speakers for whom a scene that was needed is among the k earlier scenes most alike

Earlier scenes are ranked by the cosine of their tf-idf weighted words with this one's or, with an encoder, of the mean
of their lines' vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from understudy.bench.run import Figure, Row, figure_row
from understudy.formats.annotations import COARSE, EVIDENCE, HISTORY, REASONING, Annotation, ShowInstance
from understudy.guessing.analysis import Grouping, GuessedSpeaker
from understudy.guessing.baselines import TextEncoder
from understudy.language.lexical import TfIdf
from understudy.language.lexical.rows import Reals
from understudy.metrics.statistics import adjust_p_values, interval, paired_p
from understudy.papers.tvshowguess.published import PAPER_RECALL
from understudy.story.types import Scene

WINDOW = 20  # earlier scenes among which those that were needed are looked for
RECALLED = (1, 3, 5)
NEEDS: Mapping[str, tuple[str, ...]] = {
    "needed": ("direct", "indirect"),
    "direct": ("direct",),
    "indirect": ("indirect",),
    "none": ("none",),
}


def shows_of(guessed: Iterable[GuessedSpeaker], annotations: Sequence[Annotation]) -> dict[str, str]:
    """The show that each table is about; tables about none of them are left out."""
    scenes = {speaker.scene_key for speaker in guessed}
    matches: dict[str, Counter[str]] = {}
    for show in dict.fromkeys(show for show, _, _ in sorted(scenes)):
        for annotation in annotations:
            if (show, annotation.instance.episode, annotation.instance.scene) in scenes:
                matches.setdefault(annotation.source, Counter())[show] += 1
    return {source: shows.most_common(1)[0][0] for source, shows in matches.items()}


def annotated(guessed: Sequence[GuessedSpeaker], annotations: Sequence[Annotation]) -> dict[str, Annotation]:
    """Annotations by the key of the speaker they are about; those of speakers who were not judged are left out."""
    keys = {(*speaker.scene_key, speaker.index): speaker.key for speaker in guessed}
    shows = shows_of(guessed, annotations)
    pairs = (
        (keys.get((shows.get(annotation.source, ""), *annotation.instance)), annotation) for annotation in annotations
    )
    return {key: annotation for key, annotation in pairs if key is not None}


def annotation_groupings(guessed: Sequence[GuessedSpeaker], annotations: Sequence[Annotation]) -> list[Grouping]:
    """Annotated speakers by kind of evidence (fine and coarse), need of history, and reasoning."""
    by_key = annotated(guessed, annotations)

    def grouping(name: str, order: Sequence[str], labels: Callable[[Annotation], Sequence[str]]) -> Grouping:
        def groups_of(speaker: GuessedSpeaker) -> Sequence[str]:
            return labels(by_key[speaker.key]) if speaker.key in by_key else ()

        return Grouping(name, order, groups_of)

    return [
        grouping("evidence", tuple(EVIDENCE), lambda annotation: annotation.evidence),
        grouping("coarse_evidence", COARSE, lambda annotation: annotation.coarse_evidence),
        grouping("history", HISTORY, lambda annotation: (annotation.needs_history,)),
        grouping("reasoning", tuple(REASONING), lambda annotation: (annotation.reasoning,)),
    ]


def flows(annotations: Sequence[Annotation], shows: Mapping[str, str]) -> list[Row]:
    """For each table, how often a kind of evidence goes with a need of history, and with a kind of reasoning."""
    ends: Sequence[tuple[str, Sequence[str], Callable[[Annotation], str]]] = (
        ("history", HISTORY, lambda annotation: annotation.needs_history),
        ("reasoning", tuple(REASONING), lambda annotation: annotation.reasoning),
    )
    rows = []
    for source in dict.fromkeys(annotation.source for annotation in annotations):
        of_source = [annotation for annotation in annotations if annotation.source == source]
        for name, order, end in ends:
            counts = Counter((kind, end(annotation)) for annotation in of_source for kind in annotation.evidence)
            used = [kind for kind in EVIDENCE if any(kind == evidence for evidence, _ in counts)]
            reached = [to for to in order if any(to == label for _, label in counts)]
            links = [
                {"evidence": kind, name: to, "count": counts[kind, to]}
                for kind in used
                for to in reached
                if counts[kind, to]
            ]
            keys = {"show": shows.get(source, source), "to": name, "n": len(of_source)}
            rows.append({**keys, "evidence": used, "ends": reached, "links": links})
    return rows


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
        what = {**keys, "history": name}
        if of_kind:
            scenes = [speaker.scene_key for speaker, _ in of_kind]
            a, b = (np.array([pair[side].right for pair in of_kind], dtype=np.float64) for side in (0, 1))
            gain = figure_row(what, "history_gain", (interval(a - b, scenes, seed), len(of_kind)))
            rows.append(gain | {"p": paired_p(a, b, scenes, seed)})
        else:
            reason = f"no speaker judged under both names is annotated with {name} history"
            rows.append(figure_row(what, "history_gain", reason))
    adjust_p_values(rows)
    return rows


NO_NEEDED_SCENES = (
    "no file says which earlier scenes were needed: `study results --format annotation` of a `guess` study writes it "
    "(human_annotation/needed_scenes.jsonl)"
)


def retrieval_rows(
    model: str,
    ranked: Mapping[ShowInstance, Sequence[int]],
    needed: Mapping[ShowInstance, frozenset[int]],
    seed: int = 0,
) -> list[Row]:
    """`ranked` has the earlier scenes found for each speaker, best first, out of the last WINDOW scenes."""
    speakers = [speaker for speaker in ranked if needed.get(speaker)]
    rows = []
    for k in RECALLED:
        figure: Figure = NO_NEEDED_SCENES
        if speakers:
            hits = [bool(needed[speaker] & set(ranked[speaker][:k])) for speaker in speakers]
            figure = interval(hits, [(show, instance[:2]) for show, instance in speakers], seed), len(speakers)
        rows.append(figure_row({"model": model}, f"history_recall@{k}", figure, PAPER_RECALL.get(k)))
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
