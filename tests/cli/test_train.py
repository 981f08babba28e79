from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

from cliruns import Document, Run
from models import tiny_base, tiny_data
from understudy.cli import load_command
from understudy.language import import_library
from understudy.training import TRAINERS

pytest.importorskip("torch", reason="training needs the extra 'train'")

SMALL = ("--epochs", "1", "--width", "16", "--device", "cpu", "--held-back", "0.1")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"))


def test_train_then_talk(run: Run, document: Document, data: Path) -> None:
    shown = " ".join(
        run("train", "profile-memory", "--data", data, "--out", "mine", "--hops", "2", *SMALL).stdout.split()
    )
    assert "Trained profile-memory on" in shown
    assert "hits@1 among 20 on" in shown and "self 0." in shown
    assert "--agent mine" in shown
    card = document("train", "kv-memory", "--from", "mine", "--data", data, "--out", "kv")
    assert (card["agent"], card["model"], card["settings"]["hops"]) == ("kv-memory", "kv", 2)
    assert card["data"]["memories"] > 0


def test_what_is_there_is_kept_unless_fresh(run: Run, data: Path) -> None:
    command = ("train", "starspace", "--data", data, "--out", "mine", *SMALL)
    run(*command)
    assert "--fresh" in run(*command, status=1).stderr
    run(*command, "--fresh", "--held-back", "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kv-memory",), "Missing option '--from'"),
        (("starspace", "--from", "x"), r"No such option:? '?--from"),
        (("starspace", "--base", "."), r"No such option:? '?--base"),
        (("cross-encoder", "--runs", "2"), r"No such option:? '?--runs"),
        (("encoder", "--width", "16"), r"No such option:? '?--width"),
        (("starspace", "--hops", "2"), r"No such option:? '?--hops"),
        (("oracle",), r"No such command '?oracle"),
        (("starspace", "--epochs", "0"), "--epochs"),
    ],
)
def test_commands_that_make_no_sense(run: Run, data: Path, arguments: tuple[str, ...], message: str) -> None:
    assert re.search(message, run("train", *arguments, "--data", data, "--out", "mine", status=2).stderr)


def test_every_trainer_has_a_command() -> None:
    train = load_command("train")
    assert isinstance(train, click.Group)
    commands = train.commands.keys()
    kinds = {"naming-guesser", "causal-dialogues"}  # of guesser and of causal
    assert commands == TRAINERS.keys() - kinds


def test_a_folder_without_training_files(run: Run, tmp_path: Path) -> None:
    message = run("train", "starspace", "--data", tmp_path, "--out", "mine", status=1).stderr
    assert "train_both_original_no_cands.txt" in message


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    folder = tmp_path_factory.mktemp("bob")
    data, base, pairs = tiny_data(folder / "data", dialogues=12), tiny_base(folder / "base", layers=1), folder / "nli"
    pairs.mkdir()
    (pairs / "nli-train.txt").write_text("i bake .</s>i sail .</s>negative\n", encoding="utf-8")
    options = ("--data", data, "--nli", pairs, "--base", base, "--epochs", "1", "--device", "cpu")
    return ("train", "bob", *options)


def test_bob_is_trained_then_talks(run: Run, document: Document, command: tuple[Any, ...]) -> None:
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


SMALL_LSTM = ("--hidden", "16", "--width", "8", "--epochs", "1", "--held-back", "0.1", "--device", "cpu")


@pytest.mark.parametrize("name", ["seq2seq", "generative-memory"])
def test_training_says_what_came_of_it(run: Any, data: Path, tmp_path: Path, name: str) -> None:
    vectors, model = tmp_path / "vectors.txt", tmp_path / "model"
    vectors.write_text("hello 1 0 0 0 0 0 0 0\ni 0 1 0 0 0 0 0 0\n", encoding="utf-8")
    done = run("train", name, "--data", str(data), "--out", str(model), "--embeddings", str(vectors), *SMALL_LSTM)
    assert "Perplexity of" in done.stdout and "per word" in done.stdout and "hits@1 among 20" in done.stdout
    done = run("chat", "demo", "Zita", "--agent", str(model), "--say", "hello", "--json")
    assert json.loads(done.stdout)["reply"]


def test_the_card_as_json(run: Any, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    arguments = ("--data", str(data), "--out", str(model), "--condition", "none", "--dropout", "0.1", "--json")
    done = run("train", "seq2seq", *arguments, *SMALL_LSTM)
    card = json.loads(done.stdout)
    assert (card["agent"], card["condition"], card["settings"]["dropout"]) == ("seq2seq", "none", 0.1)
    assert card["figures"]["unknown"] >= 0
