from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.people.names import NameIndex
from understudy.people.tie_patterns import ADDRESSEE, SPEAKER, claims, label_claim, may_claim, unspaced_claims
from understudy.story.types import Character

NAMES = NameIndex([Character(name) for name in ("Nora", "Pavel", "Lida", "Ivo", "Lida's Dad")])


@pytest.mark.parametrize(
    ("text", "kind", "of", "to"),
    [
        ("my sister Nora", "sibling", SPEAKER, "Nora"),
        ("Nora, my sister, is here", "sibling", SPEAKER, "Nora"),
        ("This is my wife, Nora.", "spouse", SPEAKER, "Nora"),
        ("You're my brother, Pavel.", "sibling", SPEAKER, ADDRESSEE),
        ("I am your father.", "parent", ADDRESSEE, SPEAKER),
        ("Pavel's son Ivo", "child", "Pavel", "Ivo"),
        ("Pavel and his wife Nora", "spouse", "Pavel", "Nora"),
        ("Oh, Mom!", "parent", SPEAKER, ADDRESSEE),
        ("We're married.", "spouse", SPEAKER, ADDRESSEE),
        ("We're getting married.", "lover", SPEAKER, ADDRESSEE),
        ("I, Pavel, take thee, Nora", "spouse", "Pavel", "Nora"),
        ("Nora is dating Ivo.", "lover", "Nora", "Ivo"),
        ("Uncle Ivo!", "family", SPEAKER, "Ivo"),
        ("my best friend Ivo", "friend", SPEAKER, "Ivo"),
    ],
)
def test_a_line_claims_a_tie(text: str, kind: str, of: str, to: str) -> None:
    assert may_claim(text)
    assert (kind, of, to) in {(claim.kind, claim.of, claim.to) for claim in claims(NAMES.mark(text), False)}


def test_an_end_is_an_end() -> None:
    (claim,) = claims(NAMES.mark("Nora broke up with Ivo."), is_direction=False)
    assert claim.has_ended
    (claim,) = claims(NAMES.mark("my ex-wife Nora"), is_direction=False)
    assert (claim.term, claim.has_ended) == ("ex-wife", True)


def test_a_question_counts_less() -> None:
    (said,) = claims(NAMES.mark("Nora is your sister."), is_direction=False)
    (asked,) = claims(NAMES.mark("Nora is your sister?"), is_direction=False)
    assert asked.factor < said.factor


def test_a_direction_shows_a_kiss() -> None:
    (claim,) = claims(NAMES.mark("Pavel leans over and kisses Nora."), is_direction=True)
    assert (claim.kind, claim.of, claim.to) == ("lover", "Pavel", "Nora")


def test_a_label_says_whose_somebody_is() -> None:
    claim = label_claim("Lida's Dad", NAMES)
    assert claim is not None
    assert (claim.kind, claim.of, claim.to) == ("parent", "Lida", "Lida's Dad")
    assert label_claim("Lida", NAMES) is None


@given(st.lists(st.sampled_from("my Nora Pavel is wife , . sister and we married kisses 's your Mom take I".split())))
def test_any_words_can_be_read(words: list[str]) -> None:
    for is_direction in (True, False):
        assert all(claim.of != claim.to for claim in claims(NAMES.mark(" ".join(words)), is_direction))


CAST = {"ja": ("千夏", "重吉"), "zh": ("小满", "长顺")}


@pytest.mark.parametrize(
    ("language", "text", "kind", "of", "to"),
    [
        ("ja", "私の妹の千夏です。", "sibling", SPEAKER, "千夏"),
        ("ja", "千夏は重吉の孫だ。", "grandchild", "重吉", "千夏"),
        ("ja", "ねえ、お母さん、見て。", "parent", SPEAKER, ADDRESSEE),
        ("zh", "这是我女儿小满。", "child", SPEAKER, "小满"),
        ("zh", "小满是长顺的孙女。", "grandchild", "长顺", "小满"),
        ("zh", "爷爷，你看！", "grandparent", SPEAKER, ADDRESSEE),
    ],
)
def test_a_line_without_spaces_claims_a_tie(language: str, text: str, kind: str, of: str, to: str) -> None:
    names = NameIndex([Character(name) for name in CAST[language]], language)
    found = {(claim.kind, claim.of, claim.to) for claim in unspaced_claims(language)(names.mark(text))}
    assert (kind, of, to) in found


@pytest.mark.parametrize(("language", "text"), [("ja", "母の日に千夏と会った。"), ("zh", "奶奶家里没有人。")])
def test_a_word_for_kin_alone_claims_nothing(language: str, text: str) -> None:
    names = NameIndex([Character(name) for name in CAST[language]], language)
    assert not list(unspaced_claims(language)(names.mark(text)))
