from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, of_kind, read_bytes, recognises, speaker_texts, stands
from samples import SAMPLES
from understudy.formats import reader_of
from understudy.formats.ink import READER
from understudy.sources import Event, Heading, Opening, SceneStart, Unread
from understudy.sources.source import SourceFile


def parsed(text: str) -> list[Event]:
    return read_bytes(READER, text.encode())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ANN: One.", [("ANN", "One.")]),
        ("Ann (low): One. # sad # loud", [("Ann", "(low) One.")]),
        ("ANN AND BOB: One. -> next", [("ANN & BOB", "One.")]),
        ("Rain falls. // at night", [("", "Rain falls.")]),
        ("See https://a.b // twice", [("", "See https://a.b")]),
        ("One. # speaker: Ann", [("Ann", "One.")]),
        (r"Number \# one \-> here.", [("", "Number # one -> here.")]),
        ("- (point) ANN: One.", [("ANN", "One.")]),
        ("- - Rain.", [("", "Rain.")]),
        ("You have {coins} {coins == 1: coin|coins}.", [("", "You have {coins} {coins == 1: coin|coins}.")]),
        ("* Ask her. -> next", [("", "Ask her.")]),
        ("+ + (again) {met} [Ask her.]", [("", "Ask her.")]),
        ("* ANN: One[.], two.", [("", "ANN: One."), ("ANN", "One, two.")]),
        ("ANN: One <>\n<> two.", [("ANN", "One two.")]),
        ("ANN: /* not */ One.", [("ANN", "One.")]),
    ],
)
def test_a_line_is_what_it_prints(line: str, said: list[tuple[str, str]]) -> None:
    assert speaker_texts(parsed(f"=== knot ===\n{line}\n-> END\n")) == said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("~ x = 1", "code"),
        ("VAR x = 1", "code"),
        ("INCLUDE other.ink", "code"),
        ("-> next", "a divert"),
        ("- -> next", "a divert"),
        ("- (point)", "marks without words"),
        ("{met: -> next}", "code"),
        ("* -> next", "a choice without words"),
        ("// One.", "a comment"),
        ("/* One. */", "a comment"),
        ("TODO: One.", "a note to the author"),
        ("# a tag", "a tag"),
    ],
)
def test_what_prints_nothing_is_listed_with_the_reason(line: str, reason: str) -> None:
    assert [one.reason for one in of_kind(parsed(f"=== knot ===\n{line}\n"), Unread)] == [reason]


def test_knots_and_stitches_are_scenes_and_functions_are_code() -> None:
    function = "=== function f(x) ===\n~ return x\nANN: No.\n"
    events = parsed("# title: Salt\nBefore.\n=== one(x) ===\n= a\nRain.\n== two\nWind.\n" + function)
    assert events[0] == Opening(title="Salt")
    assert [one.setting for one in of_kind(events, SceneStart)] == ["one", "one.a", "two"]
    assert [one.reason for one in of_kind(events, Unread)] == ["code"] * 3
    assert len(of_kind(events, Heading)) == 1


def test_blocks_of_conditions_and_alternatives() -> None:
    text = """=== knot ===
{ met:
    ANN: One.
- else:
    BOB: Two.
}
{ stopping:
- ANN: Three.
- BOB: Four.
}
{
- x > 1: ANN: Five.
}
/* ANN: Six.
ANN: Seven. */ BOB: Eight.
"""
    assert speaker_texts(parsed(text)) == [
        ("ANN", "One."),
        ("BOB", "Two."),
        ("ANN", "Three."),
        ("BOB", "Four."),
        ("ANN", "Five."),
        ("BOB", "Eight."),
    ]


WORDS = st.lists(st.from_regex(r"[A-Za-zéüà漢]+[.,!?]?", fullmatch=True), min_size=1, max_size=6).map(" ".join)


@given(lines=st.lists(st.tuples(st.sampled_from(["ANN: ", "BOB: ", "~ x = ", "* [", "- "]), WORDS), max_size=8))
def test_every_printed_word_is_there_in_order(lines: list[tuple[str, str]]) -> None:
    text = "".join(f"{mark}{words}{']' if mark == '* [' else ''}\n" for mark, words in lines)
    said = speaker_texts(parsed("=== knot ===\n" + text))
    assert [words for _, words in said] == [words for mark, words in lines if mark != "~ x = "]


PIECES = st.sampled_from(
    ["=== a ===", "= b", "* ", "- ", "-> x", "{", "}", "|", "[", "]", "/*", "*/", "//", "#", "<>", "~", "\n", "Ann: x"]
)


@given(st.lists(PIECES, min_size=1).map("".join).filter(str.strip))
def test_whatever_stands_there_adds_up(text: str) -> None:
    parsed(text)


@given(damage(SAMPLES["ink"][1]()))
def test_a_damaged_file_is_read_or_refused(content: bytes) -> None:
    stands(READER, content or b"\n")


def test_what_a_playthrough_prints_is_a_transcript(tmp_path: Path) -> None:
    path = tmp_path / "printed.txt"
    path.write_text(
        "The kettle sings.\nODILE: You sold the piano.\nBASTIEN: I sold the noise.\n1: Ask about the money\n?> 1\n"
    )
    assert reader_of(SourceFile(path)).name == "transcript"


@pytest.mark.parametrize(
    "other",
    [
        "== Plot ==\n* Ann leaves.\n* Bob stays.\n",
        "ANN: One.\n~ fin ~\n* claps *\n",
        "# Title\n\n* one -> two\n\n=====\n",
        "A -> B\nB -> C\n",
        "",
    ],
)
def test_other_text_is_no_ink(other: str) -> None:
    assert not recognises(READER, other.encode(), Path("any.txt"))
