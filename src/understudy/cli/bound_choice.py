"""A bound that was found, shown before it is used: as bars in the terminal, on stderr so that --json stays one document
on stdout, and drawn into a file where one is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.show import Column, Screen, bar, heading, indented, table
from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.judging import Curve, Rule
    from understudy.judging.bounds import Point
    from understudy.metrics.significance import Interval
    from understudy.report.bound import BoundPlot, Figure

__all__ = ["plot_checked", "show_curve", "show_kept"]

ROWS = 12  # bounds that are told
BANDS = 80  # bounds whose intervals are drawn
POINTS = 400  # of a line
BAR = 16
ENDS = (".svg", ".html")


def plot_checked(plot: Path | None, *read: Path | None) -> None:
    """Said before anything is scored."""
    if plot is None:
        return
    if plot.suffix.lower() not in ENDS:
        raise click.UsageError(f"--plot draws an .svg or an .html file, not '{plot.name}'")
    if not plot.parent.is_dir():
        raise InputError("cannot be written: there is no such folder", plot)
    if plot.exists() and any(one is not None and one.exists() and plot.samefile(one) for one in read):
        raise InputError("is what is being read, and would be lost: name another with --plot", plot)


def show_curve(curve: Curve, chosen: Point, labelled: Path, plot: Path | None) -> None:
    """What each bound would do to labelled lines."""
    points = sorted({*curve.some(ROWS), chosen}, key=lambda point: point.kept)
    shares = [(point.bound, (point.precision.value, point.recall.value, point.kept)) for point in points]
    _print(curve.metric, ("precision", "recall", "keeps"), shares, points.index(chosen))
    out = _stderr()
    for name, share in (("precision", chosen.precision), ("recall", chosen.recall)):
        out.print(
            indented(f"{name} {share.value:.2f} (95%: {share.low:.2f} to {share.high:.2f}) with {curve.rule(chosen)}")
        )
    if plot is not None:
        from understudy.report.bound import bound_page

        figures = [
            (point.bound, (_figure(point.precision), _figure(point.recall), (point.kept, None))) for point in points
        ]
        note = (
            "How much of what a bound keeps is fit (precision), and how much it keeps of what is fit (recall) and of "
            f"everything (keeps). Judged on the lines of {labelled.name}, with 95% intervals."
        )
        drawn = _drawn_curve(curve, chosen)
        _write(plot, drawn, bound_page(drawn, note, figures))


def show_kept(rule: Rule, kept: Sequence[tuple[float, float]], of: Path, plot: Path | None) -> None:
    """How much of the lines each bound would keep."""
    chosen = next(place for place, (bound, _) in enumerate(kept) if bound == rule.bound)
    places = sorted({*_spaced(len(kept), ROWS), chosen})
    _print(rule.metric, ("keeps",), [(kept[place][0], (kept[place][1],)) for place in places], places.index(chosen))
    if plot is not None:
        from understudy.report.bound import BoundPlot, Share, bound_page

        points = [kept[place] for place in _spaced(len(kept), POINTS)]
        drawn = BoundPlot(rule.metric, rule.at_least, rule.bound, str(rule), [Share("keeps", points, kept[chosen][1])])
        figures = [(kept[place][0], [(kept[place][1], None)]) for place in places]
        _write(plot, drawn, bound_page(drawn, f"How much of the first lines of {of.name} a bound keeps.", figures))


def _print(metric: str, heads: Sequence[str], points: Sequence[tuple[float, Sequence[float]]], chosen: int) -> None:
    out = _stderr()
    out.print(heading(f"What a bound on {metric} would do (the one chosen is marked)"))
    columns: list[Column] = [("bound", {"no_wrap": True, "justify": "right"})]
    columns += [(head, {"no_wrap": True}) for head in heads]
    rows = (
        (
            ("> " if place == chosen else "") + f"{bound:.4g}",
            *(f"{share:.2f} {bar(share, BAR, out.options.ascii_only):<{BAR}}" for share in shares),
        )
        for place, (bound, shares) in enumerate(points)
    )
    out.print(indented(table(columns, rows)))


def _drawn_curve(curve: Curve, chosen: Point) -> BoundPlot:
    from understudy.report.bound import BoundPlot, Share

    bounds = curve.shown()
    places, some = _spaced(len(bounds), POINTS), curve.some(BANDS)

    def line(name: str, values: Sequence[float]) -> Share:
        points = [(float(bounds[place]), float(values[place])) for place in places]
        if name == "keeps":
            return Share(name, points, chosen.kept)
        found: Interval = getattr(chosen, name)
        band = [(point.bound, getattr(point, name).low, getattr(point, name).high) for point in some]
        return Share(name, points, found.value, band, (found.low, found.high))

    shares = [
        line(name, values.tolist())
        for name, values in (("precision", curve.precision), ("recall", curve.recall), ("keeps", curve.kept))
    ]
    return BoundPlot(curve.metric, curve.at_least, chosen.bound, str(curve.rule(chosen)), shares)


def _write(path: Path, drawn: BoundPlot, page: str) -> None:
    from understudy.report.bound import bound_svg

    path.write_text(bound_svg(drawn) if path.suffix.lower() == ".svg" else page, encoding="utf-8")
    click.echo(f"Drawn in {path}.", err=True)


def _spaced(size: int, most: int) -> list[int]:
    """At most so many places, the first and the last among them."""
    return sorted({round(step * (size - 1) / max(most - 1, 1)) for step in range(most)})


def _figure(share: Interval) -> Figure:
    return share.value, (share.low, share.high)


def _stderr() -> Screen:
    return Screen(stderr=True, markup=False, highlight=False, emoji=False)
