from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from models import tiny_model
from people import hearing, situation
from understudy.agents.causal import CausalAgent, DialogueFormat
from understudy.errors import InputError
from understudy.language.backends.transformer import open_transformer
from understudy.language.model_folder import FORMAT, write_card

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

TOLD = situation(profile=("I am a harbour pilot.",), faced="Ines")
TEXTS = ["In my pocket.", "", "Where is the key? Where is it?", "I am a pilot."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model("causal", tmp_path_factory.mktemp("causal") / "model")


@pytest.fixture(scope="module")
def agent(folder: Path) -> CausalAgent:
    return CausalAgent(folder, "cpu")


def test_log_probs_are_those_worked_out_by_hand(agent: CausalAgent, folder: Path) -> None:
    import torch

    model = open_transformer(folder, "cpu")
    form = DialogueFormat(model.tokenizer, 32)
    history = hearing("Where is the key?")
    prompt = form.prompt(TOLD, history, 24)
    for text in TEXTS:
        reply, wanted = form.reply(text)[: 32 - len(prompt)], []
        for position, token in enumerate(reply):
            with torch.no_grad():
                logits = model.network(input_ids=torch.tensor([prompt + reply[:position]])).logits[0, -1].double()
            wanted.append(float(logits[token] - torch.logsumexp(logits, 0)))
        assert agent.log_probs(TOLD, history, text) == pytest.approx(wanted, abs=1e-5)
        assert agent.score(TOLD, history, [text]) == [pytest.approx(sum(wanted) / len(wanted), abs=1e-5)]


@pytest.fixture
def passes(agent: CausalAgent) -> Iterator[list[int]]:
    """How many sequences the network has read in each pass."""
    rows = list[int]()
    note = agent._model.network.base_model.register_forward_pre_hook(
        lambda _network, _args, inputs: rows.append(len(inputs["input_ids"])), with_kwargs=True
    )
    yield rows
    note.remove()


def test_many_at_once_are_as_each_alone_in_far_fewer_passes(agent: CausalAgent, passes: list[int]) -> None:
    asked = [
        (TOLD, hearing(f"Where is the {'key boat'.split()[number % 2]}? {'it ' * number}"), TEXTS * 5)
        for number in range(6)
    ]
    many = agent.log_probs_many(asked)
    together = len(passes)
    alone = [[agent.log_probs(told, history, text) for text in texts] for told, history, texts in asked]
    assert 20 * together <= len(passes) - together
    for replies, others in zip(many, alone, strict=True):
        for values, other in zip(replies, others, strict=True):
            assert values == pytest.approx(other, abs=1e-4)
    for scores, each in zip(agent.score_many(asked), (agent.score(*question) for question in asked)):
        assert scores == pytest.approx(each, abs=1e-4)
    assert agent.log_probs_many([]) == [] and agent.log_probs_many([(TOLD, (), [])]) == [[]]


def test_many_replies_are_as_each_alone(agent: CausalAgent) -> None:
    asked = [(TOLD, hearing("key " * number)) for number in range(9)]
    replies = agent.reply_many(asked)
    assert [reply.text for reply in replies] == [agent.reply(*question).text for question in asked]
    assert agent.reply_many([]) == []


def test_one_that_has_learnt_lines_says_what_to_do(tmp_path: Path) -> None:
    write_card(tmp_path, {"agent": "causal", "format": FORMAT, "character": "Ines"})
    with pytest.raises(InputError, match="train one that answers with 'understudy train causal --data DIR'"):
        CausalAgent(tmp_path)
