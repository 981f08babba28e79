"""Why a mask is taken for somebody."""

from __future__ import annotations

import pytest

from talkers import passing, personas, scene, scenes, training_scenes
from understudy.guessing.joint import Joint
from understudy.guessing.story import Reason, reasons_for
from understudy.story.persona import Persona
from understudy.story.types import Moment, Relation, Scene

TOLD = scenes(60, seed=1, called=0.4, own=1)


@pytest.fixture(scope="module")
def joint() -> Joint:
    return Joint(training_scenes(TOLD))


def why(
    joint: Joint, item: Scene, taken: dict[str, str], known: list[Persona] | None = None, earlier: list[Scene] = TOLD
) -> dict[str, list[Reason]]:
    return reasons_for(joint, item, known or personas(sorted(taken.values())), taken, earlier)


def of_kind(content: list[Reason], kind: str) -> list[str]:
    return [reason.text for reason in content if reason.kind == kind]


def test_a_name_called_is_a_reason_with_the_line(joint: Joint) -> None:
    talk = scene(("P0", "Ben, are you there?"), ("P1", "so it was."))
    results = why(joint, talk, {"P0": "Ann", "P1": "Ben"})
    content = of_kind(results["P1"], "called")
    assert any("Ben is called just before this one speaks: 'Ben, are you there?'" in text for text in content)
    assert all(reason.weight > 0 for reason in results["P1"])


def test_the_line_told_is_the_one_in_which_the_name_is_called(joint: Joint) -> None:
    talk = scene(
        (None, "Ben stands by the window."), ("P0", "Ben, are you there?"), ("P1", "so it was, Ben would say.")
    )
    content = of_kind(why(joint, talk, {"P0": "Ann", "P1": "Ben"})["P1"], "called")
    assert "Ben is called just before this one speaks: 'Ben, are you there?'" in content


def test_a_long_line_is_cut_where_it_is_told(joint: Joint) -> None:
    talk = scene(("P0", "Ben, " + "so it was and so it is, " * 10), ("P1", "so it was."))
    content = " ".join(of_kind(why(joint, talk, {"P0": "Ann", "P1": "Ben"})["P1"], "called"))
    assert "…'" in content and len(content) < 300


def test_a_turn_of_phrase_is_a_reason_with_the_words(joint: Joint) -> None:
    talk = scene(("P0", "the tide and the anchor."), ("P1", "the oven and the dough."))
    results = why(joint, talk, {"P0": "Ann", "P1": "Ben"})
    assert "'tide'" in of_kind(results["P0"], "phrase")[0] and "'anchor'" in of_kind(results["P0"], "phrase")[0]
    assert "'oven'" in of_kind(results["P1"], "phrase")[0]
    assert not any("'the'" in text for content in results.values() for text in of_kind(content, "phrase"))


def test_something_known_of_them_is_a_reason_with_the_sentence(joint: Joint) -> None:
    known = [Persona("Ann", profile=("I keep a lantern in the attic.",)), Persona("Ben")]
    talk = scene(("P0", "my lantern is in the attic."), ("P1", "so."))
    content = of_kind(why(joint, talk, {"P0": "Ann", "P1": "Ben"}, known)["P0"], "profile")
    assert content == ["I keep a lantern in the attic. (attic, lantern)"]


def test_a_tie_is_a_reason_of_its_own_kind(joint: Joint) -> None:
    tie = Relation("Ann", "Zoe Quill", "friend", None, Moment((1,)))
    known = [Persona("Ann", relations=(tie,)), Persona("Ben")]
    talk = scene(("P0", "we saw Zoe Quill and Zoe Quill saw us."), ("P1", "so."))
    results = why(joint, talk, {"P0": "Ann", "P1": "Ben"}, known)["P0"]
    (content,) = of_kind(results, "relation")
    assert "Zoe Quill" in content
    assert of_kind(results, "profile") == []


def test_who_calls_the_other_is_not_the_other(joint: Joint) -> None:
    talk = scene(("P0", "Ben, are you there?"), ("P1", "so it was."))
    content = of_kind(why(joint, talk, {"P0": "Ann", "P1": "Ben"})["P0"], "called")
    assert any(text.startswith("Ben is called by this one") for text in content)


def test_an_earlier_scene_is_a_reason_with_its_moment() -> None:
    story_scenes = passing(160, seed=13)
    topic = {str(line.speaker): line.text for line in story_scenes[-1].lines}
    joint = Joint(training_scenes(story_scenes))
    talk = scene(("P0", topic["Ben"]), ("P1", topic["Ann"]), at=(14, 1))
    results = why(joint, talk, {"P0": "Ben", "P1": "Ann"}, earlier=story_scenes)
    (reason,) = of_kind(results["P0"], "memory")
    words, _, moment = reason.removeprefix("spoke of ").partition(" at ")
    (earlier,) = [item for item in story_scenes if item.moment.dotted == moment]
    said = " ".join(line.text for line in earlier.lines if line.speaker == "Ben").split()
    assert set(words.split(", ")) <= set(said) & set(topic["Ben"].split())


def test_strongest_first_and_exclusion_where_nothing_else_speaks(joint: Joint) -> None:
    talk = scene(("P0", "the tide, the gull, the oar, Ben?"), ("P1", "qwrt."))
    results = why(joint, talk, {"P0": "Ann", "P1": "Ben"})
    assert [item.weight for item in results["P0"]] == sorted((item.weight for item in results["P0"]), reverse=True)
    alone = why(joint, scene(("P0", "qwrt."), ("P1", "qwrt.")), {"P0": "Ann", "P1": "Ben"})
    assert {item.kind for content in alone.values() for item in content} == {"exclusion"}


def test_one_alone_has_no_rival(joint: Joint) -> None:
    results = why(joint, scene(("P0", "the tide.")), {"P0": "Ann"})
    assert results["P0"] == [Reason("exclusion", "everybody else is likelier behind another mask", 0.0)]
