"""Made-up people: the more skilled, the more they agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.samples import items, study
from understudy.studies import load_study
from understudy.studies.chatting import with_transcripts
from understudy.studies.kinds import kind_of
from understudy.studies.opening import attention_checks, make_items
from understudy.studies.results import simulate_crowd
from understudy.studies.status import agreement_of, failed_checks, status_of
from understudy.studies.store import open_study_store


def alpha_of_a_crowd(path: Path, skill: float) -> float:
    with open_study_store(path) as store:
        own = study(people_per_item=5, items_per_person=20)
        simulate_crowd(store, "first", own, items(20), 5, skill)
        stored = store.study("first")
        status = status_of(store, stored)
        assert (status.answers, status.complete) == (100, 20)
        rows = agreement_of(own, store.answers(stored.id)).rows
    return next(float(row["value"]) for row in rows if row["metric"] == "alpha")


def test_agreement_grows_with_skill(tmp_path: Path) -> None:
    guessing, fair, perfect = (alpha_of_a_crowd(tmp_path / f"{skill}.db", skill) for skill in (0.0, 0.7, 1.0))
    assert abs(guessing) < 0.25
    assert guessing < fair < perfect == 1.0


@pytest.mark.parametrize("agents", [["encoder"], []])
def test_six_people_chat_with_each_other_and_with_agents(tmp_path: Path, agents: list[str]) -> None:
    path = tmp_path / "chat.toml"
    text = kind_of("chat").template
    path.write_text(text if agents else text.replace("agents = [", "# agents = ["), encoding="utf-8")
    own = load_study(path)
    with open_study_store(tmp_path / "crowd.db") as store:
        simulate_crowd(store, "chats", own, make_items(own), 6, 0.7)
        given = with_transcripts(store, store.study("chats").id, store.answers(store.study("chats").id))
        status = status_of(store, store.study("chats"))
    assert status.answers >= 14, "of the 18 chats that six people may have; some find nobody left to talk with"
    rated = [each for each in given if each.answer]
    assert len(rated) == status.answers
    for each in rated:
        assert len(each.item.hidden["chat"]) == 2 * each.item.hidden["turns"], "each chat went on to its end"
    partners = {agent for each in rated for agent in each.item.hidden["seated"] if agent in agents}
    assert partners == set(agents)


def test_people_without_skill_fail_checks(tmp_path: Path) -> None:
    own = study(people_per_item=30, items_per_person=4, checks=1)
    with open_study_store(tmp_path / "crowd.db") as store:
        simulate_crowd(store, "first", own, [*items(), *attention_checks(own, items())], 30, 0.0)
        failed = failed_checks(store.answers(store.study("first").id))
    assert len(failed) == 30
    assert 5 < sum(failed.values()) < 25, "half of those who answer anything are right by chance"
