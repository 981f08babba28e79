"""Two replies side by side: pairs and sides are balanced, and figures come from who was chosen."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hpdsessions
from studies.samples import crowd, items_of, study_of
from understudy.errors import InputError
from understudy.studies import Study
from understudy.studies.item import StudyItem
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import KINDS

KIND = KINDS["prefer"]
AGENTS = ["one", "two", "three"]


def _study(folder: Path, agents: list[str], **material: Any) -> Study:
    """Agents whose replies stand in the sessions."""
    study = study_of(KIND, folder, questions="set.json", story=None, agents=agents, **material)
    sessions = hpdsessions.sessions(12)
    for session in sessions.values():
        session["proposed"] = [{"text": f"So says the {agent[::-1]} way.", "agent": agent} for agent in agents]
    hpdsessions.write(folder / "set.json", sessions)
    return study


def _chosen(items: list[StudyItem], better: list[str]) -> list[GivenAnswer]:
    """Everybody chooses whoever comes first in a list."""
    return [
        GivenAnswer(item, "p1", {"preferred": min("ab", key=lambda side: better.index(item.hidden[side]))})
        for item in items
    ]


def test_pairs_and_sides_are_balanced(tmp_path: Path) -> None:
    items = items_of(KIND, _study(tmp_path, AGENTS))
    assert len(items) == 12
    pairs = Counter(frozenset((item.hidden["a"], item.hidden["b"])) for item in items)
    assert set(pairs.values()) == {4}
    firsts = Counter(item.hidden["a"] for item in items)
    assert max(firsts.values()) - min(firsts.values()) <= 1


def test_the_replies_are_those_of_the_hidden_agents(tmp_path: Path) -> None:
    for item in items_of(KIND, _study(tmp_path, AGENTS, pairs=3)):
        (question,) = item.questions
        assert question.is_shuffled
        for option in question.options:
            assert option.label == f"So says the {item.hidden[option.key][::-1]} way."


def test_ties_can_be_allowed(tmp_path: Path) -> None:
    items = items_of(KIND, _study(tmp_path, AGENTS, ties=True))
    assert [option.key for option in items[0].questions[0].options] == ["a", "b", "tie"]


def test_equal_replies_are_not_put(tmp_path: Path) -> None:
    study = _study(tmp_path, ["one", "two"])
    sessions = json.loads((tmp_path / "set.json").read_text(encoding="utf-8"))
    for number, session in enumerate(sessions.values()):
        if number:
            session["proposed"] = [{"text": "Alike.", "agent": agent} for agent in ("one", "two")]
    hpdsessions.write(tmp_path / "set.json", sessions)
    assert [item.name for item in items_of(KIND, study)] == ["Session-0.1"]


def test_the_storys_own_reply_can_compete(tmp_path: Path) -> None:
    items = items_of(KIND, _study(tmp_path, ["one"], own=True))
    assert all({item.hidden["a"], item.hidden["b"]} == {"one", "story"} for item in items)


def test_win_rates_by_hand(tmp_path: Path) -> None:
    study = _study(tmp_path, ["one", "two"], ties=True)
    items = items_of(KIND, study)[:4]
    given = [*_chosen(items[:3], ["two", "one"]), GivenAnswer(items[3], "p1", {"preferred": "tie"})]
    assert KIND.figures is not None
    row, modelled = KIND.figures(study, given)
    assert (row["agent"], row["against"], row["metric"], row["n"]) == ("two", "one", "win_rate", 4)
    assert row["value"] == 0.875
    assert row["low"] < 0.875 < row["high"]
    assert (modelled["agent"], modelled["against"], modelled["metric"]) == ("two", "one", "win_probability")
    assert modelled["value"] == pytest.approx((3.5 + 0.05) / 4.1)  # a tenth of a comparison more, half won by each


def test_strengths_of_several_agents_are_in_the_order_of_who_wins(tmp_path: Path) -> None:
    study = _study(tmp_path, AGENTS, pairs=3)
    items = items_of(KIND, study)
    given = _chosen(items, ["three", "one", "two"])
    given += [
        GivenAnswer(each.item, "p2", {"preferred": "ab".replace(each.answer["preferred"], "")}) for each in given[:9]
    ]
    assert KIND.figures is not None
    rows = KIND.figures(study, given)
    strengths = [row for row in rows if row["metric"] == "strength"]
    assert [row["agent"] for row in strengths] == ["three", "one", "two"]
    assert sum(row["value"] for row in strengths) == pytest.approx(0, abs=1e-9)
    assert {row["metric"] for row in rows} == {"win_rate", "strength", "win_probability"}


def test_preferences_are_pairs_of_chosen_and_rejected(tmp_path: Path) -> None:
    study = _study(tmp_path, ["one", "two"], ties=True)
    items = items_of(KIND, study)
    given = [*_chosen(items[:2], ["one", "two"]), GivenAnswer(items[2], "p1", {"preferred": "tie"})]
    KIND.outputs["preferences"](study, given, tmp_path / "pairs.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["chosen_agent"], row["chosen"]) for row in rows] == [("one", "So says the eno way.")] * 2
    assert rows[0]["rejected"] == "So says the owt way."
    assert rows[0]["dialogue"][-1] == {"speaker": "Moss", "text": "Have you seen my compass?"}


def test_simulated_people_of_skill_prefer_one_agent_throughout(tmp_path: Path) -> None:
    study = _study(tmp_path, AGENTS, pairs=3)
    assert KIND.figures is not None
    rows = KIND.figures(study, crowd(KIND, items_of(KIND, study)))
    assert [row["value"] for row in rows if row["metric"] == "win_rate"] == [1.0, 1.0, 1.0]


def test_one_agent_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two or more"):
        items_of(KIND, _study(tmp_path, ["one"]))
