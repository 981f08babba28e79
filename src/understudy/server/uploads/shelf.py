"""Where the story files of uploads lie, and where readers work.

A story file is named for what it was made from: the upload, its bytes, its cast.toml and the version of the readers. So
one that is older than its source is simply not found, and is made again.
"""

from __future__ import annotations

import errno
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from understudy import __version__
from understudy.errors import InputError
from understudy.server.problems import Refused
from understudy.server.uploads.reading import MADE
from understudy.server.uploads.store import UploadRow
from understudy.storyfile import Story

__all__ = ["Shelf", "room"]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def room() -> Iterator[None]:
    """Says what a full disk means to whoever asked; any other trouble with files is a mistake of ours."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise Refused("there is no room on the server's disk: free some, then try again", 507) from error


class Shelf:
    def __init__(self, folder: Path) -> None:
        self._stories, self._works = folder / "stories", folder / "reading"

    def path(self, row: UploadRow) -> Path:
        made_from = "\0".join((__version__, row.content, row.cast_toml, str(row.was_fixed)))
        return self._stories / f"{row.id}-{sha256(made_from.encode()).hexdigest()[:16]}.story"

    def story(self, row: UploadRow) -> Story | None:
        """The story of an upload as it stands, if its file is there and sound."""
        try:
            return Story.open(self.path(row))
        except InputError:
            return None

    def put(self, work: Path, row: UploadRow) -> Story:
        """Take a story file over from the one who made it."""
        (work / MADE).replace(self.path(row))
        return Story.open(self.path(row))

    def take_away(self, upload: str) -> None:
        """Every story file of an upload."""
        for path in self._stories.glob(f"{upload}-*.story"):
            path.unlink()

    def thin_out(self, row: UploadRow, last: UploadRow) -> None:
        """Take away the files of earlier fixes, but not the last one's: somebody may be reading it, or undo."""
        kept = {self.path(row), self.path(last)}
        for path in self._stories.glob(f"{row.id}-*.story"):
            if path not in kept:
                path.unlink()

    def tidy(self, rows: Iterable[UploadRow]) -> None:
        """Take away what a killed server left, and story files that no upload stands behind as it is now."""
        wanted = {self.path(row).name for row in rows}
        shutil.rmtree(self._works, ignore_errors=True)
        for path in self._stories.glob("*") if self._stories.is_dir() else ():
            if path.name not in wanted:
                path.unlink()

    def new_work(self) -> Path:
        """An empty folder for one reading, under a name nobody can guess."""
        self._works.mkdir(parents=True, exist_ok=True)
        self._stories.mkdir(parents=True, exist_ok=True)
        work = self._works / secrets.token_hex(8)
        work.mkdir()
        return work
