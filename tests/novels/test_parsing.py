"""A text in its parts: what is a heading, a paragraph, said, or around the story."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Prose, Span


def said(text: str) -> list[str]:
    prose = parse_prose(text)
    return [prose.said(quotation) for quotation in prose.quotations]


MARKS = list("\"'“”‘’«»„「」『』—-., ?I\u3000\u2028")
WORDS = [
    "Odile",
    "said",
    "no one came",
    "CHAPTER",
    "CHAPTER I",
    "BOOK TWO",
    "II",
    "第三章",
    "CONTENTS",
    "* * *",
    "PROLOGUE",
]
MORE = ["\n", "\n\n", "\n\n\n", "  ", "Chapter 2. The Yard", "[Illustration: a cat]", "Produced by me"]
pieces = st.sampled_from(MARKS + WORDS + MORE)

NOVEL = """\
The Project Gutenberg eBook of The Quarrel

*** START OF THE PROJECT GUTENBERG EBOOK THE QUARREL ***

Produced by nobody in particular

THE QUARREL

CONTENTS

CHAPTER I. The Piano
CHAPTER II. The Yard

VOLUME I

CHAPTER I. The Piano

"You sold the piano, Bastien," said Odile, who had looked for it in every
room of the house. "You never asked."

He shut the window. "I sold the noise of it."

CHAPTER II. The Yard

* * *

"She knows about the piano?" asked Marguerite. It was the first thing that
she had said to him that day, and the last.

VOLUME II

CHAPTER I

"She knows nothing of the money."

*** END OF THE PROJECT GUTENBERG EBOOK THE QUARREL ***

Much about a licence.
"""


def test_a_novel_has_its_frame_contents_volumes_and_chapters() -> None:
    prose = parse_prose(NOVEL)
    assert prose.levels == ("volume", "chapter")
    assert [(chapter.numbers, chapter.title) for chapter in prose.chapters] == [
        ((1,), ""),
        ((1, 1), "The Piano"),
        ((1, 2), "The Yard"),
        ((2,), ""),
        ((2, 1), ""),
    ]
    assert prose.title == "The Quarrel"
    assert {paratext.reason for paratext in prose.paratexts} == {
        "Project Gutenberg's frame",
        "a title page",
        "table of contents",
    }
    assert [prose.said(quotation) for quotation in prose.quotations] == [
        "You sold the piano, Bastien. You never asked.",
        "I sold the noise of it.",
        "She knows about the piano?",
        "She knows nothing of the money.",
    ]
    assert [prose.paragraphs[quotation.paragraph].line for quotation in prose.quotations] == [18, 21, 27, 34]


def body(number: str) -> str:
    return f'{number}\n\nIt rained all day, and nobody came to the house. "No," said Odile, "nobody at all."\n\n'


@pytest.mark.parametrize(
    ("headings", "levels", "numbers"),
    [
        (["CHAPTER I", "CHAPTER II"], ("chapter",), [(1,), (2,)]),
        (["Chapter 1. The Piano", "Chapter 2. The Yard"], ("chapter",), [(1,), (2,)]),
        (["I", "II", "III"], ("chapter",), [(1,), (2,), (3,)]),
        (["Chapter the First", "Chapter the Second"], ("chapter",), [(1,), (2,)]),
        (["CHAPTER TWENTY-ONE", "CHAPTER TWENTY-TWO"], ("chapter",), [(21,), (22,)]),
        (["PART ONE", "CHAPTER 1", "CHAPTER 2", "PART TWO", "CHAPTER 3"], ("part", "chapter"), None),
        (["Erstes Kapitel", "Zweites Kapitel"], ("chapter",), [(1,), (2,)]),
        (["Chapitre premier", "Chapitre II", "Troisième partie"], ("part", "chapter"), None),
        (["第一章 钢琴", "第二章", "第十三章"], ("chapter",), [(1,), (2,), (13,)]),
        (["PROLOGUE", "CHAPTER I", "CHAPTER II", "THE LAST CHAPTER"], ("chapter",), [(0,), (1,), (2,), (3,)]),
        (["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 1", "Chapter 2"], ("part", "chapter"), None),
        (["CHAPTER I", "CHAPTER XL", "CHAPTER III"], ("chapter",), [(1,), (2,), (3,)]),
    ],
)
def test_headings_of_many_kinds_are_counted(
    headings: list[str], levels: tuple[str, ...], numbers: list[tuple[int, ...]] | None
) -> None:
    prose = parse_prose("".join(map(body, headings)))
    assert prose.levels == levels
    found = [chapter.numbers for chapter in prose.chapters if len(chapter.numbers) == len(levels)]
    assert found == sorted(set(found))
    if numbers is not None:
        assert found == numbers
    assert len(prose.quotations) == len(headings)


@pytest.mark.parametrize(
    "sentence",
    ["Part I liked best was the end of it.", "Chapter one of my life was over.", "I", "Book two rooms for us, please."],
)
def test_a_sentence_is_no_heading(sentence: str) -> None:
    assert parse_prose(f'"Yes," she said.\n\n{sentence}\n\n"No," said he.\n').chapters == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"You sold it," she said. "Why?"', ["You sold it. Why?"]),
        ("“You sold it,” she said. “Why?”", ["You sold it. Why?"]),
        ("‘You sold the boys’ piano,’ she said. ‘Why?’", ["You sold the boys’ piano. Why?"]),
        ("'You sold the boys' piano, didn't you,' she said. 'Tis \"odd\".'", None),
        ("« Tu l’as vendu ? » dit-elle.", ["Tu l’as vendu ?"]),
        ("„Du hast es verkauft“, sagte sie. „Warum?“", ["Du hast es verkauft Warum?"]),
        ("»Du hast es verkauft«, sagte sie. »Warum?«", ["Du hast es verkauft Warum?"]),
        ("「ピアノを『売った』の？」とオディールは言った。", ["ピアノを『売った』の？"]),
        ("「はい」と言った。\n彼は「そう」と答え、「夜」の町を見た。\n", ["はい", "そう"]),
        ("他说：“你来。”\n她问道“为什么”，看着“夜”。\n", ["你来。", "为什么"]),
        ("— Tu viens ? dit-il.\n\n— Oui.\n\n— Bon, fit Odile, allons-y.", ["Tu viens ?", "Oui.", "Bon, allons-y."]),
        ("—Ven —dijo él—. Vamos.\n\n—No.\n\n—Sí.", ["Ven Vamos.", "No.", "Sí."]),
        ("— Иди, — сказал он. — Сейчас.\n\n— Нет.\n\n— Да.", ["Иди, Сейчас.", "Нет.", "Да."]),
    ],
)
def test_marks_of_many_kinds(text: str, expected: list[str] | None) -> None:
    found = said(text)
    if expected is None:
        assert found[0].startswith("You sold the boys' piano, didn't you")
    else:
        assert found == expected


def test_what_is_not_closed_goes_on_where_it_is_opened_again() -> None:
    text = '"One thing," said Odile. "Then another.\n\n"And a third.\n\n"And the last." She wept.\n\n"Well," he said.\n'
    assert said(text) == ["One thing. Then another. And a third. And the last.", "Well."]


def test_titles_single_words_and_looks_are_not_said() -> None:
    text = (
        '"Good," he said.\n\nHe read "The Marble Faun" to his so-called "friends" that night.\n\n'
        'Her look said: "Never."\n\nShe answered "No" and left.\n\n"Bad," she said.\n'
    )
    assert said(text) == ["Good.", "No", "Bad."]


def test_what_might_be_said_is_not() -> None:
    text = (
        '"Good," he said.\n\nShe gave him a look, which meant, "Never."\n\nHe wanted her to come to him and say, '
        '"I stay."\n\n"Sunnyside" was the name of the house.\n\n"Go away!" she felt like answering.\n\n'
        '"Madam," the letter ran, and no more.\n\n"Bad," she said.\n'
    )
    assert said(text) == ["Good.", "Bad."]


def test_letters_are_not_said() -> None:
    letter = '"Dear Charlotte,\n\n"It rains here, and nobody calls.\n\n"Yours ever,\n\n"LUCY."\n\n'
    verse = '    "The rain is on the yard,\n    And nobody has lit a light."\n\n'
    told = "She folded it and looked out at the yard.\n\n" * 6
    assert said(f'"Read it," he said.\n\n{letter}{told}{verse}{told}"Well?" he asked.\n') == ["Read it.", "Well?"]


def test_what_is_said_after_a_letter_is_not_part_of_it() -> None:
    letter = '"Dear Charlotte,\n\n"It rains here, and nobody calls.\n\n"Yours ever, L."\n\n'
    assert said(f'{letter}"Well," said Odile, "we are under your orders."\n\n"Are we?"\n') == [
        "Well, we are under your orders.",
        "Are we?",
    ]


def test_two_people_who_speak_in_one_paragraph_are_two_quotations() -> None:
    text = '"Was he handsome?"--"Many thought so." She rose, and Bastien said: "He was not."\n\n"Well," said Odile.\n'
    assert said(text) == ["Was he handsome?", "Many thought so.", "He was not.", "Well."]


@pytest.mark.parametrize(
    "text",
    [
        '"It is late," said Odile, looking\nat the clock.\n\n"Is it?"\n',
        '"It is late," said Odile, looking at the clock.\n"Is it?"\nHe did not look up.\n',
        '  "It is late," said Odile, looking at\nthe clock that hung over the door of\nthe room.\n  "Is it?"\n'
        "  He did not look up, for he knew what\nit would say to him.\n",
    ],
)
def test_paragraphs_are_told_by_blank_lines_by_rows_or_by_indents(text: str) -> None:
    prose = parse_prose(text)
    assert [prose.said(quotation) for quotation in prose.quotations] == ["It is late.", "Is it?"]
    assert [quotation.paragraph for quotation in prose.quotations] == [0, 1]


def test_known_headings_are_chapters_whatever_they_say() -> None:
    text = 'Odile\n\n"You sold it," she said.\n\nBastien\n\n"I did," he said.\n'
    prose = parse_prose(text, headings=[Span(0, 5), Span(text.index("Bastien"), text.index("Bastien") + 7)])
    assert [(chapter.numbers, chapter.title) for chapter in prose.chapters] == [((1,), "Odile"), ((2,), "Bastien")]
    assert [paragraph.chapter for paragraph in prose.paragraphs] == [0, 1]


def test_among_known_headings_those_with_numbers_are_the_chapters() -> None:
    texts = [
        "The Quarrel",
        "Dedication",
        "Chapter One",
        "The Piano",
        '"You sold it," she said.',
        "Chapter Two",
        '"I did."',
    ]
    text = "\n\n".join(texts) + "\n"
    spans = [Span(text.index(words), text.index(words) + len(words)) for words in texts[:4] + texts[5:6]]
    prose = parse_prose(text, headings=spans)
    assert [(chapter.numbers, chapter.title) for chapter in prose.chapters] == [((1,), "The Piano"), ((2,), "")]
    assert [paratext.reason for paratext in prose.paratexts] == ["a title page", "a title page"]


@given(st.lists(pieces, max_size=40), st.data())
def test_whatever_is_said_to_be_a_heading_every_line_is_accounted_for(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    check(parse_prose(text, headings=[Span(*pair) for pair in zip(ends[::2], ends[1::2])]))


def check(prose: Prose) -> None:
    """Spans in order, inside the text, apart from each other; every line that is not blank in one of them."""
    spans = sorted(
        [chapter.span for chapter in prose.chapters if chapter.span.start < chapter.span.end]
        + [paragraph.span for paragraph in prose.paragraphs]
        + [paratext.span for paratext in prose.paratexts]
    )
    assert all(0 <= span.start < span.end <= len(prose.text) for span in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))
    position = 0
    for line in prose.text.split("\n"):
        if line.strip():
            at = position + len(line) - len(line.lstrip())
            assert sum(span.start <= at < span.end for span in spans) == 1
        position += len(line) + 1
    parts = [part for quotation in prose.quotations for part in quotation.parts]
    assert all(part.start < part.end for part in parts)
    assert all(first.end <= second.start for first, second in pairwise(parts))
    starts = [paragraph.span for paragraph in prose.paragraphs]
    for quotation in prose.quotations:
        assert starts[quotation.paragraph].start <= quotation.parts[0].start < starts[quotation.paragraph].end
    for part in parts:
        assert any(span.start <= part.start and part.end <= span.end for span in starts)
    numbers = [chapter.numbers for chapter in prose.chapters]
    assert numbers == sorted(set(numbers))
    assert all(-1 <= paragraph.chapter < len(prose.chapters) for paragraph in prose.paragraphs)


@given(st.lists(pieces, max_size=60).map("".join))
def test_every_line_is_accounted_for_and_spans_are_in_order(text: str) -> None:
    check(parse_prose(text))


def test_the_novel_is_accounted_for() -> None:
    check(parse_prose(NOVEL))


@pytest.mark.parametrize(
    "unit",
    ['"', "'", '" ', "' a", "“", "「", "«", '"a" ', "“a” b ", "— a, dit-il, ", "—a —b", "I\n\n", "CHAPTER I\n\n",
     'CHAPTER 1\n\n"It is a long way," she said, "and a dark one, and nobody would go it alone."\n\n',
     "\n", "* ", '"a\n\n', "a.\n", "Chapter the ", "12 "],
)  # fmt: skip
def test_a_long_text_of_one_piece_does_not_hang(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    began = time.process_time()
    parse_prose(text)
    assert time.process_time() - began < 10  # forty times what is needed
