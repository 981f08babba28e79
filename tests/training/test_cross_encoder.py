from __future__ import annotations

import hashlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import PLACES, TRADES, tiny_base, tiny_cross_encoder, tiny_data
from people import hearing
from understudy.agents import agent_named
from understudy.agents.cross_encoder import CrossEncoder
from understudy.agents.fit import build_context
from understudy.errors import InputError, MissingExtra
from understudy.language.encoding import Context
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.training import cross_encoder, train
from understudy.training.corpus import Mixing
from understudy.training.cross_encoder import CrossEncoderSettings
from understudy.training.encoder import EncoderSettings
from understudy.training.post_training import PostTrainingSettings
from understudy.training.pretrained import load_base
from understudy.training.run import TrainingTask, checkpoint_folder

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("onnx", reason="training needs the extra 'train'")

TOWERS = EncoderSettings(runs=1, epochs=1, batch=64, rate=1e-9, dropout=0.0)  # know nothing: the rest must learn it all
SETTINGS = CrossEncoderSettings(
    epochs=20, batch=32, rate=1e-2, drawn=9, hardest=3, others=4, dropout=0.0, weight=2.0, held_back=0.1,
    mixing=Mixing(0.0, 1.0, 0.0, 0.0, 0.0, 0.0), towers=TOWERS,
)  # fmt: skip
SHORT = CrossEncoderSettings(
    epochs=2, batch=32, drawn=8, hardest=2, others=2, held_back=0.1, towers=EncoderSettings(runs=1, epochs=1, batch=64),
    post_training=PostTrainingSettings(epochs=1, batch=32),
)  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder that knows nothing, so that what is right is the cross-encoder's doing."""
    return tiny_cross_encoder(tmp_path_factory.mktemp("beside") / "model") / "encoder"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"), dialogues=40)


def answers_of_profiles(folder: Path, dialogues: int = 96) -> Path:
    """Everybody is asked the same, and only the profile tells what is answered."""
    chance, lines = random.Random(7), list[str]()
    for number in range(dialogues):
        mine = sorted(TRADES)[number % len(TRADES)]
        yours = chance.choice(sorted(TRADES.keys() - {mine}))
        told = [
            f"your persona: i {TRADES[mine]} {mine}.",
            f"your persona: i live by the {chance.choice(PLACES)}.",
            f"partner's persona: i {TRADES[yours]} {yours}.",
            f"hello , what do you do ?\ti {TRADES[mine]} {mine} all day .",
        ]
        lines += [f"{line} {text}" for line, text in enumerate(told, 1)]
    (folder / "train_both_original_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    data, base = answers_of_profiles(folder), tiny_base(folder / "base", layers=1)
    train("cross-encoder", data, folder / "model", settings=SETTINGS, base=base, origin=encoder, device="cpu")
    return folder / "model"


def opened(model: Path) -> CrossEncoder:
    agent = agent_named(str(model))
    assert isinstance(agent, CrossEncoder)
    return agent


def test_it_prefers_what_the_profile_says(trained: Path) -> None:
    agent, right = opened(trained), 0
    for thing, verb in TRADES.items():
        somebody = Situation(Persona("Somebody", profile=(f"i {verb} {thing}.", "i live by the mill.")))
        offered = [f"i {TRADES[other]} {other} all day ." for other in (thing, *(set(TRADES) - {thing}))]
        [own] = agent._pairs.scores([build_context(somebody, hearing("hello , what do you do ?"))], [offered])
        right += own[0] == max(own)
    assert right > 6, "of twelve; one by chance"


def test_the_card_says_what_it_is(trained: Path, encoder: Path) -> None:
    card = json.loads((trained / "model.json").read_text(encoding="utf-8"))
    assert (card["agent"], card["format"], card["seed"]) == ("cross-encoder", 1, 0)
    assert card["weight"] == 2 and card["bits"] in (8, 32)
    assert card["settings"]["towers"]["epochs"] == 1
    assert set(card["figures"]["hits@1"]) == {"none", "self"}
    assert card["figures"]["hits@1"]["self"] > 0.1  # by chance .05, beside an encoder that knows nothing
    assert (trained / "encoder" / "encoder.int8.onnx").read_bytes() == (encoder / "encoder.int8.onnx").read_bytes()
    assert not checkpoint_folder(trained).exists()


def run(data: Path, base: Path, encoder: Path, out: Path, **options: Any) -> None:
    progress = options.pop("progress", lambda *_: None)
    arguments = {"settings": SHORT, "device": "cpu", "base": base, "origin": encoder, "every": 2, **options}
    cross_encoder.train(TrainingTask(data, out, **arguments), progress)


class Stopped(Exception):
    pass


def stopped_after(steps: int) -> Callable[[int, int, float], None]:
    seen = list[int]()

    def progress(done: int, _total: int, _loss: float) -> None:
        seen.append(done)
        if len(seen) == steps:
            raise Stopped

    return progress


def test_stopped_in_any_part_it_goes_on_to_the_same_bytes(
    data: Path, base: Path, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole = tmp_path / "stopped", tmp_path / "whole"
    every = list[int]()
    run(data, base, encoder, whole, progress=lambda done, *_: every.append(done))
    first, last = 3, 4  # within the post-training, within the towers and beyond, within the last part
    for steps in (first, len(every) // 2, last):
        with pytest.raises(Stopped):
            run(data, base, encoder, out, progress=stopped_after(steps))
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "onnx", None)
        with pytest.raises(MissingExtra, match="training is kept"):
            run(data, base, encoder, out)
    run(data, base, encoder, out, progress=stopped_after(1))  # there is no step left to make
    names = ("cross-encoder.onnx", "head.safetensors")
    same = [[hashlib.sha256((folder / name).read_bytes()).digest() for name in names] for folder in (out, whole)]
    assert same[0] == same[1]


def test_a_pair_is_read_by_itself(base: Path) -> None:
    from understudy.training.bert import paired
    from understudy.training.cross_encoder import head_start, scores

    read = load_base(base)
    head = head_start(read.shape, 0) | {"head.2.weight": np.ones((1, 32), np.float32)}
    parameters = {name: torch.from_numpy(tensor) for name, tensor in {**read.tensors, **head}.items()}
    contexts = [[8, *range(11, 11 + size), 9] for size in (1, 5, 20, 40)]
    replies = [[8, 1, *range(12, 12 + size), 9] for size in (30, 14, 2, 1)]
    on = torch.device("cpu")
    with torch.no_grad():
        together = scores(parameters, paired(contexts, replies, on), read.shape)
        alone = [
            scores(parameters, paired([context], [reply], on), read.shape) for context, reply in zip(contexts, replies)
        ]
        other = scores(parameters, paired(contexts[::-1], replies, on), read.shape)
    np.testing.assert_allclose(together, torch.cat(alone), atol=1e-5)
    assert (together - other).abs().max() > 1e-2


@pytest.mark.parametrize(("bits", "near"), [(32, 1e-4), (8, 0.25)])
def test_the_graph_gives_the_scores_of_torch(base: Path, encoder: Path, tmp_path: Path, bits: int, near: float) -> None:
    from understudy.training.bert import paired
    from understudy.training.cross_encoder import head_start, scores
    from understudy.training.export import peaks_of, write_cross_encoder

    read = load_base(base)
    head = head_start(read.shape, 0) | {"head.2.weight": np.ones((1, 32), np.float32)}
    weights = {**read.tensors, **head}
    context = Context(("i mend clocks.",), (), ((False, "hello , and you ?"), (True, "where ?")))
    texts = ["i mend clocks all day .", "by the mill .", "my house is by the mill , and where do you live all day ?"]
    agent = opened(tiny_cross_encoder(tmp_path / "read"))
    [ids] = agent._pairs._sequencer.contexts([context])
    replies = agent._pairs._sequencer.texts(texts, "reply")
    stream = paired([ids] * 3, replies, torch.device("cpu"))
    with torch.no_grad():
        parameters = {name: torch.from_numpy(tensor) for name, tensor in weights.items()}
        expected = scores(parameters, stream, read.shape).numpy()
    folder = tmp_path / "written"
    folder.mkdir()
    card = {"agent": "cross-encoder", "format": 1, "weight": 1.0}
    peaks = peaks_of(weights, read, stream)
    write_cross_encoder(folder, weights, read, encoder, card, read.form.longest, peaks, bits)
    pairs = opened(folder)._pairs
    [values] = pairs.scores([context], [texts])
    np.testing.assert_allclose(values, expected, atol=near * np.abs(expected).max())
    assert [pairs.scores([context], [[text]])[0][0] for text in texts] == values
    assert len(set(values)) == 3


def test_what_cannot_be_trained(data: Path, base: Path, tmp_path: Path) -> None:
    for wrong in ({"epochs": 0}, {"held_back": 1.0}, {"hardest": 0, "others": 0}, {"drawn": 5}, {"weight": -1.0}):
        with pytest.raises(InputError):
            CrossEncoderSettings(**wrong)
    with pytest.raises(InputError, match="no encoder's model folder"):
        train("cross-encoder", data, tmp_path / "model", base=base, origin=base)
    with pytest.raises(InputError, match="trained with CrossEncoderSettings, not with EncoderSettings"):
        train("cross-encoder", data, tmp_path / "model", base=base, settings=TOWERS)
