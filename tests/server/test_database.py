"""The server's database: results are on the disk, failures change nothing, and other files are left alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.databases import Database
from understudy.errors import InputError
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused


@pytest.fixture
def database(tmp_path: Path) -> Iterator[ServerDatabase]:
    database = ServerDatabase(tmp_path / "data" / "server.sqlite")
    yield database
    database.close()


def stored_titles(path: Path) -> list[str]:
    """The titles of the chats, as another process would find them."""
    with sqlite3.connect(path) as db:
        titles = [title for (title,) in db.execute("SELECT title FROM chats ORDER BY rowid")]
    db.close()
    return titles


def add(db: Database, title: str) -> None:
    columns = "id, story, characters, speaker, moment, title, tip, version, created, changed"
    db.rows(f"INSERT INTO chats ({columns}) VALUES (?, 'demo', '[]', NULL, 'end', ?, NULL, 1, '', '')", (title, title))


def test_what_was_done_is_on_the_disk_when_one_hears_of_it(database: ServerDatabase) -> None:
    async def doing() -> list[str]:
        await database.run(lambda db: add(db, "one"))
        return stored_titles(Path(database.location))

    assert asyncio.run(doing()) == ["one"]


def test_work_is_done_in_the_order_it_was_handed_in(database: ServerDatabase) -> None:
    async def doing() -> None:
        await asyncio.gather(*(database.run(lambda db, title=str(n): add(db, title)) for n in range(50)))  # type: ignore[misc]

    asyncio.run(doing())
    assert stored_titles(Path(database.location)) == [str(number) for number in range(50)]


def test_work_that_fails_changes_nothing_and_the_next_goes_on(database: ServerDatabase) -> None:
    def failing(db: Database) -> None:
        add(db, "half")
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        asyncio.run(database.run(failing))
    asyncio.run(database.run(lambda db: add(db, "whole")))
    assert stored_titles(Path(database.location)) == ["whole"]


def test_a_full_disk_is_refused_with_what_to_do_and_changes_nothing(database: ServerDatabase) -> None:
    def filling(db: Database) -> None:
        ((pages,),) = db.rows("PRAGMA page_count")
        db.rows(f"PRAGMA max_page_count = {pages}")
        add(db, "x" * 1_000_000)

    with pytest.raises(Refused, match="free some disk space") as refused:
        asyncio.run(database.run(filling))
    assert refused.value.status == 507
    assert stored_titles(Path(database.location)) == []


def test_a_mistake_in_our_own_sql_is_not_blamed_on_the_disk(database: ServerDatabase) -> None:
    with pytest.raises(sqlite3.OperationalError):
        asyncio.run(database.run(lambda db: db.rows("SELECT nothing FROM nowhere")))


def test_it_is_opened_again_with_all_that_was_kept(tmp_path: Path) -> None:
    for title in ("one", "two"):
        database = ServerDatabase(tmp_path / "server.sqlite")
        asyncio.run(database.run(lambda db, title=title: add(db, title)))  # type: ignore[misc]
        database.close()
    assert stored_titles(tmp_path / "server.sqlite") == ["one", "two"]


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
