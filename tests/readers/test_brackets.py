from __future__ import annotations

import pytest

from understudy.readers.brackets import ends_open, without_brackets


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("(Ann leaves.)", "Ann leaves."),
        ("[Ann (the old one) leaves]", "Ann (the old one) leaves"),
        ("{Ann leaves]", "Ann leaves"),
        ("[Ann leaves", "Ann leaves"),
        ("[Ann leaves] [Bob too]", "[Ann leaves] [Bob too]"),
        ("Ann (leaves)", "Ann (leaves)"),
        ("()", "()"),
    ],
)
def test_only_outer_brackets_go(text: str, inner: str) -> None:
    assert without_brackets(text) == inner


def test_the_last_bracket_decides() -> None:
    assert ends_open("well (he goes")
    assert not ends_open("well (he goes) out")
    assert not ends_open("well")
