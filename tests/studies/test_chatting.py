"""Two people, or a person and an agent, talk by the rules; over reloads, races and a process that died."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from studies.samples import items, study
from understudy.errors import InputError
from understudy.progress import ignore_progress
from understudy.story.dialogue import Reply, Situation, Turn
from understudy.studies import Study
from understudy.studies.chatting import ChatView, agent_leaves, chat_view, owed_reply, reply_as_agent, say
from understudy.studies.item import Problem, StudyItem
from understudy.studies.kinds.chats import CHAT as KIND
from understudy.studies.participation import give_answer, give_consent, view, withdraw
from understudy.studies.results import answers_of
from understudy.studies.status import agreement_of
from understudy.studies.store import StudyStore, open_study_store

PERSONAS = '{"persona": ["i love to ski in winter.", "i have two cats."]}\n' + "".join(
    f'{{"persona": ["i collect stamps number {n}.", "my aunt is a baker."]}}\n' for n in range(4)
)


class Parrot:
    """Says how many turns it was given, and whose persona it has."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply(f"Turn {len(history)} of {situation.persona.profile[0]}")


@pytest.fixture
def material(tmp_path: Path) -> Path:
    (tmp_path / "personas.jsonl").write_text(PERSONAS)
    return tmp_path


def chats(folder: Path, **changes: Any) -> tuple[Study, list[StudyItem]]:
    material = {"personas": "personas.jsonl", "chats": 4, "turns": [2, 2], "rate": False,
                "arrives_s": [0, 0], "writes_s": [0, 0], **changes}  # fmt: skip
    own = Study("chat", "Talk", people_per_item=2, items_per_person=2, material=material, folder=folder)
    items = [replace(item, hidden={**item.hidden, "begins": 0}) for item in KIND.items(own, ignore_progress)]
    return own, items


def begun(store: StudyStore, folder: Path, people: int = 2, **changes: Any) -> list[str]:
    store.add_study("chats", *chats(folder, **changes))
    tokens = store.invite("chats", people)
    for token in tokens:
        give_consent(store, token, {})
    return tokens


def said(store: StudyStore, token: str, text: str, key: str) -> ChatView:
    result = say(store, token, text, key)
    assert isinstance(result, ChatView), result
    return result


def talked(store: StudyStore, one: str, other: str, turns: int = 2) -> None:
    for turn in range(turns):
        said(store, one, f"hello {turn}", f"a{turn}")
        said(store, other, f"well {turn}", f"b{turn}")


def test_two_people_are_paired_with_different_personas_and_take_turns(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    assert view(store, one).state == "chat"
    assert chat_view(store, one).state == "waiting"
    second = chat_view(store, other)
    first = chat_view(store, one)
    assert (first.item, first.turn, second.turn) == (second.item, "mine", "theirs")
    assert first.persona != second.persona
    said(store, one, "hello there", "1")
    assert [message.text for message in chat_view(store, other).messages] == ["hello there"]
    assert chat_view(store, other).turn == "mine"
    with pytest.raises(InputError, match="not your turn"):
        say(store, one, "and more", "2")


def test_the_same_message_sent_again_is_said_once(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    chat_view(store, one), chat_view(store, other)
    said(store, one, "hello", "key")
    again = said(store, one, "hello", "key")
    assert len(again.messages) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" ".join(["word"] * 16), "16 words"),
        ("oh, i love to ski in spring", "copied from your character"),
        ("i have two cats", "copied"),
        ("  ", "write something"),
    ],
)
def test_what_breaks_the_rules_is_not_said(store: StudyStore, material: Path, text: str, why: str) -> None:
    own, items = chats(material)
    item = items[0]
    hidden = {**item.hidden, "personas": [["i love to ski in winter.", "i have two cats."], ["i knit."]]}
    store.add_study("chats", own, [StudyItem(item.name, (), (), hidden, people=2)])
    one, other = store.invite("chats", 2)
    for token in (one, other):
        give_consent(store, token, {})
    chat_view(store, one), chat_view(store, other)
    problems = say(store, one, text, "1")
    assert isinstance(problems, list)
    assert isinstance(problems[0], Problem)
    assert why in problems[0].message
    assert not chat_view(store, one).messages
    said(store, one, "do you like the snow?", "1")


def test_a_chat_ends_after_its_turns_and_the_next_one_begins(store: StudyStore, material: Path) -> None:
    one, other, third, fourth = begun(store, material, people=4)
    for token in (one, other):
        chat_view(store, token)
    talked(store, one, other)
    assert [len(each.item.hidden["chat"]) for each in answers_of(store, store.study("chats"))] == [4, 4]
    assert chat_view(store, one).state in ("over", "waiting")
    states = [chat_view(store, token).state for token in (one, other, third, fourth)]
    assert "talking" in states, "whoever is new is paired with somebody who waits"


def test_nobody_talks_with_the_same_person_twice(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    chat_view(store, one), chat_view(store, other)
    talked(store, one, other)
    chat_view(store, other), chat_view(store, one)
    assert {chat_view(store, token).state for token in (one, other)} == {"waiting"}


def test_an_agent_answers_and_is_made_only_once(store: StudyStore, material: Path) -> None:
    (one,) = begun(store, material, people=1, agents=["parrot"], agents_percent=100)
    assert chat_view(store, one).turn == "mine"
    assert owed_reply(store, one) is None
    said(store, one, "hello", "1")
    owed = owed_reply(store, one)
    assert owed is not None
    assert owed[1] == "parrot"
    assert owed_reply(store, one) is None, "somebody is making it"
    reply_as_agent(store, owed[0], Parrot())
    shown = chat_view(store, one)
    assert shown.messages[-1].text.startswith("Turn 1 of")
    assert shown.turn == "mine"
    assert owed_reply(store, one) is None


def test_a_reply_that_a_dead_process_owed_is_made_by_another(store: StudyStore, material: Path) -> None:
    (one,) = begun(store, material, people=1, agents=["parrot"], agents_percent=100)
    chat_view(store, one)
    said(store, one, "hello", "1")
    assert owed_reply(store, one) is not None, "and the process that took it is killed"
    with store.transaction():
        store.database.rows("UPDATE seats SET lease = '2020-01-01T00:00:00.000Z' WHERE lease IS NOT NULL")
    owed = owed_reply(store, one)
    assert owed is not None
    reply_as_agent(store, owed[0], Parrot())
    reply_as_agent(store, owed[0], Parrot())
    assert [message.side for message in chat_view(store, one).messages] == [0, 1]


def test_an_agent_arrives_and_writes_as_late_as_a_person(store: StudyStore, material: Path) -> None:
    (one,) = begun(store, material, people=1, agents=["parrot"], agents_percent=100, arrives_s=[50, 60])
    assert chat_view(store, one).state == "waiting"
    with store.transaction():
        store.database.rows("UPDATE seats SET joined = '2020-01-01T00:00:00.000Z' WHERE agent IS NOT NULL")
    assert chat_view(store, one).state == "talking"


def test_after_long_waiting_an_agent_comes(store: StudyStore, material: Path) -> None:
    (one,) = begun(store, material, people=1, agents=["parrot"], agents_percent=0, patience_s=0)
    chat_view(store, one)
    assert chat_view(store, one).state == "talking"


def test_who_waited_and_left_blocks_no_chat(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, chats=1)
    chat_view(store, one)
    with store.transaction():
        store.database.rows("UPDATE seats SET seen = '2020-01-01T00:00:00.000Z'")
    assert chat_view(store, other).state == "waiting"
    assert chat_view(store, one).state == "talking", "and is paired on coming back"


def test_withdrawing_takes_ones_words_and_ends_the_chat(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    chat_view(store, one), chat_view(store, other)
    said(store, one, "my secret words", "1")
    said(store, other, "well", "1")
    withdraw(store, one)
    left = store.database.rows("SELECT text FROM messages")
    assert left == [("well",)]
    ended = chat_view(store, other)
    assert (ended.state, ended.reason) == ("over", "your partner has left")


def test_withdrawing_takes_what_an_agent_answered_and_frees_the_chat(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, chats=1, agents=["parrot"], agents_percent=100)
    chat_view(store, one)
    said(store, one, "hello", "1")
    owed = owed_reply(store, one)
    assert owed is not None
    reply_as_agent(store, owed[0], Parrot())
    assert view(store, other).state == "done", "the only chat is taken"
    withdraw(store, one)
    reply_as_agent(store, owed[0], Parrot())
    assert store.database.rows("SELECT 1 FROM messages UNION ALL SELECT 1 FROM seats") == []
    assert chat_view(store, other).turn == "mine"


def test_the_last_message_sent_again_is_the_same_and_its_chat_is_shown_to_both(
    store: StudyStore, material: Path
) -> None:
    one, other, *_ = begun(store, material, people=4)
    chat_view(store, one), chat_view(store, other)
    talked(store, one, other)
    again = said(store, other, "well 1", "b1")
    assert (again.state, len(again.messages)) == ("over", 4)
    end = chat_view(store, one, seen="talking")
    assert (end.state, end.messages[-1].text) == ("over", "well 1")
    assert chat_view(store, one, seen="over").state == "waiting", "at the next chat"


def test_nobody_speaks_before_they_agreed_or_in_no_chat(store: StudyStore, material: Path) -> None:
    one, _ = begun(store, material)
    (invited,) = store.invite("chats", 1)
    for token in (one, invited):
        with pytest.raises(InputError, match="in no chat"):
            say(store, token, "hello", "1")
    assert store.database.rows("SELECT 1 FROM seats") == []


def test_the_partner_of_somebody_whose_link_is_ended_hears_of_it_at_once(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    chat_view(store, one), chat_view(store, other)
    said(store, one, "hello", "1")
    store.end("chats", "p2")
    assert chat_view(store, one).reason == "your partner has left"


def test_there_is_no_chat_in_other_studies(store: StudyStore) -> None:
    store.add_study("first", study(), items())
    (token,) = store.invite("first", 1)
    give_consent(store, token, {})
    with pytest.raises(InputError, match="nobody talks"):
        chat_view(store, token)
    with pytest.raises(InputError, match="nobody talks"):
        say(store, token, "hello", "1")


def test_afterwards_the_partner_is_rated_blind(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, rate=True)
    chat_view(store, one), chat_view(store, other)
    talked(store, one, other)
    shown = view(store, one)
    assert shown.state == "item"
    assert shown.item is not None
    assert shown.assignment is not None
    hidden = shown.item.hidden
    (choice,) = [question for question in shown.item.questions if question.name == "profile"]
    labels = {option.key: option.label for option in choice.options}
    assert labels[hidden["right"][0]] == " ".join(hidden["personas"][1])
    assert " ".join(hidden["foil"]) in labels.values()
    rated = {"fluency": 4, "engagingness": 3, "consistency": 5, "profile": hidden["right"][0]}
    give_answer(store, one, shown.assignment, rated)
    rows = KIND.figures(store.study("chats").study, answers_of(store, store.study("chats"))) if KIND.figures else []
    assert {(row["agent"], row["metric"]): row["value"] for row in rows} == {
        ("human", "fluency"): 4,
        ("human", "engagingness"): 3,
        ("human", "consistency"): 5,
        ("human", "persona_detection"): 1,
    }


def test_chats_are_written_as_records(store: StudyStore, material: Path, tmp_path: Path) -> None:
    from understudy.formats.chat_records import read_chats

    one, other = begun(store, material)
    chat_view(store, one), chat_view(store, other)
    talked(store, one, other)
    stored = store.study("chats")
    KIND.outputs["chats"](stored.study, answers_of(store, stored), tmp_path / "chats.jsonl")
    (record,) = read_chats(tmp_path / "chats.jsonl")
    assert record.speakers == ("human", "human")
    assert [turn.text for turn in record.turns] == ["hello 0", "well 0", "hello 1", "well 1"]


def test_two_processes_racing_seat_everybody_once(location: str, material: Path) -> None:
    with open_study_store(location) as one, open_study_store(location) as other:
        tokens = begun(one, material, people=8, chats=4)
        errors: list[BaseException] = []

        def sit(store: StudyStore, own: list[str]) -> None:
            try:
                for token in own:
                    chat_view(store, token)
            except BaseException as error:
                errors.append(error)

        threads = [Thread(target=sit, args=(store, tokens[n::2])) for n, store in enumerate((one, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        seats = one.database.rows("SELECT item, side, person FROM seats ORDER BY item, side")
        assert len({person for _, _, person in seats}) == 8
        assert [side for _, side, _ in seats] == [0, 1] * 4


def long_ago(store: StudyStore, token: str) -> None:
    """Somebody's page was last heard of long ago."""
    with store.transaction():
        person = store.person(token)
        store.database.rows("UPDATE seats SET seen = '2020-01-01T00:00:00.000Z' WHERE person = ?", (person.id,))


def test_a_partner_who_goes_before_a_word_leaves_nobody_behind(store: StudyStore, material: Path) -> None:
    one, other, third = begun(store, material, people=3)
    chat_view(store, one)
    assert chat_view(store, other).state == "talking"
    long_ago(store, one)
    assert chat_view(store, other).state == "waiting", "the chat is given up for another"
    assert chat_view(store, third).state == "talking"
    assert chat_view(store, other).state == "talking"


def test_who_ends_a_persons_link_ends_their_chat(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    chat_view(store, one), chat_view(store, other)
    said(store, one, "hello", "1")
    store.end("chats", "p1")
    assert chat_view(store, other).reason == "your partner has left"


def test_a_partner_who_comes_back_too_late_is_told_the_same(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, rate=True)
    chat_view(store, one), chat_view(store, other)
    said(store, one, "hello", "1")
    long_ago(store, other)
    assert chat_view(store, one).state == "over"
    back = chat_view(store, other)
    assert (back.state, back.reason) == ("over", "you were away for too long")
    with pytest.raises(InputError, match="not your turn"):
        say(store, other, "well", "1")


def test_no_agent_takes_the_seat_of_somebody_who_withdrew(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, agents=["parrot"], agents_percent=0, patience_s=0, chats=1)
    with store.transaction():
        store.database.rows("UPDATE items SET people = 2")
    chat_view(store, one)
    seated = store.database.rows("SELECT count(*) FROM seats")
    assert seated == [(1,)]
    chat_view(store, other)
    said(store, one, "hello", "1")
    said(store, other, "well", "2")
    withdraw(store, other)
    assert chat_view(store, one).state == "over"
    assert store.database.rows("SELECT count(*) FROM seats WHERE agent IS NOT NULL") == [(0,)]


def test_nothing_is_said_before_consent(store: StudyStore, material: Path) -> None:
    store.add_study("chats", *chats(material))
    (token,) = store.invite("chats", 1)
    with pytest.raises(InputError):
        say(store, token, "hello", "1")
    assert not store.database.rows("SELECT * FROM seats")


def test_an_agent_that_cannot_reply_leaves(store: StudyStore, material: Path) -> None:
    (one,) = begun(store, material, people=1, agents=["parrot"], agents_percent=100)
    chat_view(store, one)
    said(store, one, "hello", "1")
    owed = owed_reply(store, one)
    assert owed is not None
    agent_leaves(store, owed[0])
    assert chat_view(store, one).reason == "your partner has left"


def test_an_agent_may_begin(store: StudyStore, material: Path) -> None:
    own, items = chats(material, agents=["parrot"], agents_percent=100)
    store.add_study("chats", own, [replace(item, hidden={**item.hidden, "begins": 1}) for item in items])
    (one,) = store.invite("chats", 1)
    give_consent(store, one, {})
    assert chat_view(store, one).turn == "theirs"
    owed = owed_reply(store, one)
    assert owed is not None
    reply_as_agent(store, owed[0], Parrot())
    shown = chat_view(store, one)
    assert [message.side for message in shown.messages] == [1]
    assert shown.turn == "mine"


def test_partners_arrive_alike_whether_people_or_agents(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, arrives_s=[50, 60])
    assert {chat_view(store, token).state for token in (one, other, one)} == {"waiting"}
    with store.transaction():
        store.database.rows("UPDATE seats SET joined = '2020-01-01T00:00:00.000Z'")
    assert chat_view(store, one).state == chat_view(store, other).state == "talking"


def test_ratings_wait_for_the_end_and_are_not_one_rating(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material, rate=True)
    chat_view(store, one), chat_view(store, other)
    rated = {"fluency": 4, "engagingness": 3, "consistency": 5, "profile": "a"}
    ((held,),) = store.database.rows("SELECT id FROM assignments WHERE person = ?", (store.person(one).id,))
    with pytest.raises(InputError, match="not over"):
        give_answer(store, one, held, rated)
    talked(store, one, other)
    for token in (one, other):
        shown = view(store, token)
        assert shown.assignment is not None
        give_answer(store, token, shown.assignment, rated)
    stored = store.study("chats")
    rows = agreement_of(stored.study, answers_of(store, stored)).rows
    assert {row["value"] for row in rows if row["metric"] == "alpha"} == {None}, "they rated each other"


def test_nobody_is_seated_with_somebody_whose_link_was_ended(store: StudyStore, material: Path) -> None:
    one, other = begun(store, material)
    chat_view(store, one)
    store.end("chats", "p1")
    assert chat_view(store, other).state == "waiting"
    assert store.database.rows("SELECT count(*) FROM seats WHERE side = 1") == [(0,)]
