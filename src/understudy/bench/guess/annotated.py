"""What telling a masked speaker took when people did it: which annotation is about which speaker.

Tables of annotations name episode and scene, not the show: each table is taken to be about the show in which most of
what it names is found. One speaker may have taken several kinds of evidence, and counts for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from understudy.guessing.analysis import Grouping, GuessedSpeaker
from understudy.readers.annotations import COARSE, EVIDENCE, HISTORY, REASONING, Annotation

__all__ = ["annotated", "annotation_groupings", "flows", "shows_of"]

Row = dict[str, Any]


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
