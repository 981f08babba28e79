from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from samples import CARD, SAMPLES
from understudy.errors import InputError, UnknownFormat
from understudy.formats import format_named, read, reader_of
from understudy.formats.cards.lore_files import read_lore
from understudy.formats.evidence import measure
from understudy.formats.unknown import is_lorebook
from understudy.sources.source import SourceFile

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
    assert format_named("tei").name == "TEI drama"
    with pytest.raises(InputError, match="no format 'hpd'"):
        format_named("hpd")


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


ENTRY = {"uid": 0, "key": ["piano"], "keysecondary": [], "comment": "", "content": "The piano was sold.", "order": 100}
BOOKS: dict[str, Any] = {
    "world info": {"entries": {"0": ENTRY, "1": {**ENTRY, "uid": 1}}},
    "named world info": {"name": "Quarrel", "originalData": {"a": 1}, "entries": {"0": ENTRY}},
    "V3 lorebook": {"spec": "lorebook_v3", "data": {"entries": [{"keys": ["piano"], "content": "It was sold."}]}},
    "an empty one": {"entries": {}},
}


@pytest.mark.parametrize("kind", BOOKS)
def test_a_lorebook_alone_says_how_it_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "world.json"
    path.write_text(json.dumps(BOOKS[kind], indent=2))
    read_lore(path)
    with pytest.raises(UnknownFormat, match=r"understudy read STORY --lore world\.json"):
        read(path)


def test_a_card_with_a_lorebook_is_a_card(tmp_path: Path) -> None:
    path = tmp_path / "odile.json"
    data = {"character_book": {"entries": [{"keys": ["piano"], "content": "It was sold."}]}, **CARD["data"]}  # type: ignore[dict-item]
    path.write_text(json.dumps({**CARD, "data": data}))
    assert reader_of(SourceFile(path)).name == "card"


@pytest.mark.parametrize("form", SAMPLES)
def test_no_story_is_taken_for_a_lorebook(form: str) -> None:
    assert not is_lorebook(measure(SAMPLES[form][1](), Path(form)))
