"""benchmarks/guard_replies.py: questions become requests, and their answers what `bench guard --replies` reads."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from understudy.bench.guard_replies import read_replies

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ASKED = {"zita": 3, "person": 2}


@pytest.fixture
def guard_replies(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    spec = importlib.util.spec_from_file_location("guard_replies_script", BENCHMARKS / "guard_replies.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "guard_replies_script", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def asked(guard_replies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What two roles of two halves are asked, written to roles.json in the temporary folder."""
    (tmp_path / "person.txt").write_text("1 your persona: i keep bees .\n2 hi .\thello .\n", encoding="utf-8")
    questions = tmp_path / "questions.toml"
    questions.write_text(
        """
        [[role]]
        name = "zita"
        half = "first"
        kind = "story"
        story = "demo"
        who = "Zita Karst"
        at = "2.3"
        facing = "Danilo Reuss"
        messages = ["Good evening.", "Where is the bill?", ["I am cold.", "Then sit down.", "Why should I?"]]

        [[role]]
        name = "person"
        half = "second"
        kind = "profile"
        story = "person.txt"
        who = "Person 1B"
        at = "1"
        messages = ["Hello!", "What do you do?"]

        [[role]]
        name = "absent"
        half = "first"
        kind = "sitcom"
        story = "absent.story"
        who = "Nobody"
        at = "1"
        messages = ["Hello!"]
        """,
        encoding="utf-8",
    )
    call(guard_replies, monkeypatch, "ask", tmp_path, tmp_path / "batch", "--questions", questions,
         "-o", tmp_path / "roles.json")  # fmt: skip
    return json.loads((tmp_path / "roles.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def call(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["guard_replies.py", *map(str, arguments)])
    module.main()


def write_lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_each_question_is_one_request_with_the_talk_before_it(asked: dict[str, Any], tmp_path: Path) -> None:
    lines = (tmp_path / "batch" / "requests-1.jsonl").read_text(encoding="utf-8").splitlines()
    requests = {request["custom_id"]: request["body"]["messages"] for request in map(json.loads, lines)}
    assert requests.keys() == asked.keys()
    roles = [record["role"] for record in asked.values()]
    assert {role: roles.count(role) for role in roles} == ASKED
    (talk,) = (custom_id for custom_id, record in asked.items() if record["message"] == "Why should I?")
    written = "\n".join(message["content"] for message in requests[talk])
    assert all(text in written for text in ("I am cold.", "Then sit down.", "Why should I?"))


def test_good_and_bad_answers_are_read_by_the_bench_at_their_moment(
    guard_replies: ModuleType, asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write_lines(tmp_path / "good.jsonl", *({"custom_id": each, "text": "Noted."} for each in asked))
    bad = write_lines(
        tmp_path / "bad.jsonl",
        {"role": "zita", "message": "Why should I?", "text": "I am a language model.", "kind": "bot"},
        {"role": "zita", "message": "Something new?", "text": "It burned.", "kind": "quoted"},
    )
    output = tmp_path / "replies.jsonl"
    call(guard_replies, monkeypatch, "collect", tmp_path / "roles.json", good, bad, "-o", output)
    replies, _ = read_replies(output)
    assert [reply.kind for reply in replies] == ["good"] * sum(ASKED.values()) + ["bot", "quoted"]
    *_, bot, quoted = replies
    faced = bot.situation.faced
    assert (bot.situation.persona.name, str(bot.situation.persona.moment)) == ("Zita Karst", "part 2, chapter 3")
    assert faced is not None and faced.name == "Aurel Benedek"
    assert [turn.text for turn in bot.history] == ["I am cold.", "Then sit down.", "Why should I?"]
    assert [turn.speaker for turn in bot.history] == ["Aurel Benedek", "Zita Karst", "Aurel Benedek"]
    assert [turn.text for turn in quoted.history] == ["Something new?"]


def test_the_half_that_is_held_back_is_left_out(
    guard_replies: ModuleType, asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = write_lines(tmp_path / "good.jsonl", *({"custom_id": each, "text": "Noted."} for each in asked))
    output = tmp_path / "replies.jsonl"
    call(guard_replies, monkeypatch, "collect", tmp_path / "roles.json", good, "--half", "first", "-o", output)
    replies, _ = read_replies(output)
    assert [reply.situation.persona.name for reply in replies] == ["Zita Karst"] * ASKED["zita"]


@pytest.mark.parametrize("answer", [{"custom_id": "unknown", "text": "No."}, {"role": "unknown", "text": "No."}])
def test_an_answer_to_nothing_is_refused_with_its_line(
    guard_replies: ModuleType, asked: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    path = write_lines(tmp_path / "good.jsonl", {"custom_id": next(iter(asked)), "text": "Noted."}, answer)
    with pytest.raises(SystemExit, match=r"good\.jsonl:2"):
        call(guard_replies, monkeypatch, "collect", tmp_path / "roles.json", path, "-o", tmp_path / "replies.jsonl")


def test_the_questions_are_630_to_30_roles_half_of_them_held_back(guard_replies: ModuleType) -> None:
    roles = guard_replies.read_roles(guard_replies.QUESTIONS)
    assert [role.half for role in roles] == ["first", "second"] * 15
    assert len({role.name for role in roles}) == 30
    assert all(len(set(role.messages)) == 21 for role in roles)
    assert all(len(messages) % 2 for role in roles for messages in role.messages)
