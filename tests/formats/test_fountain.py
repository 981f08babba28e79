from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import realdata
from formats.screenplays import Rows, comments_of, differences, peer_comments, peer_rows, rows_of
from generated import HERE, Plan, plans
from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from samples import FOUNTAIN, SAMPLES
from understudy.errors import InputError, UnknownFormat
from understudy.formats import read, reader_of
from understudy.formats.fountain import (
    BONEYARD,
    NOTE,
    READER,
    ScriptLine,
    UnclosedBoneyard,
    export_fountain,
    fountain_elements,
    plain,
    script_lines,
)
from understudy.formats.screenplay import ScreenplayElement
from understudy.sources import CastEntry, Description, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story
from understudy.story.types import Character

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


def cut(text: str) -> tuple[list[str], list[tuple[str, str, int]]]:
    """(lines that are left, what was cut out with its reason and units); nothing may be lost."""
    items = list(script_lines(enumerate(text.split("\n"), 1)))
    lines = [item for item in items if isinstance(item, ScriptLine)]
    comments = [item for item in items if isinstance(item, ScreenplayElement)]
    assert sum(item.units for item in items) == sum(bool(line.strip()) for line in text.split("\n"))
    return [line.text for line in lines], [(item.text, item.key, item.units) for item in comments]


def test_a_boneyard_leaves_an_empty_line_where_it_took_one() -> None:
    left, comments = cut("CUT TO:\n/*\nBRICK\n\n*/\nEXT. YARD")
    assert left == ["CUT TO:", "", "", "", "", "EXT. YARD"]
    assert comments == [("", BONEYARD, 1), ("BRICK", BONEYARD, 1), ("", BONEYARD, 1)]


def test_boneyards_within_a_line() -> None:
    assert cut("He /* she */ goes /* or\nnot */ away.") == (
        ["He  goes ", " away."],
        [("she   or", BONEYARD, 0), ("not", BONEYARD, 0)],
    )


def test_a_boneyard_without_an_end_says_where_it_began() -> None:
    with pytest.raises(UnclosedBoneyard, match="never closed") as caught:
        cut("one\ntwo /* three\nfour")
    assert caught.value.line == 2


def test_notes_within_a_line_and_over_several() -> None:
    assert cut("JACK[[Or Jim?]] drinks.") == (["JACK drinks."], [("Or Jim?", NOTE, 0)])
    assert cut("He waits.[[Why?\nNo idea.\n  \nReally.]] He goes.") == (
        ["He waits. He goes."],
        [("Why? No idea. Really.", NOTE, 1)],
    )


def test_a_line_that_is_all_note_is_not_there() -> None:
    assert cut("BOB\n[[Softer?]]\nHello.") == (["BOB", "Hello."], [("Softer?", NOTE, 1)])
    assert cut("[[one]][[two\n]]") == ([], [("one", NOTE, 2), ("two", NOTE, 0)])


def test_a_note_does_not_go_over_an_empty_line() -> None:
    assert cut("One [[two\n\nthree]] four") == (["One [[two", "", "three]] four"], [])
    assert cut("One [[two [[three") == (["One [[two [[three"], [])


@given(st.text("[]/*a \n", max_size=60))
def test_every_line_is_accounted_for(text: str) -> None:
    try:
        cut(text)
    except UnclosedBoneyard as error:
        assert 1 <= error.line <= text.count("\n") + 1


@pytest.mark.parametrize("text", ["[[" * 200_000, "[[a\n" * 20_000, "[[]" * 100_000, "/**/" * 100_000])
def test_a_long_text_of_comments_does_not_hang(text: str) -> None:
    before = time.process_time()
    cut(text)
    assert time.process_time() - before < 10  # forty times what is needed


def elements(text: str) -> list[ScreenplayElement]:
    found = list(fountain_elements(enumerate(text.split("\n"), 1)))
    assert sum(element.units for element in found) == sum(bool(line.strip()) for line in text.split("\n"))
    return found


def kinds(text: str) -> list[tuple[str, str]]:
    return [(element.kind, element.text) for element in elements(text)]


def test_a_script_without_marks() -> None:
    script = "INT. KITCHEN - NIGHT\n\nThe kettle sings.\nTwice.\n\n"
    script += "ODILE (O.S.)\n(softly)\nYou sold it.\nAll of it.\n\nCUT TO:"
    assert kinds(script) == [
        ("heading", "INT. KITCHEN - NIGHT"),
        ("action", "The kettle sings.\nTwice."),
        ("cue", "ODILE"),
        ("parenthetical", "(softly)"),
        ("dialogue", "You sold it.\nAll of it."),
        ("transition", "CUT TO:"),
    ]


def test_forced_elements() -> None:
    script = (
        ".A DREAM\n\n!ODILE\nshouts.\n\n@McCLANE ^\nHello.\n\n> SMASH IN\n\n> THE END <\n\n~La la\n\n...an ellipsis"
    )
    assert kinds(script) == [
        ("heading", "A DREAM"),
        ("action", "ODILE\nshouts."),
        ("forced cue", "McCLANE"),
        ("dialogue", "Hello."),
        ("transition", "SMASH IN"),
        ("centered", "THE END"),
        ("song", "La la"),
        ("action", "...an ellipsis"),
    ]


def test_sections_synopses_and_page_breaks() -> None:
    found = elements("# Act 1\n\n## 2. Sequence\n\n= They meet.\n\n====\n\n#1 fan")
    assert [(element.kind, element.text, element.depth, element.key) for element in found] == [
        ("section", "Act 1", 1, ""),
        ("section", "2. Sequence", 2, ""),
        ("unread", "= They meet.", 0, "a synopsis"),
        ("unread", "====", 0, "a page break"),
        ("action", "#1 fan", 0, ""),
    ]


@pytest.mark.parametrize(
    "cue", ["ODILE", "ODILE (V.O.)", "ODILE (V.O.) (CONT’D)", "R2D2", "2ND GUARD", "DR. WHO", "  ODILE "]
)
def test_cues(cue: str) -> None:
    assert [kind for kind, _ in kinds(f"{cue}\nHello.")] == ["cue", "dialogue"]


@pytest.mark.parametrize("line", ["Odile", "23", "ODILE:", "ODILE (V.O.", "こんにちは", "ODILE ^ (V.O.)"])
def test_what_is_no_cue(line: str) -> None:
    assert [kind for kind, _ in kinds(f"{line}\nHello.")] == ["action"]


def test_dialogue_ends_with_a_blank_line_unless_it_holds_two_spaces() -> None:
    assert kinds("BOB\nOne.\n  \nTwo.\n\nThree.") == [("cue", "BOB"), ("dialogue", "One.\nTwo."), ("action", "Three.")]


def test_within_dialogue_only_action_and_lyrics_are_forced() -> None:
    assert kinds("BOB\n.45 caliber.\n#blessed\nINT. is short.\n~La\n!Bob goes.") == [
        ("cue", "BOB"),
        ("dialogue", ".45 caliber.\n#blessed\nINT. is short."),
        ("lyric", "La"),
        ("action", "Bob goes."),
    ]


def test_a_transition_needs_no_blank_line_below() -> None:
    assert kinds("CUT TO:\nINT. YARD\nRain.") == [
        ("transition", "CUT TO:"),
        ("heading", "INT. YARD"),
        ("action", "Rain."),
    ]


def test_the_title_page() -> None:
    found = elements(
        "Title:\n    _The_\n    *Quarrel*\nMood: dark\nContact:\n\tBastien\n\tThe yard\n\nNight: it rains."
    )
    assert [(element.kind, element.key, element.text) for element in found] == [
        ("title entry", "Title", "\nThe\nQuarrel"),
        ("title entry", "Mood", "dark"),
        ("title entry", "Contact", "\nBastien\nThe yard"),
        ("action", "", "Night: it rains."),
    ]


def test_without_a_key_that_title_pages_have_there_is_none() -> None:
    assert kinds("Night: it rains.\n\nFADE IN:\n\nMore.") == [
        ("action", "Night: it rains."),
        ("transition", "FADE IN:"),
        ("action", "More."),
    ]
    assert kinds("FADE IN:\n\nRain.")[0][0] == "transition"


def test_scene_numbers() -> None:
    found = elements("INT. A #1#\n\n.B #2-A.#\n\nEXT. ROOM #5#  #3#\n\nINT. D #no number #")
    assert [(element.text, element.number) for element in found] == [
        ("INT. A", "1"),
        ("B", "2-A."),
        ("EXT. ROOM #5#", "3"),
        ("INT. D #no number #", ""),
    ]


DIFFERENCES: dict[str, list[tuple[str, Rows, Rows]]] = {
    "Boneyards": [
        (
            "a boneyard leaves an empty line, so that the line above it stands alone",
            [("ACTION", "CUT TO:")],
            [("TRANSITION", "CUT TO:")],
        )
    ],
    "Character": [
        (
            "a name needs one letter, says fountain.io; 2ND GUARD is a frequent one",
            [("ACTION", "3CPO"), ("ACTION", "Not work.")],
            [("CHARACTER", "3CPO"), ("DIALOGUE", "Not work.")],
        )
    ],
    "Parenthetical": [
        (
            "a parenthetical may follow another",
            [("DIALOGUE", "(bouncy)")],
            [("PARENTHETICAL", "(bouncy)")],
        )
    ],
    "Sections": [
        (
            "a transition is no title page, even in the first line",
            [("TITLEENTRY", "CUT TO: ")],
            [("TRANSITION", "CUT TO:")],
        )
    ],
}
"""By file: why, their rows, our rows."""


def theirs_of(name: str) -> list[str]:
    return [f"{name}-Merged", f"{name}-Unmerged"] if name in ("Action", "Dialogue") else [name]


@pytest.mark.parametrize(
    "name",
    [
        *("Action", "Boneyards", "Character", "Dialogue", "LineBreaks", "Lyrics", "PageBreak", "Parenthetical"),
        *("SceneHeading", "Sections", "TitlePage", "Transition", "UTF8"),
    ],
)
def test_the_elements_are_those_that_another_parser_finds(name: str) -> None:
    folder = realdata.folder("screenplays")
    ours = list(fountain_elements(SourceFile(folder / f"{name}.fountain").lines()))
    for other in theirs_of(name):
        path = folder / f"{other}.txt"
        assert len(peer_rows(path)) > 5
        expected = [(theirs, mine) for _, theirs, mine in DIFFERENCES.get(name, [])]
        assert differences(peer_rows(path), rows_of(ours)) == expected
        assert comments_of(ours) == peer_comments(path)


def test_a_note_that_an_empty_line_breaks_is_no_note() -> None:
    """The other parser takes it for one, and what follows a note with two spaces in it for dialogue."""
    folder = realdata.folder("screenplays")
    ours = list(fountain_elements(SourceFile(folder / "Notes.fountain").lines()))
    theirs = peer_rows(folder / "Notes.txt")
    assert rows_of(ours)[:5] == theirs[:5]
    rest = ["His hand", "Testing a note without spaces[[This", "doesn't have spaces", "Definitely shouldn't"]
    assert all(kind == "ACTION" and row.startswith(start) for (kind, row), start in zip(rows_of(ours)[5:], rest))
    assert len(rows_of(ours)) == 9
    assert comments_of(ours) == peer_comments(folder / "Notes.txt")[:3]


def test_tags_are_that_parsers_own_and_stay_in_the_text() -> None:
    folder = realdata.folder("screenplays")
    ours = rows_of(fountain_elements(SourceFile(folder / "Tags.fountain").lines()))
    words = [re.sub(r"\s+#[^\s#]+(?=\s|$)", "", re.sub(r" #([\w-]+)#", r" (\1)", row)) for _, row in ours]
    theirs = [re.sub(r" \([12]\)$", "", row) for _, row in peer_rows(folder / "Tags.txt")]
    assert [re.sub(r" \([12]\)$", "", row) for row in words] == theirs


def test_emphasis_goes_where_another_parser_shows_it() -> None:
    """But for a mark within a mark, which it leaves standing."""
    folder = realdata.folder("screenplays")
    shown = re.sub(r"</?[biu]>", "", (folder / "Formatted.txt").read_text(encoding="utf-8"))
    shown = shown.replace("*Leupold Mark 4*", "Leupold Mark 4")
    ours = rows_of(fountain_elements(SourceFile(folder / "Formatted.fountain").lines()))
    assert [row for _, row in ours] == [line for line in shown.splitlines() if line]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("*italics*, **bold**, ***both*** and _underlined_", "italics, bold, both and underlined"),
        ("_a *nested* mark_", "a nested mark"),
        ("**_THE QUARREL_**", "THE QUARREL"),
        ("He dialed *69 and then *23.", "He dialed *69 and then *23."),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("a_file_name.txt", "a_file_name.txt"),
        (r"the code **\*9765\***", "the code *9765*"),
        (r"\*no\*, \_no\_", "*no*, _no_"),
        (r"\\*yes*", r"\yes"),
        (r"\\server\share, C:\temp", r"\\server\share, C:\temp"),
        ("*never closed", "*never closed"),
        ("****", "****"),
    ],
)
def test_marks_are_taken_off_where_they_are_marks(written: str, read: str) -> None:
    assert plain(written) == read


@given(st.text("*_\\[] ab", max_size=30))
def test_only_marks_and_backslashes_ever_go(text: str) -> None:
    kept = plain(text)
    assert [letter for letter in kept if letter not in "*_\\"] == [letter for letter in text if letter not in "*_\\"]


@pytest.mark.parametrize("text", ["*a " * 100_000, "a* " * 100_000, "\\" * 300_000, "**a _b " * 50_000])
def test_a_long_text_of_marks_does_not_hang(text: str) -> None:
    before = time.process_time()
    plain(text)
    assert time.process_time() - before < 15  # forty times what is needed


generous = settings(suppress_health_check=list(HealthCheck))


def told(story: Story) -> object:
    lines = [
        (scene.moment, scene.setting, [(line.moment, line.speaker, line.text) for line in scene.lines])
        for scene in story.scenes()
    ]
    return story.title, story.levels, lines, [heading for heading in story.headings() if heading[1]]


def written(story: Story, folder: Path) -> Path:
    path = folder / "out.dat"  # told by content, not by name
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        assert export_fountain(story, stream) == story.count()[1]
    return path


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_the_embedded_stories_survive(tmp_path: Path, name: str) -> None:
    story = read(name)
    again = read(written(story, tmp_path))
    assert told(again) == told(story)
    assert reader_of(SourceFile(tmp_path / "out.dat")).name == "fountain"
    assert not list(again.unread())


@pytest.mark.parametrize("form", SAMPLES)
def test_whatever_can_be_read_can_be_written(tmp_path: Path, form: str) -> None:
    name, content = SAMPLES[form]
    (tmp_path / name).write_bytes(content())
    story = read(tmp_path / name)
    if not story.count()[0]:
        with pytest.raises(InputError, match="no scenes"):
            written(story, tmp_path)
        return
    assert told(read(written(story, tmp_path))) == told(story)


@settings(suppress_health_check=list(HealthCheck))
@given(plan=plans())
def test_any_story_survives(tmp_path_factory: pytest.TempPathFactory, plan: Plan) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    story = plan.story(folder)
    assume(any(line.speaker for scene in story.scenes() for line in scene.lines))
    assert told(read(written(story, folder))) == told(story)


STARTS = [
    "@",
    "!",
    ".",
    "..",
    "...",
    ">",
    "~",
    "=",
    "===",
    "#",
    "##",
    "[[",
    "/*",
    "(",
    "\\",
    "*",
    "_",
    "INT. ",
    "CUT TO:",
]
STARTS += ["FADE IN:", "Title: ", "scene 3", "Act 1", "> a <", "SHOUTED", "ext "]
PIECES = st.sampled_from(
    ["*", "**", "_", "\\", "\\\\", "[", "[[", "]]", "/*", "*/", "(", ")", "^", "#3#", " ", "<", ":", "."]
)
LETTERS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
AWKWARD = st.builds(
    lambda start, rest: " ".join((start + "".join(rest)).split()),
    st.sampled_from(["", *STARTS]),
    st.lists(PIECES | LETTERS | st.sampled_from(["word", "WORD", "snake_case"]), max_size=8),
)
SAID = AWKWARD.filter(bool)


@generous
@given(said=st.lists(st.tuples(st.sampled_from([None, "Odile", "Bastien"]), SAID), min_size=1, max_size=6))
@example([("Odile", "(a) (b) \\(c) [[d]]"), (None, "/* *x* */"), ("Bastien", ".45 \\*"), (None, "[\\[[")])
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str | None, str]]) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    plan = Plan(events=[Opening(("scene", "line")), SceneStart(HERE, "Anywhere")])
    plan.events += (Description(HERE, text) if who is None else Speech(HERE, (who,), text) for who, text in said)
    assume(any(who for who, _ in said))
    story = plan.story(folder)
    again = read(written(story, folder))
    assert [(line.speaker, line.text) for scene in again.scenes() for line in scene.lines] == said


@generous
@given(titles=st.lists(AWKWARD, min_size=1, max_size=4), settings_=st.lists(AWKWARD, min_size=1, max_size=4))
def test_any_title_and_setting_survives(
    tmp_path_factory: pytest.TempPathFactory, titles: list[str], settings_: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    plan = Plan(events=[Opening(("night", "hour", "line"), titles[0] or "x")])
    for number, title in enumerate(titles):
        plan.events.append(Heading(HERE, title, (2 * number,)))
        for hour, setting in enumerate(settings_):
            plan.events += (SceneStart(HERE, setting, number=3 * hour), Speech(HERE, ("Odile",), "The piano?"))
    story = plan.story(folder)
    assert told(read(written(story, folder))) == told(story)


@generous
@given(names=st.lists(AWKWARD.filter(lambda name: any(map(str.isalpha, name))), min_size=1, max_size=4))
@example(["Salt and Sons", "Mrs. (K)", "NASA", "ODILE ^", "@home", "bob", "All"])
def test_any_name_survives(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("fountain")
    plan = Plan(events=[Opening(("scene", "line")), SceneStart(HERE, "Anywhere")])
    plan.events += (CastEntry(HERE, Character(name)) for name in names)
    plan.events += (Speech(HERE, (name,), "The piano?") for name in names)
    story = plan.story(folder)
    again = read(written(story, folder))
    assert [line.speaker for scene in again.scenes() for line in scene.lines] == [
        line.speaker for scene in story.scenes() for line in scene.lines
    ]


def test_how_it_looks(tmp_path: Path) -> None:
    script = tmp_path / "act-1.txt"
    script.write_text(
        "# act 1: The Quarrel\n## scene 1: A kitchen at night\n[The kettle sings.]\n[BANG!]\n"
        "ODILE (softly): You sold *it*.\n## scene 2: INT. YARD\nODILE: .45?\n## scene 3\nODILE: Yes.\n"
    )
    stream = io.StringIO()
    export_fountain(read(script), stream)
    assert stream.getvalue() == (
        "Title: act-1\n\n# act 1: The Quarrel\n\n.A kitchen at night #1#\n\nThe kettle sings.\n\n!BANG!\n\n"
        "@Odile\n(softly)\nYou sold \\*it\\*.\n\nINT. YARD #2#\n\n@Odile\n\\.45?\n\n.SCENE 3\n\n@Odile\nYes.\n"
    )
