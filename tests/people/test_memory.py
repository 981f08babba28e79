from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError, StoryError
from understudy.formats import read
from understudy.people.memory import ChatSource, PeopleMemory, RememberedChat, Telling, remembered_person
from understudy.story.dialogue import Situation, situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Moment

FIRST = ChatSource("Tom", "Tom", "The Brass Key", "Ines", Moment((2, 1)), "first", "2026-05-03T10:00:00.000000Z")
LATER = replace(FIRST, chat="second", began="2026-05-04T10:00:00.000000Z")


@pytest.fixture
def memory(tmp_path: Path) -> PeopleMemory:
    return PeopleMemory(tmp_path / "data" / "memory.sqlite")


def texts(tellings: list[Telling]) -> list[str]:
    return [telling.text for telling in tellings]


def test_what_was_told_is_known_to_the_same_character_in_a_later_chat(memory: PeopleMemory) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    assert texts(memory.known(LATER)) == ["I am a sailor"]
    assert texts(memory.known(replace(LATER, person="TOM", speaker="tom"))) == ["I am a sailor"]


@pytest.mark.parametrize(
    "elsewhere",
    [{"character": "Tobias"}, {"story": "A Clean Bill"}, {"person": "Una", "speaker": "Una"}, {"speaker": "Tobias"}],
)
def test_nobody_else_knows_it(memory: PeopleMemory, elsewhere: dict[str, str]) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    assert memory.known(replace(LATER, **elsewhere)) == []  # type: ignore[arg-type]


def test_an_earlier_chat_does_not_know_what_a_later_one_was_told(memory: PeopleMemory) -> None:
    memory.tell(LATER, 1, ["I am a sailor"])
    assert memory.known(FIRST) == []


def test_a_character_at_an_earlier_moment_was_not_told_yet(memory: PeopleMemory) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    assert memory.known(replace(LATER, moment=Moment((1, 9)))) == []
    assert texts(memory.known(replace(LATER, moment=Moment.end()))) == ["I am a sailor"]


moments = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda numbers: Moment(tuple(numbers)))
chats = st.tuples(st.integers(0, 5), moments, st.sampled_from(["Ines", "Tobias"]))


@given(st.lists(chats, min_size=1, max_size=6), chats)
def test_known_iff_told_to_it_in_an_earlier_chat_at_no_later_moment(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[int, Moment, str]], asked: tuple[int, Moment, str]
) -> None:
    memory = PeopleMemory(tmp_path_factory.mktemp("memory") / "memory.sqlite")

    def source(chat: tuple[int, Moment, str], key: str) -> ChatSource:
        day, moment, character = chat
        return replace(FIRST, began=f"2026-05-0{day + 1}", moment=moment, character=character, chat=key)

    for number, chat in enumerate(told):
        memory.tell(source(chat, f"chat {number}"), 1, [f"I have {number} dogs"])
    day, moment, character = asked
    assert set(texts(memory.known(source(asked, "asked")))) == {
        f"I have {number} dogs"
        for number, (then, at, who) in enumerate(told)
        if who == character and then < day and at <= moment
    }


def test_what_is_known_already_is_not_kept_again_but_what_was_told_later_in_the_story_is(memory: PeopleMemory) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    assert memory.tell(FIRST, 2, ["I am a Sailor"]) == []
    assert memory.tell(LATER, 1, ["I am a sailor"]) == []
    earlier = replace(LATER, moment=Moment((1, 1)))
    assert len(memory.tell(earlier, 1, ["I am a sailor"])) == 1


def test_the_source_is_kept_with_it(memory: PeopleMemory) -> None:
    (telling,) = memory.tell(FIRST, 3, ["I  am\na sailor"])
    assert (telling.text, telling.chat, telling.turn, telling.moment) == ("I am a sailor", "first", 3, "2.1")
    assert (telling.story, telling.character, telling.person) == ("The Brass Key", "Ines", "Tom")
    assert telling.said.startswith("20") and telling.edited is None


def test_edited_and_undone(memory: PeopleMemory) -> None:
    (telling,) = memory.tell(FIRST, 1, ["I am a sailor"])
    edited = memory.edit("tom", telling.number, "I am a doctor")
    assert edited.edited and texts(memory.known(LATER)) == ["I am a doctor"]
    assert memory.undo() == [telling]
    assert memory.tellings() == [telling]
    with pytest.raises(InputError, match="no change to undo"):
        memory.undo()


def test_forgotten_and_undone_only_the_last_change(memory: PeopleMemory) -> None:
    first, second = memory.tell(FIRST, 1, ["I am a sailor", "I have two dogs"])
    memory.forget("Tom", [first.number])
    memory.forget("Tom", [second.number])
    assert memory.tellings() == []
    memory.undo()
    assert memory.tellings() == [second]


def test_everything_of_one_person_is_forgotten_and_of_nobody_else(memory: PeopleMemory) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    memory.tell(replace(FIRST, person="Una", speaker="Una"), 1, ["I am a nurse"])
    memory.forget("Tom")
    assert texts(memory.tellings()) == ["I am a nurse"]


def test_somebody_elses_entry_cannot_be_changed_under_another_name(memory: PeopleMemory) -> None:
    (telling,) = memory.tell(FIRST, 1, ["I am a sailor"])
    for change in (lambda: memory.forget("Una", [telling.number]), lambda: memory.edit("Una", telling.number, "x")):
        with pytest.raises(InputError, match="nothing with the number"):
            change()


def test_a_turn_that_is_taken_back_is_not_remembered(memory: PeopleMemory) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    memory.tell(FIRST, 2, ["I have two dogs"])
    memory.take_back("first", 2)
    assert texts(memory.tellings()) == ["I am a sailor"]
    memory.take_back("first")
    assert memory.tellings() == []


def test_nothing_is_written_before_something_is_told(memory: PeopleMemory) -> None:
    assert memory.tellings() == [] and memory.known(LATER) == []
    memory.tell(FIRST, 1, [])
    memory.forget("Tom")
    assert not memory.path.parent.exists()


def test_forgotten_text_is_gone_from_the_files(memory: PeopleMemory) -> None:
    for number in range(50):
        memory.tell(FIRST, number, [f"I keep {number} parakeets in the attic"])
    memory.forget("Tom", can_undo=False)
    left = b"".join(path.read_bytes() for path in memory.path.parent.iterdir())
    assert b"parakeets" not in left


def test_with_undo_the_text_is_in_the_undo_file_alone_until_the_next_change(memory: PeopleMemory) -> None:
    first, second = memory.tell(FIRST, 1, ["I keep parakeets", "I have two dogs"])
    memory.forget("Tom", [first.number])
    assert b"parakeets" not in memory.path.read_bytes()
    assert memory.can_undo and b"parakeets" in memory.undo_path.read_bytes()
    memory.edit("Tom", second.number, "I have three dogs")
    assert b"parakeets" not in memory.undo_path.read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_only_the_user_can_read_it(memory: PeopleMemory) -> None:
    (telling,) = memory.tell(FIRST, 1, ["I am a sailor"])
    memory.forget("Tom", [telling.number])
    assert {stat.S_IMODE(path.stat().st_mode) for path in (memory.path, memory.undo_path)} == {0o600}


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE things (x)")
    with pytest.raises(InputError, match="something else"):
        PeopleMemory(path).tell(FIRST, 1, ["I am a sailor"])


def test_a_memory_of_a_newer_program_is_refused(memory: PeopleMemory) -> None:
    memory.tell(FIRST, 1, ["I am a sailor"])
    with sqlite3.connect(memory.path) as db:
        db.execute("INSERT INTO migrations VALUES (2, 'later', '')")
    with pytest.raises(InputError, match="newer Understudy"):
        memory.tellings()


def test_several_threads_tell_at_once(memory: PeopleMemory) -> None:
    threads = [Thread(target=memory.tell, args=(FIRST, n, [f"I have {n} dogs"])) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.tellings()) == 8


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


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
