"""Tables of a run of guessing on a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from talkers import annotation, guessed_scene
from understudy.cli.guess import print_guess
from understudy.guessing.analysis import analyse
from understudy.papers.tvshowguess.annotations import annotation_groupings, history_gain, retrieval_rows
from understudy.papers.tvshowguess.published import add_paper


@pytest.fixture
def document() -> dict[str, Any]:
    guessed, labels = [], []
    for number in range(12):
        names = ["Ross", "Joey", "Monica"][: 2 + number % 2]
        guessed += guessed_scene("joint", "The_Big_Bang_Theory", number, names, names)
        guessed += guessed_scene("joint without history", "The_Big_Bang_Theory", number, names, [names[1], *names[1:]])
        labels += [annotation(number, 0, ["memory"], "direct"), annotation(number, 1, ["fact (status)"], "none")]
    results = analyse(guessed, groupings=annotation_groupings(guessed, labels))
    results["rows"] = add_paper(results["rows"], {"The_Big_Bang_Theory": "dev"})
    results["rows"] += history_gain(guessed, labels, "joint", "joint without history") + retrieval_rows(
        "encoder", {}, {}
    )
    return results


def shown(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int = 100
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    print_guess(document)
    return capsys.readouterr().out


def test_models_by_show_and_the_best_one_by_everything_else(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = shown(document, monkeypatch, capsys)
    lines = [line.split() for line in output.splitlines()]
    assert ["joint", "1.000", "1.000", "1.000..1.000"] in lines
    assert ["joint", "without", "history", "0.600", "0.600"] in [line[:5] for line in lines]
    assert ["people,", "paper", "0.898", "-"] in [line[:4] for line in lines]
    assert ["model", "TBBT", "all", "95%"] in lines
    assert "joint: by character" in output and "joint: what history it took" in output
    assert "joint: who is taken for whom in The Big Bang Theory" in output
    assert ["Ross", "12", "-", "-"] in lines
    assert any(line[:4] == ["joint", "without", "history", "+0.400"] for line in lines)  # the best less the other
    assert ["needed", "+1.000"] in [line[:2] for line in lines]
    assert "no file says which earlier scenes were needed" in output


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_tables_keep_to_the_width_whatever_they_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    names = [f"Somebody the {number}th" for number in range(40)]
    permuted = [*names[1:], names[0]]
    long = "a model by a name that goes on and on and on"
    guessed = [
        item for number in range(3) for item in guessed_scene(long, "A_Show_With_A_Name", number, names, permuted)
    ]
    guessed += [item for number in range(3) for item in guessed_scene("b", "A_Show_With_A_Name", number, names, names)]
    output = shown(analyse(guessed), monkeypatch, capsys, width)
    assert max(map(len, output.splitlines())) <= width
    assert "0.000..0.000" in output and "1.000..1.000" in output
    assert "the 8 masked most" in " ".join(output.split())


def test_nothing_judged_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(analyse([]), monkeypatch, capsys).startswith("Intervals draw whole scenes.")
