"""A line that repeats one mark thousands of times is read in time that grows with its length, not with its square."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from reading import recognises
from understudy.errors import InputError
from understudy.formats import FORMATS
from understudy.sources.source import SourceFile

BEGINNINGS = {
    "csv": ("speaker,text\nAnn,x\n", ("", "Ann,")),
    "subrip": ("1\n00:00:01,000 --> 00:00:02,000\nANN: x\n", ("", "- ", "{\\")),
    "webvtt": ("WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>x\n", ("", "<v ")),
    "markdown": ("**A:** x\n\n", ("", "# ", "**A", "**A** (")),
    "renpy": ('define e = Character("E")\nlabel a:\n    e "x"\n', ('    e "x" ', "label a", "    show ")),
    "ink": ("=== a ===\n-> END\n", ("", "* ", "ANN: ")),
}
MARKS = ("*", "**a:", "(a)", "{i", '"a" ', "a:", "\t", "<v ", "-> ", "# ", "\n", "- ", ", ")
TIMES = 20_000
SECONDS = 15  # a hundred times what is needed; a square of the length is minutes


@pytest.mark.parametrize("form", BEGINNINGS)
def test_long_lines_are_read_or_refused_in_time(tmp_path: Path, form: str) -> None:
    reader = next(known.reader for known in FORMATS if known.name == form)
    above, leads = BEGINNINGS[form]
    path = tmp_path / "long.txt"
    began = time.process_time()
    for lead in leads:
        for mark in MARKS:
            path.write_text(f"{above}{lead}{mark * TIMES}!x\n")
            source = SourceFile(path)
            with suppress(InputError):
                recognises(reader, source.head(), path)
                for _ in reader.events(source):
                    pass
    assert time.process_time() - began < SECONDS
