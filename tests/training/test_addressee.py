from __future__ import annotations

from pathlib import Path

import pytest

from novel_texts import write_talk, write_talks
from understudy.errors import InputError
from understudy.training.addressee import novel_lines
from understudy.training.pdnc import novels_in


def test_a_gap_ends_a_passage_and_who_is_not_named_is_nobody(tmp_path: Path) -> None:
    lines = novel_lines(write_talks(tmp_path / "pdnc") / "one")
    assert len({id(line.dialogue) for line in lines}) == 2
    write_talk(tmp_path / "x" / "three", [(0, "Ada", ["_unknowable"], "Who is there?")])
    assert novel_lines(tmp_path / "x" / "three") == []


def test_a_folder_without_novels(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no novels"):
        novels_in(tmp_path)
