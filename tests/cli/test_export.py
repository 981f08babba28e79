from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cliruns import Document, Run, Start
from understudy.formats import read
from understudy.formats.cards import card_of
from understudy.formats.cards.file import charx_of, picture_of, read_charx
from understudy.formats.cards.png import portrait


def test_json_lines_on_stdout(run: Run, story: Path) -> None:
    rows = [json.loads(line) for line in run("export", story).stdout.splitlines()]
    assert len(rows) == 11
    assert rows[0] | {"source": ""} == {
        "moment": "1.1.1", "scene": "1.1", "speaker": None, "text": "Rain on the roof.", "source": "",
    }  # fmt: skip
    assert rows[1]["speaker"] == "Ines Vale"


def test_json_lines_in_a_file_and_a_word_about_it(document: Document, run: Run, story: Path) -> None:
    report = document("export", story, "-o", "keys.jsonl")
    assert report["lines"] == len(Path("keys.jsonl").read_text().splitlines()) == 11
    assert Path("keys.jsonl").read_text() == run("export", story).stdout


def test_whom_each_line_is_said_to_where_it_is_asked_for(run: Run, story: Path) -> None:
    rows = [json.loads(line) for line in run("export", story, "--addressees").stdout.splitlines()]
    assert all(row["to"] == {} for row in rows if row["speaker"] is None)
    several = [row for row in rows if row["to"]]
    assert several and all(
        abs(sum(row["to"].values()) - 1) < 0.01 and row["speaker"] not in row["to"] for row in several
    )
    refused = run("export", story, "--addressees", "--format", "parquet", "-o", "x.parquet", status=2)
    assert "--format jsonl" in refused.output


def test_a_folder_reads_back_as_the_same_story(run: Run, story: Path) -> None:
    run("export", story, "--format", "folder", "-o", "again")
    again, first = read("again"), read(story)
    assert [(scene.setting, scene.present) for scene in again.scenes()] == [
        (scene.setting, scene.present) for scene in first.scenes()
    ]
    assert [fact.values for fact in again.facts()] == [fact.values for fact in first.facts()]


def test_a_screenplay_reads_back_with_the_same_lines(run: Run, document: Document, story: Path) -> None:
    report = document("export", story, "--format", "fountain", "-o", "keys.fountain")
    assert report["lines"] == 11
    assert [
        (line.moment, line.speaker, line.text) for scene in read("keys.fountain").scenes() for line in scene.lines
    ] == [(line.moment, line.speaker, line.text) for scene in read(story).scenes() for line in scene.lines]
    assert "--force" in run("export", story, "--format", "fountain", "-o", "keys.fountain", status=1).stderr


def test_markdown_reads_back_as_the_same_lines(run: Run, story: Path) -> None:
    assert "11 lines are in keys.md" in run("export", story, "--format", "markdown", "-o", "keys.md").stdout
    rows = [[json.loads(line) for line in run("export", each).stdout.splitlines()] for each in (story, "keys.md")]
    assert [{**row, "source": ""} for row in rows[0]] == [{**row, "source": ""} for row in rows[1]]


def test_parquet_has_a_row_a_line(run: Run, story: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run("export", story, "--format", "parquet", "-o", "keys.parquet")
    assert parquet.read_table("keys.parquet").num_rows == 11


@pytest.mark.parametrize(
    "options",
    [("--format", "parquet"), ("--format", "folder"), ("--format", "fountain"), ("--json",), ("--format", "xml")],
)
def test_where_to_must_be_said(run: Run, story: Path, options: tuple[str, ...]) -> None:
    run("export", story, *options, status=2)


def test_what_is_there_is_kept(run: Run, story: Path) -> None:
    Path("keys.jsonl").write_text("precious")
    assert "--force" in run("export", story, "-o", "keys.jsonl", status=1).stderr
    assert Path("keys.jsonl").read_text() == "precious"
    run("export", story, "-o", "keys.jsonl", "--force")
    assert [path.name for path in Path().iterdir()] == ["keys.jsonl"]


def test_a_story_is_never_written_over_by_its_own_export(run: Run, story: Path) -> None:
    run("read", story, "-o", "keys.story")
    before = Path("keys.story").read_bytes()
    assert "is what is being read" in run("export", "keys.story", "-o", "keys.story", "--force", status=1).stderr
    assert Path("keys.story").read_bytes() == before


def test_letters_that_stdout_cannot_show_are_kept() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "understudy", "export", "demo-zh"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert [json.loads(line)["text"] for line in shown.stdout.splitlines()] == [
        line.text for scene in read("demo-zh").scenes() for line in scene.lines
    ]


def test_a_folder_that_is_not_there(run: Run, story: Path) -> None:
    assert "nowhere" in run("export", story, "-o", "nowhere/keys.jsonl", status=1).stderr


@pytest.mark.parametrize("command", [("export",), ("scenes", "--text"), ("scenes", "--json")])
def test_a_reader_that_goes_away_is_no_matter(start: Start, tmp_path: Path, command: tuple[str, ...]) -> None:
    script = tmp_path / "long.txt"
    lines = "".join(f"INES: This is line {number} of what I have to say.\n" for number in range(5_000))
    script.write_text(f"# act 1: Long\n## scene 1: A hall\n{lines}")
    writing = start(command[0], script, *command[1:])
    assert writing.stdout is not None
    assert writing.stderr is not None
    assert writing.stdout.readline()
    writing.stdout.close()
    assert writing.stderr.read() == ""
    assert writing.wait(timeout=60) == 141
    writing.stderr.close()


@pytest.mark.parametrize("form", ["convokit", "sharegpt", "messages", "sillytavern"])
def test_chats_read_back_as_the_same_lines(document: Document, story: Path, form: str) -> None:
    report = document("export", story, "--format", form, "-o", "out.jsonl")
    again = read("out.jsonl")
    assert report["lines"] == again.count()[1] == 11
    assert again.files()[0].format == form
    assert [(line.speaker, line.text) for scene in again.scenes() for line in scene.lines] == [
        (line.speaker, line.text) for scene in read(story).scenes() for line in scene.lines
    ]


def test_from_whose_chair(run: Run, story: Path) -> None:
    rows = [
        json.loads(line) for line in run("export", story, "--format", "sharegpt", "--as", "Ines").stdout.splitlines()
    ]
    roles = {turn.get("name"): turn["from"] for row in rows for turn in row["conversations"]}
    assert roles["Ines Vale"] == "gpt"
    assert {role for name, role in roles.items() if name not in (None, "Ines Vale")} == {"human"}
    assert "Nobody" in run("export", story, "--format", "sharegpt", "--as", "Nobody", status=1).stderr
    assert "--as goes with" in run("export", story, "--as", "Ines", status=2).output


def test_a_card_of_a_moment_holds_nothing_later(run: Run, document: Document, story: Path) -> None:
    assert "ines.png" in run("card", story, "Ines", "--at", "2.1", "-o", "ines.png").stdout
    card = document("card", "ines.png")
    assert card["data"]["name"] == "Ines Vale"
    assert "I keep the keys of the harbour." in card["data"]["description"]
    assert "lighthouse" not in json.dumps(card)


def test_converting_keeps_what_others_put_in(run: Run, document: Document, tmp_path: Path) -> None:
    card = {
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {"name": "Hugo", "description": "A clock.", "odd": [1, {"deep": None}], "extensions": {"x": {"y": 1}}},
        "also odd": True,
    }
    source = tmp_path / "hugo.json"
    source.write_text(json.dumps(card))
    run("card", source, "-o", "hugo.png")
    run("card", "hugo.png", "-o", "hugo.json")
    assert json.loads(Path("hugo.json").read_text()) == card
    assert document("card", "hugo.png") == card


def test_the_version_that_is_asked_for(run: Run, document: Document, story: Path) -> None:
    for spec in ("2", "3"):
        run("card", story, "Ines", "-o", f"{spec}.json", "--spec", spec)
        assert document("card", f"{spec}.json")["spec"] == f"chara_card_v{spec}"


def test_a_look_into_a_card(run: Run, story: Path) -> None:
    run("card", story, "Ines", "-o", "ines.json")
    assert "I keep the keys of the harbour." in run("card", "ines.json").stdout


def test_what_is_no_card_and_what_is_there_already(run: Run, story: Path) -> None:
    assert "act-1.txt" in run("card", story / "act-1.txt", status=1).stderr
    Path("ines.json").write_text("precious")
    assert "--force" in run("card", story, "Ines", "-o", "ines.json", status=1).stderr
    assert Path("ines.json").read_text() == "precious"


def test_a_story_has_many_cards(run: Run, story: Path) -> None:
    run("read", story, "-o", "keys.story")
    for what in ("demo", story, "keys.story"):
        assert "say whose card" in run("card", what, status=2).stderr


def test_from_a_picture_to_a_story_and_back_it_is_the_same_picture(run: Run, document: Document) -> None:
    data = {"name": "Hugo", "description": "A clock.", "first_mes": "Tick.", "extensions": {}}
    Path("hugo.json").write_text(json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}))
    run("card", "hugo.json", "-o", "hugo.png")
    run("read", "hugo.png", "-o", "hugo.story")
    run("card", "hugo.story", "Hugo", "-o", "back.png")
    back, forth = (picture_of(Path(name).read_bytes()) for name in ("back.png", "hugo.png"))
    assert back == forth is not None
    card = document("card", "back.png")
    assert card["spec"] == "chara_card_v2"
    assert {field: card["data"][field] for field in ("name", "description", "first_mes")} == {
        field: data[field] for field in ("name", "description", "first_mes")
    }


def test_charx_keeps_its_assets_and_says_what_another_form_cannot_carry(run: Run, document: Document) -> None:
    smile = {"type": "emotion", "name": "smile", "ext": "webp", "uri": "embeded://assets/smile.webp"}
    data = {"name": "Hugo", "description": "A clock.", "assets": [smile], "group_only_greetings": []}
    hugo = card_of({"spec": "chara_card_v3", "spec_version": "3.0", "data": data})
    Path("hugo.charx").write_bytes(charx_of(hugo, portrait("Hugo"), {"assets/smile.webp": b"RIFF"}))
    assert "assets/smile.webp" in run("card", "hugo.charx").stdout
    run("card", "hugo.charx", "-o", "again.charx")
    assert Path("again.charx").read_bytes() == Path("hugo.charx").read_bytes()
    said = run("card", "hugo.charx", "-o", "hugo.png").stderr
    assert "1 of its assets: assets/smile.webp" in said
    assert picture_of(Path("hugo.png").read_bytes()) == portrait("Hugo")
    run("read", "hugo.charx", "-o", "hugo.story")
    assert "assets/smile.webp" in run("card", "hugo.story", "Hugo", "-o", "third.charx").stderr
    third = read_charx(Path("third.charx"))
    assert third.icon == portrait("Hugo")
    assert [asset["name"] for asset in third.card.data["assets"]] == ["main"]
    assert document("card", "third.charx")["data"]["description"] == "A clock."
