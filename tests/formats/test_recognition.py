from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.errors import InputError, UnknownFormat
from understudy.formats import read, reader_named

NOVEL_LINE = (
    "The lamp smoked in the chandlery while the rain came down upon the quay and nobody spoke of the keys, which "
)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"%PDF-1.7 and so on", "a PDF. Save its text"),
        (b"{\\rtf1 Hello}", "RTF.*[Ss]ave it as DOCX"),
        (b"PK\x03\x04 mimetypeapplication/vnd.oasis.opendocument.text", "an OpenDocument file. Save it as DOCX"),
        (b"\0" * 60 + b"BOOKMOBI" + b"x" * 100, "Kindle book.*EPUB"),
        (b"\n  \n\n", "blank lines"),
        (json.dumps({"hello": "world", "n": 1}).encode(), "keys 'hello', 'n'.*--columns speaker=KEY"),
        (b'{"broken": ', "it cannot be read as JSON"),
        (b"<recipe><step>Stir.</step></recipe>", "first element is <recipe>"),
        (b"price;amount\n3;4\n5;6\n", "a table of 2 columns \\('price', 'amount'\\).*--columns speaker=NAME"),
        (NOVEL_LINE.encode() * 2, "prose in which nobody is quoted"),
        (b"Milk\nEggs\nBread\n", "plain text of 3 lines, 0 of which.*line 1 does not: 'Milk'"),
    ],
)
def test_what_no_reader_takes_is_told_what_it_looks_like_and_what_to_do(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "odd.dat"
    path.write_bytes(content)
    with pytest.raises(UnknownFormat, match=f"is in no form that can be read: it looks like .*{says}"):
        read(path)


def test_the_error_names_the_formats_that_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("Milk\nEggs\n")
    with pytest.raises(UnknownFormat, match=r"list\.txt:1: .*--format FORMAT \(.*transcript"):
        read(path)
    with pytest.raises(InputError, match="no format 'transcrpt'.*did you mean 'transcript'"):
        read(path, form="transcrpt")


def test_a_format_that_is_asked_for_is_used_whatever_the_file_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("A list of things\nthat goes on\nand on\nand on\nODILE: You sold the piano.\nBASTIEN: I did.\n" * 3)
    story = read(path, form="transcript")
    assert {member.character.name for member in story.cast()} == {"Odile", "Bastien"}


def test_a_format_can_be_asked_for_by_the_beginning_of_its_name() -> None:
    assert reader_named("tei").name == "TEI drama"
    with pytest.raises(InputError, match="no format 'hpd'"):
        reader_named("hpd")


def test_a_reading_in_which_nobody_speaks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "silent.txt"
    path.write_text("[Scene: A kitchen at night.]\n(The clock ticks.)\n")
    with pytest.raises(InputError, match="nobody speaks in it, read as transcript"):
        read(path, tmp_path / "out.story")
    assert not (tmp_path / "out.story").exists()


def test_a_reading_in_which_only_headings_speak_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("Title: The Keys\nAuthor: A. Person\nDraft date: May\nContact: Somewhere\n")
    with pytest.raises(InputError, match="only headings seem to speak"):
        read(path)
