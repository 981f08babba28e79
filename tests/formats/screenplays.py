"""What another parser (screenplay-tools) makes of its own test files, in a form that ours can be held against."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path

from understudy.formats.fountain import BONEYARD, NOTE, PAGE_BREAK, SYNOPSIS, plain
from understudy.formats.screenplay import ScreenplayElement

__all__ = ["Rows", "comments_of", "differences", "peer_comments", "peer_rows", "rows_of"]

Rows = list[tuple[str, str]]
"""(kind of element, line of it), blank lines left out."""

NAMES = {"cue": "CHARACTER", "forced cue": "CHARACTER", "centered": "ACTION", "song": "LYRIC"}
REASONS = {BONEYARD: "BONEYARD", NOTE: "NOTE", PAGE_BREAK: "PAGEBREAK", SYNOPSIS: "SYNOPSIS"}
COMMENTS = ("BONEYARD", "NOTE")
ELEMENT = re.compile(
    r'^(?:\[\[\d+\]\]|/\*\d+\*/)?([A-Z]+):(?:"([^"\n]*)":)?"(.*?)"'
    r'(?: "\([^"\n]*\)")?(?: \(([^)\n]*)\))?(?: tags:[^\n]*)?$',
    re.MULTILINE | re.DOTALL,
)
MARKER = re.compile(r"\[\[\d+\]\]|/\*\d+\*/")


def rows_of(elements: Iterable[ScreenplayElement]) -> Rows:
    rows: Rows = []
    for element in elements:
        kind = REASONS[element.key] if element.kind == "unread" else NAMES.get(element.kind, element.kind.upper())
        kind = kind.replace(" ", "")
        text = element.text.lstrip("= ") if kind in ("SYNOPSIS", "PAGEBREAK") else element.text
        note = element.number or (str(element.depth) if element.depth else "")
        rows += _rows(kind, text, element.key if kind == "TITLEENTRY" else "", note)
    return [row for row in rows if row[0] not in COMMENTS]


def comments_of(elements: Iterable[ScreenplayElement]) -> list[str]:
    unread = [element for element in elements if element.kind == "unread"]
    return [element.text for element in unread if REASONS[element.key] in COMMENTS and element.text]


def peer_rows(path: Path) -> Rows:
    rows: Rows = []
    for kind, key, text, note in ELEMENT.findall(path.read_text(encoding="utf-8")):
        text = "\n".join(plain(line.strip()) for line in MARKER.sub("", text).split("\n"))
        rows += _rows(kind, f"({text})" if kind == "PARENTHETICAL" else text, key, note)
    return [row for row in rows if row[0] not in COMMENTS]


def peer_comments(path: Path) -> list[str]:
    found = ELEMENT.findall(path.read_text(encoding="utf-8"))
    boneyards = [line.strip() for kind, _, text, _ in found if kind == "BONEYARD" for line in text.split("\n")]
    notes = [" ".join(text.split()) for kind, _, text, _ in found if kind == "NOTE"]
    return [text for text in boneyards + notes if text]


def differences(theirs: Rows, ours: Rows) -> list[tuple[Rows, Rows]]:
    """What stands in place of what: (their rows, our rows)."""
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    return [(theirs[a:b], ours[c:d]) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _rows(kind: str, text: str, key: str, note: str) -> Rows:
    """`note` is the number of a scene, the depth of a section."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if kind == "TITLEENTRY":
        return [(kind, f"{key}: {' '.join(lines)}")]
    if kind == "PAGEBREAK":
        return [(kind, "")]
    shown = f" ({note})" if note and kind in ("HEADING", "SECTION") else ""
    return [(kind, line + shown) for line in lines]
