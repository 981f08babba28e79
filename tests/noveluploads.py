"""A novel of two chapters as an upload, its people and speakers given by the test instead of being worked out.

Readings happen in the server's own process, so that a test can hold them up, count them or let them fail.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from understudy.errors import InputError
from understudy.formats.prose import novel
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.server.uploads import service
from understudy.server.uploads.reader_process import UploadLimits
from understudy.server.uploads.reading_jobs import OnProgress
from uploading import read_in_thread

__all__ = ["NOVEL", "NovelReadings", "read_novels_here"]

NOVEL = """THE TIN WHISTLE

CHAPTER I

The Ferry

The rain had stopped an hour before, and the quay was as slick as a plate. Odile came down the steps with her collar up.

"You sold the piano," said Odile.

"I sold the noise of it," said Bastien.

"All of it?"

"Every key. You may have the stool, if you like."

She did not sit down. The ferry hooted twice beyond the wall, and a boy ran past with a basket of eels.

"Then you had better tell Mother," she said at last, "before the neighbours do."

CHAPTER II

The Stool

In the evening they sat in the kitchen. Nobody had lit the lamp.

"It was mine," said Odile.

"It was everybody's," said Corvin.

"I was at school!"

"So you were. And who paid for that, do you think?"

Corvin laughed. He had a way of laughing that made the dog leave the room.
"""
PEOPLE = (NovelCharacter("Odile"), NovelCharacter("Bastien"), NovelCharacter("Corvin Pell", ("Corvin",)))
GUESSES: dict[str, tuple[tuple[str, float], ...]] = {
    "All of it?": (("Odile", 0.4), ("Corvin Pell", 0.35), ("Bastien", 0.25)),
    "Every key.": (("Bastien", 0.55), ("Odile", 0.3)),
    "Then you had": (("Odile", 0.3), ("Bastien", 0.29), ("Corvin Pell", 0.28)),
    "I was at school!": (("Bastien", 0.2), ("Odile", 0.19)),
    "So you were.": (("Corvin Pell", 0.8), ("Odile", 0.1)),
}
TAG = re.compile(r"said (\w+)")


@dataclass
class NovelReadings:
    """What became of the readings of a test."""

    count: int = 0
    gate: asyncio.Event | None = None
    """Where it is set, a reading waits for it."""
    problem: str = ""
    """Where it is set, a reading fails with it."""
    forms: list[str] = field(default_factory=list)


def attribute(prose: Prose, cast: Sequence[NovelCharacter], **_: object) -> list[Attribution]:
    called = {name: person.name for person in cast for name in (person.name, *person.aliases)}
    return [_attribution(prose, index, called) for index in range(len(prose.quotations))]


def _attribution(prose: Prose, index: int, called: dict[str, str]) -> Attribution:
    quotation = prose.quotations[index]
    said = prose.said(quotation)
    for words, candidates in GUESSES.items():
        if said.startswith(words):
            named = tuple((called.get(name, name), share) for name, share in candidates)
            return Attribution(named[0][0], named[0][1], (), named)
    tag = TAG.search(prose.text, quotation.span.end, quotation.span.end + 30)
    assert tag is not None, said
    speaker = called[tag[1]]
    return Attribution(speaker, 0.98, (), ((speaker, 0.98),))


def read_novels_here(monkeypatch: pytest.MonkeyPatch) -> NovelReadings:
    readings = NovelReadings()

    async def read_here(
        work: Path, limits: UploadLimits, on_progress: OnProgress, form: str = "", story: Path | None = None
    ) -> bool:
        if story is not None:
            return await read_in_thread(work, limits, on_progress, form, story)
        readings.count += 1
        readings.forms.append(form)
        if readings.gate is not None:
            await readings.gate.wait()
        if readings.problem:
            raise InputError(readings.problem)
        return await read_in_thread(work, limits, on_progress, form, story)

    monkeypatch.setattr(novel, "find_cast", lambda _: PEOPLE)
    monkeypatch.setitem(sys.modules, "understudy.novels.attribution", SimpleNamespace(attribute=attribute))
    monkeypatch.setattr(service, "read_in_process", read_here)
    return readings
