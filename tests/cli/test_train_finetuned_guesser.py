"""`understudy train guesser`, and `guess` and `bench guess` by what it made."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from cliruns import Document, Run
from models import words_of
from speakers import tiny_reader
from talkers import COMMON, PEOPLE, WORDS, shows_folder
from understudy.formats import read
from understudy.language.model_folder import CARD

pytest.importorskip("transformers", reason="training needs the extra 'train'")

LEAST = 2 / 3  # twice what chance finds among three


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve episodes of four scenes, of which the last two are judged."""
    return shows_folder(tmp_path_factory.mktemp("guesser") / "shows", episodes=12)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    texts = [line.text for scene in read("demo").scenes() for line in scene.lines]
    own = [" ".join(some) for some in (*WORDS.values(), COMMON, PEOPLE)]
    folder = tmp_path_factory.mktemp("bases")
    return {kind: tiny_reader(folder / kind, kind, words_of([*texts, *own])) for kind in ("causal", "masked")}


@pytest.fixture(scope="module")
def who(data: Path, bases: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vanilla guesser of the show, trained through the command."""
    from click.testing import CliRunner

    from understudy.cli import understudy

    out = tmp_path_factory.mktemp("trained") / "who"
    command = ["train", "guesser", "--data", str(data), "--base", str(bases["masked"]), "--out", str(out)]
    more = ["--epochs", "40", "--batch", "8", "--held-back", "0.2", "--device", "cpu"]
    result = CliRunner().invoke(understudy, [*command, *more])
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    assert "Trained guesser on 32 scenes of The Harbour" in shown
    assert "speakers in later scenes, held back" in shown and "share it only if" in shown
    assert f"--models {out} --assigned" in shown
    return out


def accuracy(document: Any) -> dict[str, float]:
    rows = [row for row in document["rows"] if row["metric"] == "accuracy" and row["show"] == "all"]
    return {row["model"]: row["value"] for row in rows}


def test_the_card_says_whom_it_was_taught_from_what_and_how_good_it_is(who: Path) -> None:
    card = json.loads((who / CARD).read_text(encoding="utf-8"))
    assert card["casts"] == {"The Harbour": ["Ann", "Ben", "Cleo"]}
    assert card["data"] == {"The Harbour": {"scenes": 32, "lines": 32 * 6, "last": [1, 8, 4]}}
    assert card["settings"]["reading"]["kind"] == "vanilla" and card["settings"]["epochs"] == 40
    assert card["figures"]["speakers"] == 8 * 3
    assert card["figures"]["accuracy"]["all"] > LEAST and card["figures"]["assigned"]["The Harbour"] > LEAST


def test_it_is_judged_beside_others_and_together_with_them(document: Document, data: Path, who: Path) -> None:
    command = ("bench", "guess", "--data", data, "--assigned", "--together", "--models")
    figures = accuracy(document(*command, f"random,{who}"))
    assert tuple(figures) == ("random", str(who), f"{who}+assigned", f"random+{who}")
    assert min(figures[str(who)], figures[f"{who}+assigned"], figures[f"random+{who}"]) > LEAST > figures["random"]


@pytest.fixture
def two_shows(data: Path, tmp_path: Path) -> Path:
    """The show, and the same under another title with other people in it."""
    both = shutil.copytree(data, tmp_path / "both")

    def renamed(text: str) -> str:
        for name, other in (("The_Harbour", "The_Mill"), ("Ann", "Dora"), ("Ben", "Emil"), ("Cleo", "Fay")):
            text = text.replace(name, other)
            text = text.replace(name.lower(), other.lower()) if name == "The_Harbour" else text
        return text

    judged = (both / "dev.jsonl").read_text(encoding="utf-8")
    (both / "dev.jsonl").write_text(judged + renamed(judged), encoding="utf-8")
    for path in sorted((both / "transcripts").rglob("*")):
        if path.is_file():
            other = Path(renamed(str(path)))
            other.parent.mkdir(exist_ok=True)
            other.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
    return both


def test_of_a_show_that_it_was_not_taught_a_model_says_nothing(
    run: Run, document: Document, two_shows: Path, who: Path, tmp_path: Path
) -> None:
    command = ("bench", "guess", "--data", two_shows, "--models")
    judged = document(*command, f"vanilla,{who}", "--together", "--assigned")
    shows: dict[str, set[str]] = {}
    for row in judged["rows"]:
        shows.setdefault(row["model"], set()).add(row.get("show"))
    both = {"The_Harbour", "The_Mill", "all"}
    assert shows[f"vanilla+{who}"] == shows["vanilla"] == both
    assert shows[str(who)] == shows[f"{who}+assigned"] == both - {"The_Mill"}
    assert judged["manifest"]["settings"]["not taught"] == {str(who): ["The_Mill"]}
    assert list(judged["manifest"]["settings"]["weights"]) == ["vanilla", str(who)]
    stranger = shutil.copytree(who, tmp_path / "stranger")
    card = json.loads((who / CARD).read_text(encoding="utf-8"))
    (stranger / CARD).write_text(json.dumps({**card, "casts": {"Elsewhere": ["Rolf"]}}), encoding="utf-8")
    assert "was taught none of The_Harbour, The_Mill" in run(*command, stranger, status=1).stderr


def test_a_part_that_was_left_out_is_in_the_name_that_tables_have_for_it(
    document: Document, data: Path, bases: dict[str, Path]
) -> None:
    train = ("train", "guesser", "--data", data, "--base", bases["masked"], "--epochs", "1", "--device", "cpu")
    kinds = {
        "whole": ("--kind", "multi-row"),
        "no-reverse": ("--kind", "multi-row", "--without", "reverse"),
        "short": ("--kind", "scene-pooling", "--maxlen", "512", "--history", "16"),
    }
    for out, more in kinds.items():
        card = document(*train, *more, "--out", out)
        reading = card["settings"]["reading"]
        assert reading["from_end"] == (out != "no-reverse") and reading["history"] == (16 if out == "short" else 0)
    rows = document("bench", "guess", "--data", data, "--models", ",".join(("vanilla", *kinds)))["rows"]
    named = {row["model"]: row.get("kind") for row in rows if row["metric"] == "accuracy"}
    assert named == {
        "vanilla": None,
        "whole": "multi-row",
        "no-reverse": "multi-row without reverse",
        "short": "scene-pooling maxlen 512",
    }


def test_what_it_was_not_made_for_is_said(run: Run, data: Path, who: Path, tmp_path: Path) -> None:
    swapped = ("bench", "guess", "--data", data, "--models", f"vanilla,{who}", "--names", "swap")
    assert "knows people by their own names" in run(*swapped, status=1).stderr
    assert "taught no story with" in run("guess", "demo", "--model", who, status=1).stderr
    together = ("guess", "demo", "--together", "--model")
    assert "there is no guesser 'nowhere'" in run(*together, "joint,nowhere", status=1).stderr
    for spec, option in ((f"{who}+assigned", "--assigned"), (f"joint+{who}", "--together")):
        for old in (("guess", "demo", "--model", spec), ("bench", "guess", "--data", data, "--models", spec)):
            assert f"and add {option}" in run(*old, status=1).stderr
    (tmp_path / "voice").mkdir()
    (tmp_path / "voice" / CARD).write_text('{"agent": "voice", "format": 1}', encoding="utf-8")
    command = ("bench", "guess", "--data", data, "--models")
    assert "guesses nobody" in run(*command, tmp_path / "voice", status=1).stderr


@pytest.mark.parametrize(
    ("kind", "base"),
    [("multi-row", "masked"), ("scene-pooling", "masked"), ("scene-pooling", "causal"), ("naming", "causal")],
)
def test_a_story_of_ones_own(run: Run, document: Document, bases: dict[str, Path], kind: str, base: str) -> None:
    story = ("--story", "demo", "--before", "3.1", "--main", "3")
    command = ("train", "guesser", *story, "--kind", kind, "--base", bases[base])
    longest = () if kind == "multi-row" else ("--maxlen", "200")
    card = document(*command, *longest, "--out", "who", "--epochs", "1", "--held-back", "0", "--device", "cpu")
    assert card["figures"] == {} and [len(main) for main in card["casts"].values()] == [3]
    guess = ("guess", "demo", "--main", "3", "--model")
    rows = document(*guess, "who", "--from", "3.4")["rows"]
    assert next(row["n"] for row in rows if row["metric"] == "accuracy") == 3 + 3 + 2 + 3
    (first, second) = document(*guess, "who", "--assigned", "--scene", "3.2.2")["guesses"]
    for name, share in first["probabilities"].items():
        assert share == pytest.approx(1 - second["probabilities"][name])
    assert "has learned from scenes up to 2." in run(*guess, "who", "--from", "1.2", status=1).stderr
    assert "--held-back" in run(*guess, "joint,who", "--together", "--from", "3.1", status=1).stderr
    assert "--fresh" in run(*command, "--out", "who", status=1).stderr


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ((), 2, "--data DIR or --story STORY"),
        (("--data", ".", "--story", "demo"), 2, "--data DIR or --story STORY"),
        (("--story", "demo", "--shows", "Friends"), 2, "--shows goes with --data"),
        (("--data", ".", "--main", "3"), 2, "--main goes with --story"),
        (("--story", "demo", "--kind", "naming"), 2, "--base"),
        (("--story", "demo", "--maxlen", "100"), 2, "--maxlen is for"),
        (("--story", "demo", "--kind", "multi-row", "--history", "100"), 2, "--history is for"),
        (("--story", "demo", "--without", "reverse"), 2, "--without is for --kind multi-row"),
        (("--story", "demo", "--as", "Zita"), 2, "No such option"),
        (("--data", "."), 1, "dev.jsonl"),
        (("--story", "demo", "--base", "./no/such/model"), 1, "model.safetensors"),
        (("--story", "demo", "--before", "1.1"), 1, "nothing to learn from"),
    ],
)
def test_commands_that_make_no_sense(run: Run, arguments: tuple[str, ...], status: int, message: str) -> None:
    assert message in " ".join(run("train", "guesser", *arguments, "--out", "mine", status=status).stderr.split())
    assert not Path("mine").exists()


def test_shows_are_chosen_by_name(run: Run, document: Document, data: Path, bases: dict[str, Path]) -> None:
    command = ("train", "guesser", "--data", data, "--base", bases["masked"], "--out", "who", "--device", "cpu")
    assert "has no frasier: choose from The Harbour" in run(*command, "--shows", "Frasier", status=1).stderr
    card = document(*command, "--shows", "the_harbour", "--epochs", "1")
    assert list(card["casts"]) == ["The Harbour"]
    voice = run("train", "voice", "--data", data, "--kind", "vanilla", "--out", "x", status=2)
    assert "No such option" in voice.stderr


def test_the_extra_that_is_missing_is_named(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert ".[train]" in run("train", "guesser", "--data", data, "--out", "who", status=1).stderr
