"""A zip of a story folder, and every trap a zip can be."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from brasskey import ACT_1, ACT_2, CAST
from containers import docx, epub, paragraph
from samples import SAMPLES
from understudy.errors import InputError
from understudy.server.uploads.limits import UploadLimits
from understudy.server.uploads.reader_process import is_story_zip, unpack
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
