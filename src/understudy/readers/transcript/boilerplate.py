"""Boilerplate around a transcript that is no part of the story: titles, credits, breaks, page text.

These lines become headings that do not move time. Page text also sticks to the ends of speeches
(`Good plan.Posted: 10/17/00 10:42JOEY: Yeah`); `split_page_text` takes it apart.
"""

from __future__ import annotations

import re

__all__ = ["is_boilerplate", "is_credit", "is_page_text", "may_contain_page_text", "split_page_text"]

STAMP = r"Posted:\s*\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\s+\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AP]M)?"
PAGE = r"Page \d{1,3} of \d{1,3}"
FOOT = r"All times are (?:UTC|GMT)(?:\s?[+-]\d{1,2}(?::\d{2})?)?"
LOADING = r"Like this:\s*Like Loading\.*"
GLUE = re.compile(rf"{STAMP}|{PAGE}(?=\D|$)|{FOOT}|{LOADING}")

BREAK = re.compile(
    r"\W*(?:(?:the )?(?:end|fin)(?: of (?:the )?(?:show|episode|teaser|part \w+|act \w+))?|to be continued"
    r"|(?:(?:the )?(?:opening|closing|end(?:ing)?|main|start|roll|theme) )*(?:credits?|titles?|theme(?: song| music)?)"
    r"(?: sequence| roll| song)?|(?:first |second |third |last )?comm?er?[ic]{1,2}al(?: breaks?)?s?|ad breaks?|break"
    r"|teaser|prologue|epilogue|cold open(?:ing)?"
    r"|(?:act|part) (?:\d+|[ivx]+|one|two|three|four|five)|(?:the )?end of (?:the )?episode\b.{0,60}|episode end)\W*",
    re.IGNORECASE,
)
CUT_TO_BREAK = re.compile(
    r"\W*(?:(?:cuts?|fades?|goes) (?:to|into) (?:the |a )?(?:opening|closing|commercial|credits|titles|black)\b.{0,40}"
    r"|fade (?:out|in|to black)|(?:following )?(?:a |an )?[“\"]?previously on\b.{0,60})\W*",
    re.IGNORECASE,
)
MAKER = (
    r"(?:written|directed|transcri\w+|trascribed|teleplay|story|produced|edited|adapted|created|html\w*|typed|submitted"
    r"|minor (?:additions|adjustments)|adjustments|phrases|script|story ?editor|executive producers?)"
)
CREDIT = re.compile(
    rf"\W*(?:(?:originally|additional|final|re-?|with|also|some|parts?|episodes?|[ivx1-9]+|and|&|minor|minot|the"
    rf"|dutch|help|scenes taken from)\s+)*"
    rf"(?:{MAKER}(?: \w+)? by\b|(?:teleplay|story|transcript|transcriber|story & teleplay|adjustments)\s*(?::|by\b)"
    rf"|(?:with help|help) from\b|by:? \S+$|(?:transcriber|trans?ciber|author|editor)(?:['’]s)? notes?\b|note:"
    rf"|(?:originally |original )?air(?:ed|date| date)\b|(?:copyright|©|disclaimer|production code|guest starr?ing)\b"
    rf"|dedicated to\b|in memory of\b|special thanks\b|thanks to\b)",
    re.IGNORECASE,
)
PAGE_MATTER = re.compile(
    r"(?:https?://|www\.)\S+$|powered by \S+|.{0,60}\bforum software\b|all times are (?:utc|gmt)\b|return to \S+$"
    r"|\W*(?:top|back to top|print view|quote|reply|unread post)\W*$",
    re.IGNORECASE,
)


def is_credit(text: str) -> bool:
    """Who made, wrote or transcribed it, when it was aired; also a transcriber's note."""
    return CREDIT.match(text) is not None


def is_boilerplate(text: str) -> bool:
    """Is the whole line a break, a credit or part of the page?"""
    if len(text) > 400:
        return False
    return bool(BREAK.fullmatch(text) or CUT_TO_BREAK.fullmatch(text) or PAGE_MATTER.match(text) or CREDIT.match(text))


def is_page_text(text: str) -> bool:
    """A stamp or page number such as stick to lines of text."""
    return GLUE.fullmatch(text) is not None


def may_contain_page_text(text: str) -> bool:
    return ":" in text or " of " in text or "All times" in text


def split_page_text(text: str) -> list[str]:
    """The line in parts, with page text in parts of its own."""
    if not may_contain_page_text(text):
        return [text] if text else []
    pieces: list[str] = []
    position = 0
    for match in GLUE.finditer(text):
        pieces += [text[position : match.start()], match[0]]
        position = match.end()
    pieces.append(text[position:])
    return [piece.strip() for piece in pieces if piece.strip()]
