"""Figures of a run of guessing, on guesses that can be counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from talkers import annotation, guessed_scene
from understudy.bench.run import groups_of
from understudy.guessing.analysis import GuessedSpeaker, analyse
from understudy.papers.tvshowguess.annotations import annotation_groupings

Row = dict[str, Any]


def guesses(model: str = "joint") -> list[GuessedSpeaker]:
    """Friends: 1 of 2, 3 of 3, 1 of 2 right; Frasier: 2 of 2."""
    return [
        *guessed_scene(model, "FRIENDS", 1, ["Ross", "Joey"], ["Ross", "Ross"]),
        *guessed_scene(model, "FRIENDS", 2, ["Ross", "Joey", "Monica"], ["Ross", "Joey", "Monica"]),
        *guessed_scene(model, "FRIENDS", 3, ["Joey", "Monica"], ["Joey", "Joey"]),
        *guessed_scene(model, "Frasier", 1, ["Niles", "Daphne"], ["Niles", "Daphne"]),
    ]


def figures(rows: list[Row], metric: str, *keys: str) -> dict[Any, Any]:
    """(share, out of how many) by the values of some keys."""
    results = {
        tuple(row[key] for key in keys): (pytest.approx(row["value"]), row["n"])
        for row in rows
        if row["metric"] == metric
    }
    assert len(results) == sum(row["metric"] == metric for row in rows)
    return results


def test_accuracy_counts_speakers_and_scene_accuracy_scenes() -> None:
    rows = analyse(guesses())["rows"]
    assert figures(rows, "accuracy", "model", "show") == {
        ("joint", "FRIENDS"): (5 / 7, 7),
        ("joint", "Frasier"): (1, 2),
        ("joint", "all"): (7 / 9, 9),
    }
    assert figures(rows, "scene_accuracy", "show") == {
        ("FRIENDS",): ((0.5 + 1 + 0.5) / 3, 3),
        ("Frasier",): (1, 1),
        ("all",): (3 / 4, 4),
    }


def test_accuracy_by_number_of_speakers_and_by_character() -> None:
    rows = analyse(guesses())["rows"]
    by_speakers = figures(rows, "accuracy_by_speakers", "show", "speakers")
    assert by_speakers == {
        ("FRIENDS", 2): (2 / 4, 4),
        ("FRIENDS", 3): (1, 3),
        ("Frasier", 2): (1, 2),
        ("all", 2): (4 / 6, 6),
        ("all", 3): (1, 3),
    }
    by_character = figures(rows, "accuracy_by_character", "show", "character")
    assert by_character["FRIENDS", "Joey"] == (2 / 3, 3)
    assert by_character["FRIENDS", "Monica"] == (1 / 2, 2)
    assert ("all", "Joey") not in by_character


def test_a_speaker_counts_for_every_kind_of_evidence_that_telling_took() -> None:
    labels = [
        annotation(1, 0, ["memory", "fact (status)"], "direct", "default conjunction"),
        annotation(1, 1, ["fact (relation)", "fact (status)"], "indirect", "multihop-character"),
        annotation(2, 0, ["memory"], "direct"),
        annotation(9, 0, ["personality"], "none"),
    ]
    rows = [
        row
        for row in analyse(guesses(), groupings=annotation_groupings(guesses(), labels))["rows"]
        if row.get("show") == "all"
    ]
    assert figures(rows, "accuracy_by_evidence", "evidence") == {
        ("fact (relation)",): (0, 1),
        ("fact (status)",): (1 / 2, 2),
        ("memory",): (1, 2),
    }
    assert figures(rows, "accuracy_by_coarse_evidence", "coarse_evidence") == {
        ("fact",): (1 / 2, 2),
        ("memory",): (1, 2),
    }
    assert figures(rows, "accuracy_by_history", "history") == {("direct",): (1, 2), ("indirect",): (0, 1)}
    assert figures(rows, "accuracy_by_reasoning", "reasoning") == {
        ("none",): (1, 1),
        ("default conjunction",): (1, 1),
        ("multihop-character",): (0, 1),
    }


def test_intervals_draw_scenes_not_speakers() -> None:
    """Speakers of a scene stand or fall together here: as many scenes as speakers say nothing more."""
    together = [
        item
        for number in range(20)
        for item in guessed_scene("m", "S", number, ["A", "B", "C", "D"], list("ABCD") if number % 2 else list("BCDA"))
    ]
    alone = [
        item
        for number in range(20)
        for item in guessed_scene("m", "S", number, ["A", "B"], list("AB" if number % 2 else "BA"))
    ]
    wide, same = ({row["metric"]: row for row in analyse(of)["rows"]}["accuracy"] for of in (together, alone))
    assert wide["value"] == same["value"] == 0.5
    assert (wide["low"], wide["high"]) == (same["low"], same["high"])
    assert wide["high"] - wide["low"] > 0.3  # of 80 independent speakers it would be 0.22


def test_one_scene_has_no_interval_and_the_seed_settles_the_others() -> None:
    rows = analyse(guesses(), seed=5)["rows"]
    assert rows == analyse(guesses(), seed=5)["rows"]
    for row in rows:
        few = row["value"] is None or row.get("show") == "Frasier" or row.get("speakers") == 3
        if few:
            assert row["low"] is None and row["high"] is None
        elif row["metric"] in ("accuracy", "scene_accuracy"):
            assert row["low"] <= row["value"] <= row["high"] and row["low"] < row["high"]


def test_models_are_compared_on_what_both_were_asked() -> None:
    better = [item for number in range(30) for item in guessed_scene("a", "S", number, ["A", "B"], ["A", "B"])]
    worse = [
        item
        for number in range(30)
        for item in guessed_scene("b", "S", number, ["A", "B"], ["A", "A" if number % 3 else "B"])
    ]
    alike = [item for number in range(10) for item in guessed_scene("c", "S", number, ["A", "B"], ["A", "B"])]
    results = {tuple(row["agents"]): row for row in analyse([*better, *worse, *alike])["comparisons"]}
    assert set(results) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert results["a", "b"]["difference"] == pytest.approx(20 / 60)
    assert results["a", "b"]["n"] == 60 and results["a", "c"]["n"] == 20
    assert 0 < results["a", "b"]["low"] < results["a", "b"]["difference"] < results["a", "b"]["high"]
    assert results["a", "b"]["p"] < results["a", "b"]["p_adjusted"] < 0.01
    assert results["a", "c"]["difference"] == 0 and results["a", "c"]["p_adjusted"] == 1


def test_confusions_have_who_it_was_by_line_and_whom_they_were_taken_for_by_column() -> None:
    friends, frasier = analyse(guesses())["confusions"]
    assert friends == {
        "model": "joint",
        "show": "FRIENDS",
        "names": ["Joey", "Ross", "Monica"],
        "counts": [[2, 1, 0], [0, 2, 0], [1, 0, 1]],
    }
    assert frasier["counts"] == [[1, 0], [0, 1]]


def test_nothing_guessed_is_nothing_told() -> None:
    assert analyse([]) == {"rows": [], "comparisons": [], "confusions": [], "flows": []}


def test_a_model_may_be_judged_on_some_shows_alone() -> None:
    some = [item for item in guesses("one show") if item.show == "FRIENDS"]
    results = analyse([*guesses(), *some])
    assert {row["show"] for row in results["rows"] if row["model"] == "one show"} == {"FRIENDS", "all"}
    assert [item["show"] for item in results["confusions"] if item["model"] == "one show"] == ["FRIENDS"]


def test_speakers_of_a_scene_are_of_one_group_and_have_names_of_their_own() -> None:
    story_scenes = [
        *guessed_scene("a", "Mr._Show", 12, ["Ann", "Ben"], ["Ann", "Ann"]),
        *guessed_scene("a", "Mr._Show", 13, ["Ann", "Ben"], ["Ann", "Ben"]),
    ]
    keys = [item.key for item in story_scenes]
    assert len(set(keys)) == 4
    first, second, third, fourth = groups_of(keys)
    assert first == second != third == fourth
    another = [*guessed_scene("b", "Mr._Show", 12, "AB", "AB"), *guessed_scene("b", "Mr._Show", 13, "AB", "AB")]
    assert [item.key for item in another] == keys


def test_right_is_whom_it_was() -> None:
    story_scenes = guessed_scene("a", "S", 1, ["Ann", "Ben", "Cleo"], ["Ann", "Ann", "Cleo"])
    assert [item.right for item in story_scenes] == [True, False, True]
    assert {item.speakers for item in story_scenes} == {3}
