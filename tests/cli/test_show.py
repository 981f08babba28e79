from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.panel import Panel
from rich.text import Text

from understudy.cli.show import (
    CONTROL,
    Point,
    Screen,
    bar,
    clean,
    line_chart,
    print_json,
    short,
    voice,
)
from understudy.story.types import Moment


@given(share=st.floats(0, 1), width=st.integers(1, 40), ascii_only=st.booleans())
def test_a_bar_fits_and_shows_anything_above_nothing(share: float, width: int, ascii_only: bool) -> None:
    drawn = bar(share, width, ascii_only)
    assert len(drawn) <= width
    assert bool(drawn) == (share > 0)
    assert not ascii_only or drawn.isascii()


def test_a_longer_bar_is_more() -> None:
    assert len(bar(0.25, 20)) < len(bar(0.5, 20)) < len(bar(1, 20)) == 20


@given(st.text())
def test_what_is_shown_cannot_drive_a_terminal(text: str) -> None:
    shown = clean(text)
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in shown)
    assert "\x7f" not in shown
    assert clean(shown) == shown


def test_whatever_is_printed_cannot_drive_a_terminal() -> None:
    out = Screen(file=io.StringIO(), width=80, markup=False)
    out.print("A \x1b]0;title\x07 and \x9b31m red")
    out.print(Panel(Text("in \x1b[2J a box")))
    assert not CONTROL.search(out.file.getvalue())  # type: ignore[attr-defined]


def test_json_keeps_control_characters_but_prints_none(capsys: pytest.CaptureFixture[str]) -> None:
    name = "A\x1b[31m\x7f\x9b\u0085"
    print_json({"name": name})
    output = capsys.readouterr().out
    assert json.loads(output) == {"name": name} and not CONTROL.search(output)


def test_a_long_text_is_cut_and_says_so() -> None:
    assert short("A short one.", 20) == "A short one."
    assert short("A long one, " * 9, 14) == "A long one, A..."


def test_a_voice_is_the_same_every_time() -> None:
    assert voice("Ines Vale") == voice("Ines Vale")
    assert len({voice(f"Character {number}") for number in range(50)}) > 1


def at(text: str) -> Moment:
    return Moment.parse(text)


def test_each_level_stands_above_the_moment_it_holds_from() -> None:
    rows = line_chart([(at("1.1"), 7), (at("1.4"), -6), (at("2.2"), 3)], at("3.1"))
    labels = rows[-1]
    for moment, level in (("1.1", "+7"), ("1.4", "-6"), ("2.2", "+3")):
        column = labels.index(moment)
        (row,) = [row for row in rows[:-2] if row[column:].lstrip("─┌└ ").startswith(f"{level} ")]
        assert row.index(level, column) - column <= 4
    assert labels.rstrip().endswith("3.1")


def test_higher_levels_are_drawn_higher() -> None:
    rows = line_chart([(at("1.1"), 7), (at("1.4"), -6), (at("2.2"), 3)], at("end"))
    heights = [next(n for n, row in enumerate(rows) if f" {level} ─" in row) for level in ("+7", "+3", "-6")]
    assert heights == sorted(heights)
    assert any(row.strip().startswith("0 ") for row in rows)


def test_a_moment_that_is_the_last_change_is_labelled_once() -> None:
    assert line_chart([(at("1.1"), 1), (at("2.1"), 2)], at("2.1"))[-1].split() == ["1.1", "2.1"]


def test_nothing_to_draw() -> None:
    assert line_chart([], at("1.1")) == []


def test_plain_letters_for_a_terminal_that_has_no_others() -> None:
    rows = line_chart([(at("1.1"), 7), (at("1.4"), -6)], at("2.1"), ascii_only=True)
    assert all(row.isascii() for row in rows)
    assert any("|" in row for row in rows)


points = st.lists(st.integers(-10, 10), min_size=1, max_size=40).map(
    lambda levels: [(Moment((3, number, 12)), level) for number, level in enumerate(levels, 1)]
)


@given(points=points, width=st.integers(30, 120))
def test_a_chart_fits_its_width_and_says_what_it_leaves_out(points: list[Point], width: int) -> None:
    until = Moment((4, 1))
    rows = line_chart(points, until, width)
    assert max(map(len, rows)) <= width
    drawn = rows[-1] if "left out" not in rows[-1] else rows[-2]
    left_out = int(rows[-1].split()[0].lstrip("(")) if "left out" in rows[-1] else 0
    assert points[-1][0].dotted in drawn
    assert sum(row.count("┬") for row in rows) == len(points) - left_out + 1
    assert len(rows) <= 14


@pytest.mark.parametrize("level", [-10, -1, 0, 1, 10])
def test_a_tie_that_never_moved(level: int) -> None:
    rows = line_chart([(at("1.1"), level)], at("2.1"))
    said = f"{level:+}" if level else "0"
    assert any(f"─ {said} ─" in row for row in rows)
