from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from understudy.cli.show import (
    CONTROL,
    Column,
    Screen,
    bar,
    clean,
    print_json,
    print_table,
    screen,
    short,
    table,
    voice,
)


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


def test_every_part_of_a_table_says_what_its_lines_are_about(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    right = {"no_wrap": True, "justify": "right"}
    columns: list[Column] = [("given", {"no_wrap": True}), ("agent", {"no_wrap": True})]
    columns += [(f"a long measure {number}", right) for number in range(8)]
    rows = [("dialogue", agent, *("0.5" for _ in range(8))) for agent in ("tfidf", "encoder")]
    print_table(screen(), columns, rows, keys=2)
    shown = capsys.readouterr().out
    parts = shown.split("given")[1:]
    assert len(parts) > 2
    assert all("agent" in part and "tfidf" in part and "encoder" in part for part in parts)


def test_a_long_text_is_cut_and_says_so() -> None:
    assert short("A short one.", 20) == "A short one."
    assert short("A long one, " * 9, 14) == "A long one, A..."


def test_a_voice_is_the_same_every_time() -> None:
    assert voice("Ines Vale") == voice("Ines Vale")
    assert len({voice(f"Character {number}") for number in range(50)}) > 1


@pytest.mark.parametrize("width", [60, 80, 120])
def test_numbers_keep_their_width_and_words_give_way(width: int) -> None:
    console = Console(width=width, record=True, file=None, quiet=False, force_terminal=False)
    rows = [("灘重吉" * 3, "1,234,567", "a very long description of somebody " * 4)]
    with console.capture() as captured:
        console.print(table(["name", ("lines", {"no_wrap": True}), "about"], rows))
    assert "1,234,567" in captured.get()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_columns_that_do_not_fit_go_to_another_table_with_the_first_one_again(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    right = {"no_wrap": True, "justify": "right"}
    columns: list[Column] = ["model", *((f"show {number}", right) for number in range(9)), ("95%", right)]
    rows = [(f"model {row} without something", *(f"{row}.{number}00" for number in range(9)), f"0.1..0.{row}")
            for row in range(3)]  # fmt: skip
    print_table(screen(), columns, rows)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    cells = shown.split()
    assert all(cell in cells for row in rows for cell in row[1:])
    assert (shown.count("model 0") == 1) == (width == 200)
    assert shown.count("model 0") == shown.count("model 2")
