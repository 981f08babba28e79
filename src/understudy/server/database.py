"""Where a server keeps its data: a folder, and the database of chats, uploads and settings.

The folder is locked by one server process at a time and readable by its owner only. The lock is a kernel file lock, so
it is released however the process ends.

The database is one SQLite file or in PostgreSQL. One thread does the work of a process in the order it was submitted. A
transaction is on the disk before its result is returned: what a user has seen survives a kill, and a full disk is an
error that changes nothing.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from understudy.database import Database, Migration, is_postgres, migrate, open_database
from understudy.database.sqlite import Sqlite
from understudy.errors import InputError, Unreachable
from understudy.server.problems import Refused

LOCK_FILE = "server.lock"
SERVER_FILES = ("server.*", "stories", "stories/*", "reading")
"""What a server creates in its folder; other files in the folder are left as they are."""
LOCKED_ERRORS = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

APPLICATION_ID = 0x55445356  # 'UDSV': distinguishes a server's database from others
PURPOSE = "the server's database"

Result = TypeVar("Result")


class DataFolder:
    """Created if missing, and locked until closed."""

    def __init__(self, path: Path) -> None:
        self.path, self._closed = path.absolute(), False  # readers of uploads work in another folder
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(path / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(
                f"cannot be used to keep chats in ({error.strerror}): choose another --data", path
            ) from error
        try:
            _lock(self._lock)
        except OSError as error:
            process = _read_text(self._lock)
            os.close(self._lock)
            if error.errno not in LOCKED_ERRORS:
                raise InputError(f"cannot be locked ({error.strerror}): choose another --data", path) from error
            holder = f" (process {process})" if process.isdigit() else ""
            raise InputError(
                f"is in use by another `understudy serve`{holder}: stop that one, or give this one a folder of its own "
                "with --data",
                path,
            ) from error
        os.ftruncate(self._lock, 0)
        os.lseek(self._lock, 0, os.SEEK_SET)
        os.write(self._lock, str(os.getpid()).encode())
        self._make_private()

    def close(self) -> None:
        """The folder stays locked as long as a child process has it open."""
        if not self._closed:
            self._closed = True
            os.close(self._lock)

    def _make_private(self) -> None:
        paths = [self.path, *(path for pattern in SERVER_FILES for path in self.path.glob(pattern))]
        for path in paths:
            with suppress(PermissionError, FileNotFoundError):  # a folder of another owner that we may write to
                path.chmod(0o700 if path.is_dir() else 0o600)


@contextmanager
def private_files() -> Iterator[None]:
    """Files created meanwhile, also by child processes, are readable by their owner only."""
    previous = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(previous)


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 1_000_000, os.SEEK_SET)  # beyond the process id, which other processes read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _read_text(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 20).decode("ascii", "replace")


class ServerDatabase:
    """`location` is a file, or a postgresql:// address that several processes may use at a time."""

    def __init__(self, location: str | Path) -> None:
        self.location = location
        self.is_shared = is_postgres(location)
        self._database = open_database(location, APPLICATION_ID, PURPOSE, "--database" if self.is_shared else "--data")
        try:
            migrate(self._database, migrations(self._database))
        except BaseException:
            self._database.close()
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")

    async def run(self, work: Callable[[Database], Result]) -> Result:
        """Run `work` in a transaction of its own: its result is returned after the commit, and an error rolls back."""
        return await self._submit(self._database.transaction, work)

    async def read(self, work: Callable[[Database], Result]) -> Result:
        """Run `work`, which only reads, on one state of the database; other processes' transactions are not waited
        for."""
        return await self._submit(self._database.snapshot, work)

    async def _submit(
        self, within: Callable[[], AbstractContextManager[None]], work: Callable[[Database], Result]
    ) -> Result:
        def run() -> Result:
            try:
                with within():
                    return work(self._database)
            except Unreachable as error:
                raise Refused(str(error), 503 if self.is_shared else 507) from error
            except InputError as error:
                if error.path is None:
                    raise
                raise Refused(f"{PURPOSE} {error.message}", 500) from error  # without its address

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def close(self) -> None:
        self._thread.shutdown()
        self._database.close()


# The tables of the server's database, as migrations that run on SQLite and PostgreSQL. Append only.


def migrations(database: Database) -> Sequence[Migration]:
    return (
        ("chats", _chats(database)),
        ("uploads", _uploads(database)),
        ("as said", MESSAGE_COLUMNS_ADDED),
        ("agents and personas", AGENTS_AND_PERSONAS),
        ("remembered name", REMEMBERED_NAME),
        ("novels", NOVELS),
        ("several processes", SEVERAL_PROCESSES),
        ("sampling, turns and restoring", SAMPLING_TURNS_AND_RESTORING),
        ("removed messages", REMOVED_MESSAGES),
    )


def _chats(database: Database) -> Sequence[str]:
    """A chat's title is its first words, unless it was renamed. `tip` is the last message of the branch that is shown,
    and `version` counts changes, so that a page can tell whether it is up to date. A message's `author` is the story's
    own name for them (NULL: the user as themselves), `shown` the name it was shown under, which may be a false one, and
    `faced` the name under which a character knew who spoke to it. `answers` is 1 for a reply. 'cut' means: stopped, and
    only what was seen is stored. Parents are checked at the end of a transaction, so that a branch can be deleted
    whole."""
    references_message = "REFERENCES messages (id) DEFERRABLE INITIALLY DEFERRED"
    # A chat refers to a message and a message to its chat. SQLite lets a table refer to one that is not there yet;
    # PostgreSQL does not, but adds the reference later.
    at_once = isinstance(database, Sqlite)
    added = () if at_once else (f"ALTER TABLE chats ADD FOREIGN KEY (tip) {references_message}",)
    return (
        f"""CREATE TABLE chats (
            id TEXT PRIMARY KEY,
            story TEXT NOT NULL,
            characters TEXT NOT NULL,
            speaker TEXT,
            moment TEXT NOT NULL,
            title TEXT NOT NULL,
            tip BIGINT {references_message if at_once else ""},
            version BIGINT NOT NULL,
            created TEXT NOT NULL,
            changed TEXT NOT NULL)""",
        "CREATE INDEX chats_by_change ON chats (changed)",
        f"""CREATE TABLE messages (
            id {database.id_type},
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            parent BIGINT {references_message},
            answers BIGINT NOT NULL,
            author TEXT,
            shown TEXT NOT NULL,
            text TEXT NOT NULL,
            moment TEXT NOT NULL,
            faced TEXT,
            why TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('whole', 'cut')),
            created TEXT NOT NULL)""",
        "CREATE INDEX messages_of_chat ON messages (chat)",
        "CREATE INDEX messages_by_parent ON messages (parent)",
        *added,
    )


def _uploads(database: Database) -> Sequence[str]:
    """Fix 0 is the cast.toml that came with the upload, blank if there was none; undo deletes the newest fix."""
    return (
        """CREATE TABLE uploads (
            id TEXT PRIMARY KEY,
            story TEXT NOT NULL,
            content TEXT NOT NULL,
            made TEXT NOT NULL,
            fixable BIGINT NOT NULL,
            complete BIGINT NOT NULL DEFAULT 0,
            deleted TEXT)""",
        f"""CREATE TABLE upload_files (
            id {database.id_type},
            upload TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE,
            name TEXT NOT NULL,
            size BIGINT NOT NULL)""",
        "CREATE INDEX upload_files_by_upload ON upload_files (upload, id)",
        f"""CREATE TABLE upload_pieces (
            file BIGINT NOT NULL REFERENCES upload_files ON DELETE CASCADE,
            number BIGINT NOT NULL,
            bytes {database.bytes_type} NOT NULL,
            PRIMARY KEY (file, number))""",
        """CREATE TABLE upload_fixes (
            upload TEXT NOT NULL REFERENCES uploads ON DELETE CASCADE,
            number BIGINT NOT NULL,
            what TEXT NOT NULL,
            cast_toml TEXT NOT NULL,
            made TEXT NOT NULL,
            PRIMARY KEY (upload, number))""",
    )


# `present` are the characters of the scene a message was said in (NULL: the message is older than this column).
# `unanswered` is set with a message of the user and cleared with the last reply to it: it marks the replies that a
# server which was stopped or killed still owed.
MESSAGE_COLUMNS_ADDED = (
    "ALTER TABLE messages ADD COLUMN present TEXT",
    "ALTER TABLE messages ADD COLUMN unanswered BIGINT NOT NULL DEFAULT 0",
)

# A chat's `agent` is the name of the one that speaks in it (NULL: the server's default). `persona` is somebody of the
# user's own whom they speak as, a JSON object: of the chat whom they speak as now, of a message whom they spoke as.
# `personas` keeps them, to be chosen again.
AGENTS_AND_PERSONAS = (
    "ALTER TABLE chats ADD COLUMN agent TEXT",
    "ALTER TABLE chats ADD COLUMN persona TEXT",
    "ALTER TABLE messages ADD COLUMN persona TEXT",
    "CREATE TABLE personas (name TEXT PRIMARY KEY, description TEXT NOT NULL, changed TEXT NOT NULL)",
)

# `remember` is the name under which what the user tells of themselves is kept (NULL: nothing is kept).
REMEMBERED_NAME = ("ALTER TABLE chats ADD COLUMN remember TEXT",)

# `form` names the reader that takes the files, blank where their content decides. A fix has the cast.toml and the
# decisions about quotations from then on, so that one undo takes back either.
NOVELS = (
    "ALTER TABLE uploads ADD COLUMN form TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE upload_fixes ADD COLUMN quotations_toml TEXT NOT NULL DEFAULT ''",
)

# `holder` is the process that works on a chat, until `held_until` in seconds since 1970; `stop` is a request to stop
# that another process has received. Of a login only a hash of its token is stored. A reading job is one that a process
# runs or that has failed: `state` is a JSON object, and `until` is when others may take it for dead.
SEVERAL_PROCESSES = (
    "ALTER TABLE chats ADD COLUMN holder TEXT",
    "ALTER TABLE chats ADD COLUMN held_until DOUBLE PRECISION NOT NULL DEFAULT 0",
    "ALTER TABLE chats ADD COLUMN stop TEXT",
    "CREATE INDEX chats_by_holder ON chats (holder)",
    "CREATE INDEX chats_by_tip ON chats (tip)",
    "CREATE TABLE sessions (token TEXT PRIMARY KEY, role TEXT NOT NULL, expires DOUBLE PRECISION NOT NULL)",
    """CREATE TABLE reading_jobs (
        upload TEXT PRIMARY KEY, holder TEXT NOT NULL, state TEXT NOT NULL, until DOUBLE PRECISION NOT NULL)""",
)

# `sampling` is how what writes is to write in a chat, a JSON object (NULL: as it likes). `deleted` is when a chat was
# deleted, and `told` a JSON list of what was remembered of it until then: both come back while it can be restored.
# `addressed` are those of the scene who were asked to answer a message (NULL: whoever it calls, else the next in turn).
SAMPLING_TURNS_AND_RESTORING = (
    "ALTER TABLE chats ADD COLUMN sampling TEXT",
    "ALTER TABLE chats ADD COLUMN deleted TEXT",
    "ALTER TABLE chats ADD COLUMN told TEXT",
    "ALTER TABLE messages ADD COLUMN addressed TEXT",
)

# What was deleted last of a chat, a JSON object, until it cannot be put back any more.
REMOVED_MESSAGES = (
    """CREATE TABLE removed_messages (
        chat TEXT PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE, deleted TEXT NOT NULL, content TEXT NOT NULL)""",
)
