"""Encodings kept between runs: one append-only file a model, read through a memory map.

    record = key (16 bytes) | vector (float16) | checksum (4 bytes)

A record is found by its key, the hash of what was encoded. Writers take turns by a lock beside the file. A process
killed while writing leaves at most a piece of a record at the end, which readers do not see and the next writer cuts
off. Past the limit the newer half is written to a new file that takes the old one's place; whoever reads the old one
keeps it. A record whose checksum is wrong counts as missing.
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

from understudy.cachefolder import cache_folder
from understudy.encoding.sequences import Floats

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
        self._identity: tuple[int, int] | None = None
        self._records: NDArray[np.void] = np.empty(0, self._record)
        self._order = np.empty(0, np.int64)
        self._sorted = np.empty(0, np.uint64)

    def __len__(self) -> int:
        self._refresh()
        return len(self._records)

    def get(self, keys: Sequence[bytes]) -> tuple[Floats, NDArray[np.bool_]]:
        """The vectors of keys, and which of them there are."""
        self._refresh()
        vectors = np.zeros((len(keys), self._width), np.float32)
        found = np.zeros(len(keys), np.bool_)
        if not len(self._records) or not keys:
            return vectors, found
        wanted = np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)
        places = np.minimum(np.searchsorted(self._sorted, wanted[:, 0]), len(self._sorted) - 1)
        rows = self._order[places]
        likely = np.flatnonzero((self._records["key"][rows] == wanted).all(axis=1))
        for place in likely.tolist():
            record = self._records[rows[place]]
            if int(record["check"]) == _check(record["key"].tobytes() + record["vector"].tobytes()):
                vectors[place] = record["vector"]
                found[place] = True
        return vectors, found

    def add(self, keys: Sequence[bytes], vectors: Floats) -> None:
        if not keys:
            return
        records = np.zeros(len(keys), self._record)
        records["key"] = np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)
        records["vector"] = vectors.astype(np.float16)
        for record in records:
            record["check"] = _check(record["key"].tobytes() + record["vector"].tobytes())
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with _turn(self._path.with_suffix(".lock")):
                self._append(records.tobytes())
        except OSError:
            return

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
        beside = self._path.with_suffix(".new")
        beside.write_bytes(content)
        os.replace(beside, self._path)

    def _refresh(self) -> None:
        """Look again at the file where it has grown or been replaced."""
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                identity = (state.st_ino, state.st_size // self._record.itemsize)
                if identity == self._identity:
                    return
                self._records = (
                    np.memmap(file, self._record, "r", shape=(identity[1],))
                    if identity[1]
                    else np.empty(0, self._record)
                )
        except OSError:
            return
        firsts = np.array(self._records["key"][:, 0]) if len(self._records) else np.empty(0, np.uint64)
        self._order = np.argsort(firsts, kind="stable")
        self._sorted = firsts[self._order]
        self._identity = identity


def _check(content: bytes) -> int:
    return zlib.crc32(content)


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
