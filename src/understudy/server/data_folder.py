"""The server's data folder, locked by one server process at a time and readable by its owner only.

The lock is a kernel file lock, so it is released however the process ends.
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

LOCK_FILE = "server.lock"
SERVER_FILES = ("server.*", "stories", "stories/*", "reading")
"""What a server creates here; other files in the folder are left as they are."""
LOCKED_ERRORS = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


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
