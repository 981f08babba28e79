"""Is a text a dialogue in Markdown? Pages of documentation have emphasised words and colons too."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from understudy.readers import script
from understudy.readers.markdown.inline import emphasised_label
from understudy.readers.markdown.survey import FENCE, atx_heading, bare_line
from understudy.readers.transcript.labels import looks_like_label, read_label

__all__ = ["CAST_LIST", "recognises"]

CAST_LIST = re.compile(r"(?:cast|characters)\s*:", re.IGNORECASE)
FRONT_LINES = 9  # in which the front matter shows that it lists a cast
SHARE = 10  # at least one line in so many is a speech


def recognises(head: bytes, path: Path) -> bool:
    """Lines that begin with an emphasised name; or a heading, and lines that begin with a name."""
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines or lines[0][0] in "{<":
        return False
    if lines[0] == "---" and any(CAST_LIST.fullmatch(line) for line in lines[:FRONT_LINES]):
        return True
    names: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    listed = 0
    fenced = False
    for line in lines:
        bare, is_item = bare_line(line)
        fenced = fenced != (FENCE.match(line) is not None)
        if fenced:
            continue
        if label := emphasised_label(bare):
            names[label.raw_name] += 1
            listed += is_item
        elif bare and not is_item and (other := read_label(bare)) and looks_like_label(other.name):
            plain[other.name] += 1
    said = names.total()
    if said >= 2 and said * SHARE >= len(lines) and said > plain.total():
        return said - listed >= 2 or max(names.values()) > 1  # a list of `**terms**: explained` is no dialogue
    if atx_heading(lines[0]) is None or plain.total() < 2 or script.READER.recognises(head, path):
        return False
    return plain.total() * (SHARE if max(plain.values()) > 1 else 3) >= len(lines)
