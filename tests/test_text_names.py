from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.text import NameFinder, NameReplacer

INES, TOBIAS, ROSS, JACK, PIP_A, PIP_B, WILL, CHINATSU = range(1, 9)
FINDER = NameFinder(
    [
        (INES, "Ines Vale"),
        (TOBIAS, "Tobias Rook"),
        (TOBIAS, "Tob"),
        (ROSS, "Ross Geller"),
        (JACK, "Mr. Geller"),
        (PIP_A, "Philippa Stone"),
        (PIP_A, "Pip"),
        (PIP_B, "Pip"),
        (PIP_B, "Philip Marsh"),
        (WILL, "Will"),
        (CHINATSU, "千夏"),
    ]
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ines Vale has the key.", {INES}),
        ("Ask Ines's brother.", {INES}),
        ("INES! Come down!", {INES}),
        ("Tob and Vale are late", {TOBIAS, INES}),
        ("Mr. Geller called, not Ross.", {JACK, ROSS}),
        ("the Gellers; a Geller", set()),
        ("Pip knows.", set()),
        ("Philippa knows.", {PIP_A}),
        ("will you come?", set()),
        ("Not Will, surely.", {WILL}),
        ("Inescapable.", set()),
        ("それは千夏さんのです", {CHINATSU}),
        ("", set()),
    ],
)
def test_names_are_found_as_people_say_them(text: str, named: set[int]) -> None:
    assert set(FINDER.find(text)) == named


def test_it_tells_which_name_of_the_cast_was_said() -> None:
    assert list(FINDER.find_names("INES, ask Tobias Rook, Tob's brother, for Mr. Geller.")) == [
        (INES, "Ines"),
        (TOBIAS, "Tobias Rook"),
        (TOBIAS, "Tob"),
        (JACK, "Mr. Geller"),
    ]


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("Casimir went.", "Silas went."),
        ("Casimirways, and a Casimir's hat (Casimir).", "Casimirways, and a Silas's hat (Silas)."),
        ("preCasimir, Casimir2, Casimir_x", "preCasimir, Casimir2, Silas_x"),
        ("CASIMIR: No, Casimir!", "SILAS: No, Silas!"),
        ("casimir is no name", "casimir is no name"),
        ("Casimirは来た", "Silasは来た"),
        ("その人はCasimir。", "その人はSilas。"),
        ("Casimir Ould is somebody else than Casimir.", "Casimir Ould is somebody else than Silas."),
    ],
)
def test_a_name_is_replaced_where_it_stands_whole(text: str, renamed: str) -> None:
    assert NameReplacer({"Casimir": "Silas"}, ["Casimir Ould"])(text) == renamed


@pytest.mark.parametrize(
    ("names", "others", "text", "renamed"),
    [
        (
            {"カシム": "ジロー"},
            [],
            "カシムは、カシムールではない。「カシム」",
            "ジローは、カシムールではない。「ジロー」",
        ),
        ({"さくら": "うめ"}, [], "さくらが来た", "うめが来た"),
        ({"葛长顺": "王五"}, [], "葛长顺说：我叫葛长顺。", "王五说：我叫王五。"),
        ({"林安": "王五"}, ["林安国"], "林安和林安国", "王五和林安国"),
        ({"灘": "森"}, ["灘重吉"], "灘重吉さんと灘さん", "灘重吉さんと森さん"),
    ],
)
def test_names_are_replaced_where_words_are_not_set_apart(
    names: dict[str, str], others: list[str], text: str, renamed: str
) -> None:
    assert NameReplacer(names, others)(text) == renamed


@given(before=st.text(max_size=5), after=st.text(max_size=5))
def test_a_replaced_name_is_gone_or_was_part_of_a_word(before: str, after: str) -> None:
    text = f"{before}Casimir{after}"
    replaced = NameReplacer({"Casimir": "Silas"})(text)
    assert replaced in (text, f"{before}Silas{after}")
    if not before[-1:].isalnum() and not after[:1].isalnum():
        assert replaced == f"{before}Silas{after}"
