"""Pooling, scores and losses, against the formulas done by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from speakers import scene, tiny_reader
from understudy.training.guessing.head import HEAD, Question, head_start, loss_of, scores_of
from understudy.training.guessing.script import Reading, Script, script_of
from understudy.training.guessing.trunk import Trunk, open_trunk

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("transformers", reason="training needs the extra 'train'")

TALK = scene(1, ("P0", "I like keys"), ("P1", "no more bees"), ("P0", "where are the doors"))
NAMES = ["Ines", "Vera", "Tobias"]


@pytest.fixture(scope="module", params=("causal", "masked"))
def trunk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trunk:
    found = open_trunk(tiny_reader(tmp_path_factory.mktemp(request.param), request.param))
    found.network.eval()
    return found


def parameters(trunk: Trunk, seed: int = 0) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    head = {name: array + chance.normal(size=array.shape) for name, array in head_start(trunk, 3, 0).items()}
    return {**trunk.parameters(), **{name: torch.tensor(array, dtype=torch.float32) for name, array in head.items()}}


def test_scores_are_what_the_formula_says(trunk: Trunk) -> None:
    given, script = parameters(trunk), script_of(TALK, NAMES[:2], "Keys", Reading(), trunk)
    with torch.no_grad():
        found = scores_of(given, [script], trunk, NAMES)
        (states,) = trunk.states(given, script.sequences, script.seconds)
        own = {name.removeprefix(HEAD): tensor for name, tensor in given.items() if name.startswith(HEAD)}
        for number in (0, 1):
            mine = states[[at for at, owner in enumerate(script.owners[0]) if owner == number]]
            shares = torch.softmax(torch.tanh(mine @ own["tokens.hide"].T) @ own["tokens.attend"], 0)
            x = shares @ mine
            if trunk.causal:
                question = states[script.asked[0, number]]
                x = torch.cat([x, question])
            wanted = own["cast.weight"] @ x + own["cast.bias"]
            if trunk.causal:
                wanted = wanted + own["name"] * (trunk.name_vectors(given, NAMES) @ question)
            torch.testing.assert_close(found[number], wanted, atol=1e-4, rtol=1e-4)


def test_a_mask_is_scored_alike_whatever_else_is_asked(trunk: Trunk) -> None:
    given = parameters(trunk)
    scripts = [
        script_of(one, NAMES[:2], "Keys", Reading(), trunk)
        for one in (TALK, scene(2, ("P1", "bees"), ("P0", "I like wax"), ("P1", "no more oars")))
    ]
    with torch.no_grad():
        alone = torch.cat([scores_of(given, [script], trunk, NAMES) for script in scripts])
        torch.testing.assert_close(scores_of(given, scripts, trunk, NAMES), alone, atol=1e-4, rtol=1e-4)


def question(answers: Sequence[int], candidates: Sequence[int], cast: Sequence[int]) -> Question:
    masks = tuple(f"P{number}" for number in range(len(answers)))
    return Question(Script(masks), tuple(candidates), tuple(answers), tuple(cast))


def test_the_loss_is_what_the_formula_says() -> None:
    chance = np.random.default_rng(3)
    table = chance.normal(size=(5, 7))
    asked = [question((4, 1, 2), (1, 2, 4), (1, 2, 4, 5)), question((6, 0), (0, 6), (0, 3, 6))]

    def alone(classes: Sequence[Sequence[int]]) -> float:
        answers = [4, 1, 2, 6, 0]
        among = [classes[0]] * 3 + [classes[1]] * 2
        sums = [math.log(sum(math.exp(row[one]) for one in own)) for row, own in zip(table, among)]
        return sum(float(whole - row[answer]) for whole, row, answer in zip(sums, table, answers)) / 5

    whole = 0.0
    for rows, answers in ((table[:3], (4, 1, 2)), (table[3:], (6, 0))):
        totals = [math.exp(sum(row[c] for row, c in zip(rows, way))) for way in itertools.permutations(answers)]
        whole -= math.log(totals[0] / sum(totals)) / 5
    scores = torch.tensor(table)
    assert float(loss_of(scores, asked, False, 0.0)) == pytest.approx(alone([(1, 2, 4), (0, 6)]))
    assert float(loss_of(scores, asked, True, 0.0)) == pytest.approx(alone([(1, 2, 4, 5), (0, 3, 6)]))
    assert float(loss_of(scores, asked, False, 2.0)) == pytest.approx(alone([(1, 2, 4), (0, 6)]) + 2 * whole)


def test_one_mask_alone_has_no_assignment_to_learn() -> None:
    scores = torch.tensor([[0.5, 1.5, -1.0]])
    asked = [question((1,), (0, 1, 2), (0, 1, 2))]
    assert float(loss_of(scores, asked, False, 5.0)) == pytest.approx(float(loss_of(scores, asked, False, 0.0)))
