from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.people.acquaintance import Acquaintance

SCRIPT = """# scene 1: The harbour
Present: Ada Finch, Tom Finch, Bea Moor

Ada Finch: Tom, you are late, thank you for coming.
Tom Finch: I know, Ada.
Bea Moor: Good morning. My name is Bea Moor.
Ada Finch: How do you do, Miss Moor?

# scene 2: A boat
Present: Ada Finch, Tom Finch

Ada Finch: I hate this boat, Tom.
Tom Finch: You hate every boat.
"""


@pytest.fixture
def known(tmp_path: Path) -> Acquaintance:
    (tmp_path / "script.txt").write_text(SCRIPT, encoding="utf-8")
    story = read(tmp_path / "script.txt")
    known = Acquaintance(story)
    for scene in story.scenes():
        known.add(scene)
    return known


def test_an_evening_for_two_counts_more_than_company(known: Acquaintance) -> None:
    assert known.together("Ada Finch", "Tom Finch").close == pytest.approx(1.5)
    assert known.together("Bea Moor", "Tom Finch").close == pytest.approx(0.5)


def test_who_introduces_themselves_was_a_stranger(known: Acquaintance) -> None:
    assert known.together("Ada Finch", "Bea Moor").strangers
    assert not known.together("Ada Finch", "Tom Finch").strangers


def test_first_names_and_titles_are_told_apart(known: Acquaintance) -> None:
    to_tom, to_bea = known.towards["Ada Finch", "Tom Finch"], known.towards["Ada Finch", "Bea Moor"]
    assert (to_tom.informal, to_tom.formal) == (2, 0)
    assert (to_bea.informal, to_bea.formal) == (0, 1)


def test_a_surname_in_common_is_kin(known: Acquaintance) -> None:
    assert known.are_kin("Ada Finch", "Tom Finch") and not known.are_kin("Ada Finch", "Bea Moor")


def test_lines_count_for_whom_they_are_said_to(known: Acquaintance) -> None:
    assert known.towards["Ada Finch", "Tom Finch"].lines > 1.5 > known.towards["Ada Finch", "Bea Moor"].lines
    assert known.towards["Ada Finch", "Tom Finch"].cold > 0.5
