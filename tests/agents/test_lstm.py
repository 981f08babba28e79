"""The network against numpy, one step after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from understudy.agents.lstm import initial_parameters, parameter_shapes
from understudy.agents.lstm_agent import rarity_weights

torch = pytest.importorskip("torch", reason="the models that write need the extra 'train'")

from understudy.agents.lstm import decode, encode, entries_of, log_softmax, padded, start_of, step  # noqa: E402

Reals = NDArray[np.float64]

TOKENS, WIDTH, HIDDEN = 14, 5, 7
CPU = torch.device("cpu")
WEIGHTS = rarity_weights(np.arange(1, TOKENS + 1))
START = initial_parameters(parameter_shapes(TOKENS, WIDTH, HIDDEN, has_memory=True), HIDDEN, seed=1)
START["embedding"][0] = 1  # padding is never looked up as a word
PARAMETERS = {name: torch.from_numpy(3 * tensor) for name, tensor in START.items()}
PLAIN: dict[str, Reals] = {name: 3 * tensor.astype(np.float64) for name, tensor in START.items()}


def sigmoid(values: Reals) -> Reals:
    result: Reals = 1 / (1 + np.exp(-values))
    return result


def softmax(values: Reals) -> Reals:
    grown = np.exp(values - values.max())
    result: Reals = grown / grown.sum()
    return result


def lstm(part: str, vector: Reals, hidden: Reals, cell: Reals) -> tuple[Reals, Reals]:
    gates = PLAIN[f"{part}.input"] @ vector + PLAIN[f"{part}.hidden"] @ hidden + PLAIN[f"{part}.bias"]
    opened, kept, new, shown = np.split(gates, 4)
    cell = sigmoid(kept) * cell + sigmoid(opened) * np.tanh(new)
    return sigmoid(shown) * np.tanh(cell), cell


def read(ids: list[int]) -> Reals:
    hidden = cell = np.zeros(HIDDEN)
    for index in ids:
        hidden, cell = lstm("encoder", PLAIN["embedding"][index], hidden, cell)
    return hidden


def memory(profile: list[list[int]]) -> Reals:
    alpha = [1 / (1 + np.log(1 + 1e6 / rank**1.07)) for rank in range(1, TOKENS + 1)]
    return np.stack([sum(alpha[index] * PLAIN["embedding"][index] for index in ids) for ids in profile])


def written(context: list[int], profile: list[list[int]], ids: list[int]) -> list[Reals]:
    """The probabilities of the next word at each step, by the formulas of the paper."""
    hidden = cell = read(context)
    distributions = []
    for index in ids:
        vector = PLAIN["embedding"][index]
        if profile:
            entries = memory(profile)
            attended = softmax(entries @ PLAIN["attention"] @ hidden) @ entries
            vector = np.tanh(PLAIN["combine"] @ np.concatenate([attended, vector]))
        hidden, cell = lstm("decoder", vector, hidden, cell)
        distributions.append(softmax(PLAIN["output.weight"] @ hidden + PLAIN["output.bias"]))
    return distributions


CONTEXTS = [[2, 7, 9], [2, 11, 8, 8, 12, 13], [2]]
PROFILES: list[list[list[int]]] = [[[8, 9], [10]], [[11, 12, 13]], []]
REPLIES = [[2, 8, 9, 10], [2, 13], [2, 12, 12]]


def start() -> Any:
    states = encode(PARAMETERS, padded(CONTEXTS, CPU))
    return start_of(states[torch.arange(3), torch.tensor([len(ids) - 1 for ids in CONTEXTS])])


def test_the_encoder_is_an_lstm_and_padding_changes_nothing() -> None:
    for state, ids in zip(start().hidden, CONTEXTS):
        np.testing.assert_allclose(state, read(ids), atol=1e-5)


@pytest.mark.parametrize("profiles", [PROFILES, [[], [], []]], ids=["memory", "none"])
def test_every_step_of_the_decoder_is_the_paper_s(profiles: list[list[list[int]]]) -> None:
    entries = entries_of(PARAMETERS, torch.from_numpy(WEIGHTS), profiles, CPU)
    assert (entries is None) == (not any(profiles))
    together = log_softmax(PARAMETERS, decode(PARAMETERS, start(), entries, padded(REPLIES, CPU))).exp()
    for row, (context, profile, ids) in enumerate(zip(CONTEXTS, profiles, REPLIES)):
        for position, expected in enumerate(written(context, profile, ids)):
            np.testing.assert_allclose(together[row, position], expected, atol=1e-5)


def test_one_step_after_the_other_is_the_same_as_all_at_once() -> None:
    entries = entries_of(PARAMETERS, torch.from_numpy(WEIGHTS), PROFILES, CPU)
    ids = padded([reply[:2] for reply in REPLIES], CPU)
    whole, state = decode(PARAMETERS, start(), entries, ids), start()
    for position in range(2):
        state = step(PARAMETERS, state, entries, ids[:, position])
        np.testing.assert_allclose(state.hidden, whole[:, position], atol=1e-6)
    assert state.attention is not None
    np.testing.assert_allclose(state.attention[:2].sum(dim=1), 1, atol=1e-6)
    assert state.attention[1, 1] == 0, "padding is not attended to"


def test_frequent_words_weigh_less() -> None:
    weights = rarity_weights(np.array([1, 10, 5000]))
    assert weights[0] == pytest.approx(1 / (1 + np.log(1_000_001)))
    assert weights[0] < weights[1] < weights[2] < 1
