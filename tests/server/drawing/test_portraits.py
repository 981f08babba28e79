from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.drawing.portraits import GROUNDS, INK, ground, initials, portrait


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Zita Karst", "ZK"),
        ("Zita", "Z"),
        ("Jean-Luc Picard", "JP"),
        ("élodie d'Arc", "ÉA"),
        ("Анна Каренина", "АК"),
        ("灘重吉", "灘"),
        ("真鍋千夏", "真鍋"),
        ("久我志保里", "久我"),
        ("葛长顺", "葛"),
        ("ハリー・ポッター", "ハ"),
        ("007", "0"),
        ("  ", "?"),
        ("!?", "?"),
        ("(Voice) Off", "VO"),
    ],
)
def test_initials(name: str, letters: str) -> None:
    assert initials(name) == letters


@given(st.text(min_size=1))
def test_everybody_has_a_portrait_and_always_the_same(name: str) -> None:
    picture = portrait(name)
    root = ElementTree.fromstring(picture)
    texts = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert len(texts) == 1 and 1 <= len(texts[0] or "") <= 2
    assert picture == portrait(name) and ground(name) in picture


def test_letters_can_be_read_on_every_ground() -> None:
    def light(colour: str) -> float:
        shares = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        red, green, blue = (share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for colour in GROUNDS:
        assert (light(INK[1:]) + 0.05) / (light(colour) + 0.05) >= 4.5


def test_colours_are_spread_over_names() -> None:
    assert len({ground(f"Somebody {number}") for number in range(200)}) == len(GROUNDS)
