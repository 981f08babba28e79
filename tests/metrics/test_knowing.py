from __future__ import annotations

from pathlib import Path

from understudy.formats import read
from understudy.metrics.knowing import anachronism, unwitnessed
from understudy.metrics.samples import Samples
from understudy.story.chronology import Chronology
from understudy.story.persona import Persona, persona_at

SAMPLES = Samples({"Ines": ["The tide is out."]})


def test_only_an_author_is_told_which_terms_and_where(story: Path) -> None:
    opened = read(story)
    known, ines = Chronology(opened), persona_at(opened, "Ines", "1.2")
    line = "I saw it from the lighthouse with Mara."
    (hidden,) = anachronism(SAMPLES, known, ines)([line])
    (open_,) = anachronism(SAMPLES, known, ines, author=True)([line])
    assert hidden.value == open_.value and hidden.value
    assert "mara" in open_.reason.lower() and "mara" not in hidden.reason.lower()


def test_a_harmless_line_scores_nothing(story: Path) -> None:
    opened = read(story)
    known, ines = Chronology(opened), persona_at(opened, "Ines", "1.2")
    for metric in (anachronism(SAMPLES, known, ines), unwitnessed(SAMPLES, known, ines)):
        assert [score.value for score in metric(["Good morning to you.", ""])] == [0.0, None]


def test_where_nothing_can_be_told_there_is_a_reason(story: Path) -> None:
    opened = read(story)
    known = Chronology(opened)
    (score,) = anachronism(SAMPLES, known, persona_at(opened, "Ines", "end"))(["Mara"])
    assert score.value is None and "name a moment" in score.reason
    (score,) = unwitnessed(SAMPLES, known, Persona("Nobody"))(["Mara"])
    assert score.value is None and "Nobody" in score.reason
