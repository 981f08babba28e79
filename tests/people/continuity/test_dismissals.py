"""False alarms are dismissed for good: by what is said, in a file beside the story."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.people.continuity import Fault
from understudy.people.continuity.dismissals import Dismissals, dismissals_path
from understudy.story.types import Line, Moment

FAULT = Fault("unknown", Line(Moment((1, 2, 3)), "Mara", "Nobody sails."), "Varrenholm", "because", (), 0.7)


def test_a_dismissal_is_kept_by_what_is_said_not_by_where(tmp_path: Path) -> None:
    path = tmp_path / "continuity.toml"
    Dismissals(path).dismiss([FAULT])
    moved = replace(FAULT, line=replace(FAULT.line, moment=Moment((7, 1, 1))), confidence=0.6)
    said_otherwise = replace(FAULT, line=replace(FAULT.line, text="Nobody rows."))
    again = Dismissals(path)
    assert moved in again and said_otherwise not in again and len(again) == 1


def test_a_dismissal_is_taken_back(tmp_path: Path) -> None:
    dismissals = Dismissals(tmp_path / "continuity.toml")
    dismissals.dismiss([FAULT])
    with pytest.raises(InputError, match="was not dismissed"):
        dismissals.restore([FAULT.id, "00000000"])
    assert FAULT in Dismissals(dismissals.path)
    dismissals.restore([FAULT.id])
    assert FAULT not in Dismissals(dismissals.path)


def test_the_file_lies_beside_the_story(tmp_path: Path) -> None:
    assert dismissals_path(tmp_path) == tmp_path / "continuity.toml"
    assert dismissals_path(tmp_path / "friends.story") == tmp_path / "friends.continuity.toml"


@pytest.mark.parametrize("text", ["dismissed = 3", "[[dismissed]]\nid = 'x'", "= nothing", "\xff\xfe"])
def test_a_file_that_is_wrong_is_an_error_that_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "continuity.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError):
        Dismissals(path)


@given(text=st.text(), who=st.text(min_size=1))
def test_any_text_can_be_dismissed(tmp_path: Path, text: str, who: str) -> None:
    fault = replace(FAULT, line=replace(FAULT.line, text=text, speaker=who))
    path = tmp_path / "continuity.toml"
    Dismissals(path).dismiss([fault])
    assert fault in Dismissals(path)
    path.unlink()
