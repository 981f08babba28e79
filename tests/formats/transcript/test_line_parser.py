from __future__ import annotations

import pytest

from understudy.formats.transcript.labels import TextLine, collect_statistics
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
