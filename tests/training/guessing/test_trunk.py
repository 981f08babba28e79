"""Transformers as encoders: what a state has read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from speakers import tiny_reader
from understudy.errors import InputError
from understudy.training.guessing.trunk import Trunk, alike, open_trunk

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")
pytest.importorskip("transformers", reason="training needs the extra 'train'")


@pytest.fixture(scope="module", params=("causal", "masked", "long"))
def trunk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trunk:
    found = open_trunk(tiny_reader(tmp_path_factory.mktemp(request.param), request.param))
    found.network.eval()
    return found


def states(trunk: Trunk, *sequences: list[int]) -> list[np.ndarray]:
    with torch.no_grad():
        return [found.numpy() for found in trunk.states(trunk.parameters(), sequences, [0] * len(sequences))]


def test_only_an_encoder_reads_what_comes_later(trunk: Trunk) -> None:
    begin = [trunk.first, *trunk.tokens("I like")]
    one, other = states(trunk, begin + trunk.tokens("keys"), begin + trunk.tokens("bees"))
    assert np.allclose(one[:3], other[:3], atol=1e-6) == trunk.causal
    assert not np.allclose(one[3], other[3], atol=1e-3)


def test_states_are_the_same_whatever_is_read_beside_them(trunk: Trunk) -> None:
    short, long = [trunk.first, *trunk.tokens("I like keys")], [trunk.first, *trunk.tokens("no more bees ") * 9]
    alone = [states(trunk, one)[0] for one in (short, long)]
    for one, other in zip(alone, states(trunk, short, long)):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_names_have_the_vectors_of_their_words(trunk: Trunk) -> None:
    table = trunk.network.get_input_embeddings().weight
    found = trunk.name_vectors(trunk.parameters(), ["Vera", "Ines"])
    assert torch.equal(found, table[trunk.tokens("Vera") + trunk.tokens("Ines")])


def test_rows_of_one_length_go_together_and_none_is_left_out() -> None:
    assert list(alike([5, 1, 5, 2], room=10)) == [[1, 3], [0, 2]]
    assert list(alike([30, 1], room=10)) == [[1], [0]]


def test_a_model_that_reads_too_little_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reads 64 tokens"):
        open_trunk(tiny_reader(tmp_path / "short", "masked", longest=64))


def test_what_is_no_model_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be opened"):
        open_trunk(tmp_path)
