"""A Fountain script becomes a story's events, and is taken for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realdata
from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from samples import FOUNTAIN, SAMPLES
from understudy.errors import InputError, UnknownFormat
from understudy.formats import read, reader_of
from understudy.formats.fountain.reading import READER
from understudy.sources.events import CastEntry, Description, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

WITHOUT_TITLE_PAGE = FOUNTAIN[FOUNTAIN.index("FADE IN:") :]
NOWHERE = Path("1-book.dat")


def test_every_element_has_its_event() -> None:
    events = read_bytes(READER, FOUNTAIN.encode())
    assert events[0] == Opening(("act", "scene", "line"), "The Quarrel")
    assert [(heading.title, heading.numbers) for heading in of_kind(events, Heading)] == [
        ("The Quarrel", None),
        ("Credit: written by", None),
        ("Author: nobody in particular", None),
        ("Draft date: 1 April", None),
        ("The Quarrel", (1,)),
        ("FADE IN:", None),
        ("CUT TO:", None),
    ]
    assert [(scene.setting, scene.number) for scene in of_kind(events, SceneStart)] == [
        ("INT. KITCHEN - NIGHT", 1),
        ("EXT. YARD - NIGHT", 2),
    ]
    assert [(speech.speakers, speech.text, speech.source.line) for speech in of_kind(events, Speech)] == [
        (("ODILE",), "You sold the piano, Bastien.", 14),
        (("BASTIEN",), "(shrugging) I sold the noise of it.", 17),
        (("Odile",), "Marguerite will hear of this.", 24),
        (("MARGUERITE",), "She knows about the piano?", 35),
        (("BASTIEN",), "She knows nothing of the money.", 38),
    ]
    assert [description.text for description in of_kind(events, Description)] == [
        "The kettle sings.",
        "Bastien leaves.",
        "THE END",
    ]
    assert of_kind(events, Description)[1].leave == ("Bastien",)
    assert [(unread.text, unread.reason, unread.units) for unread in of_kind(events, Unread)] == [
        ("How?", "a note", 0),
        ("INT. CELLAR - NIGHT", "cut out (boneyard)", 1),
        ("The piano is not there.", "cut out (boneyard)", 1),
    ]


def test_the_title_page_is_no_cast(tmp_path: Path) -> None:
    path = tmp_path / "quarrel.txt"
    path.write_text(FOUNTAIN)
    story = read(path)
    assert story.title == "The Quarrel"
    assert [member.character.name for member in story.cast()] == ["Odile", "Bastien", "Marguerite"]


def test_a_forced_cue_is_spelt_as_it_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "hard.fountain"
    path.write_text("INT. TOWER\n\n@McCLANE\nHello.\n\nMCCLANE (V.O.)\nHello again.\n\nHANS\nWho?\n")
    names = [(member.character.name, member.lines) for member in read(path).cast()]
    assert names == [("McCLANE", 2), ("Hans", 1)]
    assert [entry.character.name for entry in of_kind(events_of(READER, path), CastEntry)] == ["McCLANE"]


def test_what_is_sung_is_theirs_under_whose_name_it_stands() -> None:
    events = read_bytes(READER, b"INT. A\n\nBOB\nListen.\n~La la\n\n~Tra la\n\nBOB\n~Hey\n")
    assert [speech.text for speech in of_kind(events, Speech)] == ["Listen. La la", "Hey"]
    assert [description.text for description in of_kind(events, Description)] == ["Tra la"]


def test_two_who_speak_at_once_are_two() -> None:
    events = read_bytes(READER, b"INT. A\n\nBRICK & STEEL\nNo!\n\nBRICK\nNo.\n")
    assert of_kind(events, Speech)[0].speakers == ("BRICK", "STEEL")


def test_a_boneyard_without_an_end_is_an_error_that_says_where(tmp_path: Path) -> None:
    path = tmp_path / "cut.fountain"
    path.write_text("INT. A\n\nBOB\nHello. /* never\n\nclosed\n")
    with pytest.raises(InputError, match=r"cut\.fountain:4.*never closed"):
        read(path)


def test_a_paragraph_without_an_end_is_refused() -> None:
    with pytest.raises(InputError, match="in one piece"):
        read_bytes(READER, b"INT. A\n\nBOB\n" + b"never stops talking\n" * 60_000)


@pytest.mark.parametrize(
    "script",
    [
        FOUNTAIN,
        WITHOUT_TITLE_PAGE,
        "INT. YARD\n\nRain.\n\nODILE\nYou sold it.\n",
        "ODILE\nYou sold it.\n\nBASTIEN\n(softly)\nI did.\n",
        "Title: X\n\n@Odile\nYou sold it.\n",
        "[[ a note ]]\n\nTitle: X\nAuthor: Y\n\nODILE\nYou sold it.\n",
        "/* cut */\n\n1945. Night: it rains.\n\nINT. YARD\n\nODILE\nYou sold it.\n",
        "# Act 1\n\nINT. YARD\n\nODILE\nYou sold it.\n",
        "               ODILE\n     You sold it.\n\n               BASTIEN\n     I did.\n",
        "INT. YARD - DAY\n\nNobody is there.\n\nEXT. ROAD - DAY\n\nNobody is here.\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_scripts_are_told_by_content(script: str, encoding: str) -> None:
    assert recognises(READER, script.encode(encoding), NOWHERE)


@pytest.mark.parametrize(
    "text",
    [
        "Title: The One\nWritten by: X\n\nROSS: Hi.\nJOEY: Hey.\n",
        "INT. CENTRAL PERK\n\nROSS: Hi.\nJOEY: Hey.\n",
        "ACT ONE\nScene One\n\nROSS: Hi.\n\nJOEY: Hey.\n",
        "CHAPTER I\n\nIt was a dark night. INT. was not a word.\n\nTHE END\n",
        "HAMLET.\nTo be.\n\nOPHELIA.\nMy lord!\n",
        "WEBVTT\n\nNOTE\nA comment\n\nSTYLE\n::cue {}\n",
        "1\n00:00:01,000 --> 00:00:02,000\nHELLO\n\n2\n00:00:03,000 --> 00:00:04,000\nGOOD BYE\n",
        "@EVERY\ndef test() -> None:\n    pass\n\n@EVERY\ndef more() -> None:\n    pass\n",
        ".card {\n  color: red;\n}\n\n.page {\n  color: blue;\n}\n",
        "# Readme\n\n= a heading =\n\n> a quotation\n",
        "A line.\n\nANOTHER LINE\nand so on.\n" + "More of it.\n\n" * 10,
    ],
)
def test_other_texts_are_not_taken(text: str) -> None:
    assert not recognises(READER, text.encode(), NOWHERE)


def test_the_name_decides_where_there_is_little_to_tell_by() -> None:
    text = "The road is empty.\n\n> THE END <\n"
    assert recognises(READER, text.encode(), Path("road.fountain"))
    assert not recognises(READER, text.encode(), Path("road.txt"))
    assert not recognises(READER, b"ROSS: Hi.\nJOEY: Hey.\n\n> THE END <\n", Path("friends.fountain"))


@pytest.mark.parametrize("form", [form for form in SAMPLES if form != "fountain"])
def test_no_other_sample_is_taken_whatever_its_name(form: str) -> None:
    assert not recognises(READER, SAMPLES[form][1](), NOWHERE)


@given(damage(FOUNTAIN.encode()))
def test_damage_is_read_or_refused(content: bytes) -> None:
    stands(READER, content)


MARKS = st.sampled_from(["@", "!", ".", ">", "<", "~", "=", "#", "[[", "]]", "/*", "*/", "*", "_", "\\", "(", ")", "^"])
WORDS = st.sampled_from(["ODILE", "says so", "INT. YARD", "CUT TO:", "Title:", "#1#", " ", "  ", "\n", "\n\n", "Act 1"])


@given(st.lists(MARKS | WORDS, max_size=40).map("".join))
def test_no_mixture_of_marks_loses_a_line(text: str) -> None:
    stands(READER, (text + "\nx").encode())


def test_every_script_of_another_parsers_tests_is_read_by_this_reader() -> None:
    """But for one that has nothing in it but paragraphs."""
    for path in sorted(realdata.folder("screenplays").glob("*.fountain")):
        if path.stem == "Formatted":
            with pytest.raises(UnknownFormat):
                reader_of(SourceFile(path))
        else:
            assert reader_of(SourceFile(path)) is READER
        events_of(READER, path)


def test_no_transcript_play_or_novel_is_taken() -> None:
    folders = ["tvshowguess", "shakespeare", "pdnc", "hpd", "personachat", "msc", "dnli"]
    paths = [path for name in folders for path in realdata.folder(name).rglob("*") if path.is_file()]
    assert len(paths) > 700
    assert [path for path in paths if path.stat().st_size and recognises(READER, SourceFile(path).head(), path)] == []
