"""Transcripts as found: plain text or HTML, `Name: text`, directions in brackets, scene markers of all kinds.

Two passes over the lines: the first counts labels and how lines wrap, the second makes events. A file of ordinary
size is kept in memory for that; a larger one is read twice as a stream, so that memory does not grow with it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from understudy.formats.evidence import FileEvidence, measure
from understudy.formats.transcript.labels import TextLine, collect_statistics
from understudy.formats.transcript.line_parser import parse_lines
from understudy.sources import Event, Heading, Opening, Reader
from understudy.sources.names import words
from understudy.sources.source import SourceFile

LOST = " "
LOOK_AHEAD = 4 * 1024 * 1024
LEVELS = ("season", "episode", "scene", "line")


def events(source: SourceFile) -> Iterator[Event]:
    evidence = measure(source.head(), source.path)
    numbers = evidence.episode
    yield Opening(LEVELS if numbers else LEVELS[-2:])
    if numbers:
        yield Heading(source.at(1), episode_title(evidence), numbers, units=0)
    if source.size <= LOOK_AHEAD:
        lines = list(text_lines(source))
        yield from parse_lines(source, lines, collect_statistics(lines))
    else:
        stats = collect_statistics(text_lines(source.reopened()))
        yield from parse_lines(source, text_lines(source), stats)


def text_lines(source: SourceFile) -> Iterator[TextLine]:
    """The non-blank lines of a file without its markup, counted into `source.units`."""
    if not measure(source.head(), source.path).is_html:
        yield from _plain(source)
        return
    # the units of a page are its lines without markup, not the lines of its source
    page = source.reopened(source.progress)
    try:
        for line in page_lines(page.lines(lost=LOST)):
            source.units += 1
            yield line
    except ValueError as error:
        raise source.error(*error.args) from error


def _plain(source: SourceFile) -> Iterator[TextLine]:
    gap = False
    for number, line in source.lines(lost=LOST):
        text = line.strip()
        if not line or line.isspace():
            gap = True
        else:
            yield TextLine(number, text, gap)
            gap = False


READER = Reader("transcript", events)


TOP = 3000  # characters in which a title stands
HTML_TITLE = re.compile(r"<title>\s*(.*?)\s*</title>", re.IGNORECASE | re.DOTALL)
NUMBERED_TITLE = re.compile(
    r"^\s*(?:\d{1,2}x\d{2,3}|s\d{1,2}e\d{1,3})\s*[-–:]\s*(\S.{0,120}?)\s*$", re.IGNORECASE | re.MULTILINE
)


def episode_title(evidence: FileEvidence) -> str:
    """What the file calls itself, else its name."""
    top = evidence.text[:TOP]
    match = HTML_TITLE.search(top) or NUMBERED_TITLE.search(top)
    own_title = " ".join(html.unescape(match[1]).split()) if match else ""
    return own_title or evidence.path.stem


# The lines of a web page. Only what really is a tag goes: transcribers write `<Joey looks up>` and `[Cut to the hall]`
# too, and that is text. A tag has a known name and, if anything else, attributes.

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
LONGEST_TAG = 4000


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
