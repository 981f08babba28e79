from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from understudy.bench.report.bound import BoundPlot, Share, bound_page, bound_svg

NASTY = "<b>&\"'"


def plot(bounds: tuple[float, ...] = (0.1, 0.2, 0.4), chosen: float = 0.2, metric: str = "psprob") -> BoundPlot:
    points = [(bound, index / len(bounds)) for index, bound in enumerate(bounds)]
    band = [(bound, max(share - 0.1, 0), share + 0.1) for bound, share in points]
    share = dict(points)[chosen]
    shares = [Share("precision", points, share, band, (share, share + 0.1)), Share("keeps", points, share)]
    return BoundPlot(metric, True, chosen, f"{metric}>={chosen}", shares)


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def with_class(svg: str, name: str) -> list[ElementTree.Element]:
    return [element for element in drawn(svg).iter() if name in (element.get("class") or "").split()]


def labels(svg: str) -> list[ElementTree.Element]:
    """What is written along the axes."""
    return [element for element in drawn(svg).iter() if element.tag.endswith("text") and element.get("class") is None]


def test_the_chosen_bound_lies_where_it_is_on_the_axis_and_its_shares_on_the_lines() -> None:
    svg = bound_svg(plot())
    (line, *_) = with_class(svg, "line")
    points = re.findall(r"([-\d.]+),([-\d.]+)", line.get("points") or "")
    (mark,) = with_class(svg, "chosen")
    assert float(mark.get("x1") or "") == float(points[1][0])
    dots = with_class(svg, "dot")
    positions = [(float(dot.get("cx") or ""), float(dot.get("cy") or "")) for dot in dots]
    assert positions == [(float(points[1][0]), float(points[1][1]))] * 2
    xs = [float(x) for x, _ in points]
    assert xs[2] - xs[1] == pytest.approx(2 * (xs[1] - xs[0]), abs=0.3)
    assert len(with_class(svg, "band")) == 1


def test_bounds_of_many_sizes_are_laid_out_by_their_size() -> None:
    svg = bound_svg(plot((2.0, 20.0, 200.0), 20.0, "uppl"))
    (line, *_) = with_class(svg, "line")
    xs = [float(x) for x, _ in re.findall(r"([-\d.]+),([-\d.]+)", line.get("points") or "")]
    assert xs[2] - xs[1] == pytest.approx(xs[1] - xs[0], abs=0.3)
    assert {"10", "100"} <= {element.text for element in labels(svg)}


@pytest.mark.parametrize("bounds", [(0.0,), (3.0,), (-1.0, 0.0, 1e-9), (0.0, 5e4), (1e-12, 2e-12)])
def test_any_bounds_can_be_drawn(bounds: tuple[float, ...]) -> None:
    svg = bound_svg(plot(bounds, bounds[0]))
    numbers = [
        float(number) for path in with_class(svg, "line") for number in re.findall(r"[-\d.]+", path.get("points") or "")
    ]
    assert numbers and all(0 <= number <= 400 for number in numbers)
    below = [element.text for element in labels(svg) if element.get("text-anchor") == "middle"]
    assert len(below) == len(set(below))


def test_whatever_is_text_is_escaped_and_nothing_is_fetched_or_run() -> None:
    page = bound_page(plot(metric=NASTY), NASTY, [(0.1, [(0.5, (0.4, 0.6)), (0.2, None)]), (0.2, [(0.5, None)] * 2)])
    assert NASTY not in page and "<b>" not in page
    assert not re.search(r"<script|src=|href=|url\(", page)
    assert page.count("class=marked") == 1 and "0.40 – 0.60" in page
    drawn(bound_svg(plot(metric=NASTY)))
