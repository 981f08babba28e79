"""A connection to PostgreSQL that is lost."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest

from understudy.errors import Unreachable
from understudy.utterances import APPROVED, FILTER, Utterance, UtteranceStore, open_store
from understudy.utterances.postgres import Postgres

AHOY = Utterance("Ahoy.", "Ines")


@pytest.fixture
def elsewhere(postgres: str) -> Iterator[Postgres]:
    """Somebody else who is connected to the same server."""
    database = Postgres(postgres)
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
    question = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = 'short_lived'"
    assert elsewhere.rows(question)[0][0] >= 1


def test_a_question_is_asked_again_on_a_new_connection(store: UtteranceStore, elsewhere: Postgres) -> None:
    store.add([AHOY], APPROVED, FILTER)
    for _ in range(2):
        cut(elsewhere)
        assert [kept.utterance for kept in store.find()] == [AHOY]


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
    before = store.database._connection  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="nothing_of_the_kind"):
        store.database.rows("SELECT * FROM nothing_of_the_kind")
    assert store.database._connection is before  # type: ignore[attr-defined]
