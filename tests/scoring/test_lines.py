from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.scoring import lines
from understudy.scoring.lines import pieces


def read(path: Path) -> list[str]:
    return [line for piece in pieces(path) for line in piece]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])), min_size=1), st.data())
def test_every_line_is_there_whatever_the_pieces(tmp_path: Path, texts: list[str], data: st.DataObject) -> None:
    path = tmp_path / "lines.txt"
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    path.write_bytes(b"\xef\xbb\xbf" + ending.join([*texts, ""]).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE_LINES", data.draw(st.integers(1, 4)))
        assert read(path) == texts


def test_objects_with_a_text(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "The key."}\n{"text": "", "other": 1}\n', encoding="utf-8")
    assert read(path) == ["The key.", ""]


def test_a_line_of_a_megabyte_is_a_piece_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("short\n" + "ha " * 1_500_000 + "\nshort\n", encoding="utf-8")
    found = list(pieces(path))
    assert [len(piece) for piece in found] == [2, 1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "猫がいる、".encode("shift_jis"), r"a.txt:1: is not UTF-8: convert it first"),
        ("a.txt", b"fine\ncaf\xe9\n", r"a.txt:2: is not UTF-8"),
        ("a.txt", "hello".encode("utf-16"), r"is UTF-16: convert it"),
        ("a.txt", b"fine\nno\0ne\n", r"a.txt:2: holds NUL bytes"),
        ("a.txt", b"", r"is empty"),
        ("a.jsonl", b'{"text": 1}\n', r"a.jsonl:1: is not an object with a text"),
        ("a.jsonl", b'["text"]\n', r"a.jsonl:1: is not an object with a text"),
        ("a.jsonl", b'{"text": "a"}\nnot json\n', r"a.jsonl:2: is not JSON"),
        ("a.jsonl", b'{"text": "\\ud800"}\n', r"a.jsonl:1: has half a character"),
    ],
)
def test_what_is_no_file_of_lines(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(path)


def test_a_line_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST", 1 << 20)
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a" * (1 << 21))
    with pytest.raises(InputError, match="a line of over 1 MB"):
        read(path)


def test_wrong_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nowhere.txt")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)
