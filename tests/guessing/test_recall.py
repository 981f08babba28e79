"""Which earlier scenes one brings to mind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from talkers import scene
from understudy.guessing.pooling import Vectors
from understudy.guessing.recall import BEFORE, ranked_scenes
from understudy.story import Scene

KEY = scene(("Ann", "The brass key is gone."), at=(1, 1))
RAIN = scene(("Ben", "Rain again, and more rain."), at=(1, 2))
SILENT = scene((None, "A storm."), at=(1, 3), setting="The quay")
NOW = scene(("Cleo", "Who took the brass key?"), at=(1, 9))


class Meaning:
    """Keys and rain, each in a direction of its own."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.array([["key" in text, "ain" in text] for text in texts], dtype=np.float32)


def test_the_most_alike_comes_first_by_words_and_by_meaning() -> None:
    assert ranked_scenes(NOW, [RAIN, KEY], "en") == [KEY, RAIN]
    assert ranked_scenes(NOW, [RAIN, KEY], "en", Meaning()) == [KEY, RAIN]
    wet = scene(("Cleo", "Rain, is it?"), at=(1, 9))
    assert ranked_scenes(wet, [KEY, RAIN], "en") == ranked_scenes(wet, [KEY, RAIN], "en", Meaning()) == [RAIN, KEY]


def test_settings_count_as_words() -> None:
    by_place = scene(("Cleo", "Hush."), at=(1, 9), setting="The quay")
    assert ranked_scenes(by_place, [KEY, RAIN, SILENT], "en")[0] is SILENT


def test_a_scene_in_which_nobody_speaks_is_like_no_other() -> None:
    assert ranked_scenes(NOW, [SILENT, RAIN, KEY], "en", Meaning())[0] is KEY
    assert len(ranked_scenes(SILENT, [RAIN, KEY], "en", Meaning())) == 2


def test_only_the_last_scenes_are_looked_at() -> None:
    filling: list[Scene] = [scene(("Ben", "Rain."), at=(1, 10 + place)) for place in range(BEFORE)]
    found = ranked_scenes(NOW, [KEY, *filling], "en")
    assert len(found) == BEFORE and KEY not in found
    assert KEY in ranked_scenes(NOW, [KEY, *filling[1:]], "en")


def test_at_the_beginning_nothing_comes_to_mind() -> None:
    assert ranked_scenes(NOW, [], "en") == []
    assert ranked_scenes(NOW, [], "en", Meaning()) == []
