from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import hpdsessions
from understudy.bench.run import Items
from understudy.errors import InputError
from understudy.metrics.statistics import interval, paired_p
from understudy.papers.hpd.sessions import (
    ALL_PARTS,
    CANDIDATES,
    judged_files,
    load_questions,
    parts_of,
    training_questions,
    what_parts_add,
    withhold,
)
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona


def test_the_test_sets_of_a_folder_are_found_whatever_lies_beside(tmp_path: Path) -> None:
    data = hpdsessions.folder(tmp_path)
    assert [path.name for path in judged_files(data)] == ["en_test_set.json", "zh_test_set.json"]
    assert judged_files(data / "en_test_set.json") == [data / "en_test_set.json"]
    with pytest.raises(InputError, match="no test set of HPD"):
        judged_files(data.parent / data.name / "..")


def test_a_sample_follows_from_the_seed(tmp_path: Path) -> None:
    path = hpdsessions.write(tmp_path / "t.json", hpdsessions.sessions())
    some = [example.name for example in load_questions(path, 5, seed=1)]
    assert some == [example.name for example in load_questions(path, 5, seed=1)]
    assert len(some) == 5
    assert len(load_questions(path, 100)) == 12


def test_what_is_withheld_is_not_there(tmp_path: Path) -> None:
    (example,) = load_questions(hpdsessions.write(tmp_path / "t.json", hpdsessions.sessions(1)))
    assert withhold(example, ALL_PARTS) == example
    bare = withhold(example, "dialogue").situation
    assert (bare.setting, bare.persona.profile, bare.persona.relations) == ("", (), ())
    assert bare.faced is not None
    assert (bare.faced.profile, bare.faced.relations) == ((), ())
    assert bare.persona.name == "Wren"
    scene = withhold(example, "dialogue+scene").situation
    assert (scene.setting, scene.persona.profile) == (example.situation.setting, ())
    attributes = withhold(example, "dialogue+attributes").situation
    assert (attributes.persona.profile, attributes.persona.relations) == (example.situation.persona.profile, ())
    relations = withhold(example, "dialogue+relations").situation
    assert (relations.persona.relations, relations.persona.attributes) == (example.situation.persona.relations, {})
    assert withhold(example, "dialogue").history == example.history


def test_given_the_candidates_nothing_else_is_told(tmp_path: Path) -> None:
    first, second = load_questions(hpdsessions.write(tmp_path / "t.json", hpdsessions.sessions(2)))
    for example in (first, second):
        blind = withhold(example, CANDIDATES)
        persona = blind.situation.persona
        assert blind.situation == Situation(persona)
        assert persona == replace(Persona(""), past=persona.past)
        assert (blind.history, blind.candidates) == ((), example.candidates)


@pytest.mark.parametrize("given", ["scene", "dialogue+weather", "", "candidates+dialogue"])
def test_an_unknown_part_is_said(tmp_path: Path, given: str) -> None:
    (example,) = load_questions(hpdsessions.write(tmp_path / "t.json", hpdsessions.sessions(1)))
    with pytest.raises(InputError, match="cannot be given"):
        withhold(example, given)


def test_a_training_set_puts_questions_too(tmp_path: Path) -> None:
    path = hpdsessions.write(tmp_path / "train.json", hpdsessions.training_sessions())
    questions = training_questions(path, seed=0)
    assert len(questions) == 12
    for example in questions:
        right = example.candidates[min(example.gold)]
        assert right.startswith("I put your")
        assert [turn.speaker for turn in example.history] == ["Moss"]  # nothing of what came after
        assert len(set(example.candidates)) == 11
    drawn, again, other = ([one.candidates for one in training_questions(path, seed)] for seed in (0, 0, 1))
    assert drawn == again != other


def test_too_small_a_training_set_is_said(tmp_path: Path) -> None:
    few = dict(list(hpdsessions.training_sessions().items())[:4])
    with pytest.raises(InputError, match="too small"):
        training_questions(hpdsessions.write(tmp_path / "train.json", few))


ALL = "dialogue+scene+attributes+relations"
METRICS = ("mrr",)


def _items(agent: str, given: str, values: Sequence[float | None]) -> Items:
    names = [f"Session-{number}" for number in range(len(values))]
    return Items({"file": "f", "agent": agent, "given": given}, names, [], {"mrr": values})


def test_what_a_part_adds_is_the_mean_paired_difference() -> None:
    bare, scene = [0.5, 0.2, 1.0, 0.25, 0.1], [1.0, 0.2, 1.0, 0.5, 0.2]
    rows = what_parts_add([_items("a", "dialogue", bare), _items("a", "dialogue+scene", scene)], METRICS, seed=0)
    (row,) = rows
    assert (row["adds"], row["to"], row["given"]) == ("scene", "dialogue", "dialogue+scene")
    assert row["value"] == pytest.approx((0.5 + 0 + 0 + 0.25 + 0.1) / 5)
    differences = [after - before for before, after in zip(bare, scene)]
    assert (row["low"], row["high"]) == pytest.approx(interval(differences)[1:])
    assert row["p_value"] == paired_p(scene, bare) == row["p_adjusted"]


def test_what_is_compared_and_adjusted_together() -> None:
    given = ("candidates", "dialogue", "dialogue+scene", "dialogue+attributes+relations", ALL)
    items = [_items("a", text, [0.1 * place, 0.2, 0.3]) for place, text in enumerate(given)]
    rows = what_parts_add([*items, _items("b", "dialogue", [0.0] * 3)], METRICS, 0)
    assert {(row["adds"], row["to"]) for row in rows} == {
        (ALL, "candidates"),
        ("scene", "dialogue"),
        ("attributes+relations", "dialogue"),
        ("attributes+relations", "dialogue+scene"),
        ("scene", "dialogue+attributes+relations"),
    }
    assert all(row["agent"] == "a" for row in rows)
    assert min(row["p_adjusted"] for row in rows) >= min(row["p_value"] for row in rows)


def test_sessions_without_a_mark_are_left_out() -> None:
    rows = what_parts_add(
        [_items("a", "dialogue", [0.5, None, 0.25]), _items("a", "dialogue+scene", [1.0, 1.0, None])], METRICS, 0
    )
    assert [(row["value"], row["n"]) for row in rows] == [(0.5, 1)]
    unmarked = [_items("a", "dialogue", [None, None]), _items("a", "dialogue+scene", [1.0, None])]
    assert what_parts_add(unmarked, METRICS, 0) == []
    assert what_parts_add(unmarked, ("f1",), 0) == []


def test_parts() -> None:
    assert parts_of("dialogue+scene+relations") == {"scene", "relations"}
    assert parts_of("candidates") == parts_of("dialogue") == frozenset()
