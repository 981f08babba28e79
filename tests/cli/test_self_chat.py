from __future__ import annotations

import json
from pathlib import Path

import pytest

from cliruns import Document, Run
from models import tiny_data, tiny_model


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tiny_data(tmp_path / "data", 10)
    file = folder / "train_both_original_no_cands.txt"
    (folder / "valid_both_original.txt").write_text(file.read_text())
    return folder


def test_two_agents_then_their_profiles_are_told(run: Run, document: Document, data: Path, tmp_path: Path) -> None:
    model = tiny_model("kv-memory", tmp_path / "kv")
    command = ("self-chat", "--agents", f"{model},tfidf", "--data", data, "--chats", "4", "--turns", "6")
    shown = run(*command, "-o", "chats.jsonl").stdout
    assert "4 chats (4 new) are in chats.jsonl." in shown and "tfidf B:" in shown
    again = document(*command, "-o", "chats.jsonl")
    assert (again["chats"], again["new"]) == (4, 0)
    assert again["manifest"]["agents"][str(model)]["agent"] == "kv-memory"
    record = json.loads(Path("chats.jsonl").read_text().splitlines()[0])
    assert set(record) == {"id", "speakers", "profiles", "given", "turns"} and len(record["turns"]) == 6
    assert "--fresh" in run(*command, "--seed", "1", "-o", "chats.jsonl", status=1).stderr

    shown = run("bench", "profiles", "--data", data, "--scorers", "words", "--chats", "chats.jsonl").stdout
    assert "model -> model" in shown and "chats (profiles shown: self)" in shown and "pairs" in shown


def test_a_persons_part_is_replayed(run: Run, data: Path) -> None:
    run("self-chat", "--agents", "human,tfidf", "--data", data, "--chats", "2", "-o", "replay.jsonl")
    record = json.loads(Path("replay.jsonl").read_text().splitlines()[0])
    assert record["replayed"] is True and record["turns"][0]["text"].startswith("hello , i ")


def test_characters_of_a_story(run: Run) -> None:
    command = (
        "self-chat",
        "--agents",
        "tfidf",
        "--story",
        "demo",
        "--who",
        "Zita,Benedek",
        "--at",
        "1.3",
        "--turns",
        "4",
    )
    shown = run(*command, "-o", "demo.jsonl").stdout
    assert "Aurel Benedek:" in shown and "Reuss" not in shown
    assert json.loads(Path("demo.jsonl").read_text())["moment"] == "1.3"


def test_what_is_missing_is_said(run: Run, data: Path, tmp_path: Path) -> None:
    assert "two agents" in run("self-chat", "--agents", "a,b,c", "--data", data, "-o", "x.jsonl", status=2).stderr
    assert "--data FILE" in run("self-chat", "--agents", "tfidf", "-o", "x.jsonl", status=2).stderr
    assert "--who" in run("self-chat", "--agents", "tfidf", "--story", "demo", "-o", "x.jsonl", status=2).stderr
    (tmp_path / "none").mkdir()
    assert (
        "valid_both" in run("self-chat", "--agents", "tfidf", "--data", tmp_path / "none", "-o", "x", status=1).stderr
    )
