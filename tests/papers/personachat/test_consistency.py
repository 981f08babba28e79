from __future__ import annotations

import json
from pathlib import Path

import pytest

from realdata import folder
from understudy.errors import InputError
from understudy.papers.personachat.consistency import SETS, bench_consistency

QUESTION = {
    "persona": ["i mend clocks ."],
    "prefix": ["hello .", "hello , i work with clocks .", "do you like it ?"],
    "candidates": {
        "label": ["i love every clock ."],
        "neg": ["i hate clocks .", "clock ?"],
        "similar": ["clocks are fine things to have about the house ."],
        "rand": ["it rains ."],
    },
}


def written(tmp_path: Path, *questions: object) -> Path:
    text = "".join(json.dumps(question) + "\n" for question in questions)
    (tmp_path / "valid_havenot.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_first_choice_is_of_one_kind(tmp_path: Path) -> None:
    """The clockmaker takes the shortest that speaks of clocks, which contradicts; alike scores count as the worst."""
    document = bench_consistency(written(tmp_path, QUESTION), ["judged:clock", "judged:blind", "judged:baker"])
    results = {(row["agent"], row["metric"]): row["value"] for row in document["rows"]}
    assert results["judged:clock", "contradict@1"] == 1.0
    assert results["judged:blind", "contradict@1"] == 1.0
    assert results["judged:clock", "hits@1"] == 0.0
    for agent in ("judged:clock", "judged:blind", "judged:baker"):
        assert sum(results[agent, f"{kind}@1"] for kind in ("hits", "contradict", "similar", "random")) == 1.0
    assert {row["set"] for row in document["rows"]} == {"havenot"}
    same = next(row for row in document["comparisons"] if row["agents"] == ["judged:clock", "judged:blind"])
    assert (same["difference"], same["p_value"]) == (0.0, 1.0)


def test_what_is_not_such_a_question_is_said_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="valid_attributes"):
        bench_consistency(tmp_path)
    with pytest.raises(InputError, match=r"havenot.jsonl:2: .*persona, prefix"):
        bench_consistency(written(tmp_path, QUESTION, {"persona": []}))
    with pytest.raises(InputError, match="no right reply"):
        bench_consistency(written(tmp_path, QUESTION | {"candidates": {"neg": ["no"]}}))


def test_the_real_sets() -> None:
    document = bench_consistency(folder("dnli"), ["tfidf"], limit=40)
    assert {row["set"] for row in document["rows"]} == set(SETS)
    for name in SETS:
        shares = [row["value"] for row in document["rows"] if row["set"] == name]
        assert sum(shares) == pytest.approx(1.0)
