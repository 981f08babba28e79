"""Which annotation is about which masked speaker, and how evidence goes with what it takes.

Tables of annotations name episode and scene, not the show: each table is taken to be about the show in which most of
what it names is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from understudy.bench.guessed import Guessed
from understudy.readers.annotations import EVIDENCE, HISTORY, REASONING, Annotation

__all__ = ["SceneOfShow", "annotated", "flows", "shows_of"]

Row = dict[str, Any]
SceneOfShow = tuple[str, tuple[int, ...], int]


def shows_of(guessed: Iterable[Guessed], annotations: Sequence[Annotation]) -> dict[str, str]:
    """The show that each table is about; tables about none of them are left out."""
    scenes = {(one.show, one.episode, one.scene) for one in guessed}
    found: dict[str, Counter[str]] = {}
    for show in dict.fromkeys(show for show, _, _ in sorted(scenes)):
        for annotation in annotations:
            if (show, annotation.instance.episode, annotation.instance.scene) in scenes:
                found.setdefault(annotation.source, Counter())[show] += 1
    return {source: shows.most_common(1)[0][0] for source, shows in found.items()}


def annotated(guessed: Sequence[Guessed], annotations: Sequence[Annotation]) -> dict[str, Annotation]:
    """Annotations by the key of the speaker they are about; those of speakers who were not judged are left out."""
    keys = {(one.show, one.episode, one.scene, one.place): one.key for one in guessed}
    shows = shows_of(guessed, annotations)
    places = ((keys.get((shows.get(one.source, ""), *one.instance)), one) for one in annotations)
    return {key: one for key, one in places if key is not None}


def flows(annotations: Sequence[Annotation], shows: Mapping[str, str]) -> list[Row]:
    """For each table, how often a kind of evidence goes with a need of history, and with a kind of reasoning."""
    ends: Sequence[tuple[str, Sequence[str], Callable[[Annotation], str]]] = (
        ("history", HISTORY, lambda one: one.needs_history),
        ("reasoning", tuple(REASONING), lambda one: one.reasoning),
    )
    found = []
    for source in dict.fromkeys(one.source for one in annotations):
        ours = [one for one in annotations if one.source == source]
        for name, order, end in ends:
            counts = Counter((kind, end(one)) for one in ours for kind in one.evidence)
            used = [kind for kind in EVIDENCE if any(kind == one for one, _ in counts)]
            reached = [to for to in order if any(to == one for _, one in counts)]
            links = [
                {"evidence": kind, name: to, "count": counts[kind, to]}
                for kind in used
                for to in reached
                if counts[kind, to]
            ]
            told = {"show": shows.get(source, source), "to": name, "n": len(ours)}
            found.append({**told, "evidence": used, "ends": reached, "links": links})
    return found
