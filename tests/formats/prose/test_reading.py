"""Running text as a story: what becomes of a chapter, a conversation, a quotation and what is told around it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reading import events_of, of_kind, recognises
from understudy.errors import InputError
from understudy.formats import prose as prose_reading
from understudy.formats.prose import READER, prose_events
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.sources import CastEntry, Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

PEOPLE = (NovelCharacter("Odile", ("Odile Marchand", "Madame")), NovelCharacter("Bastien", ("Madame",)))
TEXT = """\
THE QUARREL

CHAPTER I

Odile had looked for it in every room of the house, and in the yard as well.

"You sold the piano," said Odile. "You never
asked."

He shut the window. "I sold the noise of it," said Bastien, who was tired.

"Somebody will hear of this," said a voice in the yard.

* * *

"Well?" asked Odile.

CHAPTER II

Nobody said anything for a long time.
"""


def fake_cast(_: Prose) -> tuple[NovelCharacter, ...]:
    return PEOPLE


def fake_attribution(prose: Prose, people: tuple[NovelCharacter, ...], **_: object) -> list[Attribution]:
    """Whoever is named in the quotation's paragraph."""
    found = []
    for quotation in prose.quotations:
        paragraph = prose.paragraphs[quotation.paragraph].span
        words = prose.text[paragraph.start : paragraph.end]
        named = [
            person.name
            for person in people
            if any(re.search(rf"\b{name}\b", words) for name in (person.name, *person.aliases))
        ]
        speaker = named[0] if named else None
        found.append(Attribution(speaker, 0.9 if named else 0.0, ("Bastien",) if speaker == "Odile" else ()))
    return found


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    said = ModuleType("understudy.novels.attribution")
    said.attribute = fake_attribution  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, said.__name__, said)
    monkeypatch.setattr(prose_reading, "find_cast", fake_cast)


def events_of_text(folder: Path, text: str) -> list[Event]:
    path = folder / "quarrel.txt"
    path.write_text(text, encoding="utf-8")
    return events_of(READER, path)


def test_the_source_is_told_which_chapter_is_being_read(tmp_path: Path) -> None:
    path = tmp_path / "quarrel.txt"
    path.write_text(TEXT, encoding="utf-8")
    steps: list[tuple[str, int]] = []
    for _ in READER.events(SourceFile(path, lambda size, doing: steps.append((doing, size)))):
        pass
    assert list(dict.fromkeys(doing for doing, _ in steps)) == [
        "Looking for chapters and quotations",
        "Finding out who is in it",
        "Working out who says what",
        "Chapter 1 of 2",
        "Chapter 2 of 2",
        "Writing the story",
    ]
    sizes = [size for _, size in steps]
    assert sum(sizes) == path.stat().st_size
    assert sum(sizes[:-1]) < sum(sizes), "the last lines are written when all of it is done"


def test_a_novel_becomes_headings_scenes_lines_and_descriptions(tmp_path: Path) -> None:
    events = events_of_text(tmp_path, TEXT)
    assert events[0] == Opening(("chapter", "scene", "line"), "The Quarrel", "en")
    assert [(heading.numbers, heading.title) for heading in of_kind(events, Heading)] == [
        ((1,), ""),
        (None, ""),
        ((2,), ""),
    ]
    assert [scene.present for scene in of_kind(events, SceneStart)] == [("Odile", "Bastien"), ("Odile", "Bastien"), ()]
    told = [
        (event.speakers[0] if isinstance(event, Speech) else None, event.text, event.source.line)
        for event in events
        if isinstance(event, Speech | Description)
    ]
    assert told == [
        (None, "Odile had looked for it in every room of the house, and in the yard as well.", 5),
        ("Odile", "You sold the piano. You never asked.", 7),
        (None, "He shut the window.", 10),
        ("Bastien", "I sold the noise of it.", 10),
        (None, "said Bastien, who was tired.", 10),
        (None, "“Somebody will hear of this.”", 12),
        (None, "said a voice in the yard.", 12),
        ("Odile", "Well?", 16),
        (None, "Nobody said anything for a long time.", 20),
    ]
    assert [unread.reason for unread in of_kind(events, Unread)] == ["a title page"]


def test_lines_have_their_spans_and_confidence(tmp_path: Path) -> None:
    line = of_kind(events_of_text(tmp_path, TEXT), Speech)[0]
    assert [TEXT[start:end] for start, end in line.spans] == ["You sold the piano,", "You never\nasked."]
    assert line.confidence == 0.9


def test_the_cast_is_declared_with_the_names_that_are_nobody_elses(tmp_path: Path) -> None:
    entries = of_kind(events_of_text(tmp_path, TEXT), CastEntry)
    assert [(entry.character.name, entry.character.aliases) for entry in entries] == [
        ("Odile", ("Odile Marchand",)),
        ("Bastien", ()),
    ]


def test_long_narration_parts_conversations(tmp_path: Path) -> None:
    told = "\n\n".join(["The rain went on over the yard, and over the house, and nobody looked out at it."] * 40)
    events = events_of_text(tmp_path, f'"Well?" asked Odile.\n\n{told}\n\n"Well," said Bastien.\n')
    assert [scene.present for scene in of_kind(events, SceneStart)] == [("Odile", "Bastien"), ("Bastien",)]
    assert [scene.source.line for scene in of_kind(events, SceneStart)] == [1, 3]


def test_a_shorter_silence_is_enough_where_other_people_speak_after_it(tmp_path: Path) -> None:
    told = "\n\n".join(["The rain went on over the yard, and over the house, and nobody looked out at it."] * 8)
    talk = '"Well?" asked Odile.\n\n'
    same = events_of_text(tmp_path, f"{talk}{told}\n\n{talk}")
    other = events_of_text(tmp_path, f'{talk}{told}\n\n"Well," said Bastien.\n\n{told}\n')
    assert len(of_kind(same, SceneStart)) == 1
    assert [scene.source.line for scene in of_kind(other, SceneStart)] == [1, 3]  # the end is told in the last scene


def test_a_thought_is_told_not_said(tmp_path: Path) -> None:
    events = events_of_text(tmp_path, '"Well?" asked Odile.\n\n"He is late," thought Odile. "He is always late."\n')
    assert [line.text for line in of_kind(events, Speech)] == ["Well?"]
    assert [line.text for line in of_kind(events, Description)] == ['"He is late," thought Odile. "He is always late."']


def test_where_nobody_speaks_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nobody speaks here"):
        events_of_text(tmp_path, "It rained.\n\nIt rained for a long time, and then it did not.\n")


def test_where_nobody_can_be_named_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cast\.toml"):
        events_of_text(tmp_path, '"It rains," he said.\n\n"It does," she said.\n')


def test_text_of_another_container_counts_its_own_lines(tmp_path: Path) -> None:
    path = tmp_path / "quarrel.epub"
    path.write_bytes(b"PK")
    events = list(prose_events(SourceFile(path), lambda _: parse_prose(TEXT)))
    assert sum(event.units for event in events if not isinstance(event, Opening)) == 11


RUNNING = "It rained all day over the yard and over the house,\nand nobody came out of it until the evening bell. " * 3
POEM = "\n".join(
    ["The rain is on the yard tonight", "And on the roof and on the stair", "And nobody has lit a light"] * 9
)


@pytest.mark.parametrize(
    ("text", "is_prose"),
    [
        (TEXT, True),
        (RUNNING, True),
        (f'{RUNNING}\n\n"You sold it," she said.\n\n"I did."\n', True),
        ("「ピアノを売ったの？」とオディールは言った。\n「音を売ったんだ」と彼は答えて、窓を閉めた。\n" * 5, True),
        (POEM, False),
        ("Odile: You sold the piano, Bastien.\nBastien: I sold the noise of it, and nobody missed it.\n" * 9, False),
        ('who,what,when\nOdile,"You sold it, Bastien.",1\nBastien,"I did, and so what.",2\n' * 9, False),
        (
            "INT. KITCHEN - NIGHT\n\nODILE\nYou sold the piano, Bastien.\n\nBASTIEN\nI sold the noise of it.\n" * 9,
            False,
        ),
        ("1\n00:00:01,000 --> 00:00:02,000\nYou sold the piano.\n\n" * 9, False),
        ('{"speaker": "Odile", "text": "You sold the piano, Bastien, and you never asked me."}\n' * 9, False),
        ("<html><body><p>It rained all day over the yard and over the house.</p></body></html>" * 9, False),
        ("# act 1: The Quarrel\n## scene 1: A kitchen\n[It rains on the yard.]\nODILE: You sold it.\n" * 9, False),
    ],
)
def test_only_running_text_is_recognised(text: str, is_prose: bool) -> None:
    assert recognises(READER, text.encode(), Path("any.txt")) is is_prose


def test_a_declared_cast_is_the_cast(tmp_path: Path) -> None:
    path = tmp_path / "quarrel.txt"
    path.write_text(TEXT, encoding="utf-8")
    (tmp_path / "cast.toml").write_text('[[character]]\nname = "Odile Marchand"\naliases = ["Odile"]\n')
    entries = of_kind(list(READER.events(SourceFile(path, story_folder=tmp_path))), CastEntry)
    assert {entry.character.name for entry in entries} == {"Odile Marchand", "Bastien"}


def test_what_an_author_decided_is_applied(tmp_path: Path) -> None:
    path = tmp_path / "quarrel.txt"
    path.write_text(TEXT, encoding="utf-8")
    (tmp_path / "quarrel.quotations.toml").write_text(
        '[[quotation]]\nquote = "Somebody will hear of this,"\nspeaker = "the cat"\n'
        '[[quotation]]\nquote = "Nobody ever wrote this."\nspeaker = "Odile"\n'
    )
    events = list(READER.events(SourceFile(path)))
    assert ("the cat", 1.0) in [(line.speakers[0], line.confidence) for line in of_kind(events, Speech)]
    assert "the cat" in {entry.character.name for entry in of_kind(events, CastEntry)}
    assert [unread.text for unread in of_kind(events, Unread) if not unread.units] == ["Nobody ever wrote this."]


PIECES = [
    *"\"'“”‘’«»「」—., ?\u3000\x1c",
    "Odile",
    "Bastien",
    "said Odile",
    "thought Odile",
    "no one came",
    "\n",
    "\n\n",
    "\n\n",
    "CHAPTER I",
    "CHAPTER II",
    "BOOK TWO",
    "* * *",
    "Contents",
    "[Illustration: a cat]",
    '"Well?" asked Odile.',
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=60).map("".join))
@example('"Odile\n\n[Illustration: a cat]\n\n"Well?" asked Odile.')
@settings(suppress_health_check=list(HealthCheck))
def test_every_line_is_accounted_for_in_order(text: str) -> None:
    source = SourceFile(Path(__file__))
    try:
        events = list(prose_events(source, lambda _: parse_prose(text)))
    except InputError:
        return
    counted = [event for event in events if not isinstance(event, Opening)]
    assert sum(event.units for event in counted) == sum(1 for line in text.split("\n") if line.strip())
    spans = [span for event in counted if isinstance(event, Speech | Description) for span in event.spans]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert len(set(spans)) == len(spans)
    lines = [event.source.line for event in counted if not isinstance(event, CastEntry)]
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
    headings = [heading.numbers for heading in of_kind(counted, Heading) if heading.numbers]
    assert headings == sorted(set(headings))
