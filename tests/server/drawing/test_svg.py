from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.drawing.svg import drawing, element, shortened, width_of

SVG = "{http://www.w3.org/2000/svg}"


@given(st.text(), st.text())
def test_whatever_a_text_holds_the_picture_is_xml_and_says_the_same(text: str, title: str) -> None:
    picture = drawing(title, (0, 0, 10, 10), element("text", text, data_who=text), class_="x", alone=True)
    root = ElementTree.fromstring(picture)
    (inside,) = root.findall(f"{SVG}text")
    sayable = "".join(mark for mark in text if mark in "\t\n\r" or (mark >= " " and mark not in "\ufffe\uffff"))
    sayable = "".join(mark for mark in sayable if not "\ud800" <= mark <= "\udfff")
    assert (inside.text or "") == sayable.replace("\r\n", "\n").replace("\r", "\n")
    assert root.get("role") == "img" and root.findtext(f"{SVG}title") is not None


def test_markup_is_kept_and_text_is_escaped() -> None:
    assert element("g", element("title", "<b>&"), x=1.25) == '<g x="1.2"><title>&lt;b&gt;&amp;</title></g>'
    assert element("text", 'said "so"', class_="name", text_anchor="end", href=None) == (
        '<text class="name" text-anchor="end">said &#34;so&#34;</text>'
    )


def test_alone_it_brings_its_own_colours_for_light_and_dark() -> None:
    alone = drawing("a", (0, 0, 10, 10), class_="x", alone=True)
    within = drawing("a", (0, 0, 10, 10), class_="x", alone=False)
    assert "prefers-color-scheme: dark" in alone and "--d-paper" in alone
    assert "<style" not in within


@pytest.mark.parametrize(
    "text", ["Benedek", "久我志保里", "A very long name that goes on and on", "WWWWWWWWWWWWWWWWWWWW"]
)
def test_shortened_texts_fit_and_say_that_they_are_short(text: str) -> None:
    short = shortened(text, 80, 13)
    assert width_of(short, 13) <= 80
    assert short == text or short.endswith("…")


def test_ideographs_are_wider_than_letters() -> None:
    assert width_of("灘重吉", 10) == 30 > width_of("Zit", 10)
