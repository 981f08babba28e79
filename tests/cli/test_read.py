from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cliruns import Document, Run, Start
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.people import draft
from understudy.story.storyfile import Story
from uploading import NOVEL

COUNTS = ("lines", "descriptions", "headings", "unread")


def test_every_source_line_is_counted_as_one_thing(document: Document, story: Path) -> None:
    read = document("read", story, "-o", "keys.story")
    by_file = {file["file"]: file for file in read["files"]}
    written = {
        name: sum(bool(line.strip()) for line in (story / name).read_text().splitlines())
        for name in ("act-1.txt", "act-2.txt")
    }
    assert {name: by_file[name]["units"] for name in written} == written
    for name, units in written.items():
        assert sum(by_file[name][count] for count in COUNTS) == units
    assert [by_file["act-1.txt"][count] for count in COUNTS] == [5, 1, 5, 1]
    assert by_file["act-1.txt"]["reasons"] == {"a comment": 1}
    assert read["total"]["lines"] == 10
    assert [(entry["file"], entry["line"], entry["reason"]) for entry in read["unread"]] == [
        ("act-1.txt", 13, "a comment")
    ]


def test_lines_are_counted_by_whether_the_source_names_who_speaks(document: Document, story: Path) -> None:
    assert document("read", story, "-o", "keys.story")["speakers"]["named"] == 10
    Path("novel.txt").write_text(NOVEL)
    speakers = document("read", "novel.txt", "-o", "novel.story")["speakers"]
    assert speakers["named"] == 0 <= speakers["doubtful"] < speakers["attributed"]


def test_the_cast_and_where_it_was_written(document: Document, story: Path) -> None:
    read = document("read", story, "-o", "keys.story")
    assert {entry["name"]: entry["lines"] for entry in read["cast"]} == {
        "Ines Vale": 5,
        "Tobias Rook": 4,
        "Mara Quill": 1,
    }
    assert read["story"] == "keys.story"
    assert Story.open(Path("keys.story")).title == read["title"] == "The Brass Key"


def test_a_person_is_told_that_the_counts_add_up_and_what_was_not_read(run: Run, story: Path) -> None:
    shown = run("read", story, "--unread", "5").output
    declared = sum(bool(line.strip()) for line in (story / "cast.toml").read_text().splitlines())
    assert f"10 + 1 + {10 + declared} + 1 = {22 + declared}" in shown
    assert "1 x a comment" in shown
    assert "act-1.txt:13: % Should Mara be kinder here?" in shown
    assert "Ines Vale (5)" in shown


def test_without_a_place_the_file_is_named_after_what_was_read(run: Run, story: Path) -> None:
    assert "brass-key.story" in run("read", story).output
    assert Path("brass-key.story").is_file()


def test_a_script_is_never_written_over_by_its_own_story(run: Run, story: Path) -> None:
    script = story / "act-1.txt"
    before = script.read_text()
    for what in (script, story):
        assert "is what is being read" in run("read", what, "-o", script, "--force", status=1).stderr
    assert script.read_text() == before


def test_a_file_that_is_there_is_replaced_only_when_told_to(run: Run, story: Path) -> None:
    Path("keys.story").write_text("precious")
    assert "--force" in run("read", story, "-o", "keys.story", status=1).stderr
    assert Path("keys.story").read_text() == "precious"
    run("read", story, "-o", "keys.story", "--force")
    assert Story.open(Path("keys.story")).count() == (4, 11)


def test_several_files_are_one_story(document: Document, story: Path) -> None:
    read = document("read", story / "act-2.txt", story / "act-1.txt", "-o", "keys.story")
    assert [file["file"] for file in read["files"]] == ["act-1.txt", "act-2.txt"]
    assert read["scenes"] == 4


def test_what_cannot_be_read_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    failed = run("read", empty, "-o", "keys.story", status=1)
    assert "empty" in failed.stderr
    assert failed.stdout == ""
    assert list(Path().iterdir()) == []


def test_no_such_file_is_our_error_and_no_argument_is_usage(run: Run) -> None:
    assert "no such file" in run("read", "nowhere.txt", status=1).stderr
    run("read", status=2)


def test_ctrl_c_leaves_no_file(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "long.txt"
    with script.open("w") as file:
        file.write("# act 1: Long\n## scene 1: A hall\n")
        file.writelines(f"INES: This is line {number} of what I have to say.\n" for number in range(600_000))
    reading = start("read", script, "-o", "long.story")
    _wait_until(lambda: any(path.stat().st_size > 1 << 20 for path in tmp_path.glob(".*.partial")))
    reading.send_signal(signal.SIGINT)
    shown = reading.communicate(timeout=120)
    assert reading.returncode == 130
    assert shown == ("", "\nStopped: long.story was not written.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["long.txt"]


def test_a_reading_is_silent_where_nobody_watches(start: Start, story: Path) -> None:
    reading = start("read", story, "-o", "keys.story", "--json")
    out, err = reading.communicate(timeout=60)
    assert reading.returncode == 0
    assert err == ""
    assert json.loads(out)["scenes"] == 4


def _wait_until(so: Callable[[], bool], patience: float = 120) -> None:
    end = time.monotonic() + patience
    while not so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_lines_can_be_encoded_while_they_are_read(run: Run, story: Path) -> None:
    run("read", story, "-o", "keys.story", "--encode")
    said = [line.text for scene in Story.open(Path("keys.story")).scenes() for line in scene.lines if line.speaker]
    assert SentenceEncoder().cached(said)[1].all()


def test_columns_of_a_table_are_named(document: Document, run: Run) -> None:
    Path("lines.csv").write_text("Nr;Sprecher;Zeile;Szene\n1;Ivo;Wo?;Kai\n2;Ada;Dort.;Kai\n3;Ivo;Ach.;Haus\n")
    refused = run("read", "lines.csv", "-o", "a.story", status=1)
    assert "its columns are Nr, Sprecher, Zeile, Szene" in refused.output
    assert "--columns speaker=Sprecher,text=Zeile" in refused.output
    read = document("read", "lines.csv", "-o", "a.story", "--columns", "speaker=Sprecher,text=Zeile,scene=Szene")
    assert (read["files"][0]["format"], read["scenes"]) == ("csv", 2)
    assert {entry["name"]: entry["lines"] for entry in read["cast"]} == {"Ivo": 2, "Ada": 1}
    assert "speaker=NAME" in run("read", "lines.csv", "--columns", "Sprecher", status=2).output


def test_a_format_can_be_named(document: Document) -> None:
    Path("lines.txt").write_text("Odile: You sold it.\n")
    read = document("read", "lines.txt", "--format", "transcript", "-o", "lines.story")
    assert read["files"][0]["format"] == "transcript"


TALK = """# scene 1: A kitchen
Present: Odile, Bastien, Marguerite
ODILE: You know my sister Marguerite.
BASTIEN: I never met your sister Marguerite.
ODILE: Marguerite is my sister.
MARGUERITE: I am a nurse, Odile. You are my sister.
"""


def test_people_are_looked_for_and_counted(document: Document, run: Run) -> None:
    Path("talk.txt").write_text(TALK)
    found = document("read", "talk.txt", "-o", "talk.story")["found"]
    assert found["relations"] > 0 < found["used"] and not found["pending"]
    persona = document("persona", "talk.story", "Odile")
    assert ("Marguerite", "sibling") in {(tie["to"], tie["kind"]) for tie in persona["relations"]}
    assert "ties were found" in run("read", "talk.txt", "-o", "talk.story", "--force").output


def test_people_are_left_out_when_told_so(document: Document) -> None:
    Path("talk.txt").write_text(TALK)
    assert document("read", "talk.txt", "-o", "talk.story", "--no-people")["found"] is None
    assert document("persona", "talk.story", "Odile")["relations"] == []
    assert sorted(path.name for path in Path().iterdir()) == ["talk.story", "talk.txt"]


def test_of_a_large_story_they_are_looked_for_when_first_wanted(
    document: Document, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft, "LARGE_LINES", 3)
    Path("talk.txt").write_text(TALK)
    assert "first wanted" in run("read", "talk.txt", "-o", "talk.story").output
    assert document("read", "talk.txt", "-o", "talk.story", "--force")["found"] == {
        "facts": 0, "relations": 0, "used": 0, "pending": True
    }  # fmt: skip
    assert document("cast", "talk.story") and Story.open(Path("talk.story")).is_pending, "a cast needs no persona"
    assert document("persona", "talk.story", "Odile", "--annotated")["relations"] == []
    assert document("persona", "talk.story", "Odile")["relations"]
    assert not Story.open(Path("talk.story")).is_pending


def test_reading_again_keeps_what_was_decided(document: Document, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("talk.txt").write_text(TALK)
    run("read", "talk.txt", "-o", "talk.story")
    run("draft", "review", "talk.story", "--all-of", "sibling")
    run("read", "talk.txt", "-o", "talk.story", "--force")
    kept = {entry["decision"] for entry in document("draft", "talk.story")["relations"] if entry["kind"] == "sibling"}
    assert kept == {"accepted"}
    monkeypatch.setattr(draft, "LARGE_LINES", 3)
    run("read", "talk.txt", "-o", "talk.story", "--force")
    assert Story.open(Path("talk.story")).relations(of="Odile"), "what was found before is used until then"
    assert document("persona", "talk.story", "Odile")["relations"]


def test_what_was_not_read_adds_up_where_it_is_part_of_a_line(run: Run, tmp_path: Path) -> None:
    """A tag behind a speech is unread, though its line is not; every figure says what it counts."""
    path = tmp_path / "tavern.ink"
    path.write_text("VAR met = 0\n// A note.\n== tavern\nElias: Good evening. # quiet\nMara: Who are you?\n-> END\n")
    shown = run("read", path, "-o", tmp_path / "x.story", "--no-people").stdout
    assert "Source lines, by what they became" in shown
    assert "Not read, and why (4 pieces; 3 whole source lines)" in shown
    assert "1 scene with 2 spoken lines and 0 descriptions" in shown
