"""The folder of what a server keeps: one server at a time, and nobody but its owner may look into it.

The lock is the kernel's, so it goes with the process that held it, however that ended.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy.errors import InputError

__all__ = ["DataFolder", "private_files"]

LOCK = "server.lock"
OWN = ("server.*", "stories", "stories/*", "reading")
"""What a server makes here. The folder may hold other things, which are left as they are."""
IN_USE = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class DataFolder:
    """Made if it is not there, and held until closed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(
                f"cannot be used to keep chats in ({error.strerror}): choose another --data", path
            ) from error
        try:
            _lock(self._lock)
        except OSError as error:
            number = _text(self._lock)
            os.close(self._lock)
            if error.errno not in IN_USE:
                raise InputError(f"cannot be locked ({error.strerror}): choose another --data", path) from error
            holder = f" (process {number})" if number.isdigit() else ""
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
        os.close(self._lock)

    def _make_private(self) -> None:
        found = [self.path, *(path for pattern in OWN for path in self.path.glob(pattern))]
        for path in found:
            with suppress(PermissionError, FileNotFoundError):  # somebody else's folder that we may write to
                path.chmod(0o700 if path.is_dir() else 0o600)


@contextmanager
def private_files() -> Iterator[None]:
    """Files made meanwhile, also by programs that are started, are readable by their owner alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 1_000_000, os.SEEK_SET)  # beyond the text, which others may read
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _text(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 20).decode("ascii", "replace")
