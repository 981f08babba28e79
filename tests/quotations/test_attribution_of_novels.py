from __future__ import annotations

import time

import realdata
from understudy.quotations.attribution import attribute
from understudy.quotations.prose import Prose
from understudy.training.quotations.corpus import read_novel


def test_a_long_novel_is_quick_and_twice_as_long_takes_about_twice_the_time() -> None:
    novel = read_novel(realdata.folder("pdnc") / "OliverTwist")
    prose = novel.prose
    half = len(prose.quotations) // 2
    cut = prose.quotations[half].span.start - 1
    begun = time.process_time()
    attribute(
        Prose(
            prose.text[:cut],
            "en",
            (),
            (),
            tuple(p for p in prose.paragraphs if p.span.end <= cut),
            prose.quotations[:half],
        ),
        novel.cast,
    )
    middle = time.process_time()
    found = attribute(prose, novel.cast)
    whole = time.process_time() - middle
    assert whole < 5
    assert whole < 3.5 * (middle - begun)
    right = [each.speaker == novel.cast[who].name for each, who in zip(found, novel.speakers) if who >= 0]
    assert sum(right) / len(right) > 0.85
