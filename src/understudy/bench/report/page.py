"""What reports are made of: the page and its style (no script, nothing fetched, light and dark), tables, pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from understudy.svg import Markup, element, label

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


def picture(title: str, width: float, height: float, *parts: str, summary: str = "") -> Markup:
    """A titled picture in a box of the page; `summary` says to screen readers what it shows."""
    is_long = len(title) > width / LETTER
    close: dict[str, Any] = {"textLength": width - 4, "lengthAdjust": "spacingAndGlyphs"} if is_long else {}
    return element(
        "svg", *([label(title, (2, 16), class_="title", **close)] if title else ()), *parts, class_="panel",
        viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=": ".join(filter(None, (title, summary))),
    )  # fmt: skip


def colour(index: int, of: str = "c") -> str:
    """The class of the colour of something by its number; `of` a line it is 's'."""
    return f"{of}{index % len(COLOURS)}"
