"""What changes for a character when a chat moves to another moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from stories import CAST, brass_key
from understudy.formats import read
from understudy.server.chats.scene import differences
from understudy.story.storyfile import Story

LATE = """
[[fact]]
who = "Mara Quill"
attribute = "born"
value = "that night"
from = "1.2"

[[fact]]
who = "Mara Quill"
attribute = "title"
value = "the harbour's youngest pilot"
from = "2.1"
"""


@pytest.fixture
def late(tmp_path: Path) -> Story:
    folder = brass_key(tmp_path / "late")
    (folder / "cast.toml").write_text(CAST + LATE, encoding="utf-8")
    return read(folder)


def test_on_the_way_on_what_is_over_is_told_and_on_the_way_back_only_counted(late: Story) -> None:
    (on,) = differences(late, ["Ines Vale"], "Tobias Rook", "1.1", "2.1")
    (back,) = differences(late, ["Ines Vale"], "Tobias Rook", "2.1", "1.1")
    assert set(on.no_longer) == set(back.now)
    assert back.no_longer == []
    assert back.later == len(on.now)
    assert not set(on.now) & set(back.now)
    assert (on.lines, back.lines) == (2, 0)


def test_what_concerns_the_one_who_speaks_comes_first(late: Story) -> None:
    (to_tobias,) = differences(late, ["Ines Vale"], "Tobias Rook", "2.1", "1.1")
    (to_nobody,) = differences(late, ["Ines Vale"], None, "2.1", "1.1")
    assert "Tobias Rook" in to_tobias.now[0]
    assert "brass key" in to_nobody.now[0]
    assert set(to_nobody.now) < set(to_tobias.now)  # she has not met him yet, unless he stands before her


def test_who_was_not_born_there_has_everything_new(late: Story) -> None:
    (mara,) = differences(late, ["Mara Quill"], None, "1.1", "2.1")
    assert any("youngest pilot" in sentence for sentence in mara.now)
    assert (mara.no_longer, mara.later) == ([], 0)
