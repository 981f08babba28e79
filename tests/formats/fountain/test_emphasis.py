from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.fountain.reading import plain


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("*italics*, **bold**, ***both*** and _underlined_", "italics, bold, both and underlined"),
        ("_a *nested* mark_", "a nested mark"),
        ("**_THE QUARREL_**", "THE QUARREL"),
        ("He dialed *69 and then *23.", "He dialed *69 and then *23."),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("a_file_name.txt", "a_file_name.txt"),
        (r"the code **\*9765\***", "the code *9765*"),
        (r"\*no\*, \_no\_", "*no*, _no_"),
        (r"\\*yes*", r"\yes"),
        (r"\\server\share, C:\temp", r"\\server\share, C:\temp"),
        ("*never closed", "*never closed"),
        ("****", "****"),
    ],
)
def test_marks_are_taken_off_where_they_are_marks(written: str, read: str) -> None:
    assert plain(written) == read


@given(st.text("*_\\[] ab", max_size=30))
def test_only_marks_and_backslashes_ever_go(text: str) -> None:
    kept = plain(text)
    assert [letter for letter in kept if letter not in "*_\\"] == [letter for letter in text if letter not in "*_\\"]


@pytest.mark.parametrize("text", ["*a " * 100_000, "a* " * 100_000, "\\" * 300_000, "**a _b " * 50_000])
def test_a_long_text_of_marks_does_not_hang(text: str) -> None:
    before = time.process_time()
    plain(text)
    assert time.process_time() - before < 15  # forty times what is needed
