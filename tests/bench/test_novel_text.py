"""Figures of quotations and of a cast, worked out by hand; and what is reached on real novels."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

import realdata
from novel_texts import quoted_prose
from understudy.bench.novel_text import AnnotatedCharacter, annotated_cast, cast_figures, quotation_figures
from understudy.novels.cast import find_cast
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import NovelCharacter, Prose, Quotation, Span

TEXT = '"I said \'No\' to him," she told us. "Twice." He read "Emma" aloud. "Well!"\n'


def prose(*quotations: tuple[str, ...]) -> Prose:
    spans = [tuple(Span(TEXT.index(part), TEXT.index(part) + len(part)) for part in parts) for parts in quotations]
    return Prose(TEXT, "en", (), (), (), tuple(Quotation(parts, 0) for parts in spans))


def test_figures_by_hand() -> None:
    annotated = prose(("I said", "to him,", "Twice."), ("Well!",))
    found = prose(("I said 'No' to him,",), ("Twice.",), ("Emma",))
    figures = quotation_figures(found, annotated)
    # annotated stretches: I said 'No' to him / Twice / Well; ours: the first two and Emma
    assert figures.precision == figures.recall == pytest.approx(2 / 3)


def test_half_of_what_both_cover_is_enough() -> None:
    figures = quotation_figures(prose(("I said 'No'",)), prose(("I said 'No' to him,",)))
    # I said 'No -> 10 characters of I said 'No' to him, which has 18
    assert figures.recall == 1
    assert quotation_figures(prose(("I",)), prose(("I said 'No' to him,",))).recall == 0


def test_nothing_to_count_is_no_figure() -> None:
    figures = quotation_figures(prose(), prose())
    assert figures.precision is figures.recall is None


def annotated_prose(folder: Path) -> Prose:
    text = (folder / "novel_text.txt").read_text("ascii")  # bytes are characters
    with (folder / "quotation_info.csv").open(encoding="utf-8", newline="") as file:
        spans = [ast.literal_eval(row["quoteByteSpans"]) for row in csv.DictReader(file)]
    quotations = [Quotation(tuple(Span(*part) for part in parts), 0) for parts in spans]
    return Prose(text, "en", (), (), (), tuple(quotations))


@pytest.mark.parametrize(
    ("novel", "precision", "recall", "levels", "chapters"),
    [
        ("WhereAngelsFearToTread", 0.97, 0.99, ("chapter",), 10),
        ("TheAwakening", 0.95, 0.98, ("chapter",), 39),
        ("HardTimes", 0.97, 0.97, ("book", "chapter"), 37),
        ("TheSunAlsoRises", 0.96, 0.99, ("book", "chapter"), 19),
    ],
)
def test_the_quotations_of_real_novels_are_found(
    novel: str, precision: float, recall: float, levels: tuple[str, ...], chapters: int
) -> None:
    annotated = annotated_prose(realdata.folder("pdnc") / novel)
    found = parse_prose(annotated.text)
    figures = quotation_figures(found, annotated)
    assert figures.precision is not None and figures.precision >= precision
    assert figures.recall is not None and figures.recall >= recall
    assert found.levels == levels
    assert sum(len(chapter.numbers) == len(levels) for chapter in found.chapters) == chapters


def annotated(name: str, *aliases: str, gender: str = "f", category: str = "major", **more: bool) -> AnnotatedCharacter:
    flags = {"is_narrator": False, "is_reviewed": True} | more
    return AnnotatedCharacter(name, frozenset((name, *aliases)), gender, category, **flags)


GOLD = [
    annotated("Ada Vane", "Ada", "Miss Vane"),
    annotated("Mr. Vane", "Vane", gender="m", category="intermediate"),
    annotated("Felix", gender="m", is_narrator=True),
    annotated("The Porter", gender="m", category="minor"),
    annotated("Marlow", is_reviewed=False, category="minor"),
]


def test_figures_of_a_cast() -> None:
    found = [
        NovelCharacter("Ada", ("Miss Vane",), "f"),
        NovelCharacter("ada vane", (), "m"),
        NovelCharacter("Mr Vane", ("Felix",), "m"),
        NovelCharacter("Narrator", (), "m", is_narrator=True),
        NovelCharacter("the porter"),
        NovelCharacter("Marlow"),
        NovelCharacter("Oxford"),
    ]
    figures = cast_figures(found, GOLD)
    assert figures.found == pytest.approx(2 / 3), "Ada and Felix; Mr. Vane shares somebody with Felix"
    assert figures.missed == ("Mr. Vane",)
    assert figures.found_minor == 1.0
    assert figures.pure == pytest.approx(4 / 5)
    assert figures.split == pytest.approx(1 / 3), "Ada is two of ours"
    assert figures.gender == pytest.approx(2 / 4)
    assert figures.somebody == pytest.approx(6 / 7)
    assert figures.size == 7


def test_an_annotated_cast_is_read(tmp_path: Path) -> None:
    rows = ["Character ID,Main Name,Aliases,Gender,Category", "0,Ada,\"{'Ada', '_narr'}\",F,major"]
    rows += ["1,_group,{'_group'},X,minor", "2,Marlow,['Marlow'],X,minor"]
    (tmp_path / "character_info.csv").write_text("\n".join(rows), encoding="utf-8")
    assert annotated_cast(tmp_path) == [
        AnnotatedCharacter("Ada", frozenset({"Ada"}), "f", "major", is_narrator=True, is_reviewed=True),
        AnnotatedCharacter("Marlow", frozenset({"Marlow"}), "", "minor", is_narrator=False, is_reviewed=False),
    ]


def test_the_people_of_a_real_novel_are_found() -> None:
    novel = realdata.folder("pdnc") / "Emma"
    text = (novel / "novel_text.txt").read_text(encoding="utf-8")
    figures = cast_figures(find_cast(quoted_prose(text)), annotated_cast(novel))
    assert figures.missed == ()
    assert figures.gender is not None and figures.gender > 0.95
