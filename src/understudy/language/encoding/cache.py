"""A cache of encodings on disk: one SQLite database per model, vectors by the hash of what was encoded.

Every operation opens a connection of its own, so one cache can be used by many threads, processes and their forks.
Rows stay in the order they were added: the oldest are evicted first, and texts encoded together are read together.
Transactions are not flushed to disk: a killed process loses nothing that it added, a power failure may damage the file.
A damaged vector has a wrong checksum, counts as missing and is replaced when it is added again. A database that cannot
be read, or in which what was inserted is not there, is damaged: it is removed and created anew.
"""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
import weakref
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from threading import Condition, Thread

import numpy as np
from numpy.typing import NDArray

from understudy.language.encoding import Encoder, Floats
from understudy.story.user_folders import cache_folder

MAX_BYTES = 512 * 2**20
KEY_BYTES = 16
ROW_OVERHEAD = 64  # bytes of a row beside its key and vector, its entry in the index among them
KEYS_PER_QUERY = 500
TIMEOUT_S = 60.0  # while another process writes
SCHEMA = """
    CREATE TABLE IF NOT EXISTS vectors (
        number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, checksum INTEGER NOT NULL
    )
"""
EVICT = """
    DELETE FROM vectors
    WHERE number <= ((SELECT min(number) FROM vectors) + (SELECT max(number) FROM vectors)) / 2
"""
UNAVAILABLE = {
    getattr(sqlite3, f"SQLITE_{name}") for name in "BUSY CANTOPEN FULL IOERR LOCKED NOMEM PERM".split()
}  # errors that say nothing about the content of the file


def cache_key(*parts: str) -> bytes:
    """The hash of some texts; where one ends and the next begins counts."""
    digest = blake2b(digest_size=KEY_BYTES)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.digest()


class EncodingCache:
    """Vectors by key. In a folder that cannot be written to nothing is cached, and that is no error."""

    def __init__(self, model: str, width: int, folder: Path | None = None, max_bytes: int = MAX_BYTES) -> None:
        self._path = (folder or cache_folder() / "encodings").absolute() / f"{model}.sqlite"
        self._width = width
        self._max_bytes = max_bytes
        self._is_damaged = False

    def __len__(self) -> int:
        with self._connection("rw") as connection:
            count: int = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
            return count

    def get(self, keys: Sequence[bytes]) -> tuple[Floats, NDArray[np.bool_]]:
        """The vector of each key, and whether it is in the cache; the vectors of missing keys are zero."""
        stored = dict[bytes, bytes]()
        try:
            with self._connection("rw") as connection:  # not read-only: a killed writer's journal is to be rolled back
                stored.update(self._read(connection, keys))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._is_damaged |= _is_damage(error) and _code(error) != sqlite3.SQLITE_ERROR  # a table not yet created
        vectors = np.zeros((len(keys), self._width), np.float32)
        present = np.fromiter((key in stored for key in keys), np.bool_, len(keys))
        if stored:
            joined = b"".join(stored[key] for key in keys if key in stored)
            vectors[present] = np.frombuffer(joined, "<f2").reshape(-1, self._width)
        return vectors, present

    def add(self, keys: Sequence[bytes], vectors: Floats) -> None:
        row_bytes = KEY_BYTES + 2 * self._width + ROW_OVERHEAD
        most = max(self._max_bytes // 2 // row_bytes, 1)
        blobs = [vector.tobytes() for vector in vectors[-most:].astype("<f2")]
        rows = [(key, blob, zlib.crc32(key + blob)) for key, blob in zip(keys[-most:], blobs)]
        if not rows:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._is_damaged:
                self._remove()
            try:
                self._insert(rows, len(rows) * row_bytes)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                if not _is_damage(error):
                    raise
                self._remove()
                self._insert(rows, len(rows) * row_bytes)
        except (sqlite3.Error, OSError):
            return

    def _read(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """(key, vector) of those keys whose vectors are there and undamaged."""
        for start in range(0, len(keys), KEYS_PER_QUERY):
            chunk = keys[start : start + KEYS_PER_QUERY]
            query = f"SELECT key, vector, checksum FROM vectors WHERE key IN ({','.join('?' * len(chunk))})"
            for key, vector, checksum in connection.execute(query, chunk):
                is_whole = isinstance(key, bytes) and isinstance(vector, bytes) and len(vector) == 2 * self._width
                if is_whole and zlib.crc32(key + vector) == checksum:
                    yield key, vector

    def _insert(self, rows: Sequence[tuple[bytes, bytes, int]], added_bytes: int) -> None:
        with self._connection("rwc") as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(SCHEMA)
            page_bytes, pages, free_pages = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_size", "page_count", "freelist_count")
            )
            if (pages - free_pages) * page_bytes + added_bytes > self._max_bytes:
                connection.execute(EVICT)
            connection.executemany("INSERT OR REPLACE INTO vectors (key, vector, checksum) VALUES (?, ?, ?)", rows)
            keys = [key for key, _, _ in rows]
            if len(dict(self._read(connection, keys))) < len(set(keys)):
                raise sqlite3.DatabaseError("what was inserted cannot be read: the index is damaged")
            connection.execute("COMMIT")

    @contextmanager
    def _connection(self, mode: str) -> Iterator[sqlite3.Connection]:
        uri = f"{self._path.as_uri()}?mode={mode}"
        with closing(sqlite3.connect(uri, timeout=TIMEOUT_S, isolation_level=None, uri=True)) as connection:
            connection.text_factory = bytes  # a damaged row may hold text that is none
            yield connection

    def _remove(self) -> None:
        for suffix in (".sqlite", ".sqlite-journal"):
            self._path.with_suffix(suffix).unlink(missing_ok=True)
        self._is_damaged = False


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    return _code(error) not in UNAVAILABLE


def _code(error: sqlite3.Error | UnicodeDecodeError) -> int:
    """SQLite's primary error code; Python's own errors, about content that cannot be decoded, have none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


# Many texts as vectors, encoded in a background thread, so that a long story does not delay a reply.
#
#     few texts (or few that are not in the cache)   encoded at once
#     many                                           a thread encodes them, batch by batch; whoever needs some of them
#                                                    before it is done gets those encoded for it
#
# One thread serves the whole process. It stands back while a reply is being made (`BACKGROUND.paused()`), ends when
# there is nothing left to do, and is stopped between two batches when the program ends: what it has encoded by then is
# in the cache. Who compares results, as a bench does, encodes everything first (`encoding_at_once()`).


AT_ONCE = 512  # texts that are not worth a thread
BATCH = 128  # texts between two checks whether to pause or to stop

Step = Callable[[], bool]
"""Does a part of a job; False when nothing is left to do."""


class BackgroundQueue:
    """Runs jobs one after the other, step by step, in a thread that is there only while there are some."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._jobs: deque[Step] = deque()
        self._thread: Thread | None = None
        self._pauses = 0
        self.is_stopped = False

    def submit(self, step: Step) -> None:
        with self._condition:
            self._jobs.append(step)
            self._start()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No step begins inside the block."""
        with self._condition:
            self._pauses += 1
        try:
            yield
        finally:
            with self._condition:
                self._pauses -= 1
                self._start()
                self._condition.notify_all()

    def stop(self) -> None:
        """Finish the step that is being done, and do no more."""
        with self._condition:
            self.is_stopped = True
            self._condition.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def after_fork(self) -> None:
        """A forked child has the jobs but not the thread; the lock may have been held by it."""
        self._condition, self._thread, self._pauses = Condition(), None, 0

    def _start(self) -> None:
        if self._thread is None and self._jobs and not self._pauses and not self.is_stopped:
            # a daemon, for Python would wait for another kind before it calls `stop`
            self._thread = Thread(target=self._run, name="understudy-background", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: not self._pauses or self.is_stopped)
                if self.is_stopped or not self._jobs:
                    self._thread = None
                    return
                step = self._jobs[0]
            try:
                is_more = step()
            except Exception:  # the caller that needs the result encodes it itself, and gets the error
                logging.getLogger(__name__).warning("a job in the background failed", exc_info=True)
                is_more = False
            with self._condition:
                if not is_more:
                    self._jobs.popleft()
            del step


BACKGROUND = BackgroundQueue()
atexit.register(BACKGROUND.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BACKGROUND.after_fork)

_at_once = 0


@contextmanager
def encoding_at_once() -> Iterator[None]:
    """Inside the block nothing is encoded in the background, so that replies are deterministic."""
    global _at_once
    _at_once += 1
    try:
        yield
    finally:
        _at_once -= 1


class TextVectors:
    """The vectors of texts, by their index; `is_complete` once all are there."""

    def __init__(self, texts: Sequence[str], encoder: Encoder) -> None:
        distinct = list(dict.fromkeys(texts))
        rows = {text: row for row, text in enumerate(distinct)}
        self._rows = np.array([rows[text] for text in texts], np.intp)
        self._texts, self._encoder = distinct, encoder
        self._vectors, self._present = encoder.cached(distinct)
        if _at_once or np.count_nonzero(~self._present) <= AT_ONCE:
            self._encode(np.flatnonzero(~self._present))
        else:
            step = weakref.WeakMethod(self.step)  # the job ends early once the vectors are garbage-collected
            BACKGROUND.submit(lambda: (own := step()) is not None and own())

    @property
    def is_complete(self) -> bool:
        return bool(self._present.all())

    def complete(self) -> None:
        """Encode all that is missing, now."""
        self._encode(np.flatnonzero(~self._present))

    def of(self, indices: NDArray[np.intp]) -> Floats:
        """The vectors of the texts at these indices; missing ones are encoded."""
        rows = self._rows[indices]
        missing = np.unique(rows[~self._present[rows]])
        if len(missing):
            self._encode(missing)
        return np.asarray(self._vectors[rows])

    def step(self) -> bool:
        """Encode the next batch; the newest first, which are the likeliest to be asked for."""
        missing = np.flatnonzero(~self._present)
        self._encode(missing[-BATCH:])
        return len(missing) > BATCH

    def _encode(self, rows: NDArray[np.intp]) -> None:
        """Two threads may encode the same text, and get the same vector."""
        if len(rows):
            self._vectors[rows] = self._encoder.encode([self._texts[row] for row in rows.tolist()])
            self._present[rows] = True
