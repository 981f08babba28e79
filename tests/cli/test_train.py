from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from cliruns import Document, Run
from models import tiny_data
from understudy.cli import load_command
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
