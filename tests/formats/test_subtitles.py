"""SubRip and WebVTT: who is named, what is joined, where scenes begin, and that no word is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, of_kind, read_bytes, recognises, speaker_texts, stands
from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.subtitles import SUBRIP, WEBVTT
from understudy.sources import Heading, Opening, Reader, SceneStart, Speech, Unread

Shown = tuple[float, float, str]


def stamp(seconds: float, point: str) -> str:
    whole = round(seconds * 1000)
    hours, rest = divmod(whole, 3_600_000)
    return f"{hours:02}:{rest // 60_000:02}:{rest // 1000 % 60:02}{point}{rest % 1000:03}"


def srt(*shown: Shown) -> bytes:
    blocks = [
        f"{number}\n{stamp(start, ',')} --> {stamp(end, ',')}\n{text}\n"
        for number, (start, end, text) in enumerate(shown, 1)
    ]
    return "\n".join(blocks).encode()


def vtt(*shown: Shown) -> bytes:
    blocks = [f"{stamp(start, '.')} --> {stamp(end, '.')}\n{text}\n" for start, end, text in shown]
    return "\n".join(["WEBVTT\n", *blocks]).encode()


def test_a_speech_over_several_subtitles_is_one() -> None:
    content = srt((1, 2, "ANN: The tide is"), (2, 3, "out, and the boat"), (3, 4, "BOB: is gone."), (4, 5, "Quite."))
    events = read_bytes(SUBRIP, content)
    assert speaker_texts(events) == [("ANN", "The tide is out, and the boat"), ("BOB", "is gone. Quite.")]
    assert [(one.source.line, one.units) for one in of_kind(events, Speech)] == [(3, 6), (11, 6)]


def test_two_who_speak_at_once_have_dashes() -> None:
    content = srt((1, 2, "- ANN: Yes.\n- BOB: No."), (2, 3, "- Perhaps.\n– ANN: <i>Never.</i>"))
    assert speaker_texts(read_bytes(SUBRIP, content)) == [
        ("ANN", "Yes."),
        ("BOB", "No."),
        ("", "Perhaps."),
        ("ANN", "Never."),
    ]


def test_sounds_and_music_are_descriptions() -> None:
    content = srt(
        (1, 2, "[rain on\nthe roof]\nANN: Rain."),
        (2, 3, "♪ Over the sea ♪"),
        (3, 4, "(BOB LAUGHS)\nBOB (off): (hoarse) Rain."),
    )
    assert speaker_texts(read_bytes(SUBRIP, content)) == [
        ("", "rain on the roof"),
        ("ANN", "Rain."),
        ("", "♪ Over the sea ♪"),
        ("", "BOB LAUGHS"),
        ("BOB", "(off) (hoarse) Rain."),
    ]


def test_words_of_somebody_unnamed_are_nobodys_where_names_are_rare() -> None:
    content = srt((1, 2, "ANN: Who is"), (2, 3, "there?"), (3, 4, "Nobody."), (4, 5, "I see."), (5, 6, "So it is."))
    assert speaker_texts(read_bytes(SUBRIP, content)) == [
        ("ANN", "Who is there?"),
        ("", "Nobody."),
        ("", "I see."),
        ("", "So it is."),
    ]


def test_a_long_pause_begins_a_scene() -> None:
    events = read_bytes(SUBRIP, srt((1, 2, "ANN: One"), (3, 4, "ANN: two."), (90, 91, "ANN: Three.")))
    assert [type(event) for event in events] == [Opening, Speech, SceneStart, Speech]


def test_a_voice_is_a_speaker() -> None:
    content = vtt(
        (1, 2, "<v.loud Ann Lee>The <c.red>tide</c> &amp; <00:00:01.500>the boat.</v> <v Bob>Gone.</v>"),
        (2, 3, "<v Bob>For good."),
        (30, 31, "<v Ann Lee>[sighs]"),
    )
    events = read_bytes(WEBVTT, content)
    assert speaker_texts(events) == [("Ann Lee", "The tide & the boat."), ("Bob", "Gone. For good."), ("", "sighs")]


def test_notes_styles_and_regions_are_accounted_for() -> None:
    head = (
        b"WEBVTT - The Quay\nKind: captions\nLanguage: ja-JP\n\nNOTE\nby the sea\n\nSTYLE\n::cue {}\n\nREGION\nid:x\n\n"
    )
    events = read_bytes(WEBVTT, head + b"a cue\n00:01.000 --> 00:02.000\n<v Ann>Ja.\n\nlost words\n")
    assert events[0] == Opening(language="ja")
    assert [one.title for one in of_kind(events, Heading)] == ["WEBVTT - The Quay", "Kind: captions", "Language: ja-JP"]
    assert [(one.reason, one.units) for one in of_kind(events, Unread)] == [
        ("a comment", 2),
        ("how it looks on the screen", 2),
        ("where it stands on the screen", 2),
        ("stands outside any cue", 1),
    ]
    assert [(one.text, one.units, one.source.line) for one in of_kind(events, Speech)] == [("Ja.", 3, 16)]


@pytest.mark.parametrize(("reader", "written"), [(SUBRIP, srt), (WEBVTT, vtt)])
def test_a_file_that_names_nobody_is_refused_with_what_to_do(reader: Reader, written: object) -> None:
    assert callable(written)
    with pytest.raises(InputError, match=r"no speaker is named.*ANN: Good evening"):
        read_bytes(reader, written((1, 2, "Good evening."), (2, 3, "It is 10:30. Meet me at 10:30.")))


def test_an_episode_is_told_by_the_name_of_its_file(tmp_path: Path) -> None:
    for name, text in (("Quay.S01E02.srt", "ANN: Two."), ("Quay.S01E01.srt", "ANN: One.")):
        (tmp_path / name).write_bytes(srt((1, 2, text)))
    story = read(tmp_path)
    lines = [(line.moment.dotted, line.text) for scene in story.scenes() for line in scene.lines]
    assert lines == [("1.1.1.1", "One."), ("1.2.1.1", "Two.")]


def test_files_with_faults_lose_nothing() -> None:
    content = (
        "\ufeffby somebody\n\n00:00:01.0 --> 00:00:02,000 X1:10\nANN: One\n\ntwo.\n3\n00:00:03 --> 00:00:04\n"
        "{\\an8}BOB: 42\n\n43\n\n7\n00:00:05,000 --> 00:00:06,000\n\n8\n00:00:06,000 --> 00:00:07,000\nANN:\n"
    )
    events = read_bytes(SUBRIP, content.encode())
    assert speaker_texts(events) == [("ANN", "One two."), ("BOB", "42 43")]
    assert [one.reason for one in of_kind(events, Unread)] == [
        "stands before the first subtitle",
        "a subtitle without words",
        "a speaker, and nothing said",
    ]


WORD = st.text(st.characters(categories=["L"]), min_size=1, max_size=6)
TEXTS = st.lists(WORD, min_size=1, max_size=6).map(" ".join)
LABELS = st.sampled_from(["ANN: ", "- BOB: ", "- ", ""])
LINES = st.lists(st.tuples(LABELS, TEXTS), min_size=1, max_size=3)


@given(
    cues=st.lists(LINES, min_size=1, max_size=6),
    gaps=st.lists(st.sampled_from([0.0, 1.0, 30.0]), min_size=6, max_size=6),
)
def test_every_word_is_there_in_order(cues: list[list[tuple[str, str]]], gaps: list[float]) -> None:
    at, shown = 0.0, [(0.0, 1.0, "ANN: first")]
    for lines, gap in zip(cues, gaps):
        at += 1 + gap
        shown.append((at, at + 1, "\n".join(label + text for label, text in lines)))
    expected = ["first", *(word for lines in cues for _, text in lines for word in text.split())]
    for reader, content in ((SUBRIP, srt(*shown)), (WEBVTT, vtt(*shown))):
        lines = speaker_texts(read_bytes(reader, content))
        assert [word for _, text in lines for word in text.split()] == expected
        assert {who for who, _ in lines} <= {"ANN", "BOB", ""}


@pytest.mark.parametrize(
    ("reader", "content"), [(SUBRIP, srt((1, 2, "- ANN: A.\n- B: B."))), (WEBVTT, vtt((1, 2, "<v A>B")))]
)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(reader: Reader, content: bytes, data: st.DataObject) -> None:
    stands(reader, data.draw(damage(content)) or b"\n")


def test_only_subtitles_are_recognised() -> None:
    for other in (b"", b"1\n2\n3\n", b"ANN: 00:00:01,000 --> 00:00:02,000\n", b"WEBVTTX\n", b"1 WEBVTT\n"):
        assert not recognises(SUBRIP, other, Path("a.srt"))
        assert not recognises(WEBVTT, other, Path("a.vtt"))
    assert recognises(SUBRIP, srt((1, 2, "x")).replace(b"\n", b"\r\n"), Path("a"))
    assert not recognises(SUBRIP, vtt((1, 2, "x")), Path("a"))
