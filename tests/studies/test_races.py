"""Several servers on one database, each with people who do everything at once: one of each is right, on any database.

Every server is a store of its own, as in processes of their own; all start on the same signal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from studies.samples import items, study
from studies.test_chatting import begun as begun_chats
from studies.test_chatting import material as material  # a fixture
from understudy.errors import InputError, UnderstudyError
from understudy.studies.chatting import chat_view, say
from understudy.studies.participation import View, give_answer, give_consent, take_back, view, withdraw
from understudy.studies.store import StudyStore, UnknownToken, open_study_store

SERVERS = 4
YES, NO = {"likely": "likely"}, {"likely": "unlikely"}

AtOnce = Callable[[Sequence[Callable[[StudyStore], object]]], list[object]]


@pytest.fixture
def at_once(location: str) -> Iterator[AtOnce]:
    """Runs each work on one of several servers, all at once; gives what each gave, or how it was refused."""
    with ExitStack() as stack, ThreadPoolExecutor(16) as threads:
        servers = [stack.enter_context(open_study_store(location)) for _ in range(SERVERS)]

        def run(works: Sequence[Callable[[StudyStore], object]]) -> list[object]:
            barrier = Barrier(len(works))

            def work(number: int) -> object:
                barrier.wait(60)
                try:
                    return works[number](servers[number % SERVERS])
                except UnderstudyError as error:
                    return error

            return list(threads.map(work, range(len(works))))

        yield run


def begun(store: StudyStore, people: int, count: int, **changes: object) -> list[str]:
    store.add_study("first", study(**changes), items(count))
    tokens = store.invite("first", people)
    for token in tokens:
        give_consent(store, token, {})
    return tokens


def held(store: StudyStore) -> list[tuple[int, int, str | None]]:
    """(person, item, answer) of every assignment."""
    return [(person, item, answer) for person, item, answer in store.database.rows(
        "SELECT person, item, answer FROM assignments ORDER BY id")]  # fmt: skip


def test_an_item_for_one_person_is_given_to_one(store: StudyStore, at_once: AtOnce) -> None:
    tokens = begun(store, 12, 12, people_per_item=1, items_per_person=1)
    views = at_once([partial(view, token=token) for token in tokens])
    assert {each.state for each in views if isinstance(each, View)} == {"item"}
    assert sorted(Counter(item for _, item, _ in held(store)).values()) == [1] * 12


def test_somebody_who_reloads_on_every_server_has_one_item(store: StudyStore, at_once: AtOnce) -> None:
    tokens = begun(store, 2, 8)
    at_once([partial(view, token=token) for token in tokens * 6])
    assert sorted(Counter(person for person, _, _ in held(store)).values()) == [1, 1]


def test_of_two_answers_to_one_item_one_stands(store: StudyStore, at_once: AtOnce) -> None:
    (token,) = begun(store, 1, 8, items_per_person=2)
    number = view(store, token).assignment
    assert number is not None
    results = at_once([
        partial(give_answer, token=token, assignment=number, answer=answer) for answer in [YES, NO] * 5
    ])  # fmt: skip
    answers = [json.loads(answer) for _, _, answer in held(store) if answer is not None]
    assert len(answers) == 1 and answers[0] in (YES, NO)
    refused = [result for result in results if isinstance(result, InputError)]
    assert len(refused) == 5, "those that said the other thing are told"


def test_an_answer_taken_back_while_it_is_sent_again_is_one_answer(store: StudyStore, at_once: AtOnce) -> None:
    (token,) = begun(store, 1, 8, items_per_person=3)
    number = view(store, token).assignment
    assert number is not None
    give_answer(store, token, number, YES)
    at_once([
        *[lambda server: take_back(server, token)] * 4,
        *[lambda server: give_answer(server, token, number, NO)] * 4,
        *[lambda server: view(server, token)] * 4,
    ])  # fmt: skip
    rows = held(store)
    assert len({item for _, item, _ in rows}) == len(rows), "no item twice"
    ((unanswered,),) = store.database.rows("SELECT count(*) FROM assignments WHERE answered IS NULL")
    assert unanswered <= 1
    final = view(store, token)
    assert final.assignment is not None and final.progress.answered in (0, 1)


def test_nothing_stays_of_somebody_who_withdraws_while_answering(store: StudyStore, at_once: AtOnce) -> None:
    gone, stays = begun(store, 2, 8)
    number = view(store, gone).assignment
    assert number is not None and view(store, stays).assignment is not None
    results = at_once([
        *[lambda server: give_answer(server, gone, number, YES)] * 5,
        *[lambda server: withdraw(server, gone)] * 2,
        *[lambda server: view(server, gone)] * 5,
    ])  # fmt: skip
    assert sum(result is None for result in results) == 1, "one withdrawal is the first"
    with pytest.raises(UnknownToken):
        store.person(gone)
    assert {person for person, _, _ in held(store)} == {store.person(stays).id}


def test_a_study_that_is_closed_takes_no_answer_after_it_says_so(store: StudyStore, at_once: AtOnce) -> None:
    tokens = begun(store, 8, 8)
    numbers = [view(store, token).assignment or 0 for token in tokens]
    results = at_once([
        *[partial(give_answer, token=token, assignment=number, answer=YES)
          for token, number in zip(tokens, numbers)],
        lambda server: server.close_study("first"),
    ])  # fmt: skip
    stored = store.study("first")
    accepted = sum(not isinstance(result, UnderstudyError) for result in results[:-1])
    times = store.database.rows("SELECT answered FROM assignments WHERE answered IS NOT NULL")
    assert len(times) == accepted and all(time <= (stored.closed or "") for (time,) in times)


def test_links_made_at_once_have_codes_of_their_own(store: StudyStore, at_once: AtOnce) -> None:
    store.add_study("first", study(), items())
    at_once([lambda server: server.invite("first", 5)] * 10)
    codes = [person.code for person in store.people(store.study("first").id)]
    assert sorted(codes, key=lambda code: int(code[1:])) == [f"p{number}" for number in range(1, 51)]


def test_servers_that_start_at_once_make_one_study(location: str) -> None:
    def start(_: int) -> int:
        with open_study_store(location) as server:  # it makes the tables, too
            return server.add_study("first", study(), items(20)).id

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(start, range(8)))) == 1
    with open_study_store(location) as store:
        assert [stored.name for stored in store.studies()] == ["first"]
        assert len(store.items(store.study("first").id)) == 20


def test_a_study_deleted_under_those_who_answer_leaves_nothing(store: StudyStore, at_once: AtOnce) -> None:
    tokens = begun(store, 6, 8)
    numbers = [view(store, token).assignment or 0 for token in tokens]
    at_once([
        *[partial(give_answer, token=token, assignment=number, answer=YES)
          for token, number in zip(tokens, numbers)],
        lambda server: server.delete_study("first"),
    ])  # fmt: skip
    for table in ("studies", "items", "people", "assignments", "events"):
        assert store.database.rows(f"SELECT count(*) FROM {table}") == [(0,)], table


def test_people_who_come_at_once_sit_two_at_a_chat(store: StudyStore, at_once: AtOnce, material: Path) -> None:
    tokens = begun_chats(store, material, 8)
    at_once([partial(chat_view, token=token) for token in tokens * 2])
    seats = store.database.rows("SELECT item, side, person FROM seats ORDER BY item, side")
    assert sorted(Counter(person for _, _, person in seats).values()) == [1] * 8
    assert sorted(Counter(item for item, _, _ in seats).values()) == [2, 2, 2, 2]
    assert [side for _, side, _ in seats] == [0, 1] * 4


def test_a_turn_that_is_sent_many_times_at_once_is_said_once(
    store: StudyStore, at_once: AtOnce, material: Path
) -> None:
    one, other = begun_chats(store, material)
    chat_view(store, one)
    chat_view(store, other)
    at_once([
        *[lambda server: say(server, one, "hello there", "a0")] * 4,
        *[partial(say, token=one, text=f"hello {key}", key=key) for key in ("a1", "a2", "a3")],
        *[partial(say, token=other, text=f"well {key}", key=key) for key in ("b1", "b2", "b3")],
    ])  # fmt: skip
    sides = [side for (side,) in store.database.rows("SELECT side FROM messages ORDER BY number")]
    numbers = [number for (number,) in store.database.rows("SELECT number FROM messages ORDER BY number")]
    assert sides in ([0], [0, 1], [0, 1, 0], [0, 1, 0, 1]) and numbers == list(
        range(numbers[0], numbers[0] + len(sides))
    )
