"""The papers' human ratings by model, and which agent of ours is which of theirs."""

from __future__ import annotations

import pytest

from understudy.papers.hpd.published import hpd_rating
from understudy.papers.personachat.published import paper_model, personachat_rating


@pytest.mark.parametrize(
    ("agent", "given", "model"),
    [
        ("kv-memory", "self", "KV Profile Memory"),
        ("kv-memory", "none", "KV Memory"),
        ("kv-memory", "both", "kv-memory"),
        ("seq2seq", "none", "Seq2Seq"),
        ("seq2seq", "self", "seq2seq"),
        ("generative-memory", "self", "Profile Memory"),
        ("human", "self", "human"),
    ],
)
def test_people_judged_each_model_given_one_thing(agent: str, given: str, model: str) -> None:
    assert paper_model(agent, given) == model


def test_figures_as_printed() -> None:
    assert personachat_rating("human", "persona_detection") == 0.95
    assert personachat_rating("KV Profile Memory", "engagingness") == 3.50
    assert personachat_rating("encoder", "fluency") is None
    assert hpd_rating("Per-BOB", "relevance_relations") == 2.15
    assert hpd_rating("encoder", "fluency") is None
