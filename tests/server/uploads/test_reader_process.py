"""A zip of a story folder, and every trap a zip can be."""

from __future__ import annotations

import io
import stat
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import docx, epub, paragraph
from samples import SAMPLES
from stories import ACT_1, ACT_2, CAST
from understudy.errors import InputError
from understudy.formats import read
from understudy.server.uploads.reader_process import (
    MAX_BYTES,
    UploadLimits,
    is_story_zip,
    page_wording,
    safe_name,
    unpack,
)
from uploading import zipped


def unpacked(tmp_path: Path, content: bytes, limits: UploadLimits | None = None) -> tuple[str | None, dict[str, bytes]]:
    packed = tmp_path / "story.zip"
    packed.write_bytes(content)
    folder = tmp_path / "out"
    folder.mkdir()
    assert is_story_zip(packed)
    name = unpack(packed, folder, limits or UploadLimits())
    assert [path for path in tmp_path.rglob("*") if path.parent not in (tmp_path, folder)] == []
    return name, {path.name: path.read_bytes() for path in folder.iterdir()}


def with_entry(tmp_path: Path, entry: zipfile.ZipInfo, content: bytes = b"ODILE: No.\n") -> bytes:
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(entry, content)
    return path.read_bytes()


FILES = [("brass/cast.toml", CAST.encode()), ("brass/act-1.txt", ACT_1.encode()), ("brass/act-2.txt", ACT_2.encode())]


def test_a_packed_folder_gives_its_files_and_its_name(tmp_path: Path) -> None:
    notes = [("__MACOSX/brass/._act-1.txt", b"x"), ("brass/.DS_Store", b"x"), ("brass/old/act-9.txt", b"x")]
    name, files = unpacked(tmp_path, zipped([*FILES, *notes]))
    assert name == "brass"
    assert files == {"cast.toml": CAST.encode(), "act-1.txt": ACT_1.encode(), "act-2.txt": ACT_2.encode()}


def test_files_may_lie_at_the_top(tmp_path: Path) -> None:
    name, files = unpacked(tmp_path, zipped([("act-1.txt", ACT_1.encode())]))
    assert name is None
    assert set(files) == {"act-1.txt"}


@pytest.mark.parametrize("name", ["../act.txt", "a/../../act.txt", "/etc/act.txt", "..\\act.txt", "C:act.txt"])
def test_a_file_outside_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    entry = zipfile.ZipInfo(name)
    entry.filename = entry.orig_filename = name  # which ZipInfo would have made harmless
    with pytest.raises(InputError, match="outside of its folder"):
        unpacked(tmp_path, with_entry(tmp_path, entry))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_a_device_is_refused(tmp_path: Path, kind: int) -> None:
    entry = zipfile.ZipInfo("act.txt")
    entry.external_attr = (kind | 0o777) << 16
    with pytest.raises(InputError, match="link or a device"):
        unpacked(tmp_path, with_entry(tmp_path, entry, b"/etc/passwd"))


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more than the 3"):
        unpacked(tmp_path, zipped((f"{number}.txt", b"A: b\n") for number in range(4)), UploadLimits(zip_entries=3))


def test_what_unpacks_to_too_much_is_refused_before_it_does(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unpacks to more than"):
        unpacked(tmp_path, zipped([("a.txt", b"0123456789" * 200)]), UploadLimits(unpacked_bytes=1000))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trap"):
        unpacked(tmp_path, zipped([("a.txt", bytes(4_000_000))]))


def test_a_zip_that_lies_about_its_size_is_stopped(tmp_path: Path) -> None:
    honest = zipped([("a.txt", bytes(range(256)) * 64)])
    lying = honest.replace((256 * 64).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lying != honest
    with pytest.raises(InputError, match="damaged|trap"):
        unpacked(tmp_path, lying, UploadLimits(unpacked_bytes=1000))
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) <= 1000


def test_a_locked_zip_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped([("a.txt", b"A: b\n")]))
    for start in (content.find(b"PK\x03\x04") + 6, content.find(b"PK\x01\x02") + 8):
        content[start] |= 1
    with pytest.raises(InputError, match="password"):
        unpacked(tmp_path, bytes(content))


def test_other_ways_of_packing_are_refused(tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("a.txt")
    entry.compress_type = zipfile.ZIP_LZMA
    with pytest.raises(InputError, match="ordinary zip"):
        unpacked(tmp_path, with_entry(tmp_path, entry))


def test_two_files_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two files called"):
        unpacked(tmp_path, zipped([("a.txt", b"A: b\n"), ("A.txt", b"A: b\n")]))


def test_several_folders_are_not_one_story(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="several folders"):
        unpacked(tmp_path, zipped([("a/a.txt", b"A: b\n"), ("b/b.txt", b"A: b\n")]))


@pytest.mark.parametrize("content", [b"PK\x03\x04 and then nothing", zipped([]), zipped(FILES)[:-30]])
def test_a_damaged_or_empty_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="damaged|holds no files"):
        unpacked(tmp_path, content)


@pytest.mark.parametrize(
    "content",
    [SAMPLES["HPD relations (XLSX)"][1](), epub({"a.xhtml": "<p>Yes.</p>"}), docx(paragraph("Yes."))],
    ids=["XLSX", "EPUB", "DOCX"],
)
def test_a_document_that_is_packed_as_a_zip_is_no_zip_of_a_folder(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "document"
    path.write_bytes(content)
    assert not is_story_zip(path)


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"wer": ["Ann"], "was": ["Gut."]}), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("a.csv", b"wer,was\nAnn,Gut.\nBob,Schlecht.\n", "its columns are wer, was. Call its columns 'speaker' and"),
        ("a.parquet", _parquet(), "its columns are wer, was. Call its columns 'speaker' and 'text'"),
        ("a.jsonl", b'{"wer": "Ann", "was": "Gut."}\n', "call its keys 'speaker' and 'text'"),
        ("a.txt", b"Dear all,\n\nbring the papers.\n", "If you know what it is, say so with 'Read as'."),
        ("a.txt", b'It rained.\n\n"Come," she said.\n\nIt rained.\n', "'Read as'"),
    ],
)
def test_the_page_says_what_can_be_done_there(tmp_path: Path, name: str, content: bytes, advice: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    shown = page_wording(caught.value.message)
    assert advice in shown
    assert "--" not in shown
    assert "understudy" not in shown


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("S01E02 The Quarrel.html", "S01E02 The Quarrel.html"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\act-1.txt", "act-1.txt"),
        ("/absolute/act.txt", "act.txt"),
        (".cast.toml", "cast.toml"),
        ("con.txt", "_con.txt"),
        ("LPT1", "_LPT1"),
        ("com¹.txt", "_com1.txt"),
        ("a\x00b\x1b[31m.txt", "ab[31m.txt"),
        ("invoice\u202etxt.exe", "invoicetxt.exe"),
        ("．．／．．／act.txt", "act.txt"),
        ('a<b>:"|?*.txt', "a-b------.txt"),
        ("trailing. . .", "trailing"),
        ("幕間.txt", "幕間.txt"),
        ("...", "unnamed"),
        ("", "unnamed"),
        ("a/", "unnamed"),
    ],
)
def test_a_name_keeps_its_meaning_and_loses_the_rest(path: str, name: str) -> None:
    assert safe_name(path) == name


@given(st.text(max_size=400))
def test_whatever_is_sent_is_harmless(path: str) -> None:
    name = safe_name(path)
    assert name
    assert len(name.encode()) <= MAX_BYTES + 1
    assert not set(name) & set('/\\<>:"|?*\0')
    assert not name.startswith((".", "~", "-", " "))
    assert not name.endswith((".", " "))
    assert not any(unicodedata.category(mark) in ("Cc", "Cf", "Cs", "Zl", "Zp") for mark in name)
    assert name.partition(".")[0].lower() not in ("con", "nul", "aux", "prn", "com1", "lpt9")
    assert safe_name(name) == name


@given(st.text("é漢a.", min_size=100, max_size=300))
def test_a_long_name_keeps_its_ending(stem: str) -> None:
    assert safe_name(f"x{stem}y.html").endswith(".html")
