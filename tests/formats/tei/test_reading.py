from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from realdata import folder
from understudy.errors import InputError
from understudy.formats.tei import READER
from understudy.sources import CastEntry, Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

HEADER = """\
<teiHeader>
  <fileDesc><titleStmt><title>Low Water</title><author>Nobody</author></titleStmt></fileDesc>
  <profileDesc>
    <langUsage><language ident="en">English</language></langUsage>
    <particDesc><listPerson>
      <person xml:id="ines"><persName>Ines Vale</persName></person>
      <person xml:id="tobias"><persName>Tobias Rook</persName><persName>Old Toby</persName></person>
      <person xml:id="porter_1"><persName>porter_1</persName></person>
      <person xml:id="porter_2"><persName>porter_2</persName></person>
      <personGrp xml:id="crew_X"><name>crew_X</name></personGrp>
    </listPerson></particDesc>
  </profileDesc>
</teiHeader>
"""


def play(body: str, front: str = "") -> bytes:
    parts = f"<front>{front}</front><body>{body}</body>"
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0">\n{HEADER}<text>{parts}</text></TEI>'.encode()


def read(body: str, front: str = "") -> list[Event]:
    return read_bytes(READER, play(body, front))


def said(events: list[Event]) -> list[tuple[tuple[str, ...], str]]:
    return [(speech.speakers, speech.text) for speech in of_kind(events, Speech)]


def places(events: list[Event]) -> list[tuple[int, int]]:
    """(act, scene) of every scene."""
    found, act = [], -1
    for event in events:
        if isinstance(event, Heading) and event.numbers:
            (act,) = event.numbers
        elif isinstance(event, SceneStart):
            assert event.number is not None
            found.append((act, event.number))
    return found


INES = '<sp who="#ines"><speaker>INES</speaker><l>Yes.</l></sp>'
ACTS = f"""
<div type="act" n="1"><head>Act 1</head>
  <div type="scene" n="1"><head>Scene 1. The quay.</head>
    <stage type="entrance" who="#ines #tobias">Enter both.</stage>
    <sp who="#ines"><speaker>INES</speaker><stage type="delivery">, aside</stage>
      <l>The tide is out,</l><l part="I">and so are we.</l></sp>
    <sp who="#tobias"><speaker>OLD TOBY</speaker>
      <p>Mind the <lb/>rope. <stage>Exit.</stage></p></sp>
    <sp who="#porter_1"><speaker>PORTER</speaker><p>Sir.</p></sp>
    <sp who="#porter_2"><speaker>PORTER</speaker><p>Sir!</p></sp>
    <sp who="#ines #tobias"><speaker>BOTH</speaker><p>Well?</p></sp>
    <sp who="#crew_X"><speaker>ALL</speaker><p>Heave!</p></sp>
    <sp><p>Ahoy!</p></sp>
  </div>
</div>
<div type="act" n="2"><head>Act 2</head><div type="scene" n="1"><head>Scene 1</head>{INES}</div>
  <div type="epilogue" n="EPI"><head>Epilogue</head>{INES}</div></div>
"""


def test_a_speech_is_its_words_joined_over_its_lines() -> None:
    events = read(ACTS)
    assert said(events)[:2] == [
        (("Ines Vale",), "The tide is out, and so are we."),
        (("Tobias Rook",), "Mind the rope."),
    ]
    assert (("Ines Vale", "Tobias Rook"), "Well?") in said(events)


def test_acts_and_scenes_have_their_numbers_and_an_epilogue_the_next() -> None:
    events = read(ACTS)
    assert of_kind(events, Opening)[0] == Opening(("act", "scene", "line"), "Low Water", "en")
    assert places(events) == [(1, 1), (2, 1), (2, 2)]
    assert [scene.setting for scene in of_kind(events, SceneStart)] == ["The quay.", "", "Epilogue"]


def test_directions_move_people_by_attribute_or_by_their_words() -> None:
    first, aside, leaving, *_ = of_kind(read(ACTS), Description)
    assert (first.enter, first.leave) == (("Ines Vale", "Tobias Rook"), ())
    assert aside.text == "aside"
    assert (leaving.text, leaving.leave) == ("Exit.", ("Tobias Rook",))


def test_who_falls_asleep_hears_no_more() -> None:
    both = '<stage type="mixed"><stage type="business" who="#tobias">All sleep.</stage> <stage>Bells.</stage></stage>'
    busy = '<stage type="business" who="#tobias">Tobias sits.</stage>'
    asleep, sits = of_kind(read(f'<div type="scene">{INES}{both}{INES}{busy}{INES}</div>'), Description)[-2:]
    assert (asleep.leave, sits.leave) == (("Tobias Rook",), ())


def test_the_cast_has_names_where_the_list_has_only_identifiers() -> None:
    cast = {entry.character.name: entry.character.aliases for entry in of_kind(read(ACTS), CastEntry)}
    assert cast == {
        "Ines Vale": ("Ines",),
        "Tobias Rook": ("Old Toby",),
        "Porter 1": (),
        "Porter 2": (),
    }
    assert (("All",), "Heave!") in said(read(ACTS))


def test_what_nobody_says_is_heard_as_a_description() -> None:
    assert "Ahoy!" in [one.text for one in of_kind(read(ACTS), Description)]


def test_a_direction_in_the_middle_parts_a_speech() -> None:
    entrance = '<stage type="entrance" who="#tobias">Enter Tobias.</stage>'
    events = read(f'<div type="scene">{INES}<sp who="#ines"><l>Here he {entrance} comes.</l></sp></div>')
    kinds = [type(event) for event in events[-3:]]
    assert kinds == [Speech, Description, Speech]
    assert said(events)[-2:] == [(("Ines Vale",), "Here he"), (("Ines Vale",), "comes.")]


def test_a_play_without_acts_counts_by_scenes() -> None:
    events = read(f'<div type="scene" n="1">{INES}</div><div type="scene" n="4">{INES}</div>')
    assert of_kind(events, Opening)[0].levels == ("scene", "line")
    assert [scene.number for scene in of_kind(events, SceneStart)] == [1, 4]


def test_a_play_without_divisions_is_one_scene() -> None:
    events = read(f"<stage>A quay.</stage>{INES}")
    assert [type(event) for event in events[-3:]] == [SceneStart, Description, Speech]


def test_prologues_come_before_the_first_act_and_the_first_scene() -> None:
    events = read(
        f'<div type="prologue">{INES}</div>'
        f'<div type="act" n="1"><div type="prologue">{INES}</div><div type="scene" n="1">{INES}</div></div>'
        f'<div type="epilogue">{INES}</div>'
    )
    assert places(events) == [(0, 1), (1, 0), (1, 1), (2, 1)]


def test_an_act_without_scenes_is_one_scene() -> None:
    events = read(f'<div type="act" n="I"><head>Act I</head>{INES}</div><div type="act" n="II">{INES}</div>')
    assert places(events) == [(1, 1), (2, 1)]


def test_what_happens_before_the_first_scene_waits_for_it() -> None:
    events = read(f'<div type="act"><stage>A storm.</stage><div type="scene">{INES}</div></div>')
    assert [type(event) for event in events[-4:]] == [Heading, SceneStart, Description, Speech]


def test_a_wrapper_around_the_acts_is_no_act() -> None:
    assert places(read(f'<div type="play"><div type="act" n="1"><div type="scene" n="2">{INES}</div></div></div>')) == [
        (1, 2)
    ]


def test_words_marked_up_one_by_one_are_joined_as_they_are_spaced() -> None:
    spaced = "<l>\n <w>Who</w><c> </c>\n <w>'s</w>\n <c> </c><w>there</w>\n <pc>?</pc>\n</l>"
    unspaced = "<l><w>Who</w> <w>is</w>\n<w>there</w>\n<pc>?</pc></l>"
    speech = '<sp who="#ines"><speaker>INES</speaker>{}</sp>'
    assert said(read(speech.format(spaced)))[0][1] == "Who 's there?"
    assert said(read(speech.format(unspaced)))[0][1] == "Who is there?"


def test_of_two_readings_the_corrected_one_is_read() -> None:
    events = read('<sp who="#ines"><l>I <choice><sic>sea</sic><corr>see</corr></choice> it.</l></sp>')
    assert said(events) == [(("Ines Vale",), "I see it.")]


def test_what_is_beside_the_play_is_listed_or_a_heading() -> None:
    front = (
        "<titlePage><docTitle><titlePart>Low Water</titlePart></docTitle></titlePage>"
        "<div><head>To the reader</head><p>Be kind.</p></div>"
        "<castList><castItem><role>Ines</role>, <roleDesc>a keeper of keys</roleDesc></castItem></castList>"
    )
    events = read(
        f'<div type="scene">{INES}<note>So in all copies.</note><sp who="#tobias"><speaker>TOBY</speaker></sp></div>',
        front,
    )
    assert {(one.text, one.reason) for one in of_kind(events, Unread)} == {
        ("Be kind.", "stands before the play"),
        ("So in all copies.", "an editor's note"),
        ("TOBY", "a speech without words"),
    }
    titles = [heading.title for heading in of_kind(events, Heading)]
    assert {"Low Water", "To the reader", "Ines, a keeper of keys"} <= set(titles)


def test_a_text_without_speeches_is_refused() -> None:
    with pytest.raises(InputError, match="only plays"):
        read("<div><p>Once upon a time.</p></div>")


def test_a_piece_of_endless_text_is_refused() -> None:
    with pytest.raises(InputError, match="in one piece") as raised:
        read(f'<div type="scene">\n<sp who="#ines"><p>{"word " * 250_000}</p></sp></div>')
    assert raised.value.line is not None


def test_a_play_is_told_by_its_root(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("tei") / "any.txt"
    assert recognises(READER, play(""), path)
    assert recognises(READER, play("").decode().encode("utf-16"), path)
    assert not recognises(READER, b"<html><body>TEI</body></html>", path)
    assert not recognises(READER, b"INES: Look, a <TEI> file.", path)


WORDS = st.sampled_from(["", " ", "a", "b c ", "\n"])
ELEMENTS = st.sampled_from(
    "sp div head stage l p lg speaker note castItem label choice sic q w c pc lb person trailer front back".split()
)
TREES = st.recursive(
    WORDS,
    lambda inner: st.tuples(ELEMENTS, st.lists(inner, max_size=4)).map(
        lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
    ),
    max_leaves=20,
)


@given(st.lists(TREES, max_size=5), st.lists(TREES, max_size=2))
def test_every_unit_is_accounted_for_however_elements_are_nested(body: list[str], front: list[str]) -> None:
    read("".join(body) + INES, "".join(front))


@given(damage(play(ACTS)))
def test_damage_is_an_error_or_can_be_read(content: bytes) -> None:
    stands(READER, content)


@pytest.mark.parametrize(
    ("name", "scenes", "speeches"), [("hamlet", 20, 1138), ("the-tempest", 10, 647), ("twelfth-night", 18, 926)]
)
def test_plays_by_shakespeare(name: str, scenes: int, speeches: int) -> None:
    path = folder("shakespeare") / f"{name}.xml"
    assert recognises(READER, SourceFile(path).head(), path)
    events = events_of(READER, path)
    assert of_kind(events, Opening)[0].language == "en"
    assert len(of_kind(events, SceneStart)) == scenes
    assert not of_kind(events, Unread)
    assert places(events) == sorted(places(events))
    # a speech that a direction parts comes out as two
    assert speeches <= len(of_kind(events, Speech)) < speeches * 1.1
    assert all("  " not in speech.text and "<" not in speech.text for speech in of_kind(events, Speech))


def test_hamlet_says_it() -> None:
    events = events_of(READER, folder("shakespeare") / "hamlet.xml")
    question = [
        speech for speech in of_kind(events, Speech) if "To be or not to be— that is the question" in speech.text
    ]
    assert [speech.speakers for speech in question] == [("Hamlet",)]
    assert "Whether ’tis nobler in the mind to suffer The slings and arrows" in question[0].text
    names = {entry.character.name: entry.character.aliases for entry in of_kind(events, CastEntry)}
    assert names["King Claudius"] == ("King",)
