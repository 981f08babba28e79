"""Guesses beside human annotations: whom they are about, what history adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from talkers import annotation, guessed_scene, scene
from understudy.formats.annotations import Instance
from understudy.guessing.baselines import Vectors
from understudy.papers.tvshowguess.annotations import (
    WINDOW,
    annotated,
    flows,
    history_gain,
    ranked_scenes,
    retrieval_rows,
    shows_of,
)
from understudy.story.types import Scene

FRIENDS = [
    *guessed_scene("m", "FRIENDS", 1, ["Rachel Green", "Ross"], ["Ross", "Ross"]),
    *guessed_scene("m", "FRIENDS", 2, ["Ross", "Joey"], ["Ross", "Joey"]),
]
OTHER = guessed_scene("m", "Frasier", 2, ["Niles", "Daphne"], ["Niles", "Niles"])


def test_a_table_is_about_the_show_that_has_most_of_its_scenes() -> None:
    labels = [annotation(1, 0, source="a"), annotation(2, 0, source="a"), annotation(2, 1, source="b")]
    assert shows_of([*OTHER, *FRIENDS], labels[:2]) == {"a": "FRIENDS"}
    assert set(annotated([*OTHER, *FRIENDS], labels[:2])) == {FRIENDS[0].key, FRIENDS[2].key}
    assert annotated(OTHER, [annotation(7, 0)]) == {}


def test_a_speaker_is_known_by_scene_and_place_whatever_they_are_called() -> None:
    labels = [annotation(1, 1), annotation(2, 1), annotation(2, 5)]
    assert annotated(FRIENDS, labels) == {FRIENDS[1].key: labels[0], FRIENDS[3].key: labels[1]}
    swapped = [replace(item, who="Somebody") for item in FRIENDS]
    assert annotated(swapped, labels) == annotated(FRIENDS, labels)


def test_flows_count_every_kind_of_evidence_and_keep_the_order_of_kinds() -> None:
    labels = [
        annotation(1, 0, ["memory", "personality"], "direct", "default conjunction"),
        annotation(1, 1, ["memory"], "none"),
        annotation(2, 0, ["memory"], "direct"),
    ]
    history, reasoning = flows(labels, {"table": "FRIENDS"})
    assert (history["show"], history["to"], history["n"]) == ("FRIENDS", "history", 3)
    assert history["evidence"] == ["personality", "memory"]
    assert history["ends"] == ["none", "direct"]
    assert history["links"] == [
        {"evidence": "personality", "history": "direct", "count": 1},
        {"evidence": "memory", "history": "none", "count": 1},
        {"evidence": "memory", "history": "direct", "count": 2},
    ]
    assert [link["count"] for link in reasoning["links"]] == [1, 2, 1]
    assert flows(labels, {})[0]["show"] == "table"


def test_the_gain_is_told_for_each_need_of_history() -> None:
    guessed, labels = [], []
    for number in range(20):
        guessed += guessed_scene("joint", "S", number, ["A", "B"], ["A", "B"])
        guessed += guessed_scene("plain", "S", number, ["A", "B"], ["A" if number % 2 else "B", "B"])
        labels += [annotation(number, 0, history="direct" if number < 10 else "indirect"), annotation(number, 1)]
    rows = {row["history"]: row for row in history_gain(guessed, labels, "joint", "plain")}
    assert list(rows) == ["needed", "direct", "indirect", "none"]
    assert rows["needed"]["value"] == pytest.approx(0.5) and rows["needed"]["n"] == 20
    assert 0 < rows["needed"]["low"] < 0.5 < rows["needed"]["high"] and rows["needed"]["p_adjusted"] < 0.05
    assert (rows["direct"]["value"], rows["indirect"]["n"]) == (0.5, 10)
    assert (rows["none"]["value"], rows["none"]["p_adjusted"]) == (0, 1)
    permuted = {row["history"]: row["value"] for row in history_gain(guessed, labels, "plain", "joint")}
    assert permuted["needed"] == pytest.approx(-0.5)


def test_without_annotations_the_gain_is_unknown_and_says_why() -> None:
    guessed = [*guessed_scene("a", "S", 1, ["A", "B"], ["A", "B"]), *guessed_scene("b", "S", 1, ["A", "B"], ["A", "B"])]
    for row in history_gain(guessed, [], "a", "b"):
        assert row["value"] is None and row["n"] == 0 and "annotated" in row["reason"]


def test_recall_is_whether_one_needed_scene_is_among_the_first() -> None:
    ranked = {
        ("FRIENDS", Instance((1, 1), 30, 0)): [29, 12, 28, 11, 10],
        ("FRIENDS", Instance((1, 1), 30, 1)): [29, 12, 28, 11, 10],
        ("FRIENDS", Instance((1, 1), 31, 0)): [30, 29, 28, 27, 26, 25],
        ("FRIENDS", Instance((1, 1), 32, 0)): [31],
    }
    needed = {
        ("FRIENDS", Instance((1, 1), 30, 0)): frozenset({29, 1}),
        ("FRIENDS", Instance((1, 1), 30, 1)): frozenset({28}),
        ("FRIENDS", Instance((1, 1), 31, 0)): frozenset({25}),  # found sixth
        ("FRIENDS", Instance((1, 1), 32, 0)): frozenset(),  # took no history: nothing to find
        ("FRIENDS", Instance((1, 1), 33, 0)): frozenset({1}),  # not asked
    }
    rows = {row["metric"]: row for row in retrieval_rows("encoder", ranked, needed)}
    assert [rows[f"history_recall@{k}"]["value"] for k in (1, 3, 5)] == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert {row["n"] for row in rows.values()} == {3}
    assert rows["history_recall@3"]["paper"] == 0.355 and rows["history_recall@1"]["paper"] is None
    assert rows["history_recall@3"]["low"] <= 2 / 3 <= rows["history_recall@3"]["high"]


def test_recall_without_a_file_of_needed_scenes_is_null_with_a_reason() -> None:
    for row in retrieval_rows("encoder", {("FRIENDS", Instance((1, 1), 30, 0)): [29]}, {}):
        assert row["value"] is None and row["low"] is None and "`guess` study" in row["reason"]


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
    filling: list[Scene] = [scene(("Ben", "Rain."), at=(1, 10 + index)) for index in range(WINDOW)]
    results = ranked_scenes(NOW, [KEY, *filling], "en")
    assert len(results) == WINDOW and KEY not in results
    assert KEY in ranked_scenes(NOW, [KEY, *filling[1:]], "en")


def test_at_the_beginning_nothing_comes_to_mind() -> None:
    assert ranked_scenes(NOW, [], "en") == []
    assert ranked_scenes(NOW, [], "en", Meaning()) == []
