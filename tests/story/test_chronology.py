from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats import read
from understudy.story.chronology import Chronology
from understudy.story.persona import Persona, persona_at
from understudy.story.storyfile import Story

SCENES = """
Scene 1: The quay
(Ines and Tobias are there.)
Ines: The tide is out.
Tobias: Then we wait for the ferry.

Scene 2: The tower
(Mara and Tobias are there.)
Mara: Bring Lanthorn the grey ledger.
Tobias: Lanthorn? And the tide?

Scene 3: The quay
(Ines and Tobias are there.)
Ines: Who rang the bell in Osterwick?
Tobias: The owls. The owl rings it.
"""


@pytest.fixture
def told(tmp_path: Path) -> Story:
    path = tmp_path / "tide.txt"
    path.write_text(SCENES, encoding="utf-8")
    return read(path)


def terms(mentions: object) -> list[str]:
    return [mention.term for mention in mentions]  # type: ignore[attr-defined]


def test_names_of_later_scenes_are_not_known_yet(told: Story) -> None:
    known = Chronology(told)
    ines = persona_at(told, "Ines", "3")
    assert terms(known.knowledge_of(ines).unknown_yet("Was it Osterwick?")) == ["Osterwick"]
    assert known.knowledge_of(persona_at(told, "Ines", "end")).unknown_yet("Was it Osterwick?") == []
    (mention,) = known.knowledge_of(ines).unknown_yet("So Osterwick's bell.")[:1]
    assert mention.first.dotted == "3.2"


def test_an_ordinary_word_used_late_once_is_no_anachronism(told: Story) -> None:
    assert Chronology(told).knowledge_of(persona_at(told, "Ines", "3")).unknown_yet("I heard an owl.") == []


def test_what_was_said_where_one_was_not_is_unwitnessed(told: Story) -> None:
    known = Chronology(told)
    text = "Give Lanthorn the grey ledger."
    assert terms(known.knowledge_of(persona_at(told, "Ines", "3")).unwitnessed(text)) == ["Lanthorn", "grey ledger"]
    assert known.knowledge_of(persona_at(told, "Tobias", "3")).unwitnessed(text) == []
    assert known.knowledge_of(persona_at(told, "Ines", "2")).unwitnessed(text) == []  # not yet said at all
    assert terms(known.knowledge_of(persona_at(told, "Ines", "2")).unknown_yet(text)) == ["Lanthorn"]


def test_what_one_is_and_owns_may_always_be_spoken_of(told: Story) -> None:
    ines = persona_at(told, "Ines", "2")
    from_osterwick = Persona(ines.name, ines.moment, ("I come from Osterwick.",), past=ines.past)
    assert Chronology(told).knowledge_of(from_osterwick).unknown_yet("Osterwick!") == []


def test_a_word_of_many_scenes_whose_silence_before_is_no_accident(tmp_path: Path) -> None:
    quiet = "".join(f"Scene {n}: The quay\nInes: The tide is out.\n\n" for n in range(1, 6))
    loud = "".join(f"Scene {n}: The quay\nInes: The owl came again.\n\n" for n in range(6, 11))
    path = tmp_path / "owls.txt"
    path.write_text(quiet + loud, encoding="utf-8")
    story = read(path)
    known = Chronology(story)
    assert terms(known.knowledge_of(persona_at(story, "Ines", "6")).unknown_yet("My owls!")) == ["owls"]
    assert known.knowledge_of(persona_at(story, "Ines", "2")).unknown_yet("My owls!") == []  # one scene proves nothing


@given(st.text(max_size=80), st.integers(1, 3))
def test_what_a_character_said_itself_is_never_held_against_it(text: str, scene: int) -> None:
    story = read("demo-zh") if scene == 3 else read("demo")
    known = Chronology(story)
    persona = persona_at(story, story.cast()[0].character.name, f"{scene}.1" if scene < 3 else "end")
    for line in persona.past.lines(5):
        assert known.knowledge_of(persona).unwitnessed(line.text) == []
        assert known.knowledge_of(persona).unknown_yet(line.text) == []
    known.knowledge_of(persona).unwitnessed(text)  # any text can be asked about


def test_a_phrase_does_not_reach_over_a_full_stop(told: Story) -> None:
    known = Chronology(told).knowledge_of(persona_at(told, "Ines", "3"))
    assert terms(known.unwitnessed("The grey ledger.")) == ["grey ledger"]
    assert known.unwitnessed("It is grey. Ledger, please.") == []


def test_a_name_that_others_have_heard_is_still_to_come_for_who_has_not() -> None:
    story = read("demo")
    known = Chronology.of(story)
    text = "His name is Danilo Reuss."
    assert terms(known.knowledge_of(persona_at(story, "Zita Karst", "2.3")).unknown_yet(text)) == ["Danilo", "Reuss"]
    assert known.knowledge_of(persona_at(story, "Zita Karst", "3.4")).unknown_yet(text) == []
    assert known.knowledge_of(persona_at(story, "Danilo Reuss", "1.2")).unknown_yet(text) == []


def test_a_story_has_one_chronology_for_as_long_as_it_is_open(told: Story) -> None:
    assert Chronology.of(told) is Chronology.of(told)
    assert Chronology.of(read("demo")) is not Chronology.of(told)


def test_the_name_of_somebody_known_is_known_and_that_of_a_stranger_has_to_be_heard() -> None:
    story = read("demo")
    prior = persona_at(story, "Casimir Ould", "1.3")  # whom people call Commissary Sool is a stranger to him
    known = Chronology.of(story).knowledge_of(prior)
    assert terms(known.unknown_yet("Ottoline")) == ["Ottoline"]
    assert known.unknown_yet("Matthias was my friend.") == []


def test_capitals_at_the_start_of_verses_make_no_names(tmp_path: Path) -> None:
    verse = (
        "Ines: I shall the effect of this good lesson keep As watchman to my heart And Season it With salt, O friend.\n"
    )
    path = tmp_path / "verse.txt"
    path.write_text(f"Scene 1: A street\nInes: The tide is out.\n\nScene 2: A street\n{verse}", encoding="utf-8")
    story = read(path)
    assert Chronology(story).knowledge_of(persona_at(story, "Ines", "2")).unknown_yet("In every season of salt.") == []
