from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, of_kind, read_bytes, recognises, speaker_texts, stands
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.renpy import READER
from understudy.sources import CastEntry, Event, Movement, SceneStart, Speech, Unread

CAST = 'define e = Character("Eileen", image="eily")\ndefine n = Character(None)\nlabel start:\n'


def parsed(body: str) -> list[Event]:
    return read_bytes(READER, (CAST + body).encode())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('e "Well."', ("Eileen", "Well.")),
        ("e 'It\\'s \"well\".'", ("Eileen", 'It\'s "well".')),
        ('e happy -sad @ wet "Well." with vpunch', ("Eileen", "Well.")),
        ('e "Well." (what_size=32) # a comment', ("Eileen", "Well.")),
        ('"Lucy" "Well."', ("Lucy", "Well.")),
        ('"???""Well."', ("???", "Well.")),
        ('"Ann & Bob" "Well."', ("Ann & Bob", "Well.")),
        ('mystery "Well."', ("mystery", "Well.")),
        ('"Rain."', ("", "Rain.")),
        ('n "Rain."', ("", "Rain.")),
        ('narrator "Rain."', ("", "Rain.")),
        ('centered "{b}Rain.{/b}"', ("", "Rain.")),
        ('show text "Rain." at truecenter', ("", "Rain.")),
        ('e "{i}Well{/i}, [player].{w=0.5}{nw}"', ("Eileen", "Well, [player].")),
        ('e "One.{p}Two {{three} [[four] 5%%\\nsix"', ("Eileen", "One. Two {three} [four] 5% six")),
        ('e "One\n   two."', ("Eileen", "One two.")),
        ('"Ask her." if met:', ("", "Ask her.")),
        ('"Ask her.":', ("", "Ask her.")),
    ],
)
def test_a_statement_is_somebodys_or_a_description(line: str, said: tuple[str, str]) -> None:
    assert speaker_texts(parsed(f"    {line}\n")) == [said]


def test_what_extends_a_speech_is_part_of_it() -> None:
    events = parsed('    e "One,"\n    $ x = 1\n    extend " two."\n    show eily\n    extend "Three."\n')
    assert [(one.text, one.units) for one in of_kind(events, Speech)] == [("One, two.", 2), ("Three.", 1)]


def test_a_monologue_is_a_speech_a_paragraph() -> None:
    events = parsed('    e """\n    One\n    two.\n\n    Three.\n    """\n')
    assert [(one.text, one.units, one.source.line) for one in of_kind(events, Speech)] == [
        ("One two.", 4, 5),
        ("Three.", 1, 8),
    ]


def test_labels_and_backgrounds_are_scenes_and_pictures_come_and_go() -> None:
    body = """    scene bg room with fade
    show eily happy at left
    e "One."
    show eily sad
    show logo
    hide eily
    scene the-quay
    "Two."
    scene the-quay with fade:
        zoom 1.0
label next(x=1):
    "Three."
"""
    events = parsed(body)
    assert [one.setting for one in of_kind(events, SceneStart)] == ["start, bg room", "the-quay", "next"]
    assert [(one.enter, one.leave) for one in of_kind(events, Movement)] == [(("Eileen",), ()), ((), ("Eileen",))]
    assert [one.reason for one in of_kind(events, Unread)] == ["pictures and sound"] * 4


def test_code_is_listed_as_such() -> None:
    body = """    $ points = {"e": "Eileen",
        "f": "x"}
    if points:
        e "One."
    play music "a.ogg"
    jump next
    menu:
        "Go.":
            pass
init python:
    def say(x):
        return "e 'Two.'"
screen choice():
    text "Three."
    # a comment
"""
    events = parsed(body)
    assert [(one.reason, one.units) for one in of_kind(events, Unread)] == [
        ("code", 2), ("code", 1), ("pictures and sound", 1), ("a jump", 1), ("a menu", 1), ("code", 1), ("code", 1),
        ("code", 1), ("code", 1), ("code", 1), ("code", 1), ("a comment", 1),
    ]  # fmt: skip
    assert speaker_texts(parsed(body)) == [("Eileen", "One."), ("", "Go.")]


def test_characters_are_of_the_cast_also_when_defined_below() -> None:
    content = b'label start:\n    l "One."\ndefine l = Character(\n    _("{b}Lucy{/b} Moss"),\n    kind=e)\n'
    events = read_bytes(READER, content)
    assert [(one.character.name, one.units) for one in of_kind(events, CastEntry)] == [("Lucy Moss", 3)]
    assert of_kind(events, Speech)[0].speakers == ("Lucy Moss",)


WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Z"], exclude_characters="{}[]%\\"), min_size=1),
    min_size=1, max_size=6,
).map(" ".join)  # fmt: skip


@given(texts=st.lists(WORDS, min_size=1, max_size=5))
def test_every_word_is_there_as_it_was(texts: list[str]) -> None:
    lines = "".join(f"    e {json.dumps(text, ensure_ascii=False)}\n" for text in texts)
    assert speaker_texts(parsed(lines)) == [("Eileen", text) for text in texts]
    block = "\n\n".join(text.replace('"', r"\"") for text in texts)
    assert speaker_texts(parsed(f'    e """{block}"""\n')) == [("Eileen", text) for text in texts]


@pytest.mark.parametrize("body", ['    e "One.\n    e "Two."\n', "    $ x = (1,\n"])
def test_what_is_never_closed_is_an_error_with_its_line(body: str) -> None:
    with pytest.raises(InputError, match="never closed"):
        parsed(body)


def test_only_scripts_of_renpy_are_recognised() -> None:
    for other in (b"label start:\n", b'ANN: "One."\n', b'"a","b"\n"c","d"\n', b"# act 1: A\n", b""):
        assert not recognises(READER, other, Path("script.rpy"))


@given(damage(SAMPLES["renpy"][1]()))
def test_a_damaged_file_is_read_or_refused(content: bytes) -> None:
    stands(READER, content or b"\n")


def test_it_is_a_story(tmp_path: Path) -> None:
    path = tmp_path / "script.rpy"
    path.write_bytes(SAMPLES["renpy"][1]())
    story = read(path)
    assert [member.character.name for member in story.cast()] == ["Odile", "Bastien", "Marguerite"]
    assert [scene.setting for scene in story.scenes()] == ["start, bg kitchen", "yard, bg yard"]
