from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.sources.source import LONGEST_LINE, SourceFile


def lines_of(path: Path, content: bytes) -> list[tuple[int, str]]:
    path.write_bytes(content)
    return list(SourceFile(path).lines())


def test_non_blank_lines_are_counted_apart_from_what_is_made_of_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n\n  \ntwo")
    source = SourceFile(path)
    assert list(source.lines()) == [(1, "one"), (2, ""), (3, "  "), (4, "two")]
    assert source.units == 2


def test_mixed_encodings_are_read_line_by_line(tmp_path: Path) -> None:
    content = "café — yes\n".encode() + "caf\xe9 \x93yes\x94\n".encode("latin-1")
    assert lines_of(tmp_path / "a.txt", content) == [(1, "café — yes"), (2, "café “yes”")]


def test_marks_are_no_text(tmp_path: Path) -> None:
    assert lines_of(tmp_path / "a.txt", b"\xef\xbb\xbfhello\r\n") == [(1, "hello")]
    assert lines_of(tmp_path / "b.txt", "hello\nyou".encode("utf-16")) == [(1, "hello"), (2, "you")]


ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\n\0\ufeff"), max_size=20)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@given(data=st.data())
def test_lines_end_however_their_system_ends_them(tmp_path: Path, encoding: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(TEXT, min_size=1))
    ends = data.draw(st.lists(ENDS, min_size=len(lines), max_size=len(lines)))
    together = "".join(line + end for line, end in zip(lines, ends)).replace("\r\n", "\n").replace("\r", "\n")
    (tmp_path / "a.txt").write_bytes("".join(line + end for line, end in zip(lines, ends)).encode(encoding))
    source = SourceFile(tmp_path / "a.txt")
    found = list(source.lines())
    assert found == list(enumerate(together.removesuffix("\n").split("\n"), 1))
    assert source.units == sum(bool(line.strip()) for _, line in found)


def test_a_line_end_may_fall_between_two_reads(tmp_path: Path) -> None:
    long = "x" * (1 << 18)
    for before in (long[:-1], long, long + "x"):
        assert lines_of(tmp_path / "a.txt", f"{before}\r\nnext".encode()) == [(1, before), (2, "next")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"fine\nbad \x81\x8d\n", r"a.txt:2: is neither UTF-8 nor Windows-1252"),
        (b"fine\nfine\n\x00\x00\n", r"a.txt:3: holds NUL bytes"),
        (b"\xff\xfeh\x00i\x00\x00", r"a.txt:\d+: says it is UTF-16, but"),
        (b"", "a.txt: is empty"),
    ],
)
def test_what_is_no_text_is_an_error_with_its_line(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        lines_of(tmp_path / "a.txt", content)


def test_a_folder_and_a_wrong_path_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        SourceFile(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        SourceFile(tmp_path / "none.txt")


def test_a_pipe_is_not_said_to_be_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe or a device"):
        SourceFile(tmp_path / "pipe")


def test_a_line_without_end_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("wb") as file:
        file.write(b"short\n")
        for _ in range(200):
            file.write(b"x" * (1 << 20))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"long.txt:2: a line of over"):
        list(SourceFile(path).lines())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * LONGEST_LINE


def test_progress_adds_up_to_the_size(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("line\n" * 1000)
    read: list[int] = []
    source = SourceFile(path, lambda size, _doing: read.append(size))
    list(source.lines())
    assert sum(read) == source.size
    source.reach(0.5)
    assert sum(read) == source.size, "it never goes back"


def test_progress_of_work_that_begins_after_reading_goes_by_the_work(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("line\n" * 1000)
    told: list[tuple[int, str]] = []
    source = SourceFile(path, lambda size, doing: told.append((size, doing)))
    assert len(list(source.lines(is_work=False))) == 1000
    source.reach(0.25, "One")
    source.reach(1.0, "Two")
    assert told == [(1250, "One"), (3750, "Two")]
