"""What each bound of a metric would do, shown before one is used: as bars on stderr, and as a plot in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.show import Column, Screen, bar, heading, indented, table
from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.judging import Curve, Rule
    from understudy.judging.rules import Point
    from understudy.metrics.statistics import Interval
    from understudy.report.bound import BoundPlot, Figure

__all__ = ["check_plot_path", "show_curve", "show_shares_kept"]

TABLE_ROWS = 12
BAND_POINTS = 80  # bounds whose intervals are drawn
LINE_POINTS = 400
BAR = 16
SUFFIXES = (".svg", ".html")


def check_plot_path(plot: Path | None, *sources: Path | None) -> None:
    """Raise where the plot cannot be written, before anything is scored."""
    if plot is None:
        return
    if plot.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"--plot draws an .svg or an .html file, not '{plot.name}'")
    if not plot.parent.is_dir():
        raise InputError("cannot be written: there is no such folder", plot)
    if plot.exists() and any(source is not None and source.exists() and plot.samefile(source) for source in sources):
        raise InputError("is what is being read, and would be lost: name another with --plot", plot)


def show_curve(curve: Curve, chosen: Point, labelled: Path, plot: Path | None) -> None:
    """What each bound would do to labelled lines."""
    points = sorted({*curve.some(TABLE_ROWS), chosen}, key=lambda point: point.kept)
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
        bound_plot = _curve_plot(curve, chosen)
        _write(plot, bound_plot, bound_page(bound_plot, note, figures))


def show_shares_kept(rule: Rule, shares: Sequence[tuple[float, float]], of: Path, plot: Path | None) -> None:
    """The share of the lines that each bound would keep."""
    chosen = next(index for index, (bound, _) in enumerate(shares) if bound == rule.bound)
    indices = sorted({*_spaced(len(shares), TABLE_ROWS), chosen})
    _print(
        rule.metric, ("keeps",), [(shares[index][0], (shares[index][1],)) for index in indices], indices.index(chosen)
    )
    if plot is not None:
        from understudy.report.bound import BoundPlot, Share, bound_page

        points = [shares[index] for index in _spaced(len(shares), LINE_POINTS)]
        bound_plot = BoundPlot(
            rule.metric, rule.at_least, rule.bound, str(rule), [Share("keeps", points, shares[chosen][1])]
        )
        figures = [(shares[index][0], [(shares[index][1], None)]) for index in indices]
        _write(
            plot,
            bound_plot,
            bound_page(bound_plot, f"How much of the first lines of {of.name} a bound keeps.", figures),
        )


def _print(metric: str, heads: Sequence[str], points: Sequence[tuple[float, Sequence[float]]], chosen: int) -> None:
    out = _stderr()
    out.print(heading(f"What a bound on {metric} would do (the one chosen is marked)"))
    columns: list[Column] = [("bound", {"no_wrap": True, "justify": "right"})]
    columns += [(head, {"no_wrap": True}) for head in heads]
    rows = (
        (
            ("> " if index == chosen else "") + f"{bound:.4g}",
            *(f"{share:.2f} {bar(share, BAR, out.options.ascii_only):<{BAR}}" for share in shares),
        )
        for index, (bound, shares) in enumerate(points)
    )
    out.print(indented(table(columns, rows)))


def _curve_plot(curve: Curve, chosen: Point) -> BoundPlot:
    from understudy.report.bound import BoundPlot, Share

    bounds = curve.shown()
    indices, some = _spaced(len(bounds), LINE_POINTS), curve.some(BAND_POINTS)

    def line(name: str, values: Sequence[float]) -> Share:
        points = [(float(bounds[index]), float(values[index])) for index in indices]
        if name == "keeps":
            return Share(name, points, chosen.kept)
        interval: Interval = getattr(chosen, name)
        band = [(point.bound, getattr(point, name).low, getattr(point, name).high) for point in some]
        return Share(name, points, interval.value, band, (interval.low, interval.high))

    shares = [
        line(name, values.tolist())
        for name, values in (("precision", curve.precision), ("recall", curve.recall), ("keeps", curve.kept))
    ]
    return BoundPlot(curve.metric, curve.at_least, chosen.bound, str(curve.rule(chosen)), shares)


def _write(path: Path, bound_plot: BoundPlot, page: str) -> None:
    from understudy.report.bound import bound_svg

    path.write_text(bound_svg(bound_plot) if path.suffix.lower() == ".svg" else page, encoding="utf-8")
    click.echo(f"Drawn in {path}.", err=True)


def _spaced(size: int, most: int) -> list[int]:
    """At most `most` indices, evenly spaced from the first to the last."""
    return sorted({round(step * (size - 1) / max(most - 1, 1)) for step in range(most)})


def _figure(share: Interval) -> Figure:
    return share.value, (share.low, share.high)


def _stderr() -> Screen:
    return Screen(stderr=True, markup=False, highlight=False, emoji=False)
