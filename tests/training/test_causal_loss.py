from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import dialogue_base, trades
from understudy.agents.causal import DialogueFormat, TokenizedDialogue
from understudy.language.backends.transformer import open_transformer
from understudy.training.causal_corpora import read_corpus
from understudy.training.loop import ALONE, Workers

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

SCALE = 0.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loss")
    dialogue_base(folder / "base", trades(folder / "data"))
    return folder


def drawn(folder: Path, model: Any) -> list[TokenizedDialogue]:
    form = DialogueFormat(model.tokenizer, 128)
    dialogues = read_corpus(folder / "data", 0, 0).training[:4]
    return [form.dialogue(dialogue.situation, dialogue.turns, dialogue.learnt) for dialogue in dialogues]


def by_hand(folder: Path, matrices: dict[str, Any], sequences: list[TokenizedDialogue]) -> float:
    """Every W replaced by W + s B A, every sequence read alone, and the mean over the tokens of replies taken."""
    import torch

    network = open_transformer(folder / "base", "cpu").network.double()
    for path in {name[:-2] for name in matrices}:
        with torch.no_grad():
            up, down = (torch.from_numpy(matrices[f"{path}.{side}"]).double() for side in "ba")
            network.get_submodule(path).weight += SCALE * up @ down
    losses = []
    for ids, learnt in sequences:
        with torch.no_grad():
            logs = network(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        losses += [-float(logs[position - 1, ids[position]]) for position in learnt]
    return float(np.mean(losses))


def test_loss_and_gradient_are_those_worked_out_by_hand(folder: Path) -> None:
    import torch

    from understudy.training.causal import DialogueLoss, LowRank

    model = open_transformer(folder / "base", "cpu")
    sequences = drawn(folder, model)
    part = LowRank(model.network, 3, SCALE, seed=1)
    rng = np.random.default_rng(4)
    matrices = {name: rng.normal(0, 0.2, values.shape).astype(np.float32) for name, values in part.start.items()}
    parameters = {name: torch.from_numpy(values).requires_grad_() for name, values in matrices.items()}
    loss = DialogueLoss(model, part, lambda _epoch, index: sequences[index], [[0, 1], [2, 3]])
    value = loss(parameters, np.arange(2), 0)
    assert float(value.detach()) == pytest.approx(by_hand(folder, matrices, sequences), rel=1e-5)
    value.backward()  # type: ignore[no-untyped-call]
    for name in ("model.layers.0.self_attn.k_proj.b", "model.layers.1.mlp.down_proj.a"):
        moved = {side: {**matrices, name: matrices[name].copy()} for side in (-1, 1)}
        for side, some in moved.items():
            some[name][2, 1] += side * 1e-2
        slope = (by_hand(folder, moved[1], sequences) - by_hand(folder, moved[-1], sequences)) / 2e-2
        gradient = parameters[name].grad
        assert gradient is not None and float(gradient[2, 1]) == pytest.approx(slope, rel=1e-2)


def test_whole_or_adapted_the_loss_begins_the_same_and_shares_of_workers_add_up(folder: Path) -> None:
    from understudy.training.causal import AllWeights, LowRank

    whole, adapted = (open_transformer(folder / "base", "cpu") for _ in range(2))
    sequences = drawn(folder, whole)
    values = []
    for model, part in (
        (whole, AllWeights(whole.network)),
        (adapted, LowRank(adapted.network, 3, SCALE, seed=1)),
    ):
        values.append(start_loss(model, part, sequences))
        shares = [start_loss(model, part, sequences, Workers(rank, 3)) for rank in range(3)]
        assert sum(shares) == pytest.approx(values[-1], rel=1e-5)
        assert start_loss(model, part, sequences[:1], Workers(1, 2)) == 0, "nothing is left for it"
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def start_loss(model: Any, part: Any, sequences: list[TokenizedDialogue], workers: Workers = ALONE) -> float:
    import torch

    from understudy.training.causal import DialogueLoss

    parameters = {name: torch.from_numpy(array) for name, array in part.start.items()}
    loss = DialogueLoss(model, part, lambda _epoch, index: sequences[index], [list(range(len(sequences)))], workers)
    return float(loss(parameters, np.arange(1), 0))


def test_sequences_of_like_length_are_read_together() -> None:
    from understudy.training.causal import passes

    sequences = [TokenizedDialogue([1] * length, [length - 1]) for length in (5, 100, 90, 7, 61, 50)]
    together = [[len(sequence.ids) for sequence in some] for some in passes(sequences)]
    assert together == [[100, 90, 61], [50], [7, 5]]
