"""A connection to PostgreSQL that is lost."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from timing import until
from understudy.database.postgres import Postgres, Timeouts
from understudy.errors import InputError, Unreachable
from understudy.metrics.utterances import UtteranceStore, open_store
from understudy.metrics.utterances.record import APPROVED, FILTER, Utterance
from understudy.metrics.utterances.vector_indexes import UtterancePostgres
from understudy.story.types import Moment

AHOY = Utterance("Ahoy.", "Ines")


@pytest.fixture
def elsewhere(postgres: str) -> Iterator[Postgres]:
    """Somebody else who is connected to the same server."""
    database = UtterancePostgres(postgres)
    yield database
    database.close()


@pytest.fixture
def address(postgres: str, elsewhere: Postgres) -> Iterator[str]:
    """A database of its own, which a test may take away."""
    elsewhere.rows("CREATE DATABASE short_lived")
    yield urlunsplit(urlsplit(postgres)._replace(path="/short_lived"))
    elsewhere.rows("DROP DATABASE IF EXISTS short_lived WITH (FORCE)")


@pytest.fixture
def store(address: str) -> Iterator[UtteranceStore]:
    opened = open_store(address)
    yield opened
    opened.close()


def cut(elsewhere: Postgres) -> None:
    """Ends every connection to the database, as a restart of the server does."""
    statement = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = 'short_lived'"
    assert elsewhere.rows(statement)[0][0] >= 1


def test_a_question_is_asked_again_on_a_new_connection(store: UtteranceStore, elsewhere: Postgres) -> None:
    store.add([AHOY], APPROVED, FILTER)
    for _ in range(2):
        cut(elsewhere)
        assert [stored.utterance for stored in store.find()] == [AHOY]


def test_a_change_is_begun_on_a_new_connection(store: UtteranceStore, elsewhere: Postgres) -> None:
    cut(elsewhere)
    assert store.add([AHOY], APPROVED, FILTER) == 1
    cut(elsewhere)
    assert store.decide(1, "rejected", "Mara").decision == "rejected"


def test_a_change_that_was_under_way_is_gone_as_a_whole(store: UtteranceStore, elsewhere: Postgres) -> None:
    def changed() -> None:
        with store.database.transaction():
            store.database.rows("INSERT INTO runs VALUES ('run', 7)")
            cut(elsewhere)
            store.database.rows("INSERT INTO runs VALUES ('other', 7)")

    with pytest.raises(Unreachable, match="not kept: do it again"):
        changed()
    assert store.reached("run") == store.reached("other") == 0
    assert store.add([AHOY], APPROVED, FILTER) == 1


def test_a_server_that_does_not_come_back_is_named(store: UtteranceStore, elsewhere: Postgres, address: str) -> None:
    elsewhere.rows("DROP DATABASE short_lived WITH (FORCE)")
    for _ in range(2):
        with pytest.raises(Unreachable, match="lost and cannot be made again"):
            list(store.find())


def test_what_was_asked_wrongly_is_no_lost_connection(store: UtteranceStore) -> None:
    before = store.database._reader
    with pytest.raises(Exception, match="nothing_of_the_kind"):
        store.database.rows("SELECT * FROM nothing_of_the_kind")
    assert store.database._reader is before


def test_one_who_changes_and_does_not_finish_holds_up_no_reader_and_no_opening(
    store: UtteranceStore, address: str
) -> None:
    """Somebody else has the turn to write; a change of ours waits for it, and others read meanwhile."""
    store.add([AHOY], APPROVED, FILTER)
    stuck = UtterancePostgres(address)
    with stuck.transaction():
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(store.decide, 1, "rejected", "Mara")
            until_it_waits(stuck)
            assert [line.text for line in store.sayable("Ines", Moment.end())] == ["Ahoy."]
            opened = open_store(address)
            assert [stored.utterance for stored in opened.find()] == [AHOY]
            opened.close()
            assert not waiting.done()
            stuck.rows("COMMIT")
            assert waiting.result(120).decision == "rejected"
        stuck.rows("BEGIN")
    stuck.close()


def test_a_change_does_not_wait_for_ever(store: UtteranceStore, address: str) -> None:
    stuck, hasty = (
        UtterancePostgres(address),
        UtteranceStore(UtterancePostgres(address, write_timeouts=Timeouts(lock_s=0.2))),
    )
    with stuck.transaction(), pytest.raises(Unreachable, match="does not finish: nothing was changed"):
        hasty.add([AHOY], APPROVED, FILTER)
    assert hasty.add([AHOY], APPROVED, FILTER) == 1
    for database in (stuck, hasty):
        database.close()


def test_a_question_does_not_wait_for_ever(store: UtteranceStore, address: str) -> None:
    hasty = UtterancePostgres(address, read_timeouts=Timeouts(lock_s=0.2, query_s=0.5))
    with pytest.raises(Unreachable, match="took too long"):
        hasty.rows("SELECT pg_sleep(20)")
    blocking = UtterancePostgres(address)
    with blocking.transaction():
        blocking.rows("LOCK TABLE utterances IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(Unreachable, match="does not finish"):
            hasty.rows("SELECT * FROM utterances")
    assert hasty.rows("SELECT * FROM utterances") == []
    for database in (blocking, hasty):
        database.close()


def test_a_server_that_takes_the_call_and_says_nothing_is_not_waited_for_for_ever() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        with pytest.raises(InputError, match="cannot be opened"):
            UtterancePostgres(
                f"postgresql://127.0.0.1:{silent.getsockname()[1]}/lines", read_timeouts=Timeouts(connect_s=0.3)
            )


@pytest.mark.parametrize("was_kept", [True, False])
def test_a_change_whose_last_word_was_lost_is_looked_up(
    store: UtteranceStore, elsewhere: Postgres, monkeypatch: pytest.MonkeyPatch, was_kept: bool
) -> None:
    store.add([AHOY], APPROVED, FILTER)
    lose_the_answer_to_commit(store, elsewhere, monkeypatch, was_kept)
    if was_kept:
        assert store.decide(1, "rejected", "Mara").decision == "rejected"
    else:
        with pytest.raises(Unreachable, match="not kept: do it again"):
            store.decide(1, "rejected", "Mara")
    assert len(store.history(1)) == 2 + was_kept


def test_a_change_that_cannot_be_looked_up_is_said_to_be_in_doubt(
    store: UtteranceStore, elsewhere: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([AHOY], APPROVED, FILTER)
    lose_the_answer_to_commit(store, elsewhere, monkeypatch, True)
    monkeypatch.setattr(Postgres, "_outcome", lambda *_: None)
    with pytest.raises(Unreachable, match="may have been kept; look before you do it again"):
        store.decide(1, "rejected", "Mara")
    assert len(store.history(1)) == 3


def test_text_of_a_database_that_is_no_utf_8_is_named(elsewhere: Postgres, postgres: str) -> None:
    elsewhere.rows("DROP DATABASE IF EXISTS old_ascii")
    elsewhere.rows("CREATE DATABASE old_ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    store = open_store(urlunsplit(urlsplit(postgres)._replace(path="/old_ascii")))
    store.add([AHOY], APPROVED, FILTER)
    store.database.rows(r"UPDATE utterances SET text = E'caf\xe9'")
    with pytest.raises(InputError, match="make the database anew in UTF-8"):
        list(store.find())
    assert store.counts() == {("Ines", "approved"): 1}  # and the next question is answered
    store.close()
    elsewhere.rows("DROP DATABASE old_ascii")


def test_a_letter_that_the_database_cannot_hold_is_an_error_of_ours(elsewhere: Postgres, postgres: str) -> None:
    elsewhere.rows("DROP DATABASE IF EXISTS old_latin")
    elsewhere.rows("CREATE DATABASE old_latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    store = open_store(urlunsplit(urlsplit(postgres)._replace(path="/old_latin")))
    with pytest.raises(InputError, match="make the database anew in UTF-8"):
        store.add([Utterance("手紙です。", "Ines")], APPROVED, FILTER)
    assert store.add([AHOY], APPROVED, FILTER) == 1
    store.close()
    elsewhere.rows("DROP DATABASE old_latin")


def until_it_waits(elsewhere: Postgres) -> None:
    """Until somebody stands in line for the turn to write."""
    until(lambda: elsewhere.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))


def lose_the_answer_to_commit(
    store: UtteranceStore, elsewhere: Postgres, monkeypatch: pytest.MonkeyPatch, was_kept: bool
) -> None:
    execute = Postgres._execute

    def losing(self: UtterancePostgres, connection: Any, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        if statement == "COMMIT" and self is store.database:
            if was_kept:
                execute(self, connection, statement, parameters)
            cut(elsewhere)
        return execute(self, connection, statement, parameters)

    monkeypatch.setattr(Postgres, "_execute", losing)
