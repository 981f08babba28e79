"""Lines become the elements that fountain.io describes, and that another parser finds in its own test files."""

from __future__ import annotations

import re

import pytest

import realdata
from screenplays import Rows, comments_of, differences, peer_comments, peer_rows, rows_of
from understudy.formats.fountain.reading import fountain_elements
from understudy.formats.screenplay import ScreenplayElement
from understudy.sources.source import SourceFile


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
