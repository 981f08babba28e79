"""The server's database: results are on the disk, failures change nothing, and other files are left alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.database import Database, migrate, open_database
from understudy.errors import InputError, UnderstudyError
from understudy.server.chats import store
from understudy.server.database import APPLICATION_ID, ServerDatabase, migrations
from understudy.server.problems import Refused


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    postgres = request.param == "postgres"
    return str(request.getfixturevalue("address")) if postgres else tmp_path / "data" / "server.sqlite"


@pytest.fixture
def database(location: str | Path) -> Iterator[ServerDatabase]:
    database = ServerDatabase(location)
    yield database
    database.close()


def stored_titles(location: str | Path) -> list[str]:
    """The titles of the chats, as another process would find them, in the order they were added."""
    other = open_database(location, APPLICATION_ID, "the server's database")
    titles = [title for (title,) in other.rows("SELECT title FROM chats ORDER BY version")]
    other.close()
    return titles


def add(db: Database, title: str) -> None:
    columns = "id, story, characters, speaker, moment, title, tip, version, created, changed"
    db.rows(
        f"""INSERT INTO chats ({columns})
            SELECT ?, 'demo', '[]', NULL, 'end', ?, NULL, count(*), '', '' FROM chats""",
        (title, title),
    )


def test_what_was_done_is_on_the_disk_when_one_hears_of_it(database: ServerDatabase) -> None:
    async def doing() -> list[str]:
        await database.run(lambda db: add(db, "one"))
        return stored_titles(database.location)

    assert asyncio.run(doing()) == ["one"]


def test_work_is_done_in_the_order_it_was_handed_in(database: ServerDatabase) -> None:
    async def doing() -> None:
        await asyncio.gather(*(database.run(lambda db, title=str(n): add(db, title)) for n in range(50)))  # type: ignore[misc]

    asyncio.run(doing())
    assert stored_titles(database.location) == [str(number) for number in range(50)]


def test_work_that_fails_changes_nothing_and_the_next_goes_on(database: ServerDatabase) -> None:
    def failing(db: Database) -> None:
        add(db, "half")
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        asyncio.run(database.run(failing))
    asyncio.run(database.run(lambda db: add(db, "whole")))
    assert stored_titles(database.location) == ["whole"]


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_full_disk_is_refused_with_what_to_do_and_changes_nothing(database: ServerDatabase) -> None:
    def filling(db: Database) -> None:
        ((pages,),) = db.rows("PRAGMA page_count")
        db.rows(f"PRAGMA max_page_count = {pages}")
        add(db, "x" * 1_000_000)

    with pytest.raises(Refused, match="free some disk space") as refused:
        asyncio.run(database.run(filling))
    assert refused.value.status == 507
    assert stored_titles(database.location) == []


def test_a_mistake_in_our_own_sql_is_not_blamed_on_the_disk(database: ServerDatabase) -> None:
    with pytest.raises(Exception, match="nowhere") as raised:
        asyncio.run(database.run(lambda db: db.rows("SELECT id FROM nowhere")))
    assert not isinstance(raised.value, UnderstudyError)


def test_it_is_opened_again_with_all_that_was_kept(location: str | Path) -> None:
    for title in ("one", "two"):
        database = ServerDatabase(location)
        asyncio.run(database.run(lambda db, title=title: add(db, title)))  # type: ignore[misc]
        database.close()
    assert stored_titles(location) == ["one", "two"]


def test_what_is_read_is_of_one_state_though_another_process_writes(
    database: ServerDatabase, location: str | Path
) -> None:
    other = open_database(location, APPLICATION_ID, "the server's database")

    def count(db: Database) -> int:
        return int(db.rows("SELECT count(*) FROM chats")[0][0])

    def reading(db: Database) -> tuple[int, int]:
        before = count(db)
        with other.transaction():
            add(other, "meanwhile")
        return before, count(db)

    assert asyncio.run(database.read(reading)) == (0, 0)
    assert asyncio.run(database.read(count)) == 1
    other.close()


def test_an_older_database_is_brought_up_to_date(location: str | Path) -> None:
    """One from before several processes could share it, and before chats had agents."""
    old = open_database(location, APPLICATION_ID, "the server's database")
    migrate(old, migrations(old)[:3])
    add(old, "one")
    old.close()
    database = ServerDatabase(location)
    (chat,) = asyncio.run(database.read(lambda db: store.list_chats(db, 9)))
    assert chat.title == "one" and chat.agent is None
    database.close()


@pytest.mark.parametrize("location", ["postgres"], indirect=True)
def test_a_server_that_is_gone_is_refused_until_it_is_back(location: str | Path, database: ServerDatabase) -> None:
    other = open_database(location, APPLICATION_ID, "the server's database")

    def cut(db: Database) -> None:
        add(db, "half")
        own = "pid <> pg_backend_pid() AND datname = current_database()"
        other.rows(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE {own}")
        add(db, "more")

    with pytest.raises(Refused, match="not kept: do it again") as refused:
        asyncio.run(database.run(cut))
    assert refused.value.status == 503
    asyncio.run(database.run(lambda db: add(db, "whole")))
    assert stored_titles(location) == ["whole"]
    other.close()


def test_a_database_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "server.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (text)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="database of something else"):
        ServerDatabase(path)
    assert path.read_bytes() == before


def test_one_of_a_newer_version_and_what_is_no_database_are_refused(tmp_path: Path) -> None:
    newer = tmp_path / "newer.sqlite"
    ServerDatabase(newer).close()
    with sqlite3.connect(newer) as db:
        db.execute("INSERT INTO migrations VALUES (99, 'more', '')")
    db.close()
    with pytest.raises(InputError, match="newer Understudy"):
        ServerDatabase(newer)
    text_file = tmp_path / "other.sqlite"
    text_file.write_text("This is no database, but it is long enough to look like the header of one." * 20)
    with pytest.raises(InputError, match="cannot be opened"):
        ServerDatabase(text_file)
