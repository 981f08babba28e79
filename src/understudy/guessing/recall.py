"""Which earlier scenes does this one bring to mind? By the words and names they share, or by what they mean.

Of the last scenes before one, those come first that are most like it: the cosine of their tf-idf weighted words or,
with an encoder, of the mean of their lines' vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.guessing.encoded import Encodes
from understudy.lexical import TfIdf
from understudy.lexical.rows import Reals
from understudy.story import Scene

__all__ = ["BEFORE", "ranked_scenes", "scene_text"]

BEFORE = 20  # scenes that are looked at


def ranked_scenes(scene: Scene, earlier: Sequence[Scene], language: str, encoder: Encodes | None = None) -> list[Scene]:
    """The last scenes before this one, the most alike first."""
    last = list(earlier[-BEFORE:])
    if not last:
        return []
    if encoder is None:
        scores: Reals = TfIdf([scene_text(one) for one in last], language).scores(scene_text(scene)).astype(np.float64)
    else:
        own, *others = (_mean(one, encoder) for one in (scene, *last))
        scores = np.array([0.0 if own is None or other is None else float(own @ other) for other in others])
    return [last[place] for place in np.argsort(-scores, kind="stable")]


def scene_text(scene: Scene) -> str:
    return " ".join((scene.setting, *(line.text for line in scene.lines)))


def _mean(scene: Scene, encoder: Encodes) -> Reals | None:
    """None where nobody speaks: such a scene is like no other."""
    said = [line.text for line in scene.lines if line.speaker is not None]
    if not said:
        return None
    mean = encoder.encode(said).mean(axis=0).astype(np.float64)
    found: Reals = mean / (np.sqrt(mean @ mean) or 1.0)
    return found
