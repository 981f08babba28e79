"""`understudy draft`, its review and its apply, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from sys import modules
from urllib.parse import urlencode

import pytest

from cliruns import Document, Run
from llmserver import running
from stories import found_fact, found_tie
from understudy.formats import read
from understudy.people import draft as drafting
from understudy.progress import Progress
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Moment, Relation


def finder(story: Story, progress: Progress) -> Iterator[Fact | Relation]:
    progress("Looking", 1, 1)
    yield found_fact("Tobias Rook", "hobby", "hooks", Moment((1, 1, 3), story.levels), confidence=0.7)
    yield found_tie("Tobias Rook", "Mara Quill", "spouse", Moment((1, 2, 1), story.levels), term="wife", confidence=0.8)
    yield found_tie("Mara Quill", "Tobias Rook", "spouse", Moment((1, 2, 2), story.levels), confidence=0.4)


@pytest.fixture(autouse=True)
def finders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "FINDERS", (("fake", finder),))


def test_the_table_and_the_document(run: Run, document: Document, story: Path) -> None:
    shown = run("draft", story).stdout
    assert "spouse (tie)" in shown and "3 found, 2 of them used" in shown and "(1.1.3)" in shown
    found = document("draft", story)
    (fact,) = found["facts"]
    assert {key: fact[key] for key in ("who", "attribute", "value", "from", "confidence", "sources")} == {
        "who": "Tobias Rook", "attribute": "hobby", "value": "hooks", "from": "1.1.4", "confidence": 0.7,
        "sources": ["1.1.3"],
    }  # fmt: skip
    assert [(tie["of"], tie["kind"], tie["level"], tie["used"]) for tie in found["relations"]] == [
        ("Tobias Rook", "spouse", None, True),
        ("Mara Quill", "spouse", None, False),
    ]


def test_what_was_found_is_marked_and_left_out_on_request(run: Run, document: Document, story: Path) -> None:
    run("draft", story)
    shown = run("persona", story, "Tobias", "--facing", "Mara").stdout
    assert "It seems that what I enjoy is hooks.  (found, 1.1.3)" in shown
    assert "Mara Quill seems to be my wife. (found, 1.2.1)" in " ".join(shown.split())
    persona = document("persona", story, "Tobias", "--facing", "Mara")
    assert persona["found"] == [
        {"sentence": "It seems that what I enjoy is hooks.", "found": {"confidence": 0.7, "sources": ["1.1.3"]}}
    ]
    assert persona["relations"][-1]["found"] == {"confidence": 0.8, "sources": ["1.2.1"]}
    plain = document("persona", story, "Tobias", "--facing", "Mara", "--annotated")
    assert "found" not in plain and all(tie["to"] != "Mara Quill" for tie in plain["relations"])
    before = document("persona", story, "Tobias", "--at", "1.1.3")
    assert "found" not in before and document("persona", story, "Tobias", "--at", "1.1.4")["found"]
    assert "hooks" not in json.dumps(document("persona", story, "Mara", "--facing", "Tobias")["facing"])
    assert "hooks" in json.dumps(document("persona", story, "Ines", "--facing", "Tobias")["facing"])


def test_prompts_hedge_where_the_model_can_take_it(document: Document, run: Run, story: Path) -> None:
    run("draft", story)
    asked = ("prompt", story, "Tobias", "--facing", "Mara", "--say", "Who am I to you?")
    texts = {style: json.dumps(document(*asked, "--style", style)["messages"]) for style in ("instructions", "compact")}
    _, _, listener = texts["instructions"].partition("# Whom you are talking to")
    _, _, likely = listener.partition("# ")[0].partition("ikely")
    assert "Mara Quill is my wife" in likely, "told as what is likely"
    assert "Mara Quill is my wife." in texts["compact"] and "ikely" not in texts["compact"]


def test_why_tells_what_was_found(document: Document, run: Run, story: Path) -> None:
    run("draft", story)
    reply = document("chat", story, "Tobias", "--facing", "Mara", "--say", "Am I your wife?", "--agent", "tfidf")
    found = [item for item in reply["evidence"] if "found" in item]
    assert found and all(item["found"]["sources"] for item in found)


def test_deciding_by_id(run: Run, document: Document, story: Path) -> None:
    run("draft", story)
    found = document("draft", story)
    hobby, wife, husband = [item["id"] for item in (*found["facts"], *found["relations"])]
    run("draft", "review", story, "--take", husband, "--reject", hobby)
    kinds = {tie["of"]: tie for tie in document("draft", "review", story)["relations"]}
    assert kinds["Mara Quill"]["used"] and kinds["Mara Quill"]["decision"] == "accepted"
    assert not document("draft", "review", story)["facts"], "rejected"
    run("draft", "review", story, "--undo")
    assert document("draft", "review", story)["facts"]
    run("draft", "review", story, "--change", wife, "sibling")
    assert "sibling" in run("draft", "review", story).stdout
    run("draft", "review", story, "--all-of", "hobby")
    run("draft", story)
    assert [fact.found and fact.found.confidence for fact in read(story).facts("Tobias")] == [1.0]
    assert "no entry 'zzz'" in run("draft", "review", story, "--take", "zzz", status=1).stderr


def test_deciding_one_after_the_other(
    run: Run, document: Document, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("draft", story)
    monkeypatch.setattr(modules["understudy.cli.draft"], "sys", Terminal)
    shown = run("draft", "review", story, stdin="t\nu\nr\nc\nnonsense\nc\nenemy\nq\n").stdout
    assert "Tobias Rook, hobby: hooks" in shown and "I never look at hooks" in shown
    assert "there: Ines Vale, Tobias Rook" in shown
    decisions = {entry.kind: entry.decision for entry in drafting.read_draft(read(story)).file.entries}
    assert decisions["hobby"].verdict == "rejected"
    assert {entry.decision.values for entry in drafting.read_draft(read(story)).file.entries} >= {("enemy",)}


class Terminal:
    class stdin:  # noqa: N801
        @staticmethod
        def isatty() -> bool:
            return True


def test_what_was_taken_ends_up_in_the_cast(run: Run, document: Document, story: Path) -> None:
    with (story / "cast.toml").open("a") as cast:
        cast.write("# a comment of mine\n")
    run("draft", story)
    assert "Nothing was taken" in run("draft", "apply", story).stdout
    run("draft", "review", story, "--all-of", "hobby", "--all-of", "spouse")
    assert document("draft", "apply", story) | {"file": ""} == {"file": "", "facts": 1, "relations": 2}
    assert "# a comment of mine" in (story / "cast.toml").read_text()
    annotated = read(story, annotated=True)
    assert [fact.values for fact in annotated.facts("Tobias")] == [("hooks",)]
    assert [tie.kind for tie in annotated.relations(of="Mara")] == ["spouse"]
    assert not any(tie.found for tie in read(story).relations())
    assert document("draft", "apply", story) | {"file": ""} == {"file": "", "facts": 0, "relations": 0}
    assert "story folder" in run("draft", "apply", "demo", status=1).stderr


def test_the_embedded_demo_keeps_it_with_the_user(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(drafting, "FINDERS", ())
    run("draft", "demo")
    assert (tmp_path / "data" / "found" / "demo.found.toml").is_file()


def test_a_language_model_reads_as_well(
    run: Run, document: Document, story: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "cache"))
    quote = {"line": "1.2.2", "words": "you are a thief"}
    claim = {"who": "Tobias", "attribute": "title", "value": "a thief", "quotes": [quote]}
    answer = json.dumps({"facts": [claim, {**claim, "quotes": [{"line": "1.2.2", "words": "you are a saint"}]}]})
    with running(tmp_path / "requests.jsonl") as server:
        monkeypatch.setenv("UNDERSTUDY_LLM_URL", server.url)
        monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "say?" + urlencode({"text": answer}))
        drafted = document("draft", story, "--llm")
        assert drafted["llm"]["calls"] == 4 and drafted["llm"]["completion_tokens"] > 0
        assert drafted["llm"]["dropped"]["the line does not say those words"] == 1
        assert [fact["value"] for fact in drafted["facts"] if fact["finder"] == "llm"] == ["a thief"]
        assert "4 answers of an earlier run were used again" in run("draft", story, "--llm").stdout
        monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "garbage")
        assert "sent what is no answer" in run("draft", story, "--llm", status=1).stderr
    assert [fact["finder"] for fact in document("draft", story)["facts"]] == ["fake", "llm"], "it stays"
    assert "--model goes with --llm" in run("draft", story, "--model", "x", status=2).stderr
