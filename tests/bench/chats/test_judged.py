from __future__ import annotations

import json
from pathlib import Path

import pytest

from chats import chat, volunteers
from realdata import folder
from understudy.bench.chats.judged import bench_judged_chats
from understudy.bench.compare import compare_runs
from understudy.errors import InputError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """People like the chats the more, the longer they were; one person had two chats."""
    chats = [
        chat(n, score=1 + n % 5, match=n % 2, turns=1 + n % 5, person="User X" if n < 2 else None) for n in range(40)
    ]
    volunteers(tmp_path, [*chats, chat(40, score=None, match="")])
    return tmp_path


def test_a_measure_that_people_go_by_agrees_with_them(data: Path, tmp_path: Path) -> None:
    document = bench_judged_chats(data, ["words"], save_items=tmp_path / "items.json")
    rows = {(row["measure"], row["of"], row["chats"]): row for row in document["rows"] if "measure" in row}
    turns = rows["turns", "bot", "all"]
    assert turns["value"] == pytest.approx(1) and turns["n"] == 40
    assert turns["p"] <= turns["p_adjusted"] < 0.001
    assert rows["turns", "bot", "both talk"]["n"] == 16
    assert rows["combination", "both", "all"]["value"] > 0.9
    assert rows["greeting", "human", "all"]["value"] is None
    assert rows["greeting", "human", "all"]["reason"] == "all chats have the same value"
    assert {row["scorer"] for row in document["rows"] if "scorer" in row} == {"people", "words"}
    assert document["manifest"]["settings"]["rated"] == 40
    assert json.loads(json.dumps(document)) == document
    paired = compare_runs(tmp_path / "items.json", tmp_path / "items.json")
    assert all(row["value"] == 0 for row in paired["rows"])


def test_p_values_are_adjusted_within_the_same_chats(data: Path) -> None:
    rows = bench_judged_chats(data, ["words"])["rows"]
    for which in ("all", "both talk"):
        tested = [row for row in rows if row.get("chats") == which and "p" in row]
        smallest = min(tested, key=lambda row: row["p"])
        assert smallest["p_adjusted"] == pytest.approx(min(1, smallest["p"] * len(tested)))


def test_a_sample_and_nothing_to_judge(data: Path) -> None:
    assert max(row["n"] for row in bench_judged_chats(data, ["words"], limit=12)["rows"]) == 12
    volunteers(data, [chat(0, score=None, match="")])
    with pytest.raises(InputError, match="no chat that somebody scored"):
        bench_judged_chats(data)


def test_the_published_chats_keep_what_was_reached() -> None:
    rows = bench_judged_chats(folder("personachat"), ["words"], limit=70)["rows"]
    length = next(row for row in rows if (row.get("measure"), row.get("of"), row["chats"]) == ("words", "bot", "all"))
    assert length["value"] > 0
    told = next(row for row in rows if (row.get("scorer"), row.get("told_from")) == ("words", "bot"))
    assert told["low"] > 0.5
