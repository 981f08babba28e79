"""Where scores go: a folder of parts, or one Parquet file that is put together when all its parts are there.

What is done is kept. A run that was stopped goes on with the parts that are not there yet; what it was asked for stands
beside them (in `_run.json`, or in the one file), so that another run is never mixed in. Parts of a file that has been
changed since are scored anew.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.scoring.parts import Part
from understudy.scoring.tables import PARTIAL, Tally, join, note_of, tally_of

__all__ = ["Output"]

RUN = "_run.json"
FORCE = "say --force to begin anew, or -o for another place"


class Output:
    """`run` is what was asked for, as a document: two runs that differ in it cannot share an output."""

    def __init__(self, path: Path, run: dict[str, Any], parts: Sequence[Part], force: bool = False) -> None:
        self.path, self._names = path, [part.name for part in parts]
        self._parts = parts
        self._run: dict[str, Any] = json.loads(json.dumps(run))
        self._one_file = path.suffix.lower() == ".parquet"
        if self._one_file and path.is_dir():
            raise InputError("is a folder: name a new file, or a folder not called .parquet", path)
        if not self._one_file and path.is_file():
            raise InputError("is a file: name a folder, or a file that ends in .parquet", path)
        self.folder = (path.with_name(f"{path.name}.parts") if self._one_file else path).resolve()
        if force:
            self._clear()
        self._finished = self._one_file and path.exists()
        if self._finished:
            self._must_agree(note_of(path), {**self._run, "lines": self._lines()}, path)
        else:
            self._begin()

    def lacking(self) -> list[Part]:
        """The parts that are still to be scored, in order."""
        there = set(self._names) if self._finished else {path.name for path in self.folder.iterdir()}
        return [part for part in self._parts if part.name not in there]

    def finish(self) -> Tally:
        """Puts one file together, where one was wanted; says what is in it."""
        if self._finished:
            return tally_of(self.path)
        paths = [self.folder / name for name in self._names]
        for left in set(self._ours()).difference(paths):  # by workers that were killed, or of lines changed since
            left.unlink()
        if self._one_file:
            join(paths, self.path, json.dumps({**self._run, "lines": self._lines()}, ensure_ascii=False))
            shutil.rmtree(self.folder)
            return tally_of(self.path)
        return Tally.total([tally_of(path) for path in paths])

    def _lines(self) -> str:
        """Changes with any line; of the parts' names alone, so that millions of lines make no long note."""
        return blake2b(" ".join(self._names).encode(), digest_size=16).hexdigest()

    def _begin(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        run = self.folder / RUN
        if run.exists():
            self._must_agree(run.read_text(encoding="utf-8"), self._run, self.folder)
        elif any(self.folder.iterdir()):
            raise InputError("is a folder with something else in it: say -o for another place", self.folder)
        else:
            partial = self.folder / f".{RUN}{PARTIAL}"
            partial.write_text(json.dumps(self._run, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
            os.replace(partial, run)

    def _clear(self) -> None:
        """Only what is ours goes."""
        if self._one_file:
            self.path.unlink(missing_ok=True)
        if (self.folder / RUN).exists():
            for path in (*self._ours(), self.folder / RUN):
                path.unlink()

    def _ours(self) -> Iterator[Path]:
        yield from self.folder.glob("part-*.parquet")
        yield from self.folder.glob(f".*{PARTIAL}")

    @staticmethod
    def _must_agree(note: str | None, run: dict[str, Any], path: Path) -> None:
        try:
            written = json.loads(note or "null")
        except ValueError:
            written = None
        if not isinstance(written, dict):
            raise InputError(f"is there already and holds something else: {FORCE}", path)
        other = [key for key, value in run.items() if written.get(key) != value]
        if other:
            raise InputError(f"was written with other {', '.join(other)}: {FORCE}", path)
