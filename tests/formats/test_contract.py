"""What every reader promises, whatever its format."""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generated import assert_nothing_withheld_is_reached
from reading import damage, events_of, of_kind, recognises
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import FORMATS, read, reader_of
from understudy.formats.evidence import measure
from understudy.formats.export import export_folder
from understudy.sources import Description, Heading, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile
from understudy.story.dialogue import situation_at

EVERY = pytest.mark.parametrize("form", SAMPLES)
SPOKEN = pytest.mark.parametrize("form", [form for form in SAMPLES if form != "HPD relations (XLSX)"])
damaged = settings(suppress_health_check=list(HealthCheck))


def sample(form: str, folder: Path, rename: str | None = None) -> Path:
    name, content = SAMPLES[form]
    path = folder / (rename or name)
    path.write_bytes(content())
    return path


def test_every_reader_has_a_sample() -> None:
    assert {form.split(",")[0] for form in SAMPLES} == {known.name for known in FORMATS}


def test_every_reader_bears_the_name_of_its_format() -> None:
    assert [known.reader.name for known in FORMATS] == [known.name for known in FORMATS]


@EVERY
def test_the_format_is_told_by_content_not_by_name(tmp_path: Path, form: str) -> None:
    path = sample(form, tmp_path, rename="1-book.dat")
    assert reader_of(SourceFile(path)).name == form.split(",")[0]
    evidence = measure(SourceFile(path).head(), path)
    takers = [known.name for known in FORMATS if known.recognises(evidence)]
    assert takers[0] == form.split(",")[0]


@EVERY
def test_nothing_is_lost_and_everything_says_where_it_came_from(tmp_path: Path, form: str) -> None:
    path = sample(form, tmp_path)
    events = events_of(reader_of(SourceFile(path)), path)  # checks that the counts add up
    text_lines = path.read_bytes().count(b"\n") + 1
    for event in events:
        if isinstance(event, Speech | Description | Heading | SceneStart | Unread):
            assert event.source.file == path.name
            assert 1 <= event.source.line <= max(text_lines, 60)
    assert all(unread.reason for unread in of_kind(events, Unread))
    story = read(path)
    for counts in story.files():
        assert counts.units == counts.lines + counts.descriptions + counts.headings + counts.unread > 0
    assert len(list(story.unread())) == len(of_kind(events, Unread))


@pytest.mark.parametrize("form", [form for form in SAMPLES if b"\0" not in SAMPLES[form][1]()])
@given(chance=st.randoms(use_true_random=False))
@settings(max_examples=10, suppress_health_check=list(HealthCheck))
def test_a_story_is_the_same_however_its_lines_end(tmp_path: Path, form: str, chance: random.Random) -> None:
    path = sample(form, tmp_path)
    expected = read(path)
    lines = path.read_bytes().split(b"\n")
    for ends in ([b"\r"], [b"\r\n"], [b"\n", b"\r\n", b"\r"]):
        content = b""
        for line in lines[:-1]:  # a CR and the LF of an empty line after it would be one end
            content += line + (b"\r" if not line and content.endswith(b"\r") else chance.choice(ends))
        path.write_bytes(content + lines[-1])
        again = read(path)
        assert [list(scene.lines) for scene in again.scenes()] == [list(scene.lines) for scene in expected.scenes()]
        assert again.files() == expected.files()


@SPOKEN
def test_what_is_said_is_in_the_story(tmp_path: Path, form: str) -> None:
    said = [line for scene in read(sample(form, tmp_path)).scenes() for line in scene.lines if line.speaker]
    assert any("piano" in line.text for line in said)
    assert len({line.speaker for line in said}) >= 2
    assert len({line.moment for line in said}) == len(said)


@EVERY
def test_no_reader_opens_a_way_to_the_future(tmp_path: Path, form: str) -> None:
    story = read(sample(form, tmp_path))
    people = [member.character.name for member in story.cast()]
    moments = [scene.moment for scene in story.scenes()]
    moments += [line.moment for scene in story.scenes() for line in scene.lines]
    for at in moments:
        for who in people:
            for facing in [None, *(other for other in people if other != who)]:
                assert_nothing_withheld_is_reached(story, situation_at(story, who, at, facing))


@EVERY
def test_written_as_a_folder_it_reads_back(tmp_path: Path, form: str) -> None:
    story = read(sample(form, tmp_path))
    if not story.count()[0]:
        with pytest.raises(InputError, match="no scenes"):
            export_folder(story, tmp_path / "out")
        return
    export_folder(story, tmp_path / "out")
    again = read(tmp_path / "out")

    def lines(of: object) -> list[tuple[str, str | None, str]]:
        return [(x.moment.dotted, x.speaker, x.text) for scene in of.scenes() for x in scene.lines]  # type: ignore[attr-defined]

    assert lines(again) == lines(story)
    assert [story.presence_intervals(scene.moment) for scene in story.scenes()] == [
        again.presence_intervals(scene.moment) for scene in again.scenes()
    ]
    assert set(again.facts()) == set(story.facts())
    assert set(again.relations()) == set(story.relations())


@EVERY
def test_progress_is_shown_as_it_reads(tmp_path: Path, form: str) -> None:
    path = sample(form, tmp_path)
    read_so_far: list[int] = []
    read(path, progress=lambda size, _doing: read_so_far.append(size))
    assert sum(read_so_far) >= path.stat().st_size


@EVERY
@damaged
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_and_leaves_nothing_behind(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    name, content = SAMPLES[form]
    path = folder / name
    path.write_bytes(data.draw(damage(content())))
    try:
        read(path, folder / "out.story")
    except InputError as error:
        refusal = str(error)
        assert str(path) in refusal
        assert not (folder / "out.story").exists()
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\x02" * 100, b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"{", b"<", b"[1]"]
)
def test_what_is_nothing_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "nothing.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"nothing\.bin"):
        read(path)


def test_json_of_no_known_form_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"hello": ["world"]}))
    with pytest.raises(InputError, match=r"odd\.json"):
        read(path)


# Long lines.

BEGINNINGS = {
    "csv": ("speaker,text\nAnn,x\n", ("", "Ann,")),
    "subrip": ("1\n00:00:01,000 --> 00:00:02,000\nANN: x\n", ("", "- ", "{\\")),
    "webvtt": ("WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>x\n", ("", "<v ")),
    "markdown": ("**A:** x\n\n", ("", "# ", "**A", "**A** (")),
    "renpy": ('define e = Character("E")\nlabel a:\n    e "x"\n', ('    e "x" ', "label a", "    show ")),
    "ink": ("=== a ===\n-> END\n", ("", "* ", "ANN: ")),
}
MARKS = ("*", "**a:", "(a)", "{i", '"a" ', "a:", "\t", "<v ", "-> ", "# ", "\n", "- ", ", ")
TIMES = 20_000
SECONDS = 15  # a hundred times what is needed; a square of the length is minutes


@pytest.mark.parametrize("form", BEGINNINGS)
def test_long_lines_are_read_or_refused_in_time(tmp_path: Path, form: str) -> None:
    reader = next(known.reader for known in FORMATS if known.name == form)
    above, leads = BEGINNINGS[form]
    path = tmp_path / "long.txt"
    began = time.process_time()
    for lead in leads:
        for mark in MARKS:
            path.write_text(f"{above}{lead}{mark * TIMES}!x\n")
            source = SourceFile(path)
            with suppress(InputError):
                recognises(reader, source.head(), path)
                for _ in reader.events(source):
                    pass
    assert time.process_time() - began < SECONDS
