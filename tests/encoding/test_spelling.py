from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.encoding.spelling import canonical


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        ("I'm fine, I can't complain.", "i am fine, i can not complain."),
        ("i m fine", "i am fine"),
        ("I’ve been", "i have been"),
        ("they 're here", "they are here"),
        ("don't  you", "do not you"),
        ("that s it", "that is it"),
        ("'cause", "because"),
        ("Tim's dime", "tim's dime"),
        ("", ""),
    ],
)
def test_contractions_are_written_out(text: str, normalized: str) -> None:
    assert canonical(text) == normalized


@given(st.text())
def test_any_text_can_be_normalized(text: str) -> None:
    assert canonical(text) == canonical(text).strip()
