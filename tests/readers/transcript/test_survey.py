from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.readers.transcript.markup import TextLine
from understudy.readers.transcript.survey import Survey, survey


def surveyed(text: str) -> Survey:
    return survey(TextLine(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())


def test_counts_what_begins_lines_whatever_the_case() -> None:
    seen = surveyed("ANN: One.\nAnn (off): Two.\nBob: Three.\nI ask you: four?\nScene: The quay.\n")
    assert (seen.count("Ann"), seen.count("BOB"), seen.count("I ask you"), seen.scene_marks) == (2, 1, 0, 1)
    assert seen.labelled


def test_sees_where_lines_wrap() -> None:
    long = "ANN: " + "word " * 18 + "word"
    assert surveyed("\n".join([long, "and the rest of it."] * 10)).full is not None
    assert surveyed("\n".join(["ANN: Short.", "BOB: Also short."] * 10)).full is None


def test_a_few_colons_make_no_labelled_file() -> None:
    assert not surveyed("\n".join(["Nobody is named here."] * 60 + ["Bob: Here."])).labelled


def test_who_speaks_together_depends_on_who_speaks_at_all() -> None:
    seen = surveyed("Ann: One.\nBob: Two.\nDrake: Three.\n")
    assert seen.speakers("Ann/Bob") == ("Ann", "Bob")
    assert seen.speakers("Ann/Olivia") == ("Ann/Olivia",)
    assert seen.speakers("Ann and the others") == ("Ann", "the others")
    assert seen.speakers("Cyril, the Drowned") == ("Cyril, the Drowned",)
    assert seen.speakers("Ann and Bob together") == ("Ann", "Bob")


def test_an_unknown_label_in_mid_sentence_is_none() -> None:
    seen = surveyed("ANN: One.\nBOB: Two.\n" * 5)
    assert seen.label("Remark: well", wrapped=True, broken=True) is None
    assert seen.label("ANN: Well.", wrapped=True, broken=True) is not None


@pytest.mark.parametrize("label", [",", ", ,", ",,,", ", together", "&", "/", "Mr. and Mrs. ,"])
def test_no_label_has_a_speaker_without_a_name(label: str) -> None:
    assert all(name.strip() for name in Survey().speakers(label))


@given(st.lists(st.text(max_size=40).filter(str.strip), max_size=20))
def test_any_lines_can_be_surveyed(lines: list[str]) -> None:
    seen = survey(TextLine(number, line.strip()) for number, line in enumerate(lines, 1))
    assert seen.lines >= 0
    for line in lines:
        assert all(seen.speakers(line.strip()))
