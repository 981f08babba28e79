from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from generated import NAMES, Plan, plans, plans_with_found, reachable
from understudy.agents.reply_lines import ReplyLine, characters_asked, question_at, reply_lines, sampled
from understudy.errors import UnknownCharacter
from understudy.formats import read
from understudy.story.storyfile import Story
from understudy.story.types import Moment

SCRIPT = """# act 1
## scene 1: The chandlery, noon
Present: Ines, Tobias
[Rain on the roof.]
INES: The key was on its hook.
INES: (pointing) On that one.
TOBIAS: Was it? (He shrugs.) I never look at hooks.
[Mara enters.]
MARA: Good day to you!
TOBIAS: (coughs)
INES: And to you, Mara.
## scene 2: The quay
Present: Tobias, Mara
TOBIAS: I sold it.
MARA: Thief.
"""


@pytest.fixture
def story(tmp_path: Path) -> Story:
    path = tmp_path / "key.txt"
    path.write_text(SCRIPT, encoding="utf-8")
    return read(path)


def of(story: Story, *names: str, turns: int = 1) -> list[ReplyLine]:
    return list(reply_lines(story, characters_asked(story, names), turns))


def test_lines_that_answer_somebody_else(story: Story) -> None:
    assert [(line.who, line.text, line.answers) for line in of(story)] == [
        ("Tobias", "Was it? I never look at hooks.", "Ines"),
        ("Ines", "And to you, Mara.", "Mara"),
        ("Mara", "Thief.", "Tobias"),
    ]
    assert [line.text for line in of(story, turns=3)] == ["And to you, Mara."]
    assert [line.who for line in of(story, "Tobias")] == ["Tobias"]
    assert "Good day to you!" not in {line.text for line in of(story)}, "who has just come in has heard nothing"


def test_moments_bound_what_is_asked(story: Story) -> None:
    asked = characters_asked(story)
    within = [line.text for line in reply_lines(story, asked, within=story.moment("1.2"))]
    assert within == ["Thief."]
    until = [line.text for line in reply_lines(story, asked, until=story.moment("1.1.6"))]
    assert until == ["Was it? I never look at hooks."]


def test_a_question_has_what_came_before_without_directions(story: Story) -> None:
    question = question_at(story, of(story, "Ines")[0])
    assert [(turn.speaker, turn.text) for turn in question.history] == [
        ("Ines", "The key was on its hook."),
        ("Ines", "On that one."),
        ("Tobias", "Was it? I never look at hooks."),
        ("Mara", "Good day to you!"),
    ]
    assert question.situation.setting == "The chandlery, noon. Rain on the roof. Mara enters."
    assert question.situation.faced is not None
    assert question.situation.faced.name == "Mara"
    assert question.line.name == "Session-1-1.8"


def test_main_characters_or_those_named(story: Story) -> None:
    assert characters_asked(story, most=1) == ("Ines",)
    assert characters_asked(story, ["Mara", "mara", "Tobias"]) == ("Mara", "Tobias")
    with pytest.raises(UnknownCharacter):
        characters_asked(story, ["Nobody"])


def test_a_sample_is_seeded_and_in_story_order(story: Story) -> None:
    lines = of(story)
    first = sampled(lines, 2, 7)
    assert first == sampled(lines, 2, 7)
    assert first == sorted(first, key=lambda line: line.moment)
    assert len({tuple(line.name for line in sampled(lines, 2, seed)) for seed in range(20)}) > 1
    assert sampled(lines, 99, 0) == lines


@given(plan=plans() | plans_with_found())
def test_nothing_of_the_reply_or_later_can_be_reached(tmp_path: Path, plan: Plan) -> None:
    story = plan.story(tmp_path)
    cast = NAMES[: sum(type(event).__name__ == "CastEntry" for event in plan.events)]
    for line in reply_lines(story, cast):
        question = question_at(story, line)
        reached = reachable(question.situation) | {turn.text for turn in question.history}
        there = {moment: company for moment, _, _, company in plan.lines}
        hidden = {text for moment, _, text, _ in plan.lines if moment >= line.moment or line.who not in there[moment]}
        assert not [text for text in hidden if any(text in string for string in reached)]
        assert question.history[-1].speaker == line.answers
        assert all(fact.since <= line.moment for fact in plan.facts if any(fact.values[0] in text for text in reached))
        remembered = {said.moment for scene in question.situation.persona.past.scenes() for said in scene.lines}
        assert all(moment < Moment(line.scene.numbers) for moment in remembered)


def test_other_scripts_have_their_own_full_stop() -> None:
    story = read("demo-ja")
    question = question_at(story, next(reply_lines(story, characters_asked(story), 2)))
    assert "。" in question.situation.setting
    assert "." not in question.situation.setting
