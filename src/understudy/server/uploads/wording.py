"""What readers' messages say of the command line, in words that are true of a page.

There a format is chosen with 'Read as', and columns have to have the usual names.
"""

from __future__ import annotations

import re

__all__ = ["page_wording"]

COLUMNS = "call its columns 'speaker' and 'text'"
REPLACEMENTS = (
    (r"--format(?: FORMAT\b(?: \((?:[^()]|\([^()]*\))*\))?)?", "'Read as'"),
    (r"[Ss]ay it with --columns(?:, such as: understudy read .*$| speaker=NAME,text=NAME)", COLUMNS),
    (r"[Ss]ay which column is whose: --columns speaker=NAME,text=NAME", COLUMNS),
    (r"name the columns: --columns speaker=KEY,text=KEY", "call its keys 'speaker' and 'text'"),
    (r"give your copy with --text FILE", "`understudy read` takes your copy with --text, this page does not"),
)
PATTERNS = [(re.compile(pattern), words) for pattern, words in REPLACEMENTS]
SENTENCE = re.compile(r"(?<=\. )call ")


def page_wording(message: str) -> str:
    for pattern, words in PATTERNS:
        message = pattern.sub(lambda _, words=words: words, message)  # type: ignore[misc]
    return SENTENCE.sub("Call ", message)
