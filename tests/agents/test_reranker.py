from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models import tiny_reranker
from people import hearing, situation
from understudy.agents import agent_named
from understudy.agents.encoder import EncoderAgent
from understudy.agents.reranker import ADAPTER, Reranker, pack_matrices, unpack_matrices
from understudy.errors import InputError
from understudy.language.backends.causal_lm import find_base
from understudy.language.backends.transformer import open_transformer
from understudy.language.model_folder import read_card, read_tensors, shipped_folder

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

ASKED = hearing("Where is the brass key?")
REPLIES = ["In my pocket.", "Fog again.", "I am a pilot.", "lost it"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_reranker(tmp_path_factory.mktemp("models") / "reranker")


def test_the_score_is_the_heads_of_the_state_at_the_end_of_the_reply(model: Path) -> None:
    """By hand: the base with scale * B A added to one layer, the whole read at once, the last state."""
    import torch

    given = situation(profile=("I am a harbour pilot.",), faced="Ines")
    agent = Reranker(model)
    tensors = read_tensors(model / ADAPTER)[0]
    base = open_transformer(find_base(read_card(model, "reranker")["base"], model), "cpu")
    matrices = unpack_matrices({name: tensor for name, tensor in tensors.items() if not name.startswith("head")})
    path = "model.layers.1.self_attn.q_proj"
    with torch.no_grad():
        added = torch.from_numpy(0.5 * matrices[f"{path}.b"] @ matrices[f"{path}.a"])
        base.network.get_submodule(path).weight += added
    form = agent._scorer._format
    prompt = form.prompt(given, ASKED)
    for text, score in zip(REPLIES, agent.score_many([(given, ASKED, REPLIES)])[0]):
        with torch.no_grad():
            ids = torch.tensor([prompt + form.reply(text)])
            state = base.network.base_model(input_ids=ids).last_hidden_state[0, -1].numpy()
        wanted = float(state @ tensors["head.weight"][0] + tensors["head.bias"][0])
        assert score == pytest.approx(wanted, abs=0.05)  # in 16 bits where the processor has them


def test_together_and_alone_are_scored_alike(model: Path) -> None:
    agent, given = Reranker(model), situation(faced="Ines")
    together = agent.score_many([(given, ASKED, REPLIES), (given, [], REPLIES[:1])])
    assert together[0] == pytest.approx(agent.score(given, ASKED, REPLIES), abs=0.05)
    assert len(together[1]) == 1


def test_the_setting_is_read(model: Path) -> None:
    agent = Reranker(model)
    plain = situation(faced="Ines")
    foggy = type(plain)(plain.persona, "Fog again. Fog again.", plain.faced)
    assert agent.score(plain, ASKED, REPLIES) != agent.score(foggy, ASKED, REPLIES)


def test_other_languages_are_left_to_the_encoder(model: Path) -> None:
    given = situation(("Ines", "钥匙在哪里？", "在我口袋里。"), language="zh")
    asked = hearing("钥匙在哪里？")
    assert Reranker(model).score(given, asked, ["在我口袋里。"]) == EncoderAgent().score(given, asked, ["在我口袋里。"])


def test_a_reply_is_the_best_of_the_encoders_options(model: Path) -> None:
    given = situation(("Ines", "Where is the key?", "In my pocket."), ("Ines", "Who?", "I am a pilot."), faced="Ines")
    agent = Reranker(model)
    reply = agent.reply(given, ASKED)
    scores = [option.score for option in reply.candidates if option.score is not None]
    assert len(scores) == len(reply.candidates) and scores == sorted(scores, reverse=True)
    texts = [option.text for option in reply.candidates]
    assert [option.score for option in reply.candidates] == pytest.approx(
        agent._scorer.scores([(given, ASKED, texts)])[0], abs=0.05
    )


def test_packed_matrices_come_back_within_half_a_step() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(5, 40)).astype(np.float32)
    matrix[2] = 0
    back = unpack_matrices(pack_matrices({"m": matrix}))["m"]
    step = np.abs(matrix).max(axis=1, keepdims=True) / 127
    assert (np.abs(back - matrix) <= step / 2 + 1e-6).all()
    assert unpack_matrices({"m": matrix})["m"] is not matrix


def test_what_is_missing_is_said(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    (folder / "model.json").write_text((model / "model.json").read_text())
    with pytest.raises(InputError, match="not whole"):
        Reranker(folder)
    card = json.loads((model / "model.json").read_text())
    card["base"] = {"source": "nowhere", "sha256": "0"}
    (folder / "model.json").write_text(json.dumps(card))
    (folder / ADAPTER).write_bytes((model / ADAPTER).read_bytes())
    Reranker(model).check()
    with pytest.raises(InputError, match="base model is not on this machine"):
        Reranker(folder).check()


def test_the_shipped_model_is_named_by_its_name() -> None:
    agent = agent_named("reranker")
    assert isinstance(agent, Reranker)
    assert agent.card == read_card(shipped_folder("reranker"), "reranker")
    assert "held_back_novels" in agent.card["figures"]
    assert sum(file.stat().st_size for file in shipped_folder("reranker").iterdir()) < 6_000_000
