from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import recognises
from understudy.errors import InputError
from understudy.formats.export import escaped
from understudy.formats.script import READER, SPEECH
from understudy.sources import Description, Event, Heading, Movement, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

SCRIPT = """\
# part 1: Low Water
## chapter 2
### scene 3: The chandlery, evening
Present: Ines Vale, the cat

[Rain. The lamp
smokes.]
INES: It was on the hook at noon:
    brass, long as my hand.
TOBIAS (not looking up): Was it.
INES and TOBIAS: Here.
[Tobias Rook leaves.]
% a note to myself
What is this?
### scene 4: Outside
Present exactly: Ines Vale
[Tobias Rook enters, says the sign.]
+ Tobias Rook
志保里（小声で）: はい。
- Tobias Rook
"""


def events_of(path: Path, text: str) -> list[Event]:
    path.write_text(text, encoding="utf-8")
    source = SourceFile(path)
    events = list(READER.events(source))
    assert sum(event.units for event in events if not isinstance(event, Opening)) == source.units
    return events


def test_everything_the_form_has_is_read(tmp_path: Path) -> None:
    events = events_of(tmp_path / "part-1.txt", SCRIPT)
    assert events[0] == Opening(("part", "chapter", "scene", "line"))
    assert [(e.title, e.numbers) for e in events if isinstance(e, Heading)] == [("Low Water", (1,)), ("", (1, 2))]
    scenes = [e for e in events if isinstance(e, SceneStart)]
    assert [(e.setting, e.present, e.number, e.units) for e in scenes] == [
        ("The chandlery, evening", ("Ines Vale", "the cat"), 3, 2),
        ("Outside", ("Ines Vale",), 4, 2),
    ]
    speeches = [e for e in events if isinstance(e, Speech)]
    assert [(e.speakers, e.text, e.source.line) for e in speeches] == [
        (("INES",), "It was on the hook at noon: brass, long as my hand.", 8),
        (("TOBIAS",), "(not looking up) Was it.", 10),
        (("INES", "TOBIAS"), "Here.", 11),
        (("志保里",), "（小声で） はい。", 19),
    ]
    descriptions = [e for e in events if isinstance(e, Description)]
    assert [(e.text, e.enter, e.leave) for e in descriptions] == [
        ("Rain. The lamp smokes.", (), ()),
        ("Tobias Rook leaves.", (), ("Tobias Rook",)),
        ("Tobias Rook enters, says the sign.", (), ()),  # 'exactly' gathers nothing from directions
    ]
    assert [(e.enter, e.leave) for e in events if isinstance(e, Movement)] == [
        (("Tobias Rook",), ()),
        ((), ("Tobias Rook",)),
    ]
    assert [(e.source.line, e.reason) for e in events if isinstance(e, Unread)] == [
        (13, "a comment"),
        (14, "neither a speech, a [description] nor a heading"),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# part 1\n[no end\n", r":2: this \[ is never closed"),
        ("# part 1\n### scene 1\n", r":2: a heading of depth 3 has none of depth 2"),
        ("# part 1\n## chapter 1\n# act 2\n", r":3: a part was expected"),
        (f"# part 1\n## chapter {'9' * 5000}\n", r":2: a chapter numbered with over 9 digits"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        events_of(tmp_path / "script.txt", text)


def test_several_speakers_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("# scene 1: A yard\nINES AND TOBIAS: Here.\nSALT \\AND SONS: Here too.\n")
    speeches = [event.speakers for event in READER.events(SourceFile(path)) if isinstance(event, Speech)]
    assert speeches == [("INES", "TOBIAS"), ("SALT AND SONS",)]


def test_it_is_told_by_its_first_heading() -> None:
    assert recognises(READER, b"\n% note\n# act 1: One\n", Path("x"))
    assert not recognises(READER, b"# A Markdown title\n", Path("x.txt"))
    assert not recognises(READER, b"Ann: # act 1\n", Path("x.txt"))


@given(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20))
def test_any_name_can_be_a_label(name: str) -> None:
    match = SPEECH.fullmatch(f"{escaped(name)}: Hello.")
    assert match is not None
    from understudy.formats.script import AND, _plain

    assert [_plain(part) for part in AND.split(match[1])] == [name]


@given(st.text(max_size=200))
def test_any_text_is_accounted_for_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("script") / "s.txt"
    try:
        events_of(path, "# act 1\n" + text)
    except (InputError, UnicodeEncodeError):
        return
