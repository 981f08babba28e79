"""`understudy train causal --data`, and what can be done with its models."""

from __future__ import annotations

from pathlib import Path

import pytest

from cliruns import Document, Run
from dialogues import dialogue_base, trades

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases")
    return dialogue_base(folder / "base", trades(folder / "data"))


def test_train_on_dialogues_and_more_then_talk(run: Run, document: Document, base: Path, tmp_path: Path) -> None:
    data = trades(tmp_path / "data")
    (tmp_path / "subtitles.txt").write_text("are you there\nyes\n\nwhere\nhere\n" * 5)
    command = ("train", "causal", "--data", data, "--data", tmp_path / "subtitles.txt", "--base", base)
    shown = " ".join(run(*command, "--out", "talker", "--epochs", "1", "--lora", "4", "--device", "cpu").stdout.split())
    assert "dialogues of data, subtitles.txt: talker" in shown and "Perplexity per word of held-back replies" in shown
    assert "--fresh" in run(*command, "--out", "talker", status=1).stderr
    reply = document("chat", "demo", "Zita", "--at", "2.3", "--agent", "talker", "--say", "where do you live ?")
    assert reply["reply"]
    rows = document("bench", "personachat", "--data", valid(tmp_path / "valid", data), "--agent", "talker")["rows"]
    assert {row["metric"] for row in rows} >= {"hits@1"}


def test_one_command_for_each_corpus(document: Document, base: Path, tmp_path: Path) -> None:
    (tmp_path / "subtitles.txt").write_text("are you there\nyes\n\nwhere\nhere\n" * 5)
    for corpus in (tmp_path / "subtitles.txt", "demo"):
        out = f"of-{Path(corpus).stem}"
        options = ("--epochs", "1", "--device", "cpu", "--lora", "0", "--held-back", "0.2", "--rate", "1e-3")
        card = document("train", "causal", "--data", corpus, "--base", base, "--out", out, *options)
        assert card["data"]["held_back"] > 0 and card["figures"]["both"]["after"]["perplexity"] > 1
        assert (Path(out) / "model.safetensors").is_file()


def valid(folder: Path, data: Path) -> Path:
    folder.mkdir()
    lines = (data / "train_both_original_no_cands.txt").read_text().splitlines()[:24]
    own = [line for line in lines if "partner's persona" not in line]
    (folder / "valid_self_original.txt").write_text("\n".join(own) + "\n")
    return folder
