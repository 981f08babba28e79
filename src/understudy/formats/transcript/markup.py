"""Taking the markup off a transcript: HTML pages and BBCode posts become lines of plain text.

Only what really is a tag goes. Transcribers write `<Joey looks up>` and `[Cut to the hall]` too, and that is text: an
HTML tag has a known name and, if anything else, attributes, a BBCode tag is one of the few that forums know.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from understudy.sources.names import words

__all__ = ["TextLine", "looks_like_html", "page_lines", "without_bbcode"]


class TextLine(NamedTuple):
    """A line of text and the number of the source line it begins on; `gap`: blank lines stood before it."""

    number: int
    text: str
    gap: bool = False


BLOCKS = words(
    """
    address article aside blockquote body br center dd dir div dl dt fieldset footer form frame frameset h1 h2 h3 h4
    h5 h6 head header hr html li main menu nav noframes noscript ol option p pre section select table tbody td tfoot
    th thead title tr ul xmp
    """
)
INLINE = words(
    """
    a abbr acronym applet area b base basefont bdo big blink button cite code col colgroup del dfn em embed font i
    iframe img input ins kbd label link map mark marquee meta nobr object param q s samp small span strike strong
    sub sup textarea tt u var wbr
    """
)
HIDDEN = words("script style")
KEEPS_LINES = words("pre xmp")
TAGS = BLOCKS | INLINE | HIDDEN

ATTRIBUTES = r"(?:\s[^<>]*=[^<>]*|\s+(?:nowrap|noshade|compact)\b)*"
TAG = re.compile(rf"<!--|<[!?][a-z\[][^<>]*>|<(?P<close>/?)(?P<name>[a-z][a-z0-9:]*){ATTRIBUTES}\s*/?>", re.IGNORECASE)
UNFINISHED_TAG = re.compile(r"<(?:[!?]|/?(?P<name>[a-z][a-z0-9:]*))[^<>]*\Z", re.IGNORECASE)
TELLING = re.compile(r"<(?:!doctype html|html|head|title|body|p|br|div|h[1-6]|td|font|pre)\b[^<>]*>", re.IGNORECASE)
BBCODE = re.compile(
    r"\[(?:/?(?:b|i|u|s|center|quote|spoiler|list|img|url|size|color|font)|(?:quote|url|size|color|font)=[^\]]*)\]",
    re.IGNORECASE,
)
LONGEST_TAG = 4000


def looks_like_html(head: str) -> bool:
    """A page says so itself, or shows at least three tags that break lines."""
    start = head[:1000].lstrip("\ufeff \t\r\n").lower()
    if start.startswith(("<!doctype html", "<html", "<head", "<body")):
        return True
    tags = TELLING.findall(head)
    return len(tags) >= 3 or any(tag.lower().startswith("<html") for tag in tags)


def without_bbcode(text: str) -> str:
    return BBCODE.sub("", text) if "[" in text else text


def page_lines(lines: Iterable[tuple[int, str]]) -> Iterator[TextLine]:
    """The non-blank lines of an HTML page, as a browser would break them; raises `ValueError(message, line)`.

    A line end in the source is only a space there, unless inside `<pre>`.
    """
    pieces: list[str] = []
    first_line = 0
    preformatted = 0
    hidden: str | None = None
    comment_at = 0
    carry = ""
    number = 0

    def flush() -> Iterator[TextLine]:
        if not pieces:
            return
        text = " ".join(html.unescape("".join(pieces)).split())
        pieces.clear()
        if text:
            yield TextLine(first_line, text)

    for number, line in lines:
        line, carry = carry + line + "\n", ""
        position = 0
        while position < len(line):
            if comment_at:
                end = line.find("-->", position)
                if end < 0:
                    break
                comment_at, position = 0, end + 3
                continue
            match = _next_tag(line, position)
            if match is None and (unfinished := _unfinished(line, position)) is not None:
                carry, line = line[unfinished:], line[:unfinished]
            text = line[position : match.start() if match else len(line)]
            position = match.end() if match else len(line)
            if text and not hidden:
                if preformatted and "\n" in text:
                    for part in text.split("\n")[:-1]:
                        first_line = first_line if "".join(pieces).strip() else number
                        pieces.append(part)
                        yield from flush()
                    text = text[text.rindex("\n") + 1 :]
                if not pieces or (text.strip() and not "".join(pieces).strip()):
                    first_line = number
                pieces.append(text)
            if match is None:
                break
            name = (match["name"] or "").lower()
            if match[0] == "<!--":
                comment_at = number
            elif name in HIDDEN:
                hidden = None if match["close"] else name
            elif name in BLOCKS and not hidden:
                yield from flush()
                if name in KEEPS_LINES:
                    preformatted = max(0, preformatted + (-1 if match["close"] else 1))
    if comment_at:
        raise ValueError("a comment begins here and never ends: the page is cut off or damaged", comment_at)
    if hidden:
        raise ValueError(f"a <{hidden}> never ends: the page is cut off or damaged", number)
    pieces.append(carry)
    first_line = first_line or number
    yield from flush()


def _next_tag(line: str, position: int) -> re.Match[str] | None:
    while match := TAG.search(line, position):
        if match["name"] is None or match["name"].lower() in TAGS or ":" in match["name"]:
            return match
        position = match.end()
    return None


def _unfinished(line: str, position: int) -> int | None:
    """Where a tag begins that goes on in the next line, if one does."""
    match = UNFINISHED_TAG.search(line, max(position, len(line) - LONGEST_TAG))
    return match.start() if match and (match["name"] is None or match["name"].lower() in TAGS) else None
