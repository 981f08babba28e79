from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import docx, epub
from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.prose import align_levels, join_prose, with_declared
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import NovelCharacter
from understudy.story.types import Character

FIRST = """CHAPTER I.

Odile Marchand came down to the quay early. The fisherman Bastien Leroy was mending a net there, and did not look up at
her for a good while.

"You sold the piano, Bastien," said Odile Marchand.

"I sold the noise of it," said Bastien Leroy, and went on mending. Miss Marchand sat down on a crate.

"You never asked," said Miss Marchand.

"You were never there," said Bastien.
"""
SECOND = """CHAPTER II.

It rained all morning, and nobody came to the quay. The boats lay where they lay, and the nets hung from their poles
like old washing that somebody has forgotten.
"""
THIRD = """CHAPTER III.

Odile found Bastien in the yard again, on the same crate, with the same net over his knees and a pipe that was out.

"Will you buy it back?" said Odile.

"With what?" said Leroy. "With fish?"

"With fish, then," said Odile, and she laughed at him until he laughed as well.
"""
CHAPTERS = {"ch-1": FIRST, "ch-2": SECOND, "ch-3": THIRD}


def _docx(text: str) -> bytes:
    return docx(*(" ".join(block.split()) for block in text.split("\n\n")))


def _epub(text: str) -> bytes:
    body = "".join(f"<p>{block}</p>" for block in text.split("\n\n"))
    return epub({"chapter.xhtml": body.replace("<p>CHAPTER", "<h2>CHAPTER", 1).replace("</p>", "</h2>", 1)})


@pytest.mark.parametrize(("suffix", "content"), [("txt", str.encode), ("docx", _docx), ("epub", _epub)])
def test_people_are_known_in_every_chapter_by_the_names_they_have_in_one(
    tmp_path: Path, suffix: str, content: object
) -> None:
    for name, text in CHAPTERS.items():
        (tmp_path / f"{name}.{suffix}").write_bytes(content(text))  # type: ignore[operator]
    story = read(tmp_path)
    people = {member.character.name: (member.lines, member.character.aliases) for member in story.cast()}
    assert people["Odile"][0] == 4 and {"Odile Marchand", "Miss Marchand"} <= {*people["Odile"][1]}
    assert people["Bastien"][0] == 3 and "Leroy" in people["Bastien"][1]
    assert len(people) == 2
    assert story.levels == ("chapter", "scene", "line")
    assert [scene.moment.numbers for scene in story.scenes()] == [(1, 1), (2, 1), (3, 1)]
    assert [file.lines > 0 for file in story.files()] == [True, False, True], "a chapter may be without a word said"


def test_spans_are_those_of_each_file(tmp_path: Path) -> None:
    for name, text in CHAPTERS.items():
        (tmp_path / f"{name}.txt").write_text(text)
    spoken = [found for found in read(tmp_path).spans() if found.line.speaker]
    assert len(spoken) == 7
    for found in spoken:
        assert found.line.source is not None
        text = CHAPTERS[found.line.source.file.removesuffix(".txt")]
        assert text[slice(*found.spans[0])].rstrip(",") in found.line.text


def test_where_nobody_speaks_in_any_file_it_says_so(tmp_path: Path) -> None:
    for name in ("ch-1.txt", "ch-2.txt"):
        (tmp_path / name).write_text(SECOND.replace("II", "I" if name == "ch-1.txt" else "II"))
    with pytest.raises(InputError, match="nobody speaks in it"):
        read(tmp_path)


def test_declared_people_are_found_whatever_the_dates_in_the_cast_file(tmp_path: Path) -> None:
    for name, text in {"ch-1": FIRST, "ch-3": THIRD}.items():
        (tmp_path / f"{name}.txt").write_text(text.split("\n", 2)[2])  # without headings, each file is a part
    (tmp_path / "cast.toml").write_text(
        '[[character]]\nname = "Odile Marchand"\naliases = ["Odile"]\n\n[[fact]]\nwho = "Odile"\nattribute = "age"\n'
        'value = "30"\nfrom = "2.1.1"\n'
    )
    story = read(tmp_path)
    assert story.levels == ("part", "scene", "line")
    assert [fact.since.dotted for fact in story.facts()] == ["2.1.1"]


@given(st.lists(st.sampled_from(list(CHAPTERS.values())), min_size=1, max_size=4))
def test_joined_prose_says_what_its_parts_say(texts: list[str]) -> None:
    parts = [parse_prose(text) for text in texts]
    whole = join_prose(parts)
    assert [whole.said(one) for one in whole.quotations] == [
        part.said(one) for part in parts for one in part.quotations
    ]
    for quotation in whole.quotations:
        span = whole.paragraphs[quotation.paragraph].span
        assert span.start <= quotation.span.start < span.end
    heads = [whole.text[one.span.start : one.span.end] for one in whole.chapters]
    assert heads == [part.text[one.span.start : one.span.end] for part in parts for one in part.chapters]
    assert all(one.chapter < len(whole.chapters) for one in whole.paragraphs)


def test_who_is_found_under_a_declared_name_is_the_declared_person() -> None:
    found = (
        NovelCharacter("Emma", ("Emma Woodhouse", "Miss Woodhouse"), "f"),
        NovelCharacter("Miss Emma", (), "f", is_narrator=True),
        NovelCharacter("Mr. Knightley", (), "m"),
    )
    cast = with_declared(
        found, [Character("Emma Woodhouse", ("Miss Emma",)), Character("Isabella", ("Miss Woodhouse",))]
    )
    assert cast == (
        NovelCharacter("Emma Woodhouse", ("Miss Emma", "Emma"), "f", is_narrator=True),
        NovelCharacter("Isabella", ("Miss Woodhouse",)),
        NovelCharacter("Mr. Knightley", (), "m"),
    )


def test_without_declarations_the_cast_is_as_found() -> None:
    found = (NovelCharacter("Emma"), NovelCharacter("Mr. Knightley"))
    assert with_declared(found, []) == found


TEXT = '\n\nIt rained. "Come in," said Odile, and she held the door for him until he was inside.\n\n'


def numbers(*heads: str) -> list[list[tuple[int, ...]]]:
    files = [parse_prose(head.replace("/", TEXT) + TEXT) for head in heads]
    return [[chapter.numbers for chapter in part.chapters] for part in align_levels(files)]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (["CHAPTER I", "CHAPTER II"], [[(1,)], [(2,)]]),
        (
            ["VOLUME I\n\nCHAPTER I", "CHAPTER II", "VOLUME II\n\nCHAPTER I", "CHAPTER II"],
            [[(1,), (1, 1)], [(1, 2)], [(2,), (2, 1)], [(2, 2)]],
        ),
        (["CHAPTER I", "VOLUME II\n\nCHAPTER I", "CHAPTER II"], [[(1, 1)], [(2,), (2, 1)], [(2, 2)]]),
        (["CHAPTER I", "CHAPTER II/VOLUME II", "CHAPTER I"], [[(1, 1)], [(1, 2), (2,), (2, 1)], [(2, 1)]]),
    ],
)
def test_chapters_are_in_the_volume_that_was_begun_before(
    heads: list[str], expected: list[list[tuple[int, ...]]]
) -> None:
    assert numbers(*heads) == expected


def test_what_counts_in_another_way_is_left_as_it_is() -> None:
    assert numbers("", "CHAPTER I") == [[], [(1,)]]
    assert numbers("BOOK I", "CHAPTER II/CHAPTER III") == [[(1,)], [(2,), (3,)]]
