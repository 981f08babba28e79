"""The text of a DOCX: what would be printed, and which of it are headings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from reading import WORD, damage, docx, events_of, of_kind, paragraph, recognises, zipped
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats.docx import READER, docx_text
from understudy.formats.hpd.relations import READER as RELATIONS
from understudy.formats.prose import ExtractedText
from understudy.sources import SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

Document = Callable[[bytes], ExtractedText]


@pytest.fixture
def document(tmp_path: Path) -> Document:
    def text_of(content: bytes) -> ExtractedText:
        path = tmp_path / "story.docx"
        path.write_bytes(content)
        return docx_text(SourceFile(path))

    return text_of


def run(text: str, properties: str = "") -> str:
    return f"<w:r>{f'<w:rPr>{properties}</w:rPr>' if properties else ''}<w:t>{text}</w:t></w:r>"


def test_headings_are_told_by_level_name_and_what_a_style_is_based_on(document: Document) -> None:
    extracted = document(
        docx(
            paragraph("The Quarrel", "Titel"),
            paragraph("Kapitel 1", "berschrift1"),
            "It was night.",
            paragraph("Kapitel 2", "Kapitel"),
            "It was day.",
            paragraph("Partie 3", "Titre2"),
            f'<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>{run("By hand")}</w:p>',
        )
    )
    headings = [extracted.text[span.start : span.end] for span in extracted.headings or ()]
    assert headings == ["The Quarrel", "Kapitel 1", "Kapitel 2", "Partie 3", "By hand"]
    assert extracted.text.split("\n\n")[2] == "It was night."
    assert extracted.title == "The Quarrel"
    assert document(docx("Text.", title="A Title")).title == "A Title"


def test_what_was_inserted_is_read_and_what_was_deleted_is_not(document: Document) -> None:
    extracted = document(
        docx(
            f'<w:p>{run("She ")}<w:ins w:id="1">{run("sold ")}</w:ins><w:del w:id="2"><w:r><w:delText>kept</w:delText>'
            f'</w:r></w:del><w:moveFrom w:id="3">{run("moved")}</w:moveFrom>{run("it.")}</w:p>',
            f'<w:p><w:pPr><w:rPr><w:del w:id="9"/></w:rPr></w:pPr>{run("Yes")}{run(" hidden", "<w:vanish/>")}.</w:p>'
            "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:br w:type='page'/>"
            "<w:t>d</w:t><w:noBreakHyphen/></w:r></w:p>",
        )
    )
    assert extracted.text.split("\n\n") == ["She sold it.", "Yes", "a b\ncd-"]
    assert {(item.reason, item.units) for item in extracted.left_out} == {("deleted text", 2), ("hidden text", 1)}


def test_tables_boxes_notes_and_contents(document: Document) -> None:
    cell = f"<w:tc>{paragraph('left')}</w:tc><w:tc>{paragraph('right')}</w:tc>"
    box = "<w:txbxContent>" + paragraph("in a box") + "</w:txbxContent>"
    notes = (
        f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:type="separator" w:id="0">{paragraph("---")}</w:footnote>'
        f'<w:footnote w:id="1">{paragraph("A lie.")}</w:footnote></w:footnotes>'
    )
    extracted = document(
        docx(
            paragraph("Chapter 1 .... 3", "Verzeichnis1"),
            f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>",
            f'<w:p>{run("He said so")}<w:r><w:footnoteReference w:id="1"/></w:r>{run(".")}'
            f"<w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
            "</mc:AlternateContent></w:r></w:p>",
            parts={"word/footnotes.xml": notes},
        )
    )
    assert extracted.text.split("\n\n") == ["left", "right", "in a box", "He said so."]
    assert [(item.reason, item.text) for item in extracted.left_out] == [
        ("the mark of a note", "1 in all"), ("a footnote", "A lie."), ("a table of contents", "Chapter 1 .... 3"),
    ]  # fmt: skip


def test_a_script_in_a_document_is_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "play.docx"
    path.write_bytes(
        docx(
            "[Scene: A kitchen at night.]",
            "ODILE: You sold the piano.",
            f"<w:p>{run('BASTIEN:')}<w:r><w:tab/></w:r>{run('I sold the noise of it.')}</w:p>",
            "(He leaves.)",
            "ODILE: Marguerite will hear of this.",
            f'<w:p>{run("BASTIEN: Yes")}<w:r><w:footnoteReference w:id="1"/></w:r>{run(".")}</w:p>',
        )
    )
    events = events_of(READER, path)
    assert [(speech.speakers, speech.text) for speech in of_kind(events, Speech)] == [
        (("ODILE",), "You sold the piano."),
        (("BASTIEN",), "I sold the noise of it."),
        (("ODILE",), "Marguerite will hear of this."),
        (("BASTIEN",), "Yes."),
    ]
    assert len(of_kind(events, SceneStart)) == 1
    assert [unread.reason for unread in of_kind(events, Unread)] == ["the mark of a note"]
    assert all(speech.source.file == "play.docx" for speech in of_kind(events, Speech))


def test_word_and_excel_files_are_not_mistaken_for_each_other() -> None:
    workbook, document = SAMPLES["HPD relations (XLSX)"][1](), docx("Text.")
    assert recognises(READER, document, Path("x.xlsx")) and not recognises(RELATIONS, document, Path("x.docx"))
    assert recognises(RELATIONS, workbook, Path("x.docx")) and not recognises(READER, workbook, Path("x.docx"))
    embedded = docx("Text.", parts={"word/embeddings/book.xlsx": workbook})
    assert recognises(READER, embedded, Path("x"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (docx(), "holds no text"),
        (zipped({"word/other.xml": "<x/>"}), "lacks its part"),
        (docx("x", parts={"word/document.xml": "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"}), "declares the entity"),
        (docx("<w:x>" * 300 + "</w:x>" * 300), "nested more than"),
        (docx("x")[:-40], "cannot be unpacked"),
    ],
)
def test_what_cannot_be_read_is_refused(document: Document, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        document(content)


@settings(suppress_health_check=list(HealthCheck))
@given(content=damage(docx(paragraph("One", "Kapitel"), "Some text.")))
def test_a_damaged_document_is_read_or_refused(document: Document, content: bytes) -> None:
    with contextlib.suppress(InputError):
        document(content)
