from __future__ import annotations

import pytest

from understudy.readers.transcript.labels import looks_like_label, read_label


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("Ann: One.", "Ann", "One."),
        ("MRS. DUNN [calling] : One.", "MRS. DUNN", "One."),
        ("Ann (at 3:15): One.", "Ann", "One."),
        ("アン：はい", "アン", "はい"),
        ("Ann (leaving: One.", "Ann", "One."),
    ],
)
def test_what_stands_before_the_colon(text: str, name: str, rest: str) -> None:
    label = read_label(text)
    assert label is not None
    assert (label.name, label.text) == (name, rest)


@pytest.mark.parametrize("text", ["no colon", "[Ann: One]", "http://x.example", ": One.", "x" * 200 + ": One."])
def test_no_label(text: str) -> None:
    assert read_label(text) is None


@pytest.mark.parametrize(
    "name", ["Ann", "MAN #2", "Third Floor Janitor", "Woman on TV", "3rd Customer", "Dr. Moss", "First Guest"]
)
def test_names(name: str) -> None:
    assert looks_like_label(name)


@pytest.mark.parametrize(
    "name", ["I have one question", "Here's the thing", "Written by", "Phone rings. Answering machine", "12", ""]
)
def test_no_names(name: str) -> None:
    assert not looks_like_label(name)
