"""Whole pictures: escaped, titled, and portraits from initials."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.drawing import (
    BACKGROUNDS,
    LETTER_COLOUR,
    TONES,
    background,
    drawing,
    initials,
    portrait,
)
from understudy.svg import element

SVG = "{http://www.w3.org/2000/svg}"


@given(st.text(), st.text())
def test_whatever_a_text_holds_the_picture_is_xml_and_says_the_same(text: str, title: str) -> None:
    picture = drawing(title, (0, 0, 10, 10), element("text", text, data_who=text), class_="x", standalone=True)
    root = ElementTree.fromstring(picture)
    (inside,) = root.findall(f"{SVG}text")
    sayable = "".join(char for char in text if char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff"))
    sayable = "".join(char for char in sayable if not "\ud800" <= char <= "\udfff")
    assert (inside.text or "") == sayable.replace("\r\n", "\n").replace("\r", "\n")
    assert root.get("role") == "img" and root.findtext(f"{SVG}title") is not None


def test_standalone_it_brings_its_own_colours_for_light_and_dark() -> None:
    standalone = drawing("a", (0, 0, 10, 10), class_="x", standalone=True)
    within = drawing("a", (0, 0, 10, 10), class_="x", standalone=False)
    assert "prefers-color-scheme: dark" in standalone and "--d-paper" in standalone
    assert "<style" not in within


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
    assert picture == portrait(name) and background(name) in picture


def contrast(colour: str) -> float:
    def light(colour: str) -> float:
        shares = [int(colour[start : start + 2], 16) / 255 for start in (0, 2, 4)]
        red, green, blue = (share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    return (light(LETTER_COLOUR[1:]) + 0.05) / (light(colour) + 0.05)


def test_letters_can_be_read_on_every_ground() -> None:
    for colour in BACKGROUNDS:
        assert contrast(colour) >= 4.5


def test_nobody_of_a_cast_has_the_colour_of_another() -> None:
    colours = [background("Anybody", tone) for tone in range(TONES)]
    assert len(set(colours)) == TONES
    assert all(contrast(colour[1:]) >= 4.5 for colour in colours)
    assert background("Anybody", 3) == background("Somebody", 3) and background("Anybody", TONES) == colours[0]


def test_colours_are_spread_over_names() -> None:
    assert len({background(f"Somebody {number}") for number in range(200)}) == len(BACKGROUNDS)
