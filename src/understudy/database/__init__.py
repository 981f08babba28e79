"""The databases that tables are kept in, SQLite by default, or PostgreSQL: statements, transactions, migrations.

    database = open_database("server.db", 0x55445356, "the server's database")
    database = open_database("postgresql://me@host/team", 0x55445356, "the server's database")
    migrate(database, (("tables", ("CREATE TABLE ...",)),))
    with database.transaction():
        database.rows("INSERT INTO chats VALUES (?, ?)", ("7f", "Ahoy"))

An `application_id` of four letters tells one kind of database from another: an SQLite file is of one kind, and one
PostgreSQL database may have several, each in a schema of its own.
"""

from __future__ import annotations

import os
from pathlib import Path

from understudy.database.database import (
    Database,
    Migration,
    Row,
    applied_migrations,
    apply_migrations,
    is_address,
    is_postgres,
    is_text,
    masked,
    migrate,
)
from understudy.database.postgres import Postgres
from understudy.database.sqlite import Sqlite, claim_file
from understudy.errors import InputError

__all__ = [
    "Database",
    "Migration",
    "Postgres",
    "Row",
    "Sqlite",
    "applied_migrations",
    "apply_migrations",
    "check_location",
    "claim_file",
    "is_postgres",
    "is_text",
    "migrate",
    "open_database",
]


def open_database(location: str | Path, application_id: int, purpose: str, option: str = "--store") -> Database:
    """Open a file (created if need be, for its owner alone), or a postgresql:// address.

    Errors name the `purpose`, such as "the server's database", and the `option` to choose another with.
    """
    check_location(location, purpose, option)
    if is_postgres(location):
        schema = application_id.to_bytes(4, "big").decode("ascii").lower()  # such as 'udsv'
        return Postgres(str(location), application_id, purpose, schema=schema, option=option)
    path = Path(location)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():  # closing a file that is open elsewhere in this process would drop SQLite's locks on it
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives the files beside it the same mode
    except OSError as error:
        raise InputError(f"cannot be opened as {purpose} ({error}): choose another {option}", path) from error
    return Sqlite(path, application_id, purpose, option)


def check_location(location: str | Path, purpose: str, option: str = "--store") -> None:
    if not str(location):
        raise InputError(f"{purpose} is not named: say {option} FILE, or a postgresql:// address")
    if is_address(location) and not is_postgres(location):
        raise InputError(f"cannot be {purpose}: say a file, or postgresql://...", masked(location))
