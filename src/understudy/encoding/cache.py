"""Encodings kept between runs: one append-only file a model, read through a memory map.

    record = key (16 bytes) | vector (float16) | checksum (4 bytes)

A record is found by its key, the hash of what was encoded. Writers take turns by a lock beside the file. A process
killed while writing leaves at most a piece of a record at the end, which readers do not see and the next writer cuts
off. Past the limit the newer half is written to a new file that takes the old one's place; whoever reads the old one
keeps it. A record whose checksum is wrong counts as missing; what is added next drops it. Of two records of a key the
newer one counts. One cache may be used by many threads.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.encoding.sequences import Floats
from understudy.user_folders import cache_folder

__all__ = ["EncodingCache", "key_of"]

LIMIT = 512 * 2**20
KEY = 16


def key_of(*parts: str) -> bytes:
    digest = blake2b(digest_size=KEY)
    for part in parts:
        told = part.encode("utf-8", "surrogatepass")
        digest.update(len(told).to_bytes(8, "little"))
        digest.update(told)
    return digest.digest()


class EncodingCache:
    """Vectors by key. Where the folder cannot be written to, nothing is kept and nothing is wrong."""

    def __init__(self, model: str, width: int, folder: Path | None = None, limit: int = LIMIT) -> None:
        self._path = (folder or cache_folder() / "encodings") / f"{model}.f16"
        self._record = np.dtype([("key", "<u8", 2), ("vector", "<f2", width), ("check", "<u4")])
        self._limit = max(limit, 2 * self._record.itemsize)
        self._width = width
        self._view = _View((0, 0), np.empty(0, self._record))
        self._damaged = False

    def __len__(self) -> int:
        return len(self._refreshed().records)

    def get(self, keys: Sequence[bytes]) -> tuple[Floats, NDArray[np.bool_]]:
        """The vectors of keys, and which of them there are."""
        view = self._refreshed()
        vectors = np.zeros((len(keys), self._width), np.float32)
        found = np.zeros(len(keys), np.bool_)
        if not len(view.records) or not keys:
            return vectors, found
        wanted = np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)
        rows = view.newest(wanted[:, 0])
        likely = np.flatnonzero((view.records["key"][rows] == wanted).all(axis=1))
        for place in likely.tolist():
            record = view.records[rows[place]]
            if _is_sound(record):
                vectors[place] = record["vector"]
                found[place] = True
            else:
                self._damaged = True
        return vectors, found

    def add(self, keys: Sequence[bytes], vectors: Floats) -> None:
        if not keys:
            return
        records = np.zeros(len(keys), self._record)
        records["key"] = np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)
        records["vector"] = vectors.astype(np.float16)
        for record in records:
            record["check"] = _checksum(record)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with _turn(self._path.with_suffix(".lock")):
                if self._damaged:
                    self._drop_damaged()
                self._append(records.tobytes())
        except OSError:
            return

    def _drop_damaged(self) -> None:
        size = self._record.itemsize
        content = self._path.read_bytes()
        records = np.frombuffer(content[: len(content) // size * size], self._record)
        sound = np.array([_is_sound(record) for record in records], np.bool_)
        if not sound.all():  # another writer may have done it
            self._replace(records[sound].tobytes())
        self._damaged = False

    def _append(self, added: bytes) -> None:
        size = self._record.itemsize
        with self._path.open("ab") as file:
            whole = file.tell() // size * size
            if whole != file.tell():
                file.truncate(whole)  # of a writer that was killed; readers map whole records only
            if whole + len(added) <= self._limit:
                file.write(added)
                return
        room = self._limit // 2 // size * size
        content = (self._path.read_bytes()[:whole] + added)[-room:]
        self._replace(content)

    def _replace(self, content: bytes) -> None:
        beside = self._path.with_suffix(".new")
        beside.write_bytes(content)
        os.replace(beside, self._path)

    def _refreshed(self) -> _View:
        """The file as it is now: looked at again where it has grown or been replaced."""
        view = self._view
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                identity = (state.st_ino, state.st_size // self._record.itemsize)
                if identity == view.identity:
                    return view
                records: NDArray[np.void] = (
                    np.memmap(file, self._record, "r", shape=(identity[1],))
                    if identity[1]
                    else np.empty(0, self._record)
                )
        except OSError:
            return view
        self._view = view = _View(identity, records)
        return view


class _View:
    """The file as it was at one time, with its keys in order; replaced as one, so that threads need not wait."""

    def __init__(self, identity: tuple[int, int], records: NDArray[np.void]) -> None:
        self.identity, self.records = identity, records
        firsts = np.array(records["key"][:, 0]) if len(records) else np.empty(0, np.uint64)
        self._order = np.argsort(firsts, kind="stable")
        self._sorted = firsts[self._order]

    def newest(self, firsts: NDArray[np.uint64]) -> NDArray[np.int64]:
        """For each key's first half, the last record that could be its own."""
        return self._order[np.maximum(np.searchsorted(self._sorted, firsts, side="right") - 1, 0)]


def _checksum(record: np.void) -> int:
    return zlib.crc32(record["key"].tobytes() + record["vector"].tobytes())


def _is_sound(record: np.void) -> bool:
    return int(record["check"]) == _checksum(record)


@contextlib.contextmanager
def _turn(path: Path) -> Iterator[None]:
    """One writer at a time; the system lets go of the lock of a process that dies."""
    with path.open("ab") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            yield
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            yield
