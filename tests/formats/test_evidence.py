from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats.evidence import measure
from understudy.sources.source import HEAD_BYTES

NOWHERE = Path("file")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_is_the_same_in_every_encoding_and_with_every_line_end(encoding: str, end: str) -> None:
    evidence = measure(f"Ann: One.{end}{end}  Bob: 二。{end}".encode(encoding), NOWHERE)
    assert evidence.text == "Ann: One.\n\n  Bob: 二。\n"
    assert evidence.lines == ["Ann: One.", "Bob: 二。"]
    assert [evidence.label(line) for line in evidence.lines] == ["Ann", "Bob"]


def test_what_is_no_text_has_none() -> None:
    evidence = measure(b"PK\x03\x04" + b"\0" * 99, NOWHERE)
    assert evidence.text == "" and evidence.lines == [] and evidence.has_nul


def test_json_is_read_by_lines_and_by_objects() -> None:
    rows = measure(b'{"a": 1}\n{"a": 2}\n', NOWHERE)
    assert rows.first_row == rows.first_object == {"a": 1}
    listed = measure(b'[\n {\n  "a": 1},', NOWHERE)
    assert listed.first_row is None and listed.first_object == {"a": 1}
    assert measure(b"{broken", NOWHERE).first_object is None


def test_marks_of_a_screenplay_are_counted() -> None:
    text = """Title: The Oar
Author: nobody

INT. BOATHOUSE - NIGHT

Rain. /* cut
out */

ANN
(softly)
Is that all?

.ANYWHERE

[[ a note ]]
Bob: This is a label.
"""
    marks = measure(text.encode(), NOWHERE).screenplay
    assert (marks.title_entries, marks.headings, marks.forced_headings) == (2, 1, 1)
    assert (marks.cues, marks.spoken, marks.labels) == (1, 3, 1)


@pytest.mark.parametrize("start", [b"/*", b"[[", b"ANN\n", b"(", b"Title: ", b"\\", b"<p"])
def test_the_time_it_takes_is_in_proportion_to_the_text(start: bytes) -> None:
    evidence = measure((start * HEAD_BYTES)[:HEAD_BYTES], NOWHERE)
    assert evidence.screenplay.lines >= 0


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("0101.html", (1, 1)),
        ("1012.html", (10, 12)),
        ("0212-0213.html", (2, 12)),
        ("0423uncut.html", (4, 23)),
        ("01x01.txt", (1, 1)),
        ("3x24+25.txt", (3, 24)),
        ("Harbour S02E11 final.txt", (2, 11)),
        ("harbour.txt", None),
    ],
)
def test_the_name_says_where(name: str, where: tuple[int, int] | None) -> None:
    assert measure(b"Ann: One.\n", Path(name)).episode == where


def test_else_the_top_of_the_file_does() -> None:
    assert measure(b"Harbour\nSeason 2, Episode 7\n", Path("a.txt")).episode == (2, 7)
    assert measure(b"03x04 - The Oar\nAnn: One.\n", Path("a.txt")).episode == (3, 4)
