"""Files of uploads that could not be read, for a while: they can be read again as another format without being sent.

They are beside the quota of uploads, but all together no more than one upload may have: the oldest make room for newer
ones. A server that starts again has forgotten them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from understudy.server.uploads.reader_process import SENT_FOLDER
from understudy.server.uploads.storage import ReceivedForm

__all__ = ["FailedUpload", "FailedUploads"]


class FailedUpload(NamedTuple):
    work: Path
    """The folder in which it was read; only the files as they were sent are left in it."""
    received: ReceivedForm

    @property
    def size(self) -> int:
        return self.received.size


class FailedUploads:
    """Its methods delete files, so they are called in worker threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._uploads: dict[str, FailedUpload] = {}

    def __contains__(self, upload: str) -> bool:
        return upload in self._uploads

    def keep(self, upload: str, failed: FailedUpload) -> None:
        for path in failed.work.iterdir():
            if path.name != SENT_FOLDER:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._uploads[upload] = failed
        kept = list(self._uploads.items())  # at once: another thread may add one
        while kept and sum(one.size for _, one in kept) > self._max_bytes:
            self.discard(kept.pop(0)[0])

    def take(self, upload: str) -> FailedUpload | None:
        """The files of an upload, to be read again; from then on they are the caller's."""
        return self._uploads.pop(upload, None)

    def discard(self, upload: str) -> None:
        if (failed := self._uploads.pop(upload, None)) is not None:
            shutil.rmtree(failed.work, ignore_errors=True)
