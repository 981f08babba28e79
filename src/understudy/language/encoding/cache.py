"""A cache of encodings on disk: one SQLite database per model, vectors by the hash of what was encoded.

Every operation opens a connection of its own, so one cache can be used by many threads, processes and their forks.
Rows stay in the order they were added: the oldest are evicted first, and texts encoded together are read together.
Transactions are not flushed to disk: a killed process loses nothing that it added, a power failure may damage the file.
A damaged vector has a wrong checksum, counts as missing and is replaced when it is added again. A database that cannot
be read, or in which what was inserted is not there, is damaged: it is removed and created anew.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.language.encoding.sequences import Floats
from understudy.story.user_folders import cache_folder

__all__ = ["EncodingCache", "cache_key"]

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
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
}  # errors that say nothing about the content of the file


def cache_key(*parts: str) -> bytes:
    """The hash of some texts; where one ends and the next begins counts."""
    digest = blake2b(digest_size=KEY_BYTES)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
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
