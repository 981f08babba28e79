"""Tables keep to the terminal's width and lose no column."""

from __future__ import annotations

import pytest

from understudy.cli.show import print_table, screen


def test_every_part_of_a_table_says_what_its_lines_are_about(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    columns = ["<given", "<agent", *(f">a long measure {number}" for number in range(8))]
    rows = [("dialogue", agent, *("0.5" for _ in range(8))) for agent in ("tfidf", "encoder")]
    print_table(screen(), columns, rows, keys=2)
    shown = capsys.readouterr().out
    parts = shown.split("given")[1:]
    assert len(parts) > 2
    assert all("agent" in part and "tfidf" in part and "encoder" in part for part in parts)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_numbers_keep_their_width_and_words_give_way(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    rows = [("灘重吉" * 3, "1,234,567", "a very long description of somebody " * 4)]
    print_table(screen(), ["name", "<lines", "about"], rows)
    assert "1,234,567" in capsys.readouterr().out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_columns_that_do_not_fit_go_to_another_table_with_the_first_one_again(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    columns = ["model", *(f">show {number}" for number in range(9)), ">95%"]
    rows = [(f"model {row} without something", *(f"{row}.{number}00" for number in range(9)), f"0.1..0.{row}")
            for row in range(3)]  # fmt: skip
    print_table(screen(), columns, rows)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    cells = shown.split()
    assert all(cell in cells for row in rows for cell in row[1:])
    assert (shown.count("model 0") == 1) == (width == 200)
    assert shown.count("model 0") == shown.count("model 2")
