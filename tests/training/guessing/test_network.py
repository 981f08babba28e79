"""States, pooling, scores and losses of a reader, against the formulas done by hand."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from speakers import scene, tiny_reader
from understudy.errors import InputError
from understudy.training.guessing.network import (
    HEAD,
    LabelledInput,
    Trunk,
    head_start,
    loss_of,
    open_trunk,
    reading_of,
    scores_of,
)
from understudy.training.guessing.scene_tokens import InputFormat, ReaderInput, reader_input

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("transformers", reason="training needs the extra 'train'")


@pytest.fixture(scope="module", params=("causal", "masked", "long"))
def trunk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trunk:
    opened = open_trunk(tiny_reader(tmp_path_factory.mktemp(request.param), request.param))
    opened.network.eval()
    return opened


def states(trunk: Trunk, *sequences: list[int]) -> list[np.ndarray]:
    with torch.no_grad():
        return [tensor.numpy() for tensor in trunk.states(trunk.parameters(), sequences, [0] * len(sequences))]


def test_only_an_encoder_reads_what_comes_later(trunk: Trunk) -> None:
    begin = [trunk.first, *trunk.tokens("I like")]
    keys, bees = states(trunk, begin + trunk.tokens("keys"), begin + trunk.tokens("bees"))
    assert np.allclose(keys[:3], bees[:3], atol=1e-6) == trunk.causal
    assert not np.allclose(keys[3], bees[3], atol=1e-3)


def test_states_are_the_same_whatever_is_read_beside_them(trunk: Trunk) -> None:
    short, long = [trunk.first, *trunk.tokens("I like keys")], [trunk.first, *trunk.tokens("no more bees ") * 9]
    alone = [states(trunk, sequence)[0] for sequence in (short, long)]
    for single, batched in zip(alone, states(trunk, short, long)):
        assert single.shape == batched.shape
        np.testing.assert_allclose(single, batched, atol=1e-5)


def test_names_have_the_vectors_of_their_words(trunk: Trunk) -> None:
    table = trunk.network.get_input_embeddings().weight
    vectors = trunk.name_vectors(trunk.parameters(), ["Vera", "Ines"])
    assert torch.equal(vectors, table[trunk.tokens("Vera") + trunk.tokens("Ines")])


def test_a_model_that_reads_too_little_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reads 64 tokens"):
        open_trunk(tiny_reader(tmp_path / "short", "masked", longest=64))


def test_what_is_no_model_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be opened"):
        open_trunk(tmp_path)


def test_a_longformer_reads_far_away_through_its_first_token(tmp_path: Path) -> None:
    """Two layers of windows of 16 tokens reach 16 tokens to either side; what is farther comes by the first token."""
    trunk = open_trunk(tiny_reader(tmp_path / "long", "long"))
    trunk.network.eval()
    for name, tensor in trunk.network.named_parameters():
        if "value" in name or "attention.output.dense" in name:
            tensor.data *= 30  # what is read counts for hardly anything in new weights
    keys = [trunk.first, *trunk.tokens("I like keys") * 30]
    bees = [trunk.first, *trunk.tokens("bees") * 12, *keys[13:]]
    far = np.stack([read[60] for read in states(trunk, keys, bees)])
    assert np.abs(far[0] - far[1]).max() > 1e-4
    with torch.no_grad():
        alone = trunk.network(torch.tensor([keys, bees])).last_hidden_state[:, 60].numpy()
    assert np.array_equal(alone[0], alone[1])


def test_a_longformer_reads_as_many_tokens_as_it_has_positions_for(tmp_path: Path) -> None:
    folder = tiny_reader(tmp_path / "long", "long", longest=256)
    for file, changes in (
        ("tokenizer_config.json", {"model_max_length": 10**30}),
        ("config.json", {"attention_window": [512, 16]}),
    ):
        path = folder / file
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    trunk = open_trunk(folder)
    assert trunk.longest == 257  # of 258 positions, the one of padding is never used
    assert states(trunk, [trunk.first] * trunk.longest)[0].shape == (257, 32)
    assert trunk.network.config.attention_window == [256, 16]  # not wider than the paper's


def test_how_a_model_reads_is_told_by_its_files(tmp_path: Path) -> None:
    told = {kind: reading_of(tiny_reader(tmp_path / kind, kind)) for kind in ("causal", "masked", "long")}
    assert told == {"causal": "causal", "masked": "masked", "long": "longformer"}


TALK = scene(1, ("P0", "I like keys"), ("P1", "no more bees"), ("P0", "where are the doors"))
NAMES = ["Ines", "Vera", "Tobias"]


def parameters(trunk: Trunk, seed: int = 0) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    head = {name: array + chance.normal(size=array.shape) for name, array in head_start(trunk, 3, 0).items()}
    return {**trunk.parameters(), **{name: torch.tensor(array, dtype=torch.float32) for name, array in head.items()}}


def test_scores_are_what_the_formula_says(trunk: Trunk) -> None:
    weights, encoded = parameters(trunk), reader_input(TALK, NAMES[:2], "Keys", InputFormat(), trunk)
    with torch.no_grad():
        scores = scores_of(weights, [encoded], trunk, NAMES)
        (states,) = trunk.states(weights, encoded.sequences, encoded.seconds)
        own = {name.removeprefix(HEAD): tensor for name, tensor in weights.items() if name.startswith(HEAD)}
        for number in (0, 1):
            mine = states[[at for at, owner in enumerate(encoded.owners[0]) if owner == number]]
            shares = torch.softmax(torch.tanh(mine @ own["tokens.hide"].T) @ own["tokens.attend"], 0)
            x = shares @ mine
            if trunk.causal:
                question = states[encoded.question_ends[0, number]]
                x = torch.cat([x, question])
            wanted = own["cast.weight"] @ x + own["cast.bias"]
            if trunk.causal:
                wanted = wanted + own["name"] * (trunk.name_vectors(weights, NAMES) @ question)
            torch.testing.assert_close(scores[number], wanted, atol=1e-4, rtol=1e-4)


def test_a_mask_is_scored_alike_whatever_else_is_asked(trunk: Trunk) -> None:
    weights = parameters(trunk)
    batch = [
        reader_input(talk, NAMES[:2], "Keys", InputFormat(), trunk)
        for talk in (TALK, scene(2, ("P1", "bees"), ("P0", "I like wax"), ("P1", "no more oars")))
    ]
    with torch.no_grad():
        alone = torch.cat([scores_of(weights, [encoded], trunk, NAMES) for encoded in batch])
        torch.testing.assert_close(scores_of(weights, batch, trunk, NAMES), alone, atol=1e-4, rtol=1e-4)


def question(answers: Sequence[int], candidates: Sequence[int], cast: Sequence[int]) -> LabelledInput:
    masks = tuple(f"P{number}" for number in range(len(answers)))
    return LabelledInput(ReaderInput(masks), tuple(candidates), tuple(answers), tuple(cast))


def test_the_loss_is_what_the_formula_says() -> None:
    chance = np.random.default_rng(3)
    table = chance.normal(size=(5, 7))
    inputs = [question((4, 1, 2), (1, 2, 4), (1, 2, 4, 5)), question((6, 0), (0, 6), (0, 3, 6))]

    def alone(classes: Sequence[Sequence[int]]) -> float:
        answers = [4, 1, 2, 6, 0]
        among = [classes[0]] * 3 + [classes[1]] * 2
        sums = [math.log(sum(math.exp(row[number]) for number in own)) for row, own in zip(table, among)]
        return sum(float(whole - row[answer]) for whole, row, answer in zip(sums, table, answers)) / 5

    whole = 0.0
    for rows, answers in ((table[:3], (4, 1, 2)), (table[3:], (6, 0))):
        assignments = itertools.permutations(answers)
        totals = [math.exp(sum(row[c] for row, c in zip(rows, assignment))) for assignment in assignments]
        whole -= math.log(totals[0] / sum(totals)) / 5
    scores = torch.tensor(table)
    assert float(loss_of(scores, inputs, False, 0.0)) == pytest.approx(alone([(1, 2, 4), (0, 6)]))
    assert float(loss_of(scores, inputs, True, 0.0)) == pytest.approx(alone([(1, 2, 4, 5), (0, 3, 6)]))
    assert float(loss_of(scores, inputs, False, 2.0)) == pytest.approx(alone([(1, 2, 4), (0, 6)]) + 2 * whole)


def test_one_mask_alone_has_no_assignment_to_learn() -> None:
    scores = torch.tensor([[0.5, 1.5, -1.0]])
    inputs = [question((1,), (0, 1, 2), (0, 1, 2))]
    assert float(loss_of(scores, inputs, False, 5.0)) == pytest.approx(float(loss_of(scores, inputs, False, 0.0)))
