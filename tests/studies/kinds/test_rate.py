"""Chats that people rate: what is hidden, which profiles are offered, and PersonaChat's table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import realdata
from studies.samples import chat, crowd, items_of, study_of, write_chats
from understudy.formats import read
from understudy.formats.chat_records import read_judged_chats
from understudy.papers.personachat.judged_chats import bench_judged_chats
from understudy.story.persona import persona_at
from understudy.studies import Study
from understudy.studies.item import StudyItem
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import KINDS

KIND = KINDS["rate"]


def _study(folder: Path, **material: Any) -> Study:
    """Profiles are drawn from the chats, unless it is said from where else."""
    return study_of(KIND, folder, **{"profiles": None, **material})


def _rated(items: list[StudyItem], chosen: dict[str, tuple[int, int, int, bool]]) -> list[GivenAnswer]:
    """What one person gives: by item, three ratings and whether the right profile was chosen."""
    given = []
    for item in items:
        fluency, engagingness, consistency, is_right = chosen[item.name]
        right = item.hidden["profile"]
        answer = {"fluency": fluency, "engagingness": engagingness, "consistency": consistency}
        profile = right if is_right else "ab".replace(right, "")
        given.append(GivenAnswer(item, "p1", {**answer, "profile": profile}))
    return given


def test_both_sides_are_rated_and_the_rated_one_is_marked(tmp_path: Path) -> None:
    items = items_of(KIND, _study(tmp_path))
    assert [item.name for item in items][:4] == ["chat 1.0", "chat 1.1", "chat 2.0", "chat 2.1"]
    first = items[0]
    assert [line.is_asked for line in first.blocks[0].lines] == [True, False, True]
    assert [question.name for question in first.questions] == ["fluency", "engagingness", "consistency", "profile"]
    assert "Person A" in first.blocks[0].title


@pytest.mark.parametrize(("rate", "speakers"), [("agents", {"kv-memory"}), ("humans", {"human"})])
def test_agents_or_people_alone(tmp_path: Path, rate: str, speakers: set[str]) -> None:
    items = items_of(KIND, _study(tmp_path, rate=rate))
    assert {item.hidden["speaker"] for item in items} == speakers


def test_a_part_that_was_replayed_is_not_rated(tmp_path: Path) -> None:
    study = _study(tmp_path)
    write_chats(tmp_path / "chats.jsonl", [chat("one") | {"replayed": True}, chat("two", about=3)])
    assert [item.name for item in items_of(KIND, study)] == ["chat 1.0", "chat 2.0", "chat 2.1"]


def test_the_other_profile_shares_no_sentence_with_either_side(tmp_path: Path) -> None:
    study = _study(tmp_path)
    keys = set()
    for item in items_of(KIND, study):
        offered = {option.key: set(option.label.split("\n")) for option in item.questions[-1].options}
        keys.add(item.hidden["profile"])
        true = offered.pop(item.hidden["profile"])
        number = int(item.name.removeprefix("chat ").partition(".")[0]) - 1
        profiles = chat("", about=number)["profiles"]
        assert true == set(profiles[item.hidden["side"]])
        (other,) = offered.values()
        assert other.isdisjoint({*profiles[0], *profiles[1]})
        assert item.questions[-1].is_shuffled
    assert keys == {"a", "b"}


def test_without_another_profile_nobody_is_asked_for_one(tmp_path: Path) -> None:
    study = _study(tmp_path)
    write_chats(tmp_path / "chats.jsonl", [chat("one")])
    for item in items_of(KIND, study):
        assert [question.name for question in item.questions] == ["fluency", "engagingness", "consistency"]
        assert "profile" not in item.hidden


def test_the_other_profile_can_come_from_a_file(tmp_path: Path) -> None:
    study = _study(tmp_path, profiles="more.jsonl", limit=1)
    lines = ['{"persona": ["i make clocks.", "i run."]}', '{"persona": ["i fly kites.", "i hum."]}']
    (tmp_path / "more.jsonl").write_text("\n".join(lines), encoding="utf-8")
    write_chats(tmp_path / "chats.jsonl", [chat("one")])
    (item,) = items_of(KIND, study)
    assert "i fly kites.\ni hum." in [option.label for option in item.questions[-1].options]


def test_the_other_profile_can_be_of_somebody_else_of_the_story(tmp_path: Path) -> None:
    study = _study(tmp_path, profiles="demo")
    names, moment = ("Zita Karst", "Aurel Benedek"), "2.1"
    story = read("demo")
    profiles = [list(persona_at(story, name, moment).profile) for name in names]
    held = chat("one", ("encoder", "tfidf")) | {"names": names, "moment": moment, "profiles": profiles}
    write_chats(tmp_path / "chats.jsonl", [held])
    for item in items_of(KIND, study):
        offered = {option.key: option.label.split("\n") for option in item.questions[-1].options}
        assert offered.pop(item.hidden["profile"]) == profiles[item.hidden["side"]]
        (other,) = offered.values()
        assert len(other) >= len(profiles[item.hidden["side"]]) / 2
        assert set(other).isdisjoint({*profiles[0], *profiles[1]})


def test_figures_are_personachats_table_by_speaker(tmp_path: Path) -> None:
    study = _study(tmp_path)
    write_chats(tmp_path / "chats.jsonl", [chat("one"), chat("two", about=2)])
    items = items_of(KIND, study)
    given = _rated(
        items,
        {
            "chat 1.0": (4, 2, 5, True),
            "chat 1.1": (5, 5, 5, True),
            "chat 2.0": (2, 3, 5, False),
            "chat 2.1": (5, 4, 5, True),
        },
    )
    assert KIND.figures is not None
    rows = {(row["agent"], row["metric"]): row for row in KIND.figures(study, given)}
    assert rows["kv-memory", "fluency"]["value"] == 3
    assert (rows["kv-memory", "fluency"]["low"], rows["kv-memory", "fluency"]["high"]) == (2, 4)
    assert rows["kv-memory", "persona_detection"]["value"] == 0.5
    assert rows["kv-memory", "persona_detection"]["paper"] == 0.81  # given its profile it is the KV Profile Memory
    assert rows["human", "engagingness"] == {
        "agent": "human", "given": "self", "metric": "engagingness", "value": 4.5, "low": 4.0, "high": 5.0, "n": 2,
        "paper": 4.25,
    }  # fmt: skip


def test_ratings_go_to_the_bench_of_judged_chats(tmp_path: Path) -> None:
    study = _study(tmp_path, rate="agents")
    rows = [chat(f"chat-{number}", about=number) for number in range(12)]
    write_chats(tmp_path / "chats.jsonl", rows)
    given = crowd(KIND, items_of(KIND, study), people=2, skill=0.5)
    path = tmp_path / "my volunteers.json"
    KIND.outputs["volunteers"](study, given, path)
    judged = read_judged_chats(path)
    assert [each.score for each in judged] == [each.answer["engagingness"] for each in given]
    assert [each.matched for each in judged] == [
        each.answer["profile"] == each.item.hidden["profile"] for each in given
    ]
    assert judged[0].record.speakers == ("human", "kv-memory")
    document = bench_judged_chats(path, ["words"])
    assert {row["metric"] for row in document["rows"]} >= {"spearman", "accuracy"}


def test_convai2s_chats_can_be_rated(tmp_path: Path) -> None:
    path = realdata.folder("personachat") / "convai2_human_eval_data_volunteers.json"
    records = json.loads(path.read_text(encoding="utf-8"))[:20]
    (tmp_path / "volunteers.json").write_text(json.dumps(records), encoding="utf-8")
    items = items_of(KIND, _study(tmp_path, chats="volunteers.json", rate="agents", limit=10))
    assert len(items) == 10
    assert all(item.hidden["speaker"] != "human" for item in items)
