from __future__ import annotations

import pytest

from understudy.people.names import NameIndex
from understudy.people.tie_patterns import ADDRESSEE, SPEAKER, unspaced_claims
from understudy.story.types import Character

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
def test_a_line_claims_a_tie(language: str, text: str, kind: str, of: str, to: str) -> None:
    names = NameIndex([Character(name) for name in CAST[language]], language)
    found = {(claim.kind, claim.of, claim.to) for claim in unspaced_claims(language)(names.mark(text))}
    assert (kind, of, to) in found


@pytest.mark.parametrize(("language", "text"), [("ja", "母の日に千夏と会った。"), ("zh", "奶奶家里没有人。")])
def test_a_word_for_kin_alone_claims_nothing(language: str, text: str) -> None:
    names = NameIndex([Character(name) for name in CAST[language]], language)
    assert not list(unspaced_claims(language)(names.mark(text)))
