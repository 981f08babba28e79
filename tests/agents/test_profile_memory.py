from __future__ import annotations

import numpy as np
import pytest

from models import tiny_model
from people import hearing, situation
from understudy.agents.bag_ranker import attention, unit
from understudy.agents.profile_memory import ProfileMemory


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> ProfileMemory:
    return ProfileMemory(tiny_model("profile-memory", tmp_path_factory.mktemp("models") / "memory"))


def test_attention_is_a_softmax_of_cosines() -> None:
    rows = np.array([[3, 0], [0, 5], [0, 0]], np.float32)
    shares = attention(np.array([2, 0], np.float32), rows)
    grown = np.exp([1, 0, 0])
    np.testing.assert_allclose(shares, grown / grown.sum(), rtol=1e-6)


def test_two_hops_over_the_profile(agent: ProfileMemory) -> None:
    assert agent.hops == 2
    rows = np.stack([agent.vectors.of("brass key"), agent.vectors.of("harbour pilot")])
    query = agent.vectors.of("where is the key")
    for _ in range(2):
        cosines = np.array([unit(query) @ unit(row) for row in rows])
        shares = np.exp(cosines) / np.exp(cosines).sum()
        query = query + 0.5 * shares @ rows
    given = situation(profile=("Brass key.", "Harbour pilot."))
    expected = [unit(query) @ unit(agent.vectors.of(text)) for text in ("key", "pilot")]
    assert agent.score(given, hearing("Where is the key?"), ["Key", "Pilot"]) == pytest.approx(expected, abs=1e-6)


def test_the_sentence_that_fits_gets_the_attention(agent: ProfileMemory) -> None:
    given = situation(("Ines", "So?", "Here."), profile=("Harbour pilot.", "Brass key."))
    evidence = agent.reply(given, hearing("Where is the key?")).evidence
    sentences = [item.text for item in evidence if item.kind == "profile"]
    assert sentences[0].startswith("Brass key. (attention 0.")
    shares = [float(text.split("attention ")[1].rstrip(")")) for text in sentences]
    assert sum(shares) == pytest.approx(1, abs=0.011)


def test_without_a_profile_it_is_starspace(agent: ProfileMemory) -> None:
    query = agent.query(situation(), hearing("Where is the key?"))
    np.testing.assert_allclose(query.direction, unit(agent.vectors.of("where is the key")))
    assert query.hops == ()
