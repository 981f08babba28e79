"""Little texts with quotations, as prose."""

from __future__ import annotations

import re

from understudy.novels.prose import Paragraph, Prose, Quotation, Span


def prose_of(text: str) -> Prose:
    """Paragraphs are apart by an empty line; every pair of marks is a quotation, and two around narration that ends
    with a comma are one."""
    paragraphs, quotations = list[Paragraph](), list[Quotation]()
    for match in re.finditer(r"(?:.+\n?)+", text):
        index = len(paragraphs)
        paragraphs.append(Paragraph(Span(match.start(), match.start() + len(match.group().rstrip())), 1, -1))
        parts = [Span(match.start() + part.start(1), match.start() + part.end(1))
                 for part in re.finditer(r'"([^"]*)"', match.group())]  # fmt: skip
        for part in parts:
            last = quotations[-1] if quotations else None
            joins = (
                last is not None
                and last.paragraph == index
                and text[last.span.end + 1 : part.start - 1].rstrip()[-1:] == ","
            )
            if joins and last is not None:
                quotations[-1] = Quotation((*last.parts, part), index)
            else:
                quotations.append(Quotation((part,), index))
    return Prose(text, "en", (), (), tuple(paragraphs), tuple(quotations))
