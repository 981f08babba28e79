"""One HTML file that needs nothing from anywhere: styles are inline, there is no script, and text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from understudy.report.style import STYLE

__all__ = ["page", "table"]


def page(title: str, parts: Iterable[str]) -> str:
    """A page of parts that are HTML already."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{''.join(parts)}</main>\n</body>\n</html>\n"
    )


def table(
    heads: Sequence[str], lines: Iterable[Sequence[str]], numbers: Sequence[int] = (), marked: int | None = None
) -> str:
    """Heads are text, cells are HTML; `numbers` are columns of figures, `marked` is a line that stands out."""

    def cell(tag: str, place: int, html: str) -> str:
        return f"<{tag}{' class=number' if place in numbers else ''}>{html}</{tag}>"

    head = "".join(cell("th", place, escape(text)) for place, text in enumerate(heads))
    body = "".join(
        f"<tr{' class=marked' if number == marked else ''}>"
        f"{''.join(cell('td', place, text) for place, text in enumerate(line))}</tr>"
        for number, line in enumerate(lines)
    )
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
