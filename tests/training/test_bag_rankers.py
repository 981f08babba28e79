from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import tiny_data
from people import hearing
from understudy.agents import agent_named
from understudy.errors import InputError, MissingExtra
from understudy.language.model_folder import read_model
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.training import TRAINERS, train
from understudy.training.bag_rankers import BagSettings, Vocabulary, read_embeddings
from understudy.training.run import Checkpoint, TrainingTask, checkpoint_folder

pytest.importorskip("torch", reason="training needs the extra 'train'")

BAGS = ("starspace", "profile-memory", "kv-memory")
SETTINGS = BagSettings(width=32, epochs=2, batch=16, negatives=4, held_back=0.1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, data: Path) -> dict[str, Path]:
    """A model of every kind."""
    folder = tmp_path_factory.mktemp("trained")
    for name in BAGS:
        origin = folder / "profile-memory" if name == "kv-memory" else None
        train(name, data, folder / name, settings=SETTINGS, device="cpu", origin=origin)
    return {name: folder / name for name in BAGS}


def weights(model: Path) -> str:
    return hashlib.sha256((model / "weights.safetensors").read_bytes()).hexdigest()


@pytest.mark.parametrize("name", BAGS)
def test_a_model_folder_is_an_agent(trained: dict[str, Path], name: str) -> None:
    agent = agent_named(str(trained[name]))
    baker = Situation(Persona("Baker", profile=("i bake bread.", "i live by the mill.")))
    candidates = ["i bake bread all day .", "i mend clocks all day ."]
    right, wrong = agent.score(baker, hearing("what do you do ?"), candidates)
    assert right > wrong


@pytest.mark.parametrize("name", BAGS)
def test_the_card_says_what_it_is(trained: dict[str, Path], name: str) -> None:
    card = read_model(trained[name], name).card
    assert (card["trained_on"], card["condition"], card["seed"]) == ("original", "self", 0)
    assert card["data"]["file"] == "train_both_original_no_cands.txt"
    assert len(card["data"]["sha256"]) == 64
    assert card["settings"]["width"] == 32
    assert set(card["figures"]["hits@1"]) == {"none", "self", "their", "both"}
    assert card["figures"]["questions"] > 0
    assert card["created"]


def test_nothing_is_left_beside_the_models(trained: dict[str, Path]) -> None:
    assert {path.name for path in trained["starspace"].parent.iterdir()} == set(BAGS)


def test_training_makes_it_better(data: Path, trained: dict[str, Path], tmp_path: Path) -> None:
    losses: list[float] = []
    train(
        "profile-memory",
        data,
        tmp_path / "more",
        settings=BagSettings(width=32, epochs=8, batch=16, negatives=4, hops=3, held_back=0),
        device="cpu",
        progress=lambda _done, _total, loss: losses.append(loss),
    )
    assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:5])
    assert read_model(tmp_path / "more", "profile-memory").card["figures"] == {}


@pytest.mark.parametrize("condition", ["none", "their", "both"])
@pytest.mark.parametrize("name", ["starspace", "profile-memory"])
def test_any_condition(data: Path, tmp_path: Path, name: str, condition: str) -> None:
    model = train(name, data, tmp_path / "model", settings=SETTINGS, device="cpu", condition=condition)
    assert model.card["condition"] == condition


def test_revised_personas(tmp_path: Path) -> None:
    data = tiny_data(tmp_path / "data", personas="revised")
    model = train("starspace", data, tmp_path / "model", settings=SETTINGS, device="cpu", personas="revised")
    assert model.card["trained_on"] == "revised"
    with pytest.raises(InputError, match="with original personas"):
        train("starspace", data, tmp_path / "other", settings=SETTINGS)


def test_word_vectors_of_others_to_begin_with(data: Path, tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("bread 1 0 0\nclocks 0 1 0\n", encoding="utf-8")
    model = train(
        "starspace", data, tmp_path / "model", settings=SETTINGS, device="cpu", embeddings=tmp_path / "glove.txt"
    )
    assert model.tensors["vectors"].shape[1] == 3
    assert model.card["settings"]["width"] == 3


def test_common_words_begin_shorter() -> None:
    vocabulary = Vocabulary(["the key", "the boat", "the lamp"], 64, {"lamp": np.eye(64, dtype=np.float32)[0]})
    lengths = dict(zip(vocabulary.words, np.linalg.norm(vocabulary.rows, axis=1)))
    assert lengths["the"] == 0 < lengths["key"]
    assert vocabulary.rows[vocabulary.index["lamp"]].argmax() == 0


class Stopped(Exception):
    pass


def stopped_at(step: int) -> Any:
    def progress(done: int, _total: int, _loss: float) -> None:
        if done == step:
            raise Stopped

    return progress


def run(data: Path, out: Path, trainer: str = "starspace", **options: Any) -> None:
    progress = options.pop("progress", lambda *_: None)
    TRAINERS[trainer](
        TrainingTask(data, out, **{"settings": SETTINGS, "device": "cpu", "every": 3, **options}), progress
    )


def test_a_parameter_that_is_not_needed_stays_as_it_is(data: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "stopped", tmp_path / "whole"
    with pytest.raises(Stopped):
        run(data, out, "profile-memory", condition="none", progress=stopped_at(5))
    for folder in (out, whole):
        run(data, folder, "profile-memory", condition="none")
    assert weights(out) == weights(whole)


def test_a_stopped_training_goes_on_to_the_same_result(data: Path, trained: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "model"
    seen: list[int] = []
    for step in (4, 8, 9, 11):
        with pytest.raises(Stopped):
            run(data, out, progress=stopped_at(step))
        assert checkpoint_folder(out).is_dir() and not out.exists()
    run(data, out, progress=lambda done, *_: seen.append(done))
    assert seen[0] == 10
    assert weights(out) == weights(trained["starspace"])
    assert not checkpoint_folder(out).exists()


def test_killed_at_any_time_it_ends_with_the_same_weights(data: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "killed", tmp_path / "whole"
    settings = BagSettings(width=32, epochs=4, batch=16, negatives=4, held_back=0.1)
    code = f"""
import time
from pathlib import Path
from understudy.training.run import TrainingTask
from understudy.training.bag_rankers import BagSettings, train_starspace
def progress(done, total, loss):
    print(done, flush=True)
    time.sleep(0.02)
settings = {settings!r}
train_starspace(TrainingTask(Path({str(data)!r}), Path({str(out)!r}), settings, device="cpu", every=1), progress)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while (line := process.stdout.readline()) and int(line) < 7:
        pass
    time.sleep(0.013)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not out.exists()
    for folder in (out, whole):
        run(data, folder, settings=settings, every=1)
    assert weights(out) == weights(whole)


def test_a_checkpoint_of_another_training_is_refused(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(Stopped):
        run(data, out, progress=stopped_at(5))
    with pytest.raises(InputError, match=r"another training \(seed was 0, now 1\): say --fresh"):
        run(data, out, seed=1)
    with pytest.raises(InputError, match="settings margin was 0.4, now 0.2"):
        run(data, out, settings=BagSettings(width=32, epochs=2, batch=16, negatives=4, held_back=0.1, margin=0.2))
    with pytest.raises(InputError, match="data sha256 was"):
        run(tiny_data(tmp_path / "other", dialogues=30), out)
    run(data, out, seed=1, fresh=True)
    assert read_model(out, "starspace").card["seed"] == 1


def test_a_damaged_checkpoint_is_an_error(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "model.partial", {"seed": 0})
    assert checkpoint.load() is None
    checkpoint.save(3, {"a": np.zeros(2, np.float32)})
    assert (checkpoint.load() or (0,))[0] == 3
    path = tmp_path / "model.partial" / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="damaged or cut short"):
        checkpoint.load()


def test_what_is_there_is_not_written_over(data: Path, trained: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is there already.*--fresh"):
        train("starspace", data, trained["starspace"], settings=SETTINGS)
    (tmp_path / "letters.txt").touch()
    with pytest.raises(InputError, match="no model folder"):
        train("starspace", data, tmp_path, settings=SETTINGS, fresh=True)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"agent": "tfidf"}, "no model to train 'tfidf'"),
        ({"personas": "new"}, "no kind of personas 'new'"),
        ({"condition": "all"}, "no condition 'all'"),
        ({"device": "abacus"}, "not one of cpu, cuda, auto"),
        ({"agent": "kv-memory"}, "understudy train profile-memory"),
    ],
)
def test_what_cannot_be_trained(data: Path, tmp_path: Path, options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        train(**{"agent": "starspace", "data": data, "out": tmp_path / "model", **options})


def test_settings_must_make_sense() -> None:
    for wrong in ({"epochs": 0}, {"margin": -1.0}, {"held_back": 1.0}, {"rate": float("nan")}):
        with pytest.raises(InputError):
            BagSettings(**wrong)


def test_kv_memory_takes_no_other_model(data: Path, trained: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a model for 'starspace'"):
        train("kv-memory", data, tmp_path / "model", origin=trained["starspace"])


def test_without_torch_it_says_what_to_install(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"\.\[train\]"):
        train("starspace", data, tmp_path / "model")


WORDS = ("the", "key", "boat", "a", "lamp")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_only_the_words_wanted_are_kept_at_length_1(tmp_path: Path) -> None:
    vectors = read_embeddings(written(tmp_path, "key 3 4\nzebra 1 1\nboat 0 0\n"), WORDS)
    assert set(vectors) == {"key", "boat"}
    np.testing.assert_allclose(vectors["key"], [0.6, 0.8])
    np.testing.assert_allclose(vectors["boat"], [0, 0])


def test_word2vec_says_its_size_first(tmp_path: Path) -> None:
    assert set(read_embeddings(written(tmp_path, "2 3\nkey 1 2 3\nlamp 1 0 0\n"), WORDS)) == {"key", "lamp"}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("key 1 2\nlamp 1\n", 2, "has 1 numbers, where the first line has 2"),
        ("key 1 x\n", 1, "not a number"),
        ("key 1 nan\n", 1, "not finite"),
        ("key\n", 1, "belong in a line"),
        ("zebra 1 2\n", None, "none of the words"),
        ("", None, "none of the words"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, text: str, line: int | None, word: str) -> None:
    with pytest.raises(InputError, match=word) as raised:
        read_embeddings(written(tmp_path, text), WORDS)
    assert raised.value.line == line


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_embeddings(tmp_path / "nowhere.txt", WORDS)
