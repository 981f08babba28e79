"""Figures of quotations, worked out by hand; and what is reached on real novels."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

import realdata
from understudy.bench.novels import quotation_figures
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Prose, Quotation, Span

TEXT = '"I said \'No\' to him," she told us. "Twice." He read "Emma" aloud. "Well!"\n'


def prose(*quotations: tuple[str, ...]) -> Prose:
    spans = [tuple(Span(TEXT.index(part), TEXT.index(part) + len(part)) for part in parts) for parts in quotations]
    return Prose(TEXT, "en", (), (), (), tuple(Quotation(parts, 0) for parts in spans))


def test_figures_by_hand() -> None:
    annotated = prose(("I said", "to him,", "Twice."), ("Well!",))
    found = prose(("I said 'No' to him,",), ("Twice.",), ("Emma",))
    figures = quotation_figures(found, annotated)
    # annotated stretches: I said 'No' to him / Twice / Well; ours: the first two and Emma
    assert (figures.found, figures.annotated) == (3, 3)
    assert figures.precision == figures.exact_precision == pytest.approx(2 / 3)
    assert figures.recall == figures.exact_recall == pytest.approx(2 / 3)
    assert figures.joined == 0  # one quotation there, two here


def test_half_of_what_both_cover_is_enough() -> None:
    figures = quotation_figures(prose(("I said 'No'",)), prose(("I said 'No' to him,",)))
    # I said 'No -> 10 characters of I said 'No' to him, which has 18
    assert figures.recall == 1
    assert figures.exact_recall == 0
    assert quotation_figures(prose(("I",)), prose(("I said 'No' to him,",))).recall == 0


def test_nothing_to_count_is_no_figure() -> None:
    figures = quotation_figures(prose(), prose())
    assert figures.precision is figures.recall is figures.joined is None


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
