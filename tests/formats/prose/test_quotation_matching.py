"""Quotations are found again in a real novel that was edited."""

from __future__ import annotations

import random

import realdata
from understudy.formats.prose.quotation_matching import context_of, match_quotations
from understudy.novels.parsing import parse_prose


def test_decisions_stay_with_their_quotations_in_an_edited_novel() -> None:
    text = (realdata.folder("pdnc") / "TheSunAlsoRises" / "novel_text.txt").read_text(encoding="utf-8")
    text = text.replace("\r\n", "\n")[:150_000]
    prose, chance = parse_prose(text), random.Random(1)
    pieces, moved, deleted, last, length = list[str](), dict[int, int](), set[int](), 0, 0
    for number, paragraph in enumerate(prose.paragraphs):
        start, end = paragraph.span
        before, body, draw = text[last:start], text[start:end], chance.random()
        before += "It rained.\n\n" if 0.04 <= draw < 0.08 else ""
        if draw < 0.04:
            deleted.add(number)
            body = ""
        moved[number] = length + len(before) - start
        pieces += [before, body]
        length, last = length + len(before) + len(body), end
    edited = parse_prose("".join([*pieces, text[last:]]))
    matched = match_quotations([context_of(prose, quotation) for quotation in prose.quotations], edited)
    wrong = 0
    for index, quotation in enumerate(prose.quotations):
        if quotation.paragraph in deleted:
            wrong += index in matched
        elif index in matched:
            wrong += edited.quotations[matched[index]].span.start != quotation.span.start + moved[quotation.paragraph]
    left = sum(quotation.paragraph not in deleted for quotation in prose.quotations)
    assert left > 500 and len(deleted) > 20
    assert len(matched) >= 0.99 * left and wrong <= 0.002 * left
