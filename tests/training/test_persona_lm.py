"""Fine-tuning a language model on what a character has said, with tiny models of random numbers."""

from __future__ import annotations

import hashlib
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import tiny_language_model, words_of
from understudy.errors import InputError, MissingExtra
from understudy.formats import read
from understudy.language.backends.transformer import CAUSAL, MASKED, open_transformer
from understudy.language.model_folder import read_card
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story
from understudy.training import TRAINERS
from understudy.training.persona_lm import LineSettings, SpokenLines
from understudy.training.run import TrainingTask, checkpoint_folder

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

INES = [
    " ".join(said)
    for said in itertools.product(
        ("my", "our", "no"), ("key", "lock", "door"), ("is", "was"), ("on the hook", "in the drawer", "gone for good")
    )
]
TOBIAS = [
    " ".join(said)
    for said in itertools.product(
        ("we", "they", "you"), ("row", "sail", "drift"), ("past", "with"), ("the tide", "a wind", "no lights")
    )
]
KINDS = (CAUSAL, MASKED)
SETTINGS = LineSettings(epochs=12, batch=8, rate=1e-2, held_back=0.2)


def told(folder: Path, *more: str) -> Story:
    """Both take turns in the first act; in the second it is something else."""
    turns = [f"INES: {hers}\nTOBIAS: {his}" for hers, his in zip(INES[:50], TOBIAS)]
    script = folder / "keys.txt"
    script.write_text("\n".join(("# act 1", "## scene 1", *turns, "# act 2", "## scene 1", *more)) + "\n")
    return read(script)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return told(tmp_path_factory.mktemp("story"), *(f"INES: {line}" for line in INES[50:]))


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bases")
    return {kind: tiny_language_model(folder / kind, kind, words_of((*INES, *TOBIAS, "lighthouse"))) for kind in KINDS}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, story: Story, bases: dict[str, Path]) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("trained")
    for kind in KINDS:
        TRAINERS[kind](task(story, bases[kind], folder / kind))
    return {kind: folder / kind for kind in KINDS}


def task(story: Story, base: Path, out: Path, at: str = "2", **options: Any) -> TrainingTask[SpokenLines, LineSettings]:
    arguments = {"settings": SETTINGS, "device": "cpu", "every": 3, **options}
    return TrainingTask(SpokenLines.of_story(story, "Ines", at), out, base=base, **arguments)


def weights(model: Path) -> str:
    return hashlib.sha256((model / "model.safetensors").read_bytes()).hexdigest()


def perplexity(model: Path, lines: list[str]) -> float:
    values = [value for values in open_transformer(model, "cpu").many(lines) for value in values]
    return float(np.exp(-np.mean(values)))


def test_the_story_is_what_the_tests_take_it_for(story: Story) -> None:
    said = [line.text for line in persona_at(story, "Ines", "2").past.lines()]
    assert said == INES[:50]


@pytest.mark.parametrize("kind", KINDS)
def test_lines_held_back_become_less_surprising_and_anothers_do_not(
    story: Story, bases: dict[str, Path], trained: dict[str, Path], kind: str
) -> None:
    unheard = INES[50:]  # said after the moment: nothing was learnt from them, or chosen by them
    own = perplexity(trained[kind], unheard) / perplexity(bases[kind], unheard)
    others = perplexity(trained[kind], TOBIAS) / perplexity(bases[kind], TOBIAS)
    assert own < 0.5 and own < 0.5 * others


@pytest.mark.parametrize("kind", KINDS)
def test_the_card_says_what_was_learnt_and_how_good_it_is(story: Story, trained: dict[str, Path], kind: str) -> None:
    card = read_card(trained[kind], kind)
    assert (card["story"], card["character"], card["moment"]) == (story.title, "Ines", "2")
    assert (card["data"]["lines"], card["data"]["held_back"]) == (40, 10)
    figures = card["figures"]
    assert figures["perplexity"]["after"] < 0.5 * figures["perplexity"]["before"] and 0 < figures["epochs"] <= 12
    assert {path.name for path in trained[kind].parent.iterdir()} == set(KINDS)  # nothing is left beside


def test_nothing_said_at_the_moment_or_later_is_learnt(story: Story, bases: dict[str, Path], tmp_path: Path) -> None:
    """Two stories that differ only after the moment give the same model."""
    few = replace(SETTINGS, epochs=2)
    TRAINERS[CAUSAL](task(story, bases[CAUSAL], tmp_path / "one", settings=few))
    TRAINERS[CAUSAL](
        task(told(tmp_path, "INES: only now I know of the lighthouse"), bases[CAUSAL], tmp_path / "two", settings=few),
    )
    assert weights(tmp_path / "one") == weights(tmp_path / "two")


class Stopped(Exception):
    pass


def stopped_at(step: int) -> Any:
    def progress(done: int, _total: int, _loss: float) -> None:
        if done == step:
            raise Stopped

    return progress


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_training_goes_on_to_the_same_model(
    story: Story, bases: dict[str, Path], trained: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "model"
    for step in (2, 8, 13, 21):
        with pytest.raises(Stopped):
            TRAINERS[kind](task(story, bases[kind], out), stopped_at(step))
        assert checkpoint_folder(out).is_dir() and not out.exists()
    TRAINERS[kind](task(story, bases[kind], out))
    assert weights(out) == weights(trained[kind]) and not checkpoint_folder(out).exists()
    assert read_card(out, kind)["figures"] == read_card(trained[kind], kind)["figures"]


def test_it_ends_when_held_back_lines_get_no_better_and_keeps_the_best(
    story: Story, bases: dict[str, Path], tmp_path: Path
) -> None:
    """A rate that wrecks the model at once: the base itself is the best there was, and is what is kept."""
    steps: list[int] = []
    wild = replace(SETTINGS, rate=50.0, epochs=30, patience=3)
    model = TRAINERS[CAUSAL](
        task(story, bases[CAUSAL], tmp_path / "model", settings=wild), lambda done, *_: steps.append(done)
    )
    assert steps[-1] == 3 * 5  # three epochs of 40 lines, eight at a time
    assert model.card["figures"]["epochs"] == 0
    assert perplexity(tmp_path / "model", INES) == pytest.approx(perplexity(bases[CAUSAL], INES), rel=1e-4)


def test_without_lines_held_back_there_are_no_figures(story: Story, bases: dict[str, Path], tmp_path: Path) -> None:
    all_of_them = replace(SETTINGS, held_back=0, epochs=2)
    model = TRAINERS[MASKED](task(story, bases[MASKED], tmp_path / "model", settings=all_of_them))
    assert model.card["figures"] == {} and model.card["data"]["lines"] == 50
    assert perplexity(tmp_path / "model", INES) < perplexity(bases[MASKED], INES)


def test_what_cannot_be_trained_says_why(story: Story, bases: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(InputError, match="is a masked model: train it with 'understudy train masked'"):
        TRAINERS[CAUSAL](task(story, bases[MASKED], out))
    with pytest.raises(InputError, match="Ines has 1 different lines before this moment, and at least 20"):
        TRAINERS[CAUSAL](task(story, bases[CAUSAL], out, at="1.1.2"))
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    with pytest.raises(InputError, match="no model folder"):
        TRAINERS[CAUSAL](task(story, bases[CAUSAL], out, fresh=True))


def test_a_checkpoint_of_other_lines_is_refused(story: Story, bases: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        TRAINERS[CAUSAL](task(story, bases[CAUSAL], tmp_path / "model"), stopped_at(8))
    his = SpokenLines.of_story(story, "Tobias", "2")
    with pytest.raises(InputError, match="belongs to another training"):
        TRAINERS[CAUSAL](replace(task(story, bases[CAUSAL], tmp_path / "model"), data=his))


def test_lines_of_no_story_are_learnt_alike(story: Story, bases: dict[str, Path], tmp_path: Path) -> None:
    few = replace(SETTINGS, epochs=2)
    loose = SpokenLines("Ines", INES[:50], "en", "keys.json")
    own = TRAINERS[MASKED](task(story, bases[MASKED], tmp_path / "story", settings=few))
    given = TRAINERS[MASKED](TrainingTask(loose, tmp_path / "lines", few, bases[MASKED], device="cpu"))
    assert weights(tmp_path / "story") == weights(tmp_path / "lines")
    assert (given.card["story"], given.card["moment"], given.card["data"]) == ("keys.json", "", own.card["data"])
    with pytest.raises(InputError, match="Ines has 3 different lines, and at least 20 are needed: choose somebody"):
        TRAINERS[MASKED](TrainingTask(replace(loose, texts=INES[:3]), tmp_path / "few", few, bases[MASKED]))


def test_a_missing_extra_is_named(
    story: Story, bases: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"\.\[train\]"):
        TRAINERS[CAUSAL](task(story, bases[CAUSAL], tmp_path / "model"))
