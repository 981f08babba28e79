"""`understudy quotations`, and what `understudy read` lists, as a user runs them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from urllib.parse import urlencode

import pytest

from cliruns import Document, Run
from llmserver import running
from novel_texts import stand_in_attribution
from understudy.cli.quotations import decide_speakers
from understudy.formats import read
from understudy.formats.prose.corrections import read_corrections

NOVEL = """CHAPTER I

Odile had looked for it in every room of the house, in the yard, and at last in the street, where Bastien stood.

"You sold the piano," said Odile.

"I sold the noise of it, and nobody in this street will say that I was wrong to do so," said Bastien.

"Marguerite will hear of this before the week is out, and then we shall see who was wrong."

He had nothing to say to that, and went back to the yard, from where somebody called.

"And what has become of all the money, if a neighbour may ask?"
"""


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stand_in_attribution(monkeypatch, ("Odile", "Bastien"))
    path = tmp_path / "novel.txt"
    path.write_text(NOVEL)
    return path


def speakers(path: Path) -> dict[str, str | None]:
    return {line.text: line.speaker for scene in read(path).scenes() for line in scene.lines}


def test_reading_lists_what_is_doubtful_beside_the_source(run: Run, novel: Path, tmp_path: Path) -> None:
    shown = run("read", novel, "-o", tmp_path / "novel.story").stdout
    listed = tomllib.loads((tmp_path / "novel.quotations.toml").read_text())
    assert [entry["quote"][:10] for entry in listed["quotation"]] == ["Marguerite", "And what h"]
    assert "2 quotations whose speaker is doubtful are listed in" in " ".join(shown.split())


def test_a_decision_is_used_when_the_source_is_read_and_can_be_taken_back(
    run: Run, document: Document, novel: Path, tmp_path: Path
) -> None:
    first = document("quotations", novel)
    assert [(entry["number"], entry["guess"], entry["speaker"]) for entry in first["quotations"]] == [
        (1, None, None),
        (2, None, None),
    ]
    result = run("quotations", novel, "--set", "1", "Marguerite's Aunt", "--not-speech", "2")
    assert "Nobody in it is called 'Marguerite's Aunt'" in result.stderr and "--undo" in result.stderr
    assert "0 undecided, 2 decided" in result.stdout
    said = speakers(novel)
    assert said["Marguerite will hear of this before the week is out, and then we shall see who was wrong."] == (
        "Marguerite's Aunt"
    )
    assert run("quotations", novel, "--undo").stdout.count("undecided") == 1
    assert document("quotations", novel)["undecided"] == 1
    run("read", novel, "-o", tmp_path / "novel.story")
    assert document("quotations", tmp_path / "novel.story")["undecided"] == 1
    assert "no. " in run("quotations", tmp_path / "novel.story", "--all").stdout


def test_a_bound_lists_more_for_once(run: Run, document: Document, novel: Path) -> None:
    assert len(document("quotations", novel)["quotations"]) == 2
    assert len(document("quotations", novel, "--bound", "0.95")["quotations"]) == 4
    later = document("quotations", novel)
    assert [entry["number"] for entry in later["quotations"]] == [
        3,
        4,
    ]  # that was for once; numbers stay what they were
    assert later["bound"] == 0.6
    assert "2 surer ones" in run("quotations", novel).stdout
    run("quotations", novel, "--set", "1", "Bastien")
    assert [entry["number"] for entry in document("quotations", novel)["quotations"]] == [1, 3, 4]
    run("read", novel, "-o", novel.with_suffix(".story"))
    assert [entry["number"] for entry in document("quotations", novel)["quotations"]] == [1, 2, 3]


def test_a_decision_whose_quotation_is_gone_is_kept_and_reported(run: Run, document: Document, novel: Path) -> None:
    run("quotations", novel, "--set", "1", "Odile")
    start = NOVEL.index('"Marguerite')
    novel.write_text(NOVEL[:start] + NOVEL[NOVEL.index("He had nothing") :])
    reading = document("read", novel, "-o", "again.story", "--unread", "5")
    assert any("no longer in the text" in reason for reason in reading["files"][0]["reasons"])
    assert reading["quotations"] == [str(novel.with_suffix(".quotations.toml"))]
    kept = read_corrections(novel.with_suffix(".quotations.toml")).entries
    assert sorted(entry.decision.speaker for entry in kept) == ["", "Odile"]


def test_what_cannot_be_decided_is_an_error(run: Run, novel: Path, tmp_path: Path) -> None:
    assert "from 1 to 2" in run("quotations", novel, "--set", "7", "Odile", status=1).stderr
    assert "no decision to take back" in run("quotations", novel, "--undo", status=1).stderr
    assert "is a script" in run("quotations", "demo", status=1).stderr
    run("read", novel, "-o", tmp_path / "novel.story")
    novel.with_suffix(".quotations.toml").unlink()
    assert "name the source" in run("quotations", tmp_path / "novel.story", status=1).stderr


def test_a_language_model_proposes(run: Run, document: Document, novel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [{"number": 1, "speaker": "Odile", "confidence": 0.8}, {"number": 2, "speaker": "X"}]
    answer = json.dumps({"answers": answers})
    with running(novel.with_name("requests.jsonl")) as server:
        monkeypatch.setenv("UNDERSTUDY_LLM_URL", server.url)
        monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", f"say?{urlencode({'text': answer})}")
        result = run("quotations", novel, "--ask", "llm")
    assert "1 proposals" in result.stderr and "not of the cast" in result.stderr
    first = document("quotations", novel)["quotations"][0]
    assert first["proposed"] == {"speaker": "Odile", "confidence": 0.8, "by": "llm"} and first["speaker"] is None
    assert "Odile? (llm)" in run("quotations", novel).stdout
    assert list(speakers(novel).values()).count("Odile") == 2


def test_one_after_the_other_on_a_terminal(run: Run, novel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("quotations", novel)
    corrections = read_corrections(novel.with_suffix(".quotations.toml"))
    answers = iter(["n", "Odile", "u", "z", "n", "", "n", "Bastien", "x"])
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    decide_speakers(corrections)
    decisions = [entry.decision for entry in read_corrections(corrections.path).entries]
    assert [decision.speaker or decision.not_speech for decision in decisions] == ["Bastien", True]


def test_somebody_of_the_cast_is_not_called_new(run: Run, novel: Path) -> None:
    assert "Nobody" not in run("quotations", novel, "--set", "1", "Bastien").stderr
    slip = run("quotations", novel, "--set", "1", "Bastian").stderr
    assert "did you mean 'Bastien'" in slip


DUOLOGUE = """CHAPTER I

Odile had looked for it in every room of the house, and at last in the street, where Bastien stood.

"You sold the piano," said Odile.

"I sold the noise of it, and nobody will say that I was wrong," said Bastien.

"They will hear of this before the week is out, and then we shall see," said Odile.

"Let them hear," said Bastien.
"""


def test_who_has_no_line_left_is_in_no_scene(tmp_path: Path) -> None:
    """Who was taken to answer was taken to be spoken to as well."""
    novel = tmp_path / "duologue.txt"
    novel.write_text(DUOLOGUE)
    assert [set(scene.present) for scene in read(novel).scenes()] == [{"Odile", "Bastien"}]
    answers = ("I sold the noise of it, and nobody will say that I was wrong,", "Let them hear,")
    decided = (f'[[quotation]]\nquote = "{answer}"\nspeaker = "Marguerite"\n' for answer in answers)
    novel.with_suffix(".quotations.toml").write_text("\n".join(decided))
    assert [set(scene.present) for scene in read(novel).scenes()] == [{"Odile", "Marguerite"}]


def test_nobody_is_merged_with_themselves(run: Run, novel: Path) -> None:
    assert "one person already" in run("quotations", novel, "--merge", "Odile", "Odile", status=1).stderr


def test_people_are_merged_and_split(run: Run, novel: Path) -> None:
    assert {line.speaker for scene in read(novel).scenes() for line in scene.lines} >= {"Odile", "Bastien"}
    run("quotations", novel, "--merge", "Bastien", "Odile")
    assert "Bastien" not in {member.character.name for member in read(novel).cast()}
    assert "Bastien" in read(novel).character("Odile").aliases
    run("quotations", novel, "--split", "Odile", "Bastien")
    assert {line.speaker for scene in read(novel).scenes() for line in scene.lines} >= {"Odile", "Bastien"}
    assert "did you mean 'Odile'" in run("quotations", novel, "--merge", "Odil", "Bastien", status=1).stderr
