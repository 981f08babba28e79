from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

import realdata
from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from samples import FDX
from understudy.errors import InputError
from understudy.formats import fountain, reader_of
from understudy.formats.fdx import READER
from understudy.sources import Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile


def document(*paragraphs: str, besides: str = "") -> bytes:
    return f"<FinalDraft><Content>{''.join(paragraphs)}</Content>{besides}</FinalDraft>".encode()


def paragraph(kind: str, text: str, number: str = "") -> str:
    return f'<Paragraph Type="{kind}" Number="{number}"><Text>{text}</Text></Paragraph>'


def test_every_paragraph_has_its_event() -> None:
    events = read_bytes(READER, FDX.encode())
    assert events[0] == Opening(("scene", "line"), "The Quarrel")
    assert [(scene.setting, scene.number) for scene in of_kind(events, SceneStart)] == [
        ("INT. KITCHEN - NIGHT", 1),
        ("EXT. YARD - NIGHT", 2),
    ]
    assert [(speech.speakers, speech.text) for speech in of_kind(events, Speech)] == [
        (("ODILE",), "You sold the piano, Bastien."),
        (("BASTIEN",), "(shrugging) I sold the noise of it."),
        (("ODILE",), "Marguerite will hear of this."),
        (("MARGUERITE",), "She knows about the piano?"),
    ]
    assert [heading.title for heading in of_kind(events, Heading)] == [
        "CUT TO:",
        "The Quarrel",
        "Title page: nobody in particular",
    ]
    assert [(unread.text, unread.reason) for unread in of_kind(events, Unread)] == [("Will she?", "a note")]


def test_shots_general_text_and_types_of_ones_own_are_descriptions() -> None:
    events = read_bytes(
        READER, document(*(paragraph(kind, f"It is a {kind}.") for kind in ("Shot", "General", "Mine")))
    )
    assert [event.text for event in of_kind(events, Description)] == [
        "It is a Shot.",
        "It is a General.",
        "It is a Mine.",
    ]


def test_acts_are_a_level() -> None:
    acts = [paragraph("New Act", "ACT ONE"), paragraph("Scene Heading", "INT. A", "1"), paragraph("End of Act", "END")]
    events = read_bytes(
        READER, document(*acts, paragraph("New Act", "ACT TWO"), paragraph("Scene Heading", "INT. B", "2"))
    )
    assert events[0] == Opening(("act", "scene", "line"))
    assert [heading.numbers for heading in of_kind(events, Heading)] == [(1,), None, (2,)]


@pytest.mark.parametrize(
    ("besides", "reason"),
    [
        (
            "<HeaderAndFooter><Header><Paragraph><Text>x</Text></Paragraph></Header></HeaderAndFooter>",
            "a running title",
        ),
        ("<ScriptNotes><ScriptNote><Paragraph><Text>x</Text></Paragraph></ScriptNote></ScriptNotes>", "a note"),
        ("<Boards><Card><Paragraph><Text>x</Text></Paragraph></Card></Boards>", r"no part of the script \(<Card>\)"),
    ],
)
def test_what_stands_beside_the_script_is_listed_with_the_reason(besides: str, reason: str) -> None:
    (unread,) = of_kind(read_bytes(READER, document(paragraph("Action", "Rain."), besides=besides)), Unread)
    assert re.match(reason, unread.reason) and unread.text == "x"


def test_an_omitted_scene_and_a_summary_are_not_read() -> None:
    inside = "<Paragraph><Text>x</Text></Paragraph>"
    heading = (
        f'<Paragraph Type="Scene Heading"><SceneProperties><Summary>{inside}</Summary></SceneProperties>'
        f"<Text>OMITTED</Text><OmittedScene>{inside}</OmittedScene></Paragraph>"
    )
    events = read_bytes(READER, document(heading))
    assert [unread.reason for unread in of_kind(events, Unread)] == ["a summary of the scene", "an omitted scene"]
    assert [scene.setting for scene in of_kind(events, SceneStart)] == ["OMITTED"]


def test_entities_and_depths_are_refused() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><FinalDraft><Content>&a;</Content></FinalDraft>'
    assert recognises(READER, bomb, Path("x"))
    with pytest.raises(InputError, match="declares the entity"):
        read_bytes(READER, bomb)
    with pytest.raises(InputError, match="nested more than"):
        read_bytes(READER, b"<FinalDraft>" + b"<Paragraph>" * 1000)
    with pytest.raises(InputError, match="a paragraph of over"):
        read_bytes(READER, document(paragraph("Action", "x" * 1_100_000)))
    with pytest.raises(InputError, match="cut off"):
        read_bytes(READER, document(paragraph("Action", "x"))[:-20])


@given(damage(FDX.encode()))
def test_damage_is_read_or_refused(content: bytes) -> None:
    stands(READER, content)


@pytest.mark.parametrize("name", ["TestFDX-FD", "TestFDX-FI"])
def test_final_draft_and_fade_in_documents_say_what_their_fountain_says(name: str) -> None:
    folder = realdata.folder("screenplays")
    assert reader_of(SourceFile(folder / f"{name}.fdx")).name == READER.name

    def told(events: list[Event]) -> list[object]:
        heard: list[object] = []
        for event in events:
            if isinstance(event, SceneStart):
                heard.append((event.setting, event.number))
            elif isinstance(event, Speech):
                heard.append((event.speakers, event.text))
            elif isinstance(event, Description):
                heard.append(event.text)
        return heard

    theirs = events_of(fountain.READER, folder / f"{name}.fountain")
    ours = events_of(READER, folder / f"{name}.fdx")
    assert told(ours) == told(theirs)
    assert len(told(ours)) == 9
    assert isinstance(ours[0], Opening) and ours[0].title == "FDX Test Script"
