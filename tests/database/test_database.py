"""One contract for both databases."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing import until
from understudy.database import Database, migrate, open_database
from understudy.database.postgres import Postgres
from understudy.errors import InputError, Unreachable

NOTES, LETTERS = 0x55444E4F, 0x55444C45  # 'UDNO', 'UDLE'
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def steps(database: Database) -> tuple[tuple[str, tuple[str, ...]], ...]:
    table = f"CREATE TABLE notes (id {database.id_type}, text TEXT NOT NULL UNIQUE, data {database.bytes_type})"
    return ("tables", (table,)), ("marks", ("ALTER TABLE notes ADD COLUMN mark BIGINT NOT NULL DEFAULT 7",))


def opened(location: str | Path, application_id: int = NOTES) -> Database:
    database = open_database(location, application_id, "the notebook", "--notes")
    migrate(database, steps(database))
    return database


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "folder" / "notes.db")
        return
    server: str = request.getfixturevalue("postgres")
    around = Postgres(server, NOTES, "the server")
    around.rows("CREATE DATABASE notes")
    yield urlunsplit(urlsplit(server)._replace(path="/notes"))
    around.rows("DROP DATABASE notes WITH (FORCE)")
    around.close()


@pytest.fixture
def database(location: str) -> Iterator[Database]:
    database = opened(location)
    yield database
    database.close()


def texts(database: Database) -> list[str]:
    return [text for (text,) in database.rows("SELECT text FROM notes ORDER BY id")]


def add(database: Database, text: str) -> int:
    ((number,),) = database.rows("INSERT INTO notes (text) VALUES (?) RETURNING id", (text,))
    return int(number)


@given(st.lists(st.tuples(TEXTS, st.binary() | st.none()), unique_by=lambda row: row[0]))
def test_what_was_written_is_read_back_whole_and_in_order(
    database: Database, rows: list[tuple[str, bytes | None]]
) -> None:
    with database.transaction():
        database.rows("DELETE FROM notes")
        for row in rows:
            database.rows("INSERT INTO notes (text, data) VALUES (?, ?)", row)
    assert database.rows("SELECT text, data, mark FROM notes ORDER BY id") == [(*row, 7) for row in rows]


def test_a_transaction_is_kept_as_a_whole_or_not_at_all(database: Database) -> None:
    def fail_in_the_middle() -> None:
        with database.transaction():
            assert add(database, "two") and texts(database) == ["one", "two"]
            raise KeyError

    with database.transaction():
        add(database, "one")
    with pytest.raises(KeyError):
        fail_in_the_middle()
    assert texts(database) == ["one"]


def test_a_reader_does_not_see_what_is_not_committed_and_does_not_wait_for_it(database: Database) -> None:
    with ThreadPoolExecutor(1) as thread, database.transaction():
        add(database, "one")
        assert thread.submit(texts, database).result(120) == []
    assert texts(database) == ["one"]


def test_many_writers_get_ids_in_the_order_of_their_commits(location: str, database: Database) -> None:
    def write(writer: int) -> list[int]:
        own, numbers = opened(location), list[int]()
        for index in range(10):
            with own.transaction():
                numbers.append(add(own, f"{writer} {index}"))
        own.close()
        return numbers

    with ThreadPoolExecutor(4) as threads:
        numbers = list(threads.map(write, range(4)))
    assert all(mine == sorted(mine) for mine in numbers)
    assert sorted(number for mine in numbers for number in mine) == list(range(1, 41))
    assert len(texts(database)) == 40


def test_an_older_database_is_migrated_and_a_newer_one_left_alone(location: str) -> None:
    old = open_database(location, NOTES, "the notebook")
    migrate(old, steps(old)[:1])
    add(old, "one")
    old.close()
    for _ in range(2):  # the second time there is nothing to do
        database = opened(location)
        assert database.rows("SELECT text, mark FROM notes") == [("one", 7)]
        database.close()
    newer = open_database(location, NOTES, "the notebook")
    with pytest.raises(InputError, match="the notebook was made by a newer Understudy"):
        migrate(newer, steps(newer)[:1])
    newer.close()


def test_a_migration_that_fails_leaves_nothing_behind(location: str) -> None:
    database = open_database(location, NOTES, "the notebook")
    with pytest.raises((InputError, sqlite3.Error)):
        migrate(database, (*steps(database), ("wrong", ("CREATE TABLE notes (again BIGINT)",))))
    assert not database.has_table("notes") and not database.has_table("migrations")
    migrate(database, steps(database))
    assert database.has_table("notes")
    database.close()


@pytest.mark.parametrize("wrong", ["a\0b", "a\ud800b"])
def test_what_neither_can_hold_is_an_error_of_ours(database: Database, wrong: str) -> None:
    with pytest.raises(InputError, match="clean it first"):
        add(database, wrong)


def test_a_mistake_in_a_statement_is_no_error_of_the_disk_or_the_network(database: Database) -> None:
    with pytest.raises(Exception, match="nothing_of_the_kind") as raised:
        database.rows("SELECT * FROM nothing_of_the_kind")
    assert not isinstance(raised.value, Unreachable)


@pytest.mark.parametrize("location", ["postgres"], indirect=True)
def test_kinds_of_databases_share_one_postgresql_and_do_not_wait_for_each_other(
    location: str, database: Database
) -> None:
    letters, again = opened(location, LETTERS), opened(location)
    with ThreadPoolExecutor(1) as thread:

        def write(into: Database) -> None:
            with into.transaction():
                add(into, "from the thread")

        with database.transaction():
            add(database, "one")
            thread.submit(write, letters).result(120)
            waiting = thread.submit(write, again)
            until(lambda: database.rows("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
            assert not waiting.done()
        waiting.result(120)
    assert texts(letters) == ["from the thread"] and texts(database) == ["one", "from the thread"]
    schemas = "SELECT table_schema FROM information_schema.tables WHERE table_name = 'notes' ORDER BY 1"
    assert database.rows(schemas) == [("udle",), ("udno",)]
    letters.close()
    again.close()


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_file_is_for_its_owner_alone_and_of_one_kind(location: str, database: Database) -> None:
    folder = Path(location).parent
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(InputError, match="something else: choose another --letters"):
        open_database(location, LETTERS, "the letters", "--letters")


def test_what_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database at all, but long enough to be looked at" * 20)
    for location, says in (
        (tmp_path / "text.db", "cannot be opened as the notebook"),
        (tmp_path / "text.db" / "notes.db", "cannot be opened as the notebook"),
        ("", "say --notes FILE"),
        ("mysql://me:s3cr3t@host/notes", "postgresql://"),
    ):
        with pytest.raises(InputError, match=says) as raised:
            open_database(location, NOTES, "the notebook", "--notes")
        assert "s3cr3t" not in str(raised.value)


def test_many_who_write_at_once_wait_for_few_flushes_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened(tmp_path / "notes.db")
    flushes: list[tuple[float, float]] = []

    changes: list[str] = []

    def flush(_: int) -> None:
        started = time.monotonic()
        until(lambda: len(changes) == 40)  # nobody waits for the first flush before they write
        flushes.append((started, time.monotonic()))

    def write(text: str) -> tuple[float, float]:
        with database.transaction():
            add(database, text)
            changed = time.monotonic()
            changes.append(text)
        return changed, time.monotonic()

    monkeypatch.setattr(os, "fsync", flush)
    with ThreadPoolExecutor(40) as threads:
        times = list(threads.map(write, map(str, range(40))))
    assert len(flushes) <= 3 and len(texts(database)) == 40  # of the first, of all but the last, of the last
    for changed, returned in times:
        assert any(changed <= started and ended <= returned for started, ended in flushes)
    count = len(flushes)
    with database.transaction():
        texts(database)
    assert len(flushes) == count
    database.close()


def test_a_disk_that_cannot_be_flushed_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flush(_: int) -> None:
        raise OSError(5, "Input/output error")

    database = opened(tmp_path / "notes.db")
    monkeypatch.setattr(os, "fsync", flush)
    with pytest.raises(Unreachable, match="Input/output error"), database.transaction():
        add(database, "lost?")
    monkeypatch.undo()
    with database.transaction():
        add(database, "after")
    database.close()
