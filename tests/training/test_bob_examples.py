from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import realdata
from models import tiny_base, tiny_data
from understudy.agents.bob_network import BertOverBert, padded
from understudy.errors import InputError
from understudy.training.bob import initial_weights
from understudy.training.bob_examples import (
    NliBatch,
    ReplyBatch,
    pair_loss,
    read_nli,
    read_replies,
    reply_losses,
    total_loss,
    unlikelihood,
)
from understudy.training.pretrained import load_base

SESSION = {
    "position": "Book1-chapter2",
    "speakers": ["Ines", "Tomas"],
    "scene": "On the quay.",
    "dialogue": ["Ines: Where is the key?", "Tomas: In my pocket.", "Ines: Give it to me.", "Tomas: No."],
    "attributes": {"Tomas": {"name": "Tomas", "age": "40"}},
    "relations with Tomas": {"Ines": {"name": "Ines", "Tomas's affection to him": -4.0, "friend": 0.0}},
}


def sessions(folder: Path, count: int) -> Path:
    (folder / "train.json").write_text(
        json.dumps({f"Session-{number}": SESSION for number in range(count)}), encoding="utf-8"
    )
    return folder


def test_personachat_is_read_from_both_chairs(tmp_path: Path) -> None:
    split = read_replies(tiny_data(tmp_path, dialogues=12), "original", "self", 0.2, 0)
    assert split.dialogues < 12 and split.held_out
    assert len(split.training) == 4 * split.dialogues
    assert all(len(reply.context.own) == 2 and not reply.context.theirs for reply in split.training)
    assert {len(reply.context.turns) for reply in split.training} == {0, 1, 2, 3}
    both = read_replies(tmp_path, "original", "both", 0.2, 0)
    assert all(reply.context.theirs for reply in both.training)


def test_sessions_of_hpd_are_read_as_their_owner_answers(tmp_path: Path) -> None:
    split = read_replies(sessions(tmp_path, 5), "original", "self", 0.2, 0)
    assert (split.dialogues, len(split.training), len(split.held_out)) == (4, 8, 2)
    first, second = split.training[:2]
    assert (first.text, second.text) == ("In my pocket.", "No.")
    assert second.context.turns == (
        (False, "Where is the key?"),
        (True, "In my pocket."),
        (False, "Give it to me."),
    )
    assert any("Ines" in sentence for sentence in first.context.own[:1])
    assert any("40" in sentence for sentence in first.context.own)


def test_pairs_are_read_in_both_orders_and_tables_in_one(tmp_path: Path) -> None:
    (tmp_path / "nli-train.txt").write_text("a</s>b</s>positive\nc</s>d</s>neutral\ne</s>f</s>negative\n")
    (tmp_path / "some_negative.tsv").write_text("g\th\n")
    pairs = read_nli(tmp_path)
    assert pairs.entailed == [("a", "b"), ("b", "a")]
    assert pairs.contradicted == [("e", "f"), ("f", "e"), ("g", "h")]
    assert set(pairs.files) == {"nli-train.txt", "some_negative.tsv"}
    assert not read_nli(None).entailed


def test_what_cannot_be_learnt_from_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has neither nli-train.txt"):
        read_nli(tmp_path)
    with pytest.raises(InputError, match="it needs one of train_both_original"):
        read_replies(tmp_path, "original", "self", 0.0, 0)
    (tmp_path / "some_positive.tsv").write_text("g\th\nnothing else\n")
    with pytest.raises(InputError, match=r"some_positive\.tsv:2.*premise"):
        read_nli(tmp_path)


def test_the_public_data_are_read() -> None:
    split = read_replies(realdata.folder("personachat"), "original", "self", 0.05, 0)
    assert len(split.training) > 15_000 and len(split.held_out) > 300
    pairs = read_nli(realdata.folder("dnli"))
    assert (len(pairs.entailed), len(pairs.contradicted)) == (2 * 2718 + 100, 2 * 2924 + 100)


# The loss of one step, computed again by hand in numpy; what unlikelihood does.

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

Array = NDArray[np.float64]
Pairs = tuple[list[list[int]], list[list[int]]]
ALPHA, BETA = 0.7, 0.3
CONTEXTS, PERSONAS = [[8, 5, 20, 21, 22, 9], [8, 5, 30, 9]], [[8, 5, 23, 24, 9], [8, 5, 25, 9]]
REPLIES = [[8, 26, 27, 28, 29, 9], [8, 31, 9]]
ENTAILED = ([[8, 5, 32, 33, 9]], [[8, 34, 35, 9]])
CONTRADICTED = ([[8, 5, 36, 9], [8, 5, 37, 38, 39, 9]], [[8, 40, 9], [8, 41, 42, 9]])


class ByHand:
    """The network for one sequence at a time, in float64, attention written out position by position."""

    def __init__(self, weights: dict[str, Any], layers: int, heads: int) -> None:
        self.weights = {name: np.asarray(tensor, np.float64) for name, tensor in weights.items()}
        self.layers, self.heads = layers, heads

    def linear(self, name: str, x: Array) -> Array:
        return np.asarray(x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return np.asarray(scaled * self.weights[f"{name}.LayerNorm.weight"] + self.weights[f"{name}.LayerNorm.bias"])

    def attention(self, query: Array, key: Array, value: Array, causal: bool) -> Array:
        size = query.shape[1] // self.heads
        result = np.zeros_like(query)
        for part in (slice(head * size, (head + 1) * size) for head in range(self.heads)):
            for row in range(len(query)):
                seen = row + 1 if causal else len(key)
                shares = np.exp(key[:seen, part] @ query[row, part] / math.sqrt(size))
                result[row, part] = shares @ value[:seen, part] / shares.sum()
        return result

    def embed(self, bert: str, ids: list[int]) -> Array:
        words, positions, types = (
            self.weights[f"{bert}.embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        return self.norm(f"{bert}.embeddings", words[ids] + positions[: len(ids)] + types[0])

    def run(self, bert: str, ids: list[int], causal: bool, **memories: tuple[Array, bool]) -> Array:
        x = self.embed(bert, ids)
        for layer in range(self.layers):
            own = f"{bert}.encoder.layer.{layer}"
            query, key, value = (self.linear(f"{own}.attention.self.{part}", x) for part in ("query", "key", "value"))
            attended = self.attention(query, key, value, causal)
            x = self.norm(f"{own}.attention.output", x + self.linear(f"{own}.attention.output.dense", attended))
            for name, (states, seen) in memories.items():
                cross = f"cross.{bert}.{name}.{layer}"
                keys, values = (self.linear(f"{cross}.{part}", states) for part in ("key", "value"))
                attended = self.attention(self.linear(f"{cross}.query", x), keys, values, seen)
                x = self.norm(cross, x + self.linear(f"{cross}.output", attended))
            inner = gelu(self.linear(f"{own}.intermediate.dense", x))
            x = self.norm(f"{own}.output", x + self.linear(f"{own}.output.dense", inner))
        return x

    def probabilities(self, decoder: str, states: Array, targets: list[int]) -> Array:
        head = f"head.{decoder}"
        transformed = self.norm(f"{head}.transform", gelu(self.linear(f"{head}.transform", states)))
        logits = transformed @ self.weights[f"{decoder}.embeddings.word_embeddings.weight"].T
        exponents = np.exp(logits + self.weights[f"{head}.bias"])
        return np.asarray((exponents / exponents.sum(axis=1, keepdims=True))[np.arange(len(targets)), targets])

    def reply(self, context: list[int], persona: list[int], reply: list[int]) -> tuple[Array, Array]:
        read = self.run("encoder", context, causal=False)
        first = self.run("response", reply[:-1], causal=True, context=(read, False))
        known = self.embed("consistency", persona)
        second = self.run("consistency", reply[:-1], causal=True, persona=(known, False), draft=(first, True))
        return tuple(
            self.probabilities(name, states, reply[1:])
            for name, states in (("response", first), ("consistency", second))
        )  # type: ignore[return-value]

    def hypothesis(self, premise: list[int], hypothesis: list[int]) -> Array:
        known = self.embed("consistency", premise)
        states = self.run("consistency", hypothesis[:-1], causal=True, persona=(known, False))
        return self.probabilities("consistency", states, hypothesis[1:])


def gelu(x: Array) -> Array:
    return np.array([0.5 * value * (1 + math.erf(value / math.sqrt(2))) for value in x.ravel()]).reshape(x.shape)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return initial_weights(load_base(tiny_base(tmp_path_factory.mktemp("base"), width=16)), seed=3)


def network(weights: dict[str, Any]) -> BertOverBert:
    return BertOverBert({name: torch.tensor(tensor) for name, tensor in weights.items()}, 2, 4, 1e-12)


def pairs(entailed: Pairs, contradicted: Pairs) -> NliBatch:
    premises, hypotheses = (
        padded([*first, *second], torch.device("cpu")) for first, second in zip(entailed, contradicted)
    )
    return NliBatch(premises, hypotheses, len(entailed[0]))


def reply_batch() -> ReplyBatch:
    return ReplyBatch(*(padded(rows, torch.device("cpu")) for rows in (CONTEXTS, PERSONAS, REPLIES)))


def test_the_loss_is_the_one_computed_by_hand(weights: dict[str, Any]) -> None:
    hand = ByHand(weights, 2, 4)
    probabilities = [hand.reply(*row) for row in zip(CONTEXTS, PERSONAS, REPLIES)]
    response, consistency = (-np.log(np.concatenate(rows)).mean() for rows in zip(*probabilities))
    likely = -np.log(np.concatenate([hand.hypothesis(*row) for row in zip(*ENTAILED)])).mean()
    unlikely = -np.log(1 - np.concatenate([hand.hypothesis(*row) for row in zip(*CONTRADICTED)])).mean()
    expected = response + ALPHA * consistency + BETA * likely + (1 - BETA) * unlikely
    total = total_loss(network(weights), reply_batch(), pairs(ENTAILED, CONTRADICTED), ALPHA, BETA)
    assert float(total) == pytest.approx(expected, rel=1e-5)
    assert [float(loss) for loss in reply_losses(network(weights), reply_batch())] == pytest.approx(
        [response, consistency], rel=1e-5
    )


def test_terms_without_pairs_are_left_out(weights: dict[str, Any]) -> None:
    response, consistency = reply_losses(network(weights), reply_batch())
    total = total_loss(network(weights), reply_batch(), None, ALPHA, BETA)
    assert float(total) == pytest.approx(float(response + ALPHA * consistency))


def test_pairs_of_one_kind_have_its_term_alone(weights: dict[str, Any]) -> None:
    both = pair_loss(network(weights), pairs(ENTAILED, CONTRADICTED), BETA)
    apart = [
        pair_loss(network(weights), pairs(ENTAILED, ([], [])), BETA),
        pair_loss(network(weights), pairs(([], []), CONTRADICTED), BETA),
    ]
    assert float(both) == pytest.approx(float(sum(apart)), rel=1e-5)
    assert all(float(part) > 0 for part in apart)


def test_the_same_words_become_likely_after_what_entails_them_and_unlikely_after_what_contradicts(
    tmp_path: Path,
) -> None:
    weights = initial_weights(load_base(tiny_base(tmp_path, width=16, layers=1)), seed=3)
    hypothesis, entailing, contradicting = [8, 34, 35, 9], [8, 5, 32, 33, 9], [8, 5, 36, 33, 9]
    parameters = {name: torch.tensor(tensor, requires_grad=True) for name, tensor in weights.items()}
    optimizer = torch.optim.Adam(parameters.values(), lr=3e-3)
    batches = reply_batch(), pairs(([entailing], [hypothesis]), ([contradicting], [hypothesis]))
    for _ in range(60):
        optimizer.zero_grad()
        total_loss(BertOverBert(parameters, 1, 4, 1e-12), *batches, ALPHA, BETA).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    def margin(of: dict[str, Any]) -> float:
        hand = ByHand(of, 1, 4)
        return float(np.log(hand.hypothesis(entailing, hypothesis) / hand.hypothesis(contradicting, hypothesis)).sum())

    assert abs(margin(weights)) < 0.5
    assert margin({name: tensor.detach().numpy() for name, tensor in parameters.items()}) > 3


def test_certainty_of_what_contradicts_has_a_finite_loss() -> None:
    logits = torch.tensor([[200.0, 0.0]], requires_grad=True)
    loss = unlikelihood(logits.log_softmax(dim=1)[:, 0])
    loss.backward()  # type: ignore[no-untyped-call]
    assert 10 < loss.item() < math.inf
    assert torch.isfinite(logits.grad).all()
