"""`understudy train causal` and `masked`, and what can be done with their models."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from cliruns import Document, Run
from models import dialogue_base, tiny_language_model, trades, words_of
from understudy.formats import read
from understudy.language.backends.transformer import open_transformer

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


KINDS = ("causal", "masked")


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    words = words_of(line.text for scene in read("demo").scenes() for line in scene.lines)
    folder = tmp_path_factory.mktemp("bases")
    return {kind: tiny_language_model(folder / kind, kind, words) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_train_then_score(run: Run, document: Document, bases: dict[str, Path], tmp_path: Path, kind: str) -> None:
    command = ("train", kind, "--story", "demo", "--as", "Zita", "--at", "2.3", "--base", bases[kind], "--out", "zita")
    shown = " ".join(run(*command, "--epochs", "1", "--device", "cpu").stdout.split())
    assert f"Trained {kind} on" in shown and "lines of Zita Karst before 2.3: zita" in shown
    assert "Perplexity of" in shown and "--metrics uppl --model zita" in shown
    assert "--fresh" in run(*command, status=1).stderr
    card = document(*command, "--epochs", "1", "--device", "cpu", "--fresh", "--held-back", "0")
    assert (card["agent"], card["character"], card["moment"], card["figures"]) == (kind, "Zita Karst", "2.3", {})

    lines = tmp_path / "lines.txt"
    lines.write_text("The tide is out.\n\nI keep the arrivals page.\n")
    scoring = ("score", lines, "--story", "demo", "--as", "Zita", "--at", "2.3", "--metrics", "uppl", "--model", "zita")
    rows = document(*scoring)["lines"]
    model = open_transformer("zita")
    for row in (rows[0], rows[2]):
        mean = sum(model.many([row["text"]])[0]) / len(model.many([row["text"]])[0])
        assert row["scores"]["uppl"] == pytest.approx(2.718281828459045**-mean, rel=1e-4)
        assert row["reasons"]["uppl"].startswith("least expected: ")
    assert rows[1]["scores"]["uppl"] is None
    run(*scoring, "-o", "scores.jsonl")
    written = [json.loads(line)["scores"]["uppl"] for line in Path("scores.jsonl").read_text().splitlines()]
    assert written[0] == pytest.approx(rows[0]["scores"]["uppl"], rel=1e-5)
    assert "another character" in run(*scoring[:-1], bases[kind], "-o", "scores.jsonl", status=1).stderr


def test_a_rule_may_ask_it_too(document: Document, bases: dict[str, Path], tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("The tide is out.\n")
    command = ("filter", lines, "--story", "demo", "--as", "Zita", "--no-vectors", "--store", "lines.db")
    result = document(*command, "--rule", "uppl<=1e9", "--model", bases["causal"])
    assert result["decided"] == {"approved": 1}
    (stored,) = document("utterances", "list", "--store", "lines.db")["utterances"]
    mean = sum(open_transformer(bases["causal"]).many(["The tide is out."])[0]) / 5
    assert stored["scores"]["uppl"] == pytest.approx(2.718281828459045**-mean, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("causal", "--base", "x"), 2, "with --data, or a character's lines with --story and --as"),
        (("causal", "--story", "demo", "--base", "x"), 2, "with --data, or a character's lines with --story and --as"),
        (
            ("causal", "--story", "demo", "--as", "Zita", "--base", "x", "--data", "."),
            2,
            "with --data, or a character's",
        ),
        (("causal", "--story", "demo", "--as", "Zita", "--base", "x", "--lora", "4"), 2, "--lora is for dialogues"),
        (("masked", "--story", "demo", "--as", "Zita"), 2, "Missing option '--base'"),
        (("starspace", "--data", ".", "--story", "demo"), 2, r"No such option:? '?--story"),
        (("starspace",), 2, "Missing option '--data'"),
        (("encoder", "--data", ".", "--base", "nowhere"), 2, "'nowhere' does not exist"),
        (("masked", "--story", "demo", "--as", "Nobody", "--base", "x"), 1, "called 'Nobody'"),
        (("masked", "--story", "demo", "--as", "Zita", "--base", "./no/such/model"), 1, "model.safetensors"),
    ],
)
def test_commands_that_make_no_sense(run: Run, arguments: tuple[str, ...], status: int, message: str) -> None:
    assert re.search(message, run("train", *arguments, "--out", "mine", status=status).stderr)
    assert not Path("mine").exists()


def test_the_extra_that_is_missing_is_named(
    run: Run, bases: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines.txt").write_text("The tide is out.\n")
    command = ("score", tmp_path / "lines.txt", "--story", "demo", "--as", "Zita", "--metrics", "uppl")
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert ".[train]" in run(*command, "--model", bases["causal"], status=1).stderr
    train = ("train", "causal", "--story", "demo", "--as", "Zita", "--base", bases["causal"], "--out", "mine")
    assert ".[train]" in run(*train, status=1).stderr
    run(*command)  # and without a model nothing is missed


def test_workers_ask_the_same_model(run: Run, document: Document, bases: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("daft", reason="--engine daft needs the extra 'scale'")
    from pyarrow import parquet

    lines = tmp_path / "lines.txt"
    lines.write_text("The tide is out.\n\nI keep the arrivals page.\n")
    command = ("score", lines, "--story", "demo", "--as", "Zita", "--metrics", "uppl", "--model", bases["masked"])
    wanted = [row["scores"]["uppl"] for row in document(*command)["lines"]]
    run(*command, "--engine", "daft", "-o", "scores.parquet")
    scores = parquet.read_table("scores.parquet")["uppl"].to_pylist()
    assert scores[1] is None and scores[::2] == pytest.approx(wanted[::2], rel=1e-5)
    other = (*command[:-1], bases["causal"], "--engine", "daft", "-o", "scores.parquet")
    assert "other model" in run(*other, status=1).stderr
