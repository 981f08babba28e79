"""The text of an EPUB: what is read, in which order, with which headings, and what is left out or refused."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reading import CONTAINER, damage, epub, recognises, zipped
from understudy.errors import InputError
from understudy.formats.epub import READER, epub_text
from understudy.formats.prose import ExtractedText
from understudy.sources.source import SourceFile

Book = Callable[[bytes], ExtractedText]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    def text_of(content: bytes) -> ExtractedText:
        path = tmp_path / "book.epub"
        path.write_bytes(content)
        return epub_text(SourceFile(path))

    return text_of


def headings(extracted: ExtractedText) -> list[str]:
    return [extracted.text[span.start : span.end] for span in extracted.headings or ()]


def left_out(extracted: ExtractedText) -> list[tuple[str, int]]:
    return [(item.reason, item.units) for item in extracted.left_out]


def test_blocks_are_paragraphs_in_the_order_of_the_spine(book: Book) -> None:
    content = epub(
        {
            "two.xhtml": "<h2>Chapter 2</h2><div>Then <i>she</i> left.<p>He&#8217;d\n  stayed&nbsp;there.</p></div>",
            "one.xhtml": "<h2>Chapter 1<br/>The Piano</h2><p>One,<br/>two.</p><p>Three<br/><br/>four.</p><hr/><p>5</p>",
        },
        spine=["one.xhtml", "two.xhtml"],
    )
    extracted = book(content)
    assert extracted.text.split("\n\n") == [
        "Chapter 1 The Piano", "One,\ntwo.", "Three", "four.", "* * *", "5",
        "Chapter 2", "Then she left.", "He’d stayed there.",
    ]  # fmt: skip
    assert headings(extracted) == ["Chapter 1 The Piano", "Chapter 2"]
    assert (extracted.title, extracted.language, extracted.left_out) == ("The Quarrel", "en", ())


def test_what_is_not_text_is_not_read(book: Book) -> None:
    body = (
        "<style>p {}</style><script>alert('x')</script><p>A <ruby>漢<rt>かん</rt></ruby> sign"
        "<span epub:type='pagebreak' title='7'>7</span>.<img src='x.png' alt='a cat'/></p><pre>one\n  two</pre>"
        "<h1><img src='c.png' alt='Chapter One'/></h1><svg><text>no</text></svg>"
    )
    assert book(epub({"a.xhtml": body})).text.split("\n\n") == ["A 漢 sign.", "one\ntwo", "Chapter One"]


def test_marks_of_notes_are_dropped_and_counted_and_notes_left_out(book: Book) -> None:
    body = (
        "<p>He lied<a epub:type='noteref' href='#n1'>1</a> and lied<sup><a href='n.xhtml#n2'>2</a></sup>"
        "<a href='#n3'>[3]</a> to <a href='#b'>Bastien</a>.</p>"
        "<aside epub:type='footnote' id='n1'><p>Twice.</p></aside>"
        "<section role='doc-endnotes'><p>One.</p><p>Two.</p></section>"
    )
    extracted = book(epub({"a.xhtml": body}))
    assert extracted.text == "He lied and lied to Bastien."
    assert left_out(extracted) == [("a note", 3), ("the mark of a note", 3)]


def test_front_matter_is_left_out_with_a_reason(book: Book) -> None:
    links = "".join(f"<p><a href='c{n}.xhtml'>Chapter {n}</a></p>" for n in (1, 2, 3))
    content = epub(
        {
            "list.xhtml": "<h2>Contents</h2>" + links,
            "cover.xhtml": "<p>Cover text</p>",
            "title.xhtml": "<section epub:type='titlepage'><h1>The Quarrel</h1></section>",
            "rights.xhtml": "<p>Copyright © 1999 by Nobody.</p><p>All rights reserved.</p>",
            "c1.xhtml": "<h2>Chapter 1</h2><p>Text.</p>",
        },
        guide='<reference type="cover" href="cover.xhtml"/>',
        spine=["cover.xhtml", "title.xhtml", "rights.xhtml", "list.xhtml", "c1.xhtml"],
    )
    extracted = book(content)
    assert extracted.text.split("\n\n") == ["Contents", "Chapter 1", "Text."]
    assert left_out(extracted) == [
        ("the cover", 1), ("a title page", 1), ("the imprint", 2), ("a table of contents", 3),
    ]  # fmt: skip


NAV = """<nav epub:type="toc"><ol><li><a href="a.xhtml">The Kitchen</a></li><li><a href="a.xhtml#yard">The Yard</a></li>
<li><a href="b.xhtml">The Money</a></li></ol></nav><nav epub:type="page-list"><ol><li><a href="a.xhtml#yard">7</a></li>
</ol></nav><nav epub:type="landmarks"><ol><li><a epub:type="copyright-page" href="c.xhtml">Rights</a></li></ol></nav>"""
NCX = """<navPoint id="1"><navLabel><text>The Kitchen</text></navLabel><content src="a.xhtml"/>
<navPoint id="2"><navLabel><text>The Yard</text></navLabel><content src="a.xhtml#yard"/></navPoint></navPoint>
<navPoint id="3"><navLabel><text>The Money</text></navLabel><content src="b.xhtml"/></navPoint>"""


@pytest.mark.parametrize("contents", [{"nav": NAV}, {"ncx": NCX}], ids=["nav", "ncx"])
def test_where_the_contents_lead_there_is_a_heading(book: Book, contents: dict[str, str]) -> None:
    documents = {
        "a.xhtml": "<p class='big'>THE KITCHEN</p><p>It was night.</p><p id='yard'>It was day.</p>",
        "b.xhtml": "<h2>III. The Money</h2><p>It was gone.</p>",
        "c.xhtml": "<p>Nobody's.</p>",
    }
    spine = ["a.xhtml", "b.xhtml", *(["c.xhtml"] if "nav" in contents else [])]
    extracted = book(epub(documents, nav=contents.get("nav", ""), ncx=contents.get("ncx", ""), spine=spine))
    assert extracted.text.split("\n\n") == [
        "THE KITCHEN", "It was night.", "The Yard", "It was day.", "III. The Money", "It was gone.",
    ]  # fmt: skip
    assert headings(extracted) == ["THE KITCHEN", "The Yard", "III. The Money"]
    assert left_out(extracted) == ([("the imprint", 1)] if "nav" in contents else [])


def test_what_is_not_well_formed_is_read_as_html(book: Book) -> None:
    broken = "<html><body><p>One & two<p>Three <b>bold<br>four</p><ul><li>a<li>b</ul><p>end&mdash;" + "<p>x" * 300
    assert book(epub({"a.xhtml": broken})).text.split("\n\n")[:5] == [
        "One & two", "Three bold\nfour", "a", "b", "end—",
    ]  # fmt: skip


def test_a_book_that_is_locked_says_so(book: Book) -> None:
    def encryption(algorithm: str) -> dict[str, str | bytes]:
        return {
            "META-INF/encryption.xml": '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData><enc:CipherReference URI="OEBPS/a.xhtml"/>'
            "</enc:CipherData></enc:EncryptedData></encryption>"
        }

    documents = {"a.xhtml": "<p>Text.</p>"}
    assert book(epub(documents, parts=encryption("http://www.idpf.org/2008/embedding"))).text == "Text."
    with pytest.raises(InputError, match="locked by DRM"):
        book(epub(documents, parts=encryption("http://www.w3.org/2001/04/xmlenc#aes128-cbc")))


BOMB = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><html><body><p>&b;</p></body></html>'


@pytest.mark.parametrize(
    ("documents", "parts", "message"),
    [
        ({"a.xhtml": BOMB}, {}, "declares entities"),
        ({"a.xhtml": "<div>" * 300 + "x" + "</div>" * 300}, {}, "nested more than"),
        ({"a.xhtml": "<p>" + random.Random(1).randbytes(600_000).hex() + "</p>"}, {}, "a paragraph of over"),
        ({"a.xhtml": "<p>x</p>" + " " * 40 * 2**20}, {}, "unpacks to over 32 MiB"),
        ({"a.xhtml": "<p>" + " " * 30 * 2**20 + "</p>"}, {}, "packed over 200 times"),
        ({"a.xhtml": "<p>x</p>"}, {f"x{n}": "" for n in range(10_001)}, "holds 10,00. files"),
        ({"a.xhtml": "<p><img src='a.png'/></p>"}, {}, "holds no text"),
        ({"a.xhtml": "<p>x</p>"}, {"META-INF/container.xml": "<container/>"}, "names no package"),
    ],
    ids=["entities", "depth", "paragraph", "size", "ratio", "files", "pictures", "container"],
)
def test_what_would_do_harm_or_is_nothing_is_refused(
    book: Book, documents: dict[str, str], parts: dict[str, str | bytes], message: str
) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        book(epub(documents, parts=parts))
    assert "book.epub" in str(refusal.value)


@pytest.mark.parametrize("piece", ["<", "<!--", "<a ", "&", "</", "<!", "<![", '<a b="', "<script>", "</p"])
def test_html_made_to_be_slow_is_not(book: Book, piece: str) -> None:
    content = epub({"a.xhtml": "<html><p>x" + piece * (400_000 // len(piece))})
    began = time.process_time()
    with contextlib.suppress(InputError):
        book(content)
    assert time.process_time() - began < 10  # forty times what is needed


def test_a_path_out_of_the_archive_is_only_a_name(book: Book, tmp_path: Path) -> None:
    (tmp_path / "secret.xhtml").write_text("<html><body><p>secret</p></body></html>")
    opf = (
        '<package><metadata/><manifest><item id="a" href="../../secret.xhtml"/><item id="b" href="b.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    extracted = book(
        zipped(
            {
                "mimetype": "application/epub+zip",
                "META-INF/container.xml": CONTAINER,
                "OEBPS/content.opf": opf,
                "OEBPS/b.xhtml": "<html><body><p>open</p></body></html>",
            }
        )
    )
    assert extracted.text == "open"
    assert left_out(extracted) == [("is in the reading order, but not in the archive", 1)]


def test_a_list_of_contents_that_would_fill_the_memory_is_refused(book: Book) -> None:
    content = bytearray(epub({"a.xhtml": "<p>x</p>"}))
    content[-10:-6] = (2**31).to_bytes(4, "little")  # how long it says its list is
    with pytest.raises(InputError, match="more than 10,000 files"):
        book(bytes(content))


def test_a_document_that_is_named_many_times_is_read_once(book: Book) -> None:
    assert book(epub({"a.xhtml": "<p>once</p>"}, spine=["a.xhtml"] * 1000)).text == "once"


def test_the_language_is_the_books_where_stories_know_it(book: Book) -> None:
    documents = {"a.xhtml": "<p>Text.</p>"}
    assert [book(epub(documents, language=tag)).language for tag in ("ja-JP", "EN", "fr", "")] == [
        "ja",
        "en",
        None,
        None,
    ]


def test_it_is_told_by_content() -> None:
    content = epub({"a.xhtml": "<p>x</p>"})
    assert recognises(READER, content, Path("x.dat"))
    assert not recognises(READER, zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), Path("x.epub"))
    assert recognises(READER, zipped({"META-INF/container.xml": CONTAINER}), Path("x"))


@settings(suppress_health_check=list(HealthCheck))
@given(content=damage(epub({"a.xhtml": "<h1>One</h1><p>Some text.</p>"}, nav=NAV)))
def test_a_damaged_book_is_read_or_refused(book: Book, content: bytes) -> None:
    with contextlib.suppress(InputError):
        book(content)


@settings(suppress_health_check=list(HealthCheck))
@given(body=st.text("<>/&;!-[]\"'= apdivh1brsup#x\n", max_size=80))
def test_whatever_stands_in_a_document_is_read_or_refused(book: Book, body: str) -> None:
    with contextlib.suppress(InputError):
        extracted = book(epub({"a.xhtml": body}))
        assert all(heading.strip() for heading in headings(extracted))
