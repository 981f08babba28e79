"""SVG text: escaped, measured, and the axes of charts."""

from __future__ import annotations

import pytest

from understudy.svg import ChartArea, element, shorten, text_width


def test_markup_is_kept_and_text_is_escaped() -> None:
    assert (
        element("g", element("title", "<b>&"), tooltip="a<", x=1.25)
        == '<g x="1.2"><title>a&lt;</title><title>&lt;b&gt;&amp;</title></g>'
    )
    assert element("text", 'said "so"', class_="name", text_anchor="end", href=None) == (
        '<text class="name" text-anchor="end">said &quot;so&quot;</text>'
    )


@pytest.mark.parametrize(
    "text", ["Benedek", "久我志保里", "A very long name that goes on and on", "WWWWWWWWWWWWWWWWWWWW"]
)
def test_shortened_texts_fit_and_say_that_they_are_short(text: str) -> None:
    short = shorten(text, 80, 13)
    assert text_width(short, 13) <= 80
    assert short == text or short.endswith("…")


def test_ideographs_are_wider_than_letters() -> None:
    assert text_width("灘重吉", 10) == 30 > text_width("Zit", 10)


def test_values_lie_on_their_axes() -> None:
    area = ChartArea(120, 110, left=10, right=10, top=5, bottom=5, across=(2.0, 4.0), up=(-1.0, 1.0))
    assert [area.x(value) for value in (2, 3, 4)] == [10, 60, 110]
    assert [area.y(value) for value in (-1, 0, 1)] == [area.foot, 55, 5]


def test_an_axis_of_one_value_is_no_error() -> None:
    area = ChartArea(120, 110, left=10, right=10, top=5, bottom=5, across=(3.0, 3.0), up=(0.0, 0.0))
    assert (area.x(3), area.y(0)) == (10, area.foot)
