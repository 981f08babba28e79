from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import StoryError
from understudy.formats import read
from understudy.people.memory import PeopleMemory, RememberedChat, remembered_person
from understudy.story.dialogue import Situation, situation_at
from understudy.story.storyfile import Story


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


@pytest.fixture
def memory(tmp_path: Path) -> PeopleMemory:
    return PeopleMemory(tmp_path / "memory.sqlite")


def told(situation: Situation) -> list[str]:
    assert situation.faced is not None
    return [item.text for item in situation.faced.told]


def test_zita_does_not_know_what_was_told_to_pia(demo: Story, memory: PeopleMemory) -> None:
    first = RememberedChat(memory, "Tom")
    first.keep(situation_at(demo, "Pia", "2.3"), 1, "Hello, I'm Tom. I work at the harbour. What about you?")
    later = RememberedChat(memory, "Tom")
    assert told(later.recall(situation_at(demo, "Pia", "2.3"))) == ["I'm Tom", "I work at the harbour"]
    assert told(later.recall(situation_at(demo, "Zita", "2.3"))) == []
    assert told(later.recall(situation_at(demo, "Pia", "2.2"))) == []


def test_a_chat_does_not_recall_itself(demo: Story, memory: PeopleMemory) -> None:
    chat, pia = RememberedChat(memory, "Tom"), situation_at(demo, "Pia", "2.3")
    chat.keep(pia, 1, "I work at the harbour.")
    assert told(chat.recall(pia)) == []


def test_who_is_remembered_stands_before_the_character_under_the_name(demo: Story, memory: PeopleMemory) -> None:
    situation = RememberedChat(memory, "Tom").recall(situation_at(demo, "Pia", "2.3"))
    assert situation.faced is not None and situation.faced.name == "Tom"


def test_what_is_told_as_somebody_is_known_of_them_alone(demo: Story, memory: PeopleMemory) -> None:
    as_zita = situation_at(demo, "Pia", "2.3", "Zita")
    RememberedChat(memory, "Tom").keep(as_zita, 1, "I work at the harbour.")
    later = RememberedChat(memory, "Tom")
    assert told(later.recall(as_zita)) == ["I work at the harbour"]
    assert told(later.recall(situation_at(demo, "Pia", "2.3"))) == []


def test_the_source_is_told_in_words(demo: Story, memory: PeopleMemory) -> None:
    pia = situation_at(demo, "Pia", "2.3")
    (telling,) = RememberedChat(memory, "Tom").keep(pia, 2, "I have two dogs.", said="2026-05-03T10:00:00Z")
    later = RememberedChat(memory, "Tom")
    (item,) = later.recall(pia).faced.told  # type: ignore[union-attr]
    assert item.source == "Tom, chat of 3 May 2026, turn 2" and item.moment == pia.persona.moment
    memory.edit("Tom", telling.number, "I have three dogs")
    (item,) = later.recall(pia).faced.told  # type: ignore[union-attr]
    assert item.source.endswith(", edited")


def test_a_name_that_no_sentence_gives_is_kept_as_one(demo: Story, memory: PeopleMemory) -> None:
    kept = RememberedChat(memory, "Tom").keep(situation_at(demo, "Pia", "2.3"), 1, "This is Tom Reed. Is Zita in?")
    assert [telling.text for telling in kept] == ["My name is Tom Reed"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 81])
def test_a_name_must_be_one(name: str) -> None:
    with pytest.raises(StoryError, match="name of at most"):
        remembered_person(name)
