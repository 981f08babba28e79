"""`understudy train bob`, and talking through what it made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cliruns import Document, Run
from models import tiny_base, tiny_data
from understudy.language.libraries import import_library

pytest.importorskip("torch", reason="training needs the extra 'train'")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    folder = tmp_path_factory.mktemp("bob")
    data, base, pairs = tiny_data(folder / "data", dialogues=12), tiny_base(folder / "base", layers=1), folder / "nli"
    pairs.mkdir()
    (pairs / "nli-train.txt").write_text("i bake .</s>i sail .</s>negative\n", encoding="utf-8")
    options = ("--data", data, "--nli", pairs, "--base", base, "--epochs", "1", "--device", "cpu")
    return ("train", "bob", *options)


def test_train_then_talk(run: Run, document: Document, command: tuple[Any, ...]) -> None:
    shown = " ".join(run(*command, "--out", "mine", "--held-back", "0.1").stdout.split())
    assert "Trained bob (per) on" in shown and "2 pairs: mine" in shown
    assert "Perplexity per word of" in shown and "by the consistency decoder" in shown
    assert document("chat", "demo", "Zita", "--agent", "mine", "--say", "Hello.")["reply"]
    card = document(*command, "--out", "other", "--input", "ori", "--beta", "0.3", "--held-back", "0")
    assert (card["agent"], card["model"], card["input"]) == ("bob", "other", "ori")
    assert card["settings"]["beta"] == 0.3 and card["settings"]["alpha"] == 1.0 and card["figures"] == {}


def test_a_base_may_be_a_name_at_hugging_face(
    run: Run, command: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    base = command[command.index("--base") + 1]

    def snapshot(name: str, allow_patterns: list[str]) -> str:
        asked.append(name)
        if name != "google/bert-tiny":
            raise OSError("no such model")
        assert "model.safetensors" in allow_patterns
        return str(base)

    monkeypatch.setattr(import_library("huggingface_hub"), "snapshot_download", snapshot)
    named = [value if value != base else "google/bert-tiny" for value in command]
    run(*named, "--out", "hub", "--held-back", "0")
    assert asked == ["google/bert-tiny"]
    missing = [value if value != base else "google/nothing" for value in command]
    assert "cannot be had from Hugging Face (no such model)" in run(*missing, "--out", "none", status=1).stderr
    assert not Path("none").exists()
