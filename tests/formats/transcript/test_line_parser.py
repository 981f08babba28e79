from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.formats.transcript.labels import (
    TextLine,
    TranscriptStatistics,
    collect_statistics,
    looks_like_label,
    read_label,
)
from understudy.formats.transcript.line_parser import segments

STATS = collect_statistics(
    TextLine(number, line) for number, line in enumerate(["ANN: One.", "BOB: Two.", "Mrs. Dunn: Three."] * 6)
)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("(They dance.)ANN: Well?", ["(They dance.)", "ANN: Well?"]),
        ("ANN: Well? BOB (off): Here.", ["ANN: Well?", "BOB (off): Here."]),
        ("ANN: No, I am still --BOB: I see.", ["ANN: No, I am still --", "BOB: I see."]),
        ("ANN: So it is.Mrs. Dunn: Quite.", ["ANN: So it is.", "Mrs. Dunn: Quite."]),
        ("CUT TO THE QUAY[Bob waits]", ["CUT TO THE QUAY", "[Bob waits]"]),
        ("[Bob leaves]CUT TO THE QUAY", ["[Bob leaves]", "CUT TO THE QUAY"]),
        ("HARBOUR HOUSE - KITCHENANN: Here.", ["HARBOUR HOUSE - KITCHEN", "ANN: Here."]),
        ("[Bob leaves][Opening Credits]", ["[Bob leaves]", "[Opening Credits]"]),
        ("(Bob's mother) Zita: Hello.", ["(Bob's mother)", "Zita: Hello."]),
        ("ANN: Well. [Scene: The quay]", ["ANN: Well.", "[Scene: The quay]"]),
    ],
)
def test_glued_lines_come_apart(text: str, pieces: list[str]) -> None:
    assert list(segments(text, STATS)) == pieces


@pytest.mark.parametrize(
    "text",
    [
        'ANN: He wrote "BOB: a life".',
        "ANN: The time? 10:42.",
        "ANN: I say. Remark: none.",
        "LADY #1 [pouting]: No.",
        "ANN [at the door]: No.",
        "(pause) Well then.",
    ],
)
def test_whole_lines_stay_whole(text: str) -> None:
    assert list(segments(text, STATS)) == [text]


# Labels.


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("Ann: One.", "Ann", "One."),
        ("MRS. DUNN [calling] : One.", "MRS. DUNN", "One."),
        ("Ann (at 3:15): One.", "Ann", "One."),
        ("アン：はい", "アン", "はい"),
        ("Ann (leaving: One.", "Ann", "One."),
    ],
)
def test_what_stands_before_the_colon(text: str, name: str, rest: str) -> None:
    label = read_label(text)
    assert label is not None
    assert (label.name, label.text) == (name, rest)


@pytest.mark.parametrize("text", ["no colon", "[Ann: One]", "http://x.example", ": One.", "x" * 200 + ": One."])
def test_no_label(text: str) -> None:
    assert read_label(text) is None


@pytest.mark.parametrize(
    "name", ["Ann", "MAN #2", "Third Floor Janitor", "Woman on TV", "3rd Customer", "Dr. Moss", "First Guest"]
)
def test_names(name: str) -> None:
    assert looks_like_label(name)


@pytest.mark.parametrize(
    "name", ["I have one question", "Here's the thing", "Written by", "Phone rings. Answering machine", "12", ""]
)
def test_no_names(name: str) -> None:
    assert not looks_like_label(name)


def statistics_of(text: str) -> TranscriptStatistics:
    return collect_statistics(
        TextLine(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()
    )


def test_counts_what_begins_lines_whatever_the_case() -> None:
    stats = statistics_of("ANN: One.\nAnn (off): Two.\nBob: Three.\nI ask you: four?\nScene: The quay.\n")
    assert (stats.count("Ann"), stats.count("BOB"), stats.count("I ask you"), stats.scene_marks) == (2, 1, 0, 1)
    assert stats.labelled


def test_sees_where_lines_wrap() -> None:
    long = "ANN: " + "word " * 18 + "word"
    assert statistics_of("\n".join([long, "and the rest of it."] * 10)).full_length is not None
    assert statistics_of("\n".join(["ANN: Short.", "BOB: Also short."] * 10)).full_length is None


def test_a_few_colons_make_no_labelled_file() -> None:
    assert not statistics_of("\n".join(["Nobody is named here."] * 60 + ["Bob: Here."])).labelled


def test_who_speaks_together_depends_on_who_speaks_at_all() -> None:
    stats = statistics_of("Ann: One.\nBob: Two.\nDrake: Three.\n")
    assert stats.speakers("Ann/Bob") == ("Ann", "Bob")
    assert stats.speakers("Ann/Olivia") == ("Ann/Olivia",)
    assert stats.speakers("Ann and the others") == ("Ann", "the others")
    assert stats.speakers("Cyril, the Drowned") == ("Cyril, the Drowned",)
    assert stats.speakers("Ann and Bob together") == ("Ann", "Bob")


def test_an_unknown_label_in_mid_sentence_is_none() -> None:
    stats = statistics_of("ANN: One.\nBOB: Two.\n" * 5)
    assert stats.label("Remark: well", wrapped=True, broken=True) is None
    assert stats.label("ANN: Well.", wrapped=True, broken=True) is not None


@pytest.mark.parametrize("label", [",", ", ,", ",,,", ", together", "&", "/", "Mr. and Mrs. ,"])
def test_no_label_has_a_speaker_without_a_name(label: str) -> None:
    assert all(name.strip() for name in TranscriptStatistics().speakers(label))


@given(st.lists(st.text(max_size=40).filter(str.strip), max_size=20))
def test_any_lines_can_be_surveyed(lines: list[str]) -> None:
    stats = collect_statistics(TextLine(number, line.strip()) for number, line in enumerate(lines, 1))
    assert stats.lines >= 0
    for line in lines:
        assert all(stats.speakers(line.strip()))
