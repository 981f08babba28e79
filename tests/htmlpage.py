"""What a test wants to know of an HTML page."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Page"]


class Page(HTMLParser):
    """The ids, links and text of a page; the people on its graph and the moments of the marks on its chart."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.around: list[str] = []
        self.marks: list[str] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        for name, kept in (("id", self.ids), ("data-who", self.around), ("data-moment", self.marks)):
            if told.get(name):
                kept.append(str(told[name]))
        if tag == "a" and told.get("href"):
            self.links.append(str(told["href"]))

    def handle_data(self, data: str) -> None:
        self.text += data
