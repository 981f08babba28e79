"""Story files of uploads, the folders their readers work in, and how much disk space all uploads take.

A story file is named after what it was made from: the upload, its bytes, its cast.toml and the version of the readers.
If any of these changes, the old file no longer matches and the story is read again.
"""

from __future__ import annotations

import errno
import secrets
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from understudy import __version__
from understudy.errors import InputError
from understudy.server.problems import Refused
from understudy.server.uploads.limits import MIB
from understudy.server.uploads.reader_process import STORY_FILE
from understudy.server.uploads.store import UploadRow
from understudy.storyfile import Story

__all__ = ["StorageQuota", "StoryFiles", "refuse_if_disk_full"]

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def refuse_if_disk_full() -> Iterator[None]:
    """Turns the errors of a full disk into status 507; any other OSError is a bug and stays one."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise Refused("there is no room on the server's disk: free some, then try again", 507) from error


class StorageQuota:
    """Bytes by upload, counted from the first byte received, so that parallel uploads cannot pass the limit together.

    A data folder belongs to one server process (see `DataFolder`), so counting in memory is enough.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._sizes: dict[str, int] = {}
        self._total = 0

    def reserve(self, upload: str, size: int) -> None:
        """Set the size of an upload; refused if the total would pass the limit."""
        change = size - self._sizes.get(upload, 0)
        if change > 0 and self._total + change > self._limit:
            raise Refused(f"all uploads together may have {self._limit // MIB or 1:,} MB: delete one first", 409)
        self.record(upload, size)

    def record(self, upload: str, size: int) -> None:
        """Set the size of an upload that is stored already, even if that passes the limit."""
        self._total += size - self._sizes.get(upload, 0)
        self._sizes[upload] = size

    def release(self, *uploads: str) -> None:
        for upload in uploads:
            self._total -= self._sizes.pop(upload, 0)

    async def metered(self, upload: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same chunks, each counted after it was consumed: the consumer checks its own limits first."""
        async for chunk in chunks:
            yield chunk
            self.reserve(upload, self._sizes.get(upload, 0) + len(chunk))


class StoryFiles:
    def __init__(self, folder: Path) -> None:
        self._stories, self._work_folders = folder / "stories", folder / "reading"

    def path(self, row: UploadRow) -> Path:
        source = "\0".join((__version__, row.content, row.cast_toml, str(row.was_fixed)))
        return self._stories / f"{row.id}-{sha256(source.encode()).hexdigest()[:16]}.story"

    def open(self, row: UploadRow) -> Story | None:
        """The story of an upload as it is now, if its file exists and is sound."""
        try:
            return Story.open(self.path(row))
        except InputError:
            return None

    def adopt(self, work: Path, row: UploadRow) -> Story:
        """Move a story file here from the folder in which it was made."""
        (work / STORY_FILE).replace(self.path(row))
        return Story.open(self.path(row))

    def delete(self, upload: str) -> None:
        """Delete every story file of an upload."""
        for path in self._stories.glob(f"{upload}-*.story"):
            path.unlink()

    def prune(self, row: UploadRow, last: UploadRow) -> None:
        """Delete the files of earlier fixes, except the last one's: requests may be reading it, and undo needs it."""
        needed = {self.path(row), self.path(last)}
        for path in self._stories.glob(f"{row.id}-*.story"):
            if path not in needed:
                path.unlink()

    def clean_up(self, rows: Iterable[UploadRow]) -> None:
        """Delete what a killed server left, and story files that match no upload as it is now."""
        needed = {self.path(row).name for row in rows}
        shutil.rmtree(self._work_folders, ignore_errors=True)
        for path in self._stories.glob("*") if self._stories.is_dir() else ():
            if path.name not in needed:
                path.unlink()

    def new_work_folder(self) -> Path:
        """An empty folder for one reading, with an unguessable name."""
        self._work_folders.mkdir(parents=True, exist_ok=True)
        self._stories.mkdir(parents=True, exist_ok=True)
        work = self._work_folders / secrets.token_hex(8)
        work.mkdir()
        return work
