"""Stems: forms of a word meet, other words do not."""

from __future__ import annotations

from understudy.language.lexical.stems import stems


def test_stems_meet() -> None:
    for item, another in (("remodeling", "remodel"), ("hobbies", "hobby"), ("running", "run"), ("dog's", "dogs")):
        assert stems(item) == stems(another)
    assert stems("bus glass is") == ["bus", "glass", "is"]
