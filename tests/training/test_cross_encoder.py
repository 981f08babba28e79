from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import TRADES, tiny_base, tiny_cross_encoder, tiny_data
from people import hearing
from understudy.agents import agent_named
from understudy.agents.cross_encoder import CrossEncoder
from understudy.agents.fit import build_context
from understudy.dialogue import Situation
from understudy.encoding import Context
from understudy.errors import InputError, MissingExtra
from understudy.persona import Persona
from understudy.training import cross_encoder, train
from understudy.training.corpus import Mixing
from understudy.training.cross_encoder import CrossEncoderSettings
from understudy.training.encoder import EncoderSettings
from understudy.training.post_training import PostTrainingSettings
from understudy.training.pretrained import load_base
from understudy.training.task import TrainingTask, checkpoint_folder

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("onnx", reason="training needs the extra 'train'")

TOWERS = EncoderSettings(runs=1, epochs=3, batch=32, rate=5e-3, dropout=0.0, mixing=Mixing(synonym=0.0))
SETTINGS = CrossEncoderSettings(
    epochs=10, batch=32, rate=7e-3, drawn=12, hardest=3, others=3, dropout=0.0, weight=2.0, held_back=0.1,
    mixing=Mixing(0.1, 0.9, 0.0, 0.0, 0.0, 0.0), towers=TOWERS,
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
    return tiny_data(tmp_path_factory.mktemp("data"), dialogues=80)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, data: Path, base: Path, encoder: Path) -> Path:
    out = tmp_path_factory.mktemp("trained") / "model"
    train("cross-encoder", data, out, settings=SETTINGS, base=base, origin=encoder, device="cpu")
    return out


def opened(model: Path) -> CrossEncoder:
    agent = agent_named(str(model))
    assert isinstance(agent, CrossEncoder)
    return agent


def test_it_prefers_what_the_profile_says(trained: Path) -> None:
    agent, right = opened(trained), 0
    for thing, verb in TRADES.items():
        somebody = Situation(Persona("Somebody", profile=(f"i {verb} {thing}.", "i live by the mill.")))
        offered = [f"i {TRADES[other]} {other} all day ." for other in (thing, *(set(TRADES) - {thing}))]
        contexts = [
            build_context(somebody, hearing(f"hello , i {trade} , and you ?")) for trade in ("sail boats", "bake bread")
        ]
        right += sum(own[0] == max(own) for own in agent._pairs.scores(contexts, [offered] * 2))
    assert right >= 5  # of 24; by chance two


def test_the_card_says_what_it_is(trained: Path, encoder: Path) -> None:
    card = json.loads((trained / "model.json").read_text(encoding="utf-8"))
    assert (card["agent"], card["format"], card["seed"]) == ("cross-encoder", 1, 0)
    assert card["weight"] == 2 and card["bits"] in (8, 32)
    assert card["settings"]["towers"]["epochs"] == 3
    assert set(card["figures"]["hits@1"]) == {"none", "self"}
    assert card["figures"]["hits@1"]["self"] > 0.2  # by chance .05, beside an encoder that knows nothing
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
    from understudy.training.pair_scoring import head_start, paired, scores

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
    from understudy.training.export import peaks_of, write_cross_encoder
    from understudy.training.pair_scoring import head_start, paired, scores

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
