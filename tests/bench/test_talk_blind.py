"""benchmarks/talk_blind.py: the questions can be put, the sheet tells no agent, and marks become the right figures."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "talk_blind.py"


@pytest.fixture(scope="module")
def talk_blind() -> ModuleType:
    spec = importlib.util.spec_from_file_location("talk_blind", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["talk_blind"] = module
    spec.loader.exec_module(module)
    return module


def call(talk_blind: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["talk_blind.py", *map(str, arguments)])
    talk_blind.main()


def test_the_sheet_names_no_agent_and_the_key_names_them_all(
    talk_blind: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = tmp_path / "sheet"
    arguments = ["run", tmp_path, "--agent", "tfidf", "--agent", "other=scripted", "--messages", 2, "-o", sheet]
    call(talk_blind, monkeypatch, *arguments, "--parts", 2)
    key = json.loads((tmp_path / "sheet.key.json").read_text(encoding="utf-8"))
    for path in ("sheet.json", "sheet.md", "sheet.1.md", "sheet.2.md"):
        text = (tmp_path / path).read_text(encoding="utf-8")
        assert not any(name in text for name in ("tfidf", "other=", "scripted")), path
    document = json.loads((tmp_path / "sheet.json").read_text(encoding="utf-8"))
    assert [item["id"] for item in document["items"]] == list(key["items"])
    counts = {label: sum(label in item["agents"] for item in key["items"].values()) for label in ("tfidf", "other")}
    assert counts["tfidf"] == counts["other"] == 2 * len(document["roles"])
    # without DATA the stories that come with the package and the cards beside the questions remain
    assert {item["kind"] for item in key["items"].values()} == {"story", "card"}


def test_replies_are_kept_and_agents_can_be_added(
    talk_blind: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["run", tmp_path, "--role", "bastian", "--cache", tmp_path / "cache.json", "-o", tmp_path / "sheet"]
    call(talk_blind, monkeypatch, *arguments, "--agent", "first=scripted")
    cached = json.loads((tmp_path / "cache.json").read_text(encoding="utf-8"))
    call(talk_blind, monkeypatch, *arguments, "--agent", "first=nowhere:agent", "--agent", "second=tfidf")
    both = json.loads((tmp_path / "cache.json").read_text(encoding="utf-8"))
    assert len(cached) == 6 and len(both) == 12 and cached.items() <= both.items()


def test_every_role_says_whom_it_is_and_has_messages(talk_blind: ModuleType) -> None:
    roles = talk_blind.read_roles(talk_blind.QUESTIONS)
    assert len({role.name for role in roles}) == len(roles)
    assert {role.kind for role in roles} == {"story", "play", "sitcom", "card", "profile"}
    assert all(role.messages and all(all(text.strip() for text in texts) for texts in role.messages) for role in roles)


def test_marks_become_means_and_passes(
    talk_blind: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = {
        "q001": {"agents": ["a", "b"], "role": "r", "kind": "card"},
        "q002": {"agents": ["a"], "role": "r", "kind": "card"},
        "q003": {"agents": ["b"], "role": "s", "kind": "play"},
    }
    (tmp_path / "key.json").write_text(json.dumps({"items": key}), encoding="utf-8")
    (tmp_path / "marks.txt").write_text("q001 2 1 1\n- q002: 2 0 2\nq003 1 2 2\n", encoding="utf-8")
    call(talk_blind, monkeypatch, "score", tmp_path / "key.json", tmp_path / "marks.txt", "--json")
    rows = json.loads(capsys.readouterr().out)["rows"]
    values = {(row["agent"], row["kind"], row["metric"]): (row["value"], row["n"]) for row in rows}
    assert values["a", "all", "answers"] == (1.0, 2)
    assert values["a", "all", "voice"] == (0.25, 2)
    assert values["a", "all", "true"] == (0.75, 2)
    assert values["a", "all", "pass"] == (0.5, 2)  # no voice at all: not passed
    assert values["b", "all", "pass"] == (0.5, 2)  # answered in part: not passed
    assert values["b", "play", "pass"] == (0.0, 1)


def test_a_mark_out_of_range_is_named(talk_blind: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key.json").write_text(json.dumps({"items": {}}), encoding="utf-8")
    (tmp_path / "marks.json").write_text('{"q001": [3, 1, 1]}', encoding="utf-8")
    with pytest.raises(SystemExit, match="q001 needs three marks"):
        call(talk_blind, monkeypatch, "score", tmp_path / "key.json", tmp_path / "marks.json")
