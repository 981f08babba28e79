from __future__ import annotations

import pytest

from understudy.people.clauses import clauses_of
from understudy.people.own_words import PASSING_KIND, own_statements


def stated(said: str) -> dict[str, str]:
    """The sentences that are stated without doubt, with their kinds."""
    found = own_statements(clauses_of(said))
    return {item.sentence: item.kind for item in found if not item.doubts and item.kind != PASSING_KIND}


@pytest.mark.parametrize(
    ("said", "sentence", "kind"),
    [
        ("I'm a nurse.", "I am a nurse", "job"),
        ("I work at a bank.", "I work at a bank", "job"),
        ("I grew up in Boston.", "I grew up in Boston", "home"),
        ("I've been sober for two years.", "I have been sober for two years", "past"),
        ("I have two dogs.", "I have two dogs", "animal"),
        ("I hate cilantro!", "I hate cilantro", "taste"),
        ("hunting is one of my favorite hobbies .", "I like hunting", "taste"),
        ("I was out with my three dogs.", "I have three dogs", "animal"),
        ("My mother is here. She is a chef.", "My mother is a chef", "kin"),
    ],
)
def test_statements(said: str, sentence: str, kind: str) -> None:
    assert stated(said).get(sentence) == kind


@pytest.mark.parametrize(
    "said",
    [
        "I'm tired.",
        "I'm here!",
        "I'm sorry.",
        "I am going to leave.",
        "I have to go.",
        "I have no idea.",
        "If I were a king, I'd sleep.",
        "I wish I was a dancer.",
        "Am I a nurse?",
        "I love it.",
        "I work there.",
    ],
)
def test_what_passes_or_is_not_said_as_true_is_no_statement(said: str) -> None:
    assert stated(said) == {}


def test_what_is_denied_is_not_taken_for_granted() -> None:
    assert "I have a baby" not in stated("It is not my baby.")
