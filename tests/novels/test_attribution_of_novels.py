from __future__ import annotations

import time

import realdata
from timing import cpu_seconds
from understudy.novels.attribution import attribute
from understudy.novels.prose import Prose
from understudy.training.pdnc import read_novel


def test_a_long_novel_takes_time_in_proportion_to_its_length() -> None:
    novel = read_novel(realdata.folder("pdnc") / "OliverTwist")
    prose = novel.prose
    eighth = len(prose.quotations) // 8
    cut = prose.quotations[eighth].span.start - 1
    paragraphs = tuple(paragraph for paragraph in prose.paragraphs if paragraph.span.end <= cut)
    beginning = Prose(prose.text[:cut], "en", (), (), paragraphs, prose.quotations[:eighth])
    for_an_eighth = cpu_seconds(lambda: attribute(beginning, novel.cast))
    begun = time.process_time()
    found = attribute(prose, novel.cast)
    assert time.process_time() - begun < 30 * for_an_eighth
    right = [each.speaker == novel.cast[who].name for each, who in zip(found, novel.speakers) if who >= 0]
    assert sum(right) / len(right) > 0.85
