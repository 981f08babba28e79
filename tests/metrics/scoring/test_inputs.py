from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from understudy.errors import InputError
from understudy.metrics.scoring import inputs
from understudy.metrics.scoring.inputs import FilePart, matching, parts_of, pieces, texts_of


def read(path: Path) -> list[str]:
    return [line for piece in pieces(path) for line in piece]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])), min_size=1), st.data())
def test_every_line_is_there_whatever_the_pieces(tmp_path: Path, texts: list[str], data: st.DataObject) -> None:
    path = tmp_path / "lines.txt"
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    path.write_bytes(b"\xef\xbb\xbf" + ending.join([*texts, ""]).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "PIECE_LINES", data.draw(st.integers(1, 4)))
        assert read(path) == texts


def test_objects_with_a_text(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "The key."}\n{"text": "", "other": 1}\n', encoding="utf-8")
    assert read(path) == ["The key.", ""]


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("a.csv", 'id,line,"text"\n1,7,"Well, ""no""."\n2,8,"Two\nlines."\n', ['Well, "no".', "Two\nlines."]),
        ("a.tsv", 'who\tdialogue\nAnn\t"Well," he said.\n', ['"Well," he said.']),
        ("a.csv", "text\nWell, yes.\n", ["Well, yes."]),
        ("a.csv", "who;sentence\nAnn;Ja, gut.\nBob;Nein.\n", ["Ja, gut.", "Nein."]),
        ("a.jsonl", '{"id": 1, "utterance": "Yes."}\n', ["Yes."]),
    ],
)
def test_the_text_of_a_row_is_told_by_its_column(tmp_path: Path, name: str, content: str, texts: list[str]) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert read(path) == texts
    assert [text for part in parts_of([path]) for piece in texts_of(part) for text in piece] == texts


def test_a_line_of_a_megabyte_is_a_piece_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("short\n" + "ha " * 1_500_000 + "\nshort\n", encoding="utf-8")
    chunks = list(pieces(path))
    assert [len(piece) for piece in chunks] == [2, 1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "猫がいる、".encode("shift_jis"), r"a.txt:1: is not UTF-8: convert it first"),
        ("a.txt", b"fine\ncaf\xe9\n", r"a.txt:2: is not UTF-8"),
        ("a.txt", "hello".encode("utf-16"), r"is UTF-16: convert it"),
        ("a.txt", b"fine\nno\0ne\n", r"a.txt:2: holds NUL bytes"),
        ("a.txt", b"", r"is empty"),
        ("a.jsonl", b'{"text": 1}\n', r"a.jsonl:1: is not an object with a text"),
        ("a.csv", b"id,zeile\n1,Ja\n2,Nein\n", r"columns are id, zeile.*--columns text=NAME"),
        ("a.csv", b"id,text\n", r"there is no line to score"),
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
    monkeypatch.setattr(inputs, "LONGEST", 1 << 20)
    path = tmp_path / "lines.txt"
    path.write_bytes(b"a" * (1 << 21))
    with pytest.raises(InputError, match="a line of over 1 MB"):
        read(path)


def test_wrong_paths(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nowhere.txt")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path)


Numbered = list[tuple[str, int, str]]


def numbered(parts: list[FilePart]) -> Numbered:
    """File, number and text of every line of the parts, in their order."""
    return [
        (part.file, number, text)
        for part in parts
        for number, text in enumerate(
            (text for piece in texts_of(FilePart.read(str(part))) for text in piece), part.first
        )
    ]


def write_rows(path: Path, texts: list[str], kind: Any = pa.string(), group: int = 1000) -> None:  # noqa: B008
    rows = pa.table({"number": range(len(texts)), "text": pa.array(texts).cast(kind)})
    parquet.write_table(rows, path, row_group_size=group)


@given(
    st.lists(st.lists(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))), min_size=1),
    st.data(),
)
def test_parts_hold_every_line_once_in_order(tmp_path: Path, texts: list[list[str]], data: st.DataObject) -> None:
    files = []
    for number, said in enumerate(texts):
        kind = data.draw(st.sampled_from(["txt", "parquet"]))
        files.append(tmp_path / f"{number}.{kind}")
        if kind == "parquet":
            write_rows(files[-1], said, group=data.draw(st.integers(1, 4)))
        else:
            files[-1].write_bytes("".join(f"{text}\n" for text in said).encode())
    expected = [(str(file), line, text) for file, said in zip(files, texts) for line, text in enumerate(said, 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "PART_LINES", data.draw(st.integers(1, 4)))
        patch.setattr(inputs, "BLOCK", data.draw(st.integers(1, 9)))
        patch.setattr(inputs, "PIECE_LINES", piece := data.draw(st.integers(1, 3)))
        patch.setattr(inputs, "PIECE_LINES", piece)
        if not expected:
            with pytest.raises(InputError, match="is empty"):
                parts_of(files)
            return
        parts = parts_of(files)
        assert numbered(parts) == expected
        assert [part.name for part in parts] == sorted({part.name for part in parts})


def test_a_line_without_an_end_and_an_error_in_a_later_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PART_LINES", 2)
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n{"text": "c"}\nnot json', encoding="utf-8")
    first, second = parts_of([path])
    assert [text for _, _, text in numbered([first])] == ["a", "b"]
    with pytest.raises(InputError, match=r"lines.jsonl:4: is not JSON"):
        numbered([second])


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_text_of_any_arrow_kind(tmp_path: Path, kind: Any) -> None:
    write_rows(tmp_path / "a.parquet", ["The key.", "", "The key."], kind)
    assert [text for *_, text in numbered(parts_of([tmp_path / "a.parquet"]))] == ["The key.", "", "The key."]


def test_a_pattern_means_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "inner/c.txt", "d[1].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    assert [path.name for path in matching(f"{tmp_path}/?.txt")] == ["a.txt", "b.txt"]
    assert [path.name for path in matching(f"{tmp_path}/**/*.txt")] == ["a.txt", "b.txt", "d[1].txt", "c.txt"]
    assert [path.name for path in matching(f"{tmp_path}/d[1].txt")] == ["d[1].txt"]


def test_what_matches_nothing_or_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\*.jsonl: no such file"):
        matching(f"{tmp_path}/nothing*.jsonl")
    with pytest.raises(InputError, match="is a folder: say which files"):
        matching(str(tmp_path))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"line": ["a"], "who": ["b"]}, r"b.parquet: has no column 'text', but line, who"),
        ({"text": [1]}, r"b.parquet: has no text in its column 'text', but int64"),
        ({"text": [["a"]]}, r"b.parquet: has no text in its column 'text', but list<"),
    ],
)
def test_one_file_of_another_schema_is_told_before_anything_is_scored(
    tmp_path: Path, columns: dict[str, list[Any]], message: str
) -> None:
    write_rows(tmp_path / "a.parquet", ["a"])
    parquet.write_table(pa.table(columns), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=message):
        parts_of(matching(f"{tmp_path}/*.parquet"))


def test_rows_without_text_and_files_that_are_not_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PART_LINES", 2)
    parquet.write_table(pa.table({"text": ["a", "b", "c", None]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet:4: has no text"):
        numbered(parts_of([tmp_path / "a.parquet"]))
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    parquet.write_table(pa.table({"text": broken}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="b.parquet: has text that is not UTF-8"):
        numbered(parts_of([tmp_path / "b.parquet"]))
    (tmp_path / "c.parquet").write_text("not at all")
    with pytest.raises(InputError, match=r"c.parquet: is not a Parquet file"):
        parts_of([tmp_path / "c.parquet"])


def test_a_part_is_called_otherwise_when_its_file_has_changed(tmp_path: Path) -> None:
    unchanged, changed = tmp_path / "a.txt", tmp_path / "b.txt"
    unchanged.write_text("x\n")
    changed.write_text("y\n")
    before = parts_of([unchanged, changed])
    changed.write_text("yes\n")
    after = parts_of([unchanged, changed])
    assert before[0] == after[0]
    assert before[1].name != after[1].name
