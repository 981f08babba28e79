"""The databases that tables are kept in, SQLite by default, or PostgreSQL: statements, transactions, migrations; and
results of long work, in files of JSON lines.

    database = open_database("server.db", 0x55445356, "the server's database")
    database = open_database("postgresql://me@host/team", 0x55445356, "the server's database")
    migrate(database, (("tables", ("CREATE TABLE ...",)),))
    with database.transaction():
        database.rows("INSERT INTO chats VALUES (?, ?)", ("7f", "Ahoy"))

An `application_id` of four letters tells one kind of database from another: an SQLite file is of one kind, and one
PostgreSQL database may have several, each in a schema of its own.

Statements have `?` for parameters. A transaction is on the disk when it is over. One writes at a time, so that ids are
assigned in the order rows become visible. What a database cannot do at present (disk full, server gone) is raised as
`Unreachable`, whichever it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from understudy.errors import InputError

NOT_TEXT = re.compile("[\x00\ud800-\udfff]")

Row = tuple[Any, ...]


class Database(Protocol):
    purpose: str
    """What it is for, in words for error messages, such as "the utterance database"."""
    id_type: str
    """The column type of an id that the database assigns."""
    bytes_type: str
    """The column type of bytes."""

    def prepare(self, create_tables: Callable[[], None]) -> None:
        """Call `create_tables` in a transaction."""

    def has_table(self, name: str) -> bool: ...
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Execute a statement, in the thread's transaction if it has one open."""

    def transaction(self) -> AbstractContextManager[None]: ...
    def erase_deleted(self, tables: Sequence[str]) -> None:
        """Overwrite what deleted rows of some tables have left on the disk."""

    def snapshot(self) -> AbstractContextManager[None]:
        """What the thread reads meanwhile is of one state of the database. Waits for no transaction."""

    def reserve_ids(self, table: str, count: int) -> list[int]:
        """Ids for rows that are inserted later, in a transaction."""

    def close(self) -> None: ...


def is_text(text: str) -> bool:
    """Can both databases store it? PostgreSQL takes no NUL character, and a lone surrogate has no UTF-8."""
    return NOT_TEXT.search(text) is None


def check_parameters(parameters: Sequence[Any]) -> None:
    for value in parameters:
        if isinstance(value, str) and not is_text(value):
            raise InputError(
                "a text with a NUL character, or with half of a surrogate pair, can be neither kept nor looked for: "
                "clean it first"
            )


# Where a database is: a file, or a PostgreSQL address, whose password is never shown.
#
#   postgresql://user:password@host:port/database        or ?host=/folder/of/socket
#
# Without a password in the address, PGPASSWORD is used, as PostgreSQL's own programs do.

SCHEMES = ("postgresql://", "postgres://")
USER_PASSWORD = re.compile(r"^([^:/?#]+://[^:@/]*):(.+)@", re.DOTALL)  # greedy: a password may have an @
QUERY_PASSWORD = re.compile(r"((?:^|[?&;])[a-z]*password=)[^&;]*", re.IGNORECASE)
SECRET = "***"  # noqa: S105


def is_address(location: str | Path) -> bool:
    return "://" in str(location)


def is_postgres(location: str | Path) -> bool:
    return str(location).startswith(SCHEMES)


def masked(location: str | Path) -> str:
    """The location with *** for its password, in whichever way that is given."""
    return QUERY_PASSWORD.sub(rf"\1{SECRET}", USER_PASSWORD.sub(rf"\1:{SECRET}@", str(location)))


def has_password(location: str | Path) -> bool:
    return is_address(location) and masked(location) != str(location)


def connection_arguments(address: str) -> dict[str, Any]:
    """The driver's keyword arguments."""
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError as error:  # its message may quote the password
        raise InputError(
            "is no PostgreSQL address: write postgresql://user@host:port/database, letters like / and @ in a "
            "password as %2F and %40",
            masked(address),
        ) from error
    options = {key: values[-1] for key, values in parse_qs(url.query).items()}
    arguments: dict[str, Any] = {
        "user": unquote(url.username or options.get("user", "postgres")),
        "database": unquote(url.path.lstrip("/")) or "postgres",
        "port": port or 5432,
    }
    password = unquote(url.password or "") or options.get("password") or os.environ.get("PGPASSWORD")
    if password:
        arguments["password"] = password
    host = host or options.get("host", "localhost")
    if host.startswith("/"):
        # Nothing is encrypted there, and preparing for it takes longer than connecting.
        arguments |= {"unix_sock": f"{host}/.s.PGSQL.{arguments['port']}", "ssl_context": False}
    else:
        arguments["host"] = host
    return arguments


# Numbered migrations, recorded in the database itself: the one way in which tables are made and changed.
#
# A database that was made by an older version is brought up to date in one transaction; one of a newer version is
# refused. Migrations are only ever appended. Whoever has a connection of its own to an SQLite file (a story file, the
# memory of people) hands its `execute` to `apply_migrations`, within a transaction.

Migration = tuple[str, Sequence[str]]
"""A name, and statements."""
Execute = Callable[[str, Sequence[Any]], Iterable[Row]]
"""Executes a statement with its parameters, as `Database.rows` and SQLite's connections do."""

TABLE = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"


def migrate(database: Database, migrations: Sequence[Migration]) -> None:
    """Create the tables, or bring older ones up to date; a database that is up to date is only read."""
    if not database.has_table("migrations") or applied_migrations(database.rows) != len(migrations):
        database.prepare(lambda: apply_migrations(database.rows, migrations, database.purpose))


def apply_migrations(execute: Execute, migrations: Sequence[Migration], purpose: str) -> None:
    """Apply those that were not applied yet. Errors name the `purpose`, such as "the server's database"."""
    execute(TABLE, ())
    applied = applied_migrations(execute)
    if applied > len(migrations):
        raise InputError(f"{purpose} was made by a newer Understudy: upgrade with `pip install -U understudy`")
    for number, (name, statements) in enumerate(migrations[applied:], applied + 1):
        for statement in statements:
            execute(statement, ())
        now = datetime.now(UTC).isoformat(timespec="seconds")
        execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def applied_migrations(execute: Execute) -> int:
    """How many have been applied."""
    ((applied,),) = execute("SELECT coalesce(max(number), 0) FROM migrations", ())
    return int(applied)


def open_database(location: str | Path, application_id: int, purpose: str, option: str = "--store") -> Database:
    """Open a file (created if need be, for its owner alone), or a postgresql:// address.

    Errors name the `purpose`, such as "the server's database", and the `option` to choose another with.
    """
    check_location(location, purpose, option)
    if is_postgres(location):
        from understudy.database.postgres import Postgres

        schema = application_id.to_bytes(4, "big").decode("ascii").lower()  # such as 'udsv'
        return Postgres(str(location), application_id, purpose, schema=schema, option=option)
    from understudy.database.sqlite import Sqlite

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


# Results of long work, written down one by one, so that a run that was stopped goes on where it was.
#
# A file of JSON lines, an object a line with a `key` by which it is asked for; a line that was cut off by a crash is
# dropped.

Record = Mapping[str, Any]


class RecordLog:
    """`records` are those that are known, by key; without a path nothing is written down."""

    def __init__(self, path: Path | None, key: str = "key") -> None:
        self.records: dict[str, Record] = {}
        self._path, self._key = path, key
        if path is not None:
            self._load(path)

    def add(self, records: Iterable[Record]) -> None:
        new = list(records)
        self.records |= {record[self._key]: record for record in new}
        if self._path is not None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in new)
            except OSError as error:
                raise InputError(f"cannot be written: {error.strerror}", self._path) from error

    def _load(self, path: Path) -> None:
        if not path.is_file():
            return
        lines = path.read_bytes().splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):  # stopped while it was written
            with path.open("r+b") as file:
                file.truncate(sum(map(len, lines[:-1])))
            lines.pop()
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                self.records[record[self._key]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise InputError("is damaged: delete the file to begin again", path, number) from error
