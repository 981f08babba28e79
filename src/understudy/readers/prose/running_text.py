"""Is this running text? Long paragraphs of sentences, perhaps with quotations, and next to no labels.

Verse has short lines that all begin with a capital; a table has the same number of separators in every line; scripts
and transcripts have a label every few lines; code, subtitles and markup show themselves.
"""

from __future__ import annotations

import re
from pathlib import Path

from understudy.quotations.frame import without_frame
from understudy.quotations.paragraphs import Block, paragraphs_of, rows_of
from understudy.readers.transcript.labels import looks_like_label, read_label

__all__ = ["recognises"]

OTHER_FORM = re.compile(r"\s*(?:[{\[<%]|#{1,6}\s|WEBVTT|\d+\s*\n[\d:,. ]+-->)")
FOREIGN_LINE = re.compile(r"^\s*(?:(?:INT|EXT|EST|INT\./EXT|I/E)[. ]|.*-->|===|\$ |label \w+:|VAR )", re.MULTILINE)
HAN_KANA = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»」』)]*(?:\s|$|(?<=[。！？」』]))")
QUOTED = re.compile(r"[\"“«„「『][^\"”»“」』\n]{2,}|(?:^|\s)['‘]\w[^\n]{2,}['’]|^\s*[—–―]\s*\w")
MARKUP = re.compile(r"</?[a-z]{1,10}>")
HEADER = re.compile(r"\"?\w[\w .-]{0,29}\"?(?:[,;\t|]\"?\w[\w .-]{0,29}\"?){2,40}")
DELIMITERS = ("\t", ";", ",", "|")

FEWEST_WORDS = 25
LONG = 20  # words that make a paragraph one of running text
LABELLED = 0.08
VERSE = 0.9
VERSE_WIDTH = 62


def recognises(head: bytes, _path: Path) -> bool:
    """Most of its words stand in paragraphs of sentences."""
    text = _decoded(head)
    if text is None or OTHER_FORM.match(text) or FOREIGN_LINE.search(text):
        return False
    rows, _ = without_frame(text, rows_of(text))
    lines = [text[row.start : row.end] for row in rows]
    if not lines or _is_table(lines[:20]) or sum(MARKUP.search(line) is not None for line in lines) * 10 > len(lines):
        return False
    paragraphs = paragraphs_of(text, rows)
    words = [" ".join(text[row.start : row.end] for row in paragraph) for paragraph in paragraphs]
    if _is_verse(text, paragraphs):
        return False
    if _labelled(words) > max(1, LABELLED * len(words)) or _labelled(lines) > max(2, LABELLED * len(lines)):
        return False
    lengths = [len(line.split()) + len(HAN_KANA.findall(line)) // 2 for line in words]
    total = sum(lengths)
    if total < FEWEST_WORDS:
        return False
    running = sum(
        length
        for line, length in zip(words, lengths)
        if SENTENCE_END.search(line) and (length >= LONG or QUOTED.search(line))
    )
    return running * 2 >= total


def _labelled(lines: list[str]) -> int:
    return sum((label := read_label(line)) is not None and looks_like_label(label.name) for line in lines)


def _decoded(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head[: len(head) // 2 * 2].decode("utf-16", errors="ignore")
    elif b"\0" in head:
        return None
    else:
        text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")
        if text.count("\ufffd") * 20 > len(text):
            return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_table(lines: list[str]) -> bool:
    """The same number of separators in every line, and more than a sentence has commas."""
    if len(lines) < 2:
        return False
    if HEADER.fullmatch(lines[0]):
        return True
    for delimiter in DELIMITERS:
        counts = {line.count(delimiter) for line in lines[:-1]}
        if len(counts) == 1 and (counts.pop() >= (1 if delimiter == "\t" else 2)):
            return True
    return False


def _is_verse(text: str, paragraphs: list[Block]) -> bool:
    inner = [row for paragraph in paragraphs for row in paragraph[1:]]
    if len(inner) < len(paragraphs):
        return False
    capitals = sum(text[row.start].isupper() or not text[row.start].isalpha() for row in inner)
    short = sum(row.end - row.start <= VERSE_WIDTH for row in inner)
    return capitals >= VERSE * len(inner) and short >= VERSE * len(inner)
