"""What a card needs to be played: a scene, a greeting that anybody can be met with, and talk with one person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from generated import NAMES, Plan, plans
from people import ScenePast, scene
from understudy.formats.export.card_scene import CardScene
from understudy.sources.events import CastEntry
from understudy.story.dialogue import Situation, situation_at
from understudy.story.persona import Other, Persona
from understudy.story.types import Moment, Relation

FRIEND = Relation("Odile", "Bastien", "friend", None, Moment((1, 1)))
ENEMY = Relation("Odile", "Marguerite", "enemy", None, Moment((1, 1)))
PAST = (
    scene(
        1,
        ("Odile", "There is a barge below the lower gate."),
        ("Marguerite", "Whose barge is it?"),
        ("Odile", "Nobody has said, Marguerite, and I have not asked."),
    ),
    scene(
        2,
        ("Odile", "You were to be here at six."),
        ("Bastien", "The road was under water."),
        ("Odile", "The road is always under water, Bas."),
        ("Marguerite", "I was here at six."),
        ("Odile", "That is so."),
        ("Bastien", "Then let us begin."),
        ("Odile", "Oh Bas, it is all done."),
        ("Odile", "Wind the gate down."),
    ),
    scene(3, (None, "The gate comes down."), ("Bastien", "Is it raining?"), ("Odile", "It has not stopped, carter.")),
)
PERSONA = Persona(
    "Odile", Moment((1, 4)), ("I keep the lock at Verey.",), {}, (FRIEND, ENEMY), ScenePast(PAST, "Odile")
)
KNOWN = (Other("Bastien", aliases=("Bas",)), Other("Marguerite"))
ALONE = Situation(PERSONA, acquaintances=KNOWN, scene=replace(PAST[-1], setting="the lower gate, at dusk"))
FACING = replace(ALONE, faced=Other("Bastien", relations=(FRIEND,), aliases=("Bas",)))


def test_the_scenario_is_a_scene() -> None:
    lines = CardScene(ALONE).scenario().splitlines()
    assert lines[0] == "Scene: after this one: the lower gate, at dusk."
    assert lines[1] == "{{char}} was there with Bastien."
    assert 'Bastien: "Is it raining?" Odile: "It has not stopped, carter."' in lines[2]
    assert lines[3] == "{{user}} speaks to {{char}}."
    assert lines[4:] == ["Bastien is my friend."], "of those who are not there the lorebook tells"


def test_a_scene_that_is_still_going_on_is_told_as_such() -> None:
    under_way = replace(ALONE, is_in_scene=True, setting="the lower gate, at dusk", present=(Other("Bastien"),))
    lines = CardScene(under_way).scenario().splitlines()
    assert lines[0] == "Scene: the lower gate, at dusk."
    assert lines[1] == "{{char}} is there with Bastien."


def test_the_scenario_says_who_the_user_is() -> None:
    assert "{{user}} is Bastien" in CardScene(FACING).scenario()
    without_scene = CardScene(replace(FACING, scene=None)).scenario()
    assert without_scene.startswith("Scene: {{user}} is Bastien"), "chat programs send it among other texts"


def test_nobody_knows_where_somebody_without_a_past_is() -> None:
    assert CardScene(Situation(Persona("Odile"))).scenario() == ""


def test_what_is_long_is_cut() -> None:
    told = scene(1, ("Bastien", "and " * 1_000))
    assert len(CardScene(replace(ALONE, scene=told)).scenario()) < 1_000


def test_the_greeting_calls_nobody() -> None:
    assert CardScene(ALONE).greetings() == (
        "There is a barge below the lower gate.",
        "I am Odile. I keep the lock at Verey.",
    )


def test_without_a_line_for_anybody_the_character_introduces_itself() -> None:
    last_scenes = replace(PERSONA, past=ScenePast(PAST[1:], "Odile"))
    assert CardScene(replace(ALONE, persona=last_scenes)).greetings() == ("I am Odile. I keep the lock at Verey.",)
    words = ("Madam, the gate is shut for the night.", "Shut the gate, my dear, and come in.", "You are too late now.")
    for text in words:
        called = replace(PERSONA, past=ScenePast([scene(1, ("Odile", text))], "Odile"))
        assert text not in CardScene(replace(ALONE, persona=called)).greetings()


def test_before_somebody_the_greeting_is_for_them() -> None:
    first, *_ = CardScene(FACING).greetings()
    assert first == "You were to be here at six."
    marguerite = CardScene(replace(ALONE, faced=Other("Marguerite"))).greetings()
    assert marguerite[0] == "There is a barge below the lower gate."
    assert not any("Bas" in text for text in marguerite)


def test_the_user_of_the_examples_is_one_person() -> None:
    assert CardScene(ALONE).examples().splitlines() == [
        "<START>",
        "{{char}}: You were to be here at six.",
        "{{user}}: The road was under water.",
        "{{char}}: The road is always under water, {{user}}.",
        "{{user}}: Then let us begin.",
        "{{char}}: Oh {{user}}, it is all done.",
        "{{char}}: Wind the gate down.",
        "<START>",
        "{{user}}: Is it raining?",
        "{{char}}: It has not stopped, carter.",
    ]


def test_before_somebody_the_examples_are_with_them_and_call_them_as_ever() -> None:
    examples = CardScene(FACING).examples()
    assert "{{char}}: The road is always under water, Bas." in examples
    with_marguerite = CardScene(replace(ALONE, faced=Other("Marguerite"))).examples()
    assert [line for line in with_marguerite.splitlines() if line.startswith("{{user}}")] == [
        "{{user}}: Whose barge is it?",
        "{{user}}: I was here at six.",
    ]


def test_before_somebody_new_the_examples_are_with_whoever_was_talked_with_most() -> None:
    with_stranger = CardScene(replace(ALONE, faced=Other("Tom", ("Tom is a sailor.",)))).examples()
    assert with_stranger == CardScene(ALONE).examples()
    assert "{{char}}: The road is always under water, {{user}}." in with_stranger


@given(plan=plans(), data=st.data())
def test_of_any_story_the_user_is_one_person_and_the_greeting_names_nobody(
    tmp_path: Path, plan: Plan, data: st.DataObject
) -> None:
    cast = NAMES[: sum(isinstance(event, CastEntry) for event in plan.events)]
    who = data.draw(st.sampled_from(cast))
    at = data.draw(st.sampled_from(list(plan.moments())))
    situation = situation_at(plan.story(tmp_path), who, at)
    card = CardScene(situation)
    *openings, introduction = card.greetings()
    assert introduction.startswith(f"I am {who}.")
    for text in openings:
        assert not any(other in text for other in cast if other != who)
    spoken = [line.removeprefix("{{user}}: ") for line in card.examples().splitlines() if line.startswith("{{user}}")]
    speakers = {
        line.text: {line.speaker} for heard in situation.persona.past.scenes() for line in heard.lines if line.speaker
    }
    common = [speakers[text] for text in spoken if text in speakers]
    assert not common or set.intersection(*common)
