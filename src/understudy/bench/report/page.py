"""What reports are made of: the page and its style (no script, nothing fetched, light and dark), tables, and SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

__all__ = [
    "COLOURS",
    "DARK",
    "FONT",
    "LIGHT",
    "ChartArea",
    "colour",
    "element",
    "foldable",
    "label",
    "legend",
    "page",
    "path",
    "picture",
    "section",
    "table",
    "tooltip_of",
]

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'

LIGHT = ("#2f6fde", "#d9730d", "#2a9d6f", "#b8489a", "#8a6d00", "#7a5cd6", "#c43d3d", "#3a8a9e")
DARK = ("#6ea2ff", "#f2a154", "#5fd0a2", "#e68bcd", "#d6b94a", "#ab95f5", "#f08080", "#76c5d8")
COLOURS = range(len(LIGHT))
LETTER = 8.5  # width of a letter of a title, in any font; longer titles are set closer


def _style() -> str:
    """The style sheet, with the colours of agents, shows and the like."""
    light, dark = (" ".join(f"--c{index}: {each};" for index, each in enumerate(palette)) for palette in (LIGHT, DARK))
    fills = " ".join(f".c{index} {{ fill: var(--c{index}); }}" for index in COLOURS)
    css = files("understudy.bench.report").joinpath("report.css").read_text(encoding="utf-8")
    return f"{css}:root {{ {light} }} @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{fills}"


def page(title: str, parts: Iterable[str]) -> str:
    """A page of parts that are HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<main>\n"
        f"{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def section(title: str, *parts: str, note: str = "", class_: str = "") -> str:
    """A part of the page; nothing where there is nothing to show in it."""
    if not any(parts):
        return ""
    head = f"<h2>{escape(title)}</h2>{f'<p>{escape(note)}</p>' if note else ''}"
    return f"<section{f' class={class_}' if class_ else ''}>{head}{''.join(parts)}</section>\n"


def foldable(parts: Iterable[tuple[str, str]], class_: str = "") -> str:
    """Titled parts of which the first is open, and the others are a click away."""
    return "".join(
        f"<details{'' if index else ' open'}><summary>{escape(title)}</summary>"
        f"{f'<div class={class_}>{html}</div>' if class_ else html}</details>\n"
        for index, (title, html) in enumerate(parts)
    )


def legend(names: Iterable[str], more: str = "") -> str:
    """A list of names with their colours; `more` are further items, as HTML."""
    items = "".join(
        f'<li><svg viewBox="0 0 12 12" aria-hidden="true"><rect class="{colour(index)}" width="12" '
        f'height="12" rx="3"/></svg>{escape(name)}</li>'
        for index, name in enumerate(names)
    )
    return f"<ul class='legend'>{items}{more}</ul>"


def table(
    heads: Sequence[str], lines: Iterable[Sequence[str]], numbers: Sequence[int] = (), marked: int | None = None
) -> str:
    """Heads are text, cells are HTML; `numbers` are columns of figures, `marked` is a line that stands out."""

    def cell(tag: str, index: int, html: str) -> str:
        return f"<{tag}{' class=number' if index in numbers else ''}>{html}</{tag}>"

    head = "".join(cell("th", index, escape(text)) for index, text in enumerate(heads))
    body = "".join(
        f"<tr{' class=marked' if number == marked else ''}>"
        f"{''.join(cell('td', index, text) for index, text in enumerate(line))}</tr>"
        for number, line in enumerate(lines)
    )
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


# Pictures, as SVG.


def element(tag: str, *children: str, **attributes: object) -> str:
    """One element of children that are markup; `class_` becomes `class`, `text_anchor` `text-anchor`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_written(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{written}>{''.join(children)}</{tag}>"


def label(text: str, x: float, y: float, class_: str = "axis", anchor: str | None = None, **attributes: object) -> str:
    """A text that stands on a point, or ends or has its middle there."""
    return element("text", escape(text), class_=class_, x=x, y=y, text_anchor=anchor, **attributes)


def path(class_: str, d: str, tooltip: str = "", **attributes: object) -> str:
    return element("path", tooltip_of(tooltip), class_=class_, d=d, **attributes)


def tooltip_of(text: str) -> str:
    return element("title", escape(text)) if text else ""


def picture(title: str, width: float, height: float, *parts: str, summary: str = "") -> str:
    """A titled picture in a box of the page; `summary` says to screen readers what it shows."""
    is_long = len(title) > width / LETTER
    close: dict[str, Any] = {"textLength": width - 4, "lengthAdjust": "spacingAndGlyphs"} if is_long else {}
    return element(
        "svg", label(title, 2, 16, "title", **close) if title else "", *parts, class_="panel",
        viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=": ".join(filter(None, (title, summary))),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChartArea:
    """The area of a chart within its margins. Shares of it, 0 to 1, count from its left and from its bottom."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def x(self, share: float) -> float:
        return round(self.left + (self.width - self.left - self.right) * share, 1)

    def y(self, share: float) -> float:
        return round(self.height - self.bottom - (self.height - self.top - self.bottom) * share, 1)

    def across(self, share: float, text: str) -> str:
        """A line of the grid from left to right, with what it stands for."""
        line = path("grid", f"M{self.left} {self.y(share)}H{self.width - self.right}")
        return line + label(text, self.left - 5, self.y(share) + 4, anchor="end")

    def foot(self, share: float, text: str) -> str:
        """What a place on the lower edge stands for."""
        return label(text, self.x(share), self.y(0) + 15, anchor="middle")


def colour(index: int, of: str = "c") -> str:
    """The class of the colour of something by its number; `of` a line it is 's'."""
    return f"{of}{index % len(COLOURS)}"


def _written(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
