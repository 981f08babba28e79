from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models import tiny_data

pytest.importorskip("torch", reason="training needs the extra 'train'")

SMALL = ("--hidden", "16", "--width", "8", "--epochs", "1", "--held-back", "0.1", "--device", "cpu")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("name", ["seq2seq", "generative-memory"])
def test_training_says_what_came_of_it(run: Any, data: Path, tmp_path: Path, name: str) -> None:
    vectors, model = tmp_path / "vectors.txt", tmp_path / "model"
    vectors.write_text("hello 1 0 0 0 0 0 0 0\ni 0 1 0 0 0 0 0 0\n", encoding="utf-8")
    done = run("train", name, "--data", str(data), "--out", str(model), "--embeddings", str(vectors), *SMALL)
    assert "Perplexity of" in done.stdout and "per word" in done.stdout and "hits@1 among 20" in done.stdout
    done = run("chat", "demo", "Zita", "--agent", str(model), "--say", "hello", "--json")
    assert json.loads(done.stdout)["reply"]


def test_the_card_as_json(run: Any, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    arguments = ("--data", str(data), "--out", str(model), "--condition", "none", "--dropout", "0.1", "--json")
    done = run("train", "seq2seq", *arguments, *SMALL)
    card = json.loads(done.stdout)
    assert (card["agent"], card["condition"], card["settings"]["dropout"]) == ("seq2seq", "none", 0.1)
    assert card["figures"]["unknown"] >= 0
