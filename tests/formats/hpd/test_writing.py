from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated import NAMES, Plan, plans, plans_with_found
from understudy.formats import examples, read
from understudy.formats.hpd.writing import ATTRIBUTES, KINDS, Positions, label, session_document
from understudy.story.dialogue import Situation, Turn, situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment


def written(folder: Path, **sessions: Any) -> Path:
    path = folder / "set.json"
    path.write_text(json.dumps(sessions), encoding="utf-8")
    return path


@given(plan=plans() | plans_with_found(), data=st.data())
def test_a_session_is_read_back_as_what_the_character_knows(tmp_path: Path, plan: Plan, data: st.DataObject) -> None:
    story = plan.story(tmp_path)
    cast = NAMES[: sum(type(event).__name__ == "CastEntry" for event in plan.events)]
    who, other = data.draw(st.permutations(cast))[:2]
    at = data.draw(st.sampled_from([moment for moment, *_ in plan.lines]))
    situation = situation_at(story, who, at, other)
    history = [Turn(other, "What of it?"), Turn(who, "Nothing."), Turn(other, "Well: then?")]
    position = Positions.of(story).at(Moment(at.numbers[:3]))
    path = written(tmp_path, one=session_document(story, situation, history, position, "No.", ["Yes.", "Perhaps."]))

    (example,) = examples(path)
    assert list(example.history) == history
    assert example.candidates == ("No.", "Yes.", "Perhaps.")
    assert example.gold == {0}
    persona = example.situation.persona
    assert (persona.name, persona.moment.numbers) == (who, at.numbers[:2])
    assert example.situation.setting == situation.setting
    theirs = {key: value for key, value in situation.persona.attributes.items() if key != "hobby"}
    assert {key: value for key, value in persona.attributes.items() if key != "hobbies"} == theirs
    assert persona.attributes.get("hobbies") == situation.persona.attributes.get("hobby")
    there = {other, *(present.name for present in situation.present)}
    own = {(tie.to, tie.kind, tie.level) for tie in situation.persona.relations if tie.to in there}
    derived = {"family", "immediate family"} if any(kind == "spouse" for _, kind, _ in own) else set()
    back = {(tie.to, tie.kind, tie.level) for tie in persona.relations}
    assert {tie for tie in back if tie[1] not in derived} == own
    # every sentence of the profile comes back, but for the doubt of what was found
    certain = {text for text in situation.persona.profile if text not in situation.persona.found}
    assert certain <= set(persona.profile)
    assert read(path).count() == (1, 3)


def test_what_others_keep_to_themselves_is_not_written() -> None:
    story = read("demo")
    situation = situation_at(story, "Zita Karst", "1.2.1.5", "Danilo Reuss")
    document = session_document(story, situation, [Turn("Aurel Benedek", "Well?")], "Book1-chapter2", "No.", ["Yes."])
    assert "Danilo Reuss" not in json.dumps(document), "he goes by another name"
    assert set(document["attributes"]) == {"Zita Karst", "Aurel Benedek"}
    secrets = [fact.values[0] for fact in story.facts("Danilo Reuss") if fact.attribute == "secret"]
    assert secrets and not any(secret in json.dumps(document, ensure_ascii=False) for secret in secrets)
    row = document["relations with Zita Karst"]["Aurel Benedek"]
    own = {tie.kind: tie.level for tie in situation.persona.relations if tie.to == "Aurel Benedek"}
    assert row["Zita Karst's affection to him"] == own["affection"]
    assert set(KINDS) < set(row)


def test_all_of_hpds_attributes_are_there_and_the_storys_own_beside_them() -> None:
    story = read("demo")
    situation = situation_at(story, "Ignace Bohm", "2.3.1.5", "Pia Lenk")
    document = session_document(story, situation, [Turn("Pia Lenk", "Well?")], "Book2-chapter3", "No.", ["Yes."])
    own = document["attributes"]["Ignace Bohm"]
    assert {"name", *ATTRIBUTES} < set(own)
    assert own["hobbies"] == "chess, and losing bishops"
    assert own["spells"] == "None"
    assert own["secret"] == ["wearing the shirt of the dead Jory Pell next the skin"]
    assert "I was married once." in own["profile"]


def story_of(folder: Path, text: str) -> Story:
    script = folder / "script.txt"
    script.write_text(text, encoding="utf-8")
    return read(script)


@pytest.mark.parametrize(
    ("script", "positions"),
    [
        ("# book 2\n## chapter 7\n### scene 1: Here\nANN: Hi.\nBEN: Ho.\n", ["Book2-chapter7"]),
        (
            "# act 1\n## scene 1: Here\nANN: Hi.\nBEN: Ho.\n# act 2\n## scene 1: There\nANN: Ha.\nBEN: Hm.\n",
            ["Book1-chapter1", "Book1-chapter2"],
        ),
        ("# scene 1: Here\nANN: Hi.\nBEN: Ho.\n# scene 2: There\nANN: Ha.\n", ["Book1-chapter1", "Book1-chapter2"]),
    ],
)
def test_positions_follow_the_levels_above_the_scenes(tmp_path: Path, script: str, positions: list[str]) -> None:
    story = story_of(tmp_path, script)
    places = Positions.of(story)
    assert [places.at(moment) for moment, _, _ in story.outline()] == positions


def test_with_more_levels_books_and_chapters_are_counted() -> None:
    class Shows:
        levels = ("show", "season", "episode", "scene", "line")

        def outline(self) -> list[tuple[Moment, str, int]]:
            scenes = [(1, 3, 5, 1), (1, 3, 5, 2), (1, 3, 6, 1), (1, 4, 1, 1), (2, 3, 5, 1)]
            return [(Moment(numbers), "", 1) for numbers in scenes]

    shows: Any = Shows()
    places = Positions.of(shows)
    assert [places.at(moment) for moment, _, _ in shows.outline()] == [
        "Book1-chapter1", "Book1-chapter1", "Book1-chapter2", "Book2-chapter1", "Book3-chapter1",
    ]  # fmt: skip


def test_a_label_can_stand_before_a_line(tmp_path: Path) -> None:
    assert label("Guard: the left one") == "Guard the left one"
    assert len(label("x" * 200)) == 80
    story = story_of(tmp_path, "# scene 1: Here\nANN: Hi.\n")
    ann = situation_at(story, "Ann", "end").persona
    document = session_document(
        story, Situation(ann, "", None), [Turn("Guard: left", "Halt: who?")], "Book1-chapter1", "Me.", ["You."]
    )
    (example,) = examples(written(tmp_path, one=document))
    assert example.history == (Turn("Guard left", "Halt: who?"),)
