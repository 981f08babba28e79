"""`understudy study` from a new file to results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from understudy.cli import understudy
from understudy.cli.study_serve import announcement
from understudy.studies.kinds import KINDS
from understudy.studies.participation import give_answer, give_consent, view
from understudy.studies.store import open_study_store


def run(*arguments: object, fails: bool = False) -> str:
    result = CliRunner().invoke(understudy, ["study", *map(str, arguments)])
    assert (result.exit_code != 0) == fails, result.output
    return result.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "zita.toml"
    run("new", "likely", "-o", path)
    settings, _, _ = path.read_text().partition("[material]")
    path.write_text(f'{settings}[material]\nstory = "demo"\ncharacter = "Zita"\nlines = "lines.txt"\n')
    (tmp_path / "lines.txt").write_text("Who are you?\tThe smoker of letters.\nI read every letter.\n")
    return path


def answer_all(path: Path, links: list[str]) -> None:
    with open_study_store(path.parent / "studies.db") as store:
        for link in links:
            token = link.rpartition("/")[2]
            shown = give_consent(store, token, {})
            while shown.assignment is not None:
                assert shown.item is not None
                answer = shown.item.expected or {"likely": "likely"}
                give_answer(store, token, shown.assignment, answer, comment="a remark")
                shown = view(store, token)


def test_every_kind_is_named_in_the_help_of_new() -> None:
    text = run("new", "--help")
    for kind in KINDS:
        assert kind in text


@pytest.mark.parametrize("kind", ["likely", "rate", "candidates"])
def test_a_new_study_can_be_tried_as_it_is(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.toml"
    run("new", kind, "-o", path)
    document = json.loads(run("simulate", path, "--people", 3, "--json"))
    assert document["answers"] > 0


def test_material_that_is_there_is_kept(tmp_path: Path) -> None:
    (tmp_path / "chats.jsonl").write_text("mine")
    assert "Making" not in run("new", "rate", "-o", tmp_path / "rate.toml")
    assert (tmp_path / "chats.jsonl").read_text() == "mine"


def test_from_links_to_results(path: Path, tmp_path: Path) -> None:
    links = json.loads(run("invite", path, "--links", 2, "--json"))["links"]
    assert all("/take/" in link for link in links)
    answer_all(path, links)
    status = json.loads(run("status", path, "--json"))
    assert (status["answers"], status["wanted"], status["items"]) == (4, 10, 2)
    assert [person["code"] for person in status["people"]] == ["p1", "p2"]
    assert status["comments"][0][1] == "a remark"
    run("results", path, "-o", tmp_path / "answers.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert {row["answer"]["likely"] for row in rows if not row["is_check"]} == {"likely"}
    run("results", path, "-o", tmp_path / "judged", "--format", "voice")
    judged = json.loads((tmp_path / "judged" / "Zita Karst.json").read_text())
    assert judged == {"Who are you?\tThe smoker of letters.": 2, "\tI read every letter.": 2}
    assert json.loads(run("agree", path, "--json"))["rows"][0]["reason"].startswith("everybody gave one")


def test_unblinding_is_logged(path: Path, tmp_path: Path) -> None:
    run("invite", path, "--links", 1)
    run("results", path, "-o", tmp_path / "a.jsonl", "--unblind", "--by", "the author")
    log = json.loads(run("status", path, "--json"))["log"]
    assert log[-1]["what"] == "unblinded by the author"


def test_a_link_is_ended_and_a_study_closed(path: Path) -> None:
    run("invite", path, "--links", 1)
    assert "p1 is ended" in run("end", path, "--person", "p1")
    assert "closed" in run("end", path, "--close")
    assert "open again" in run("end", path, "--reopen")
    assert "opposites" in run("end", path, "--person", "p1", "--close", "--reopen", fails=True)
    assert "no participant 'p9'" in run("end", path, "--person", "p9", fails=True)


def test_serving_says_whether_a_study_is_open(path: Path) -> None:
    run("invite", path, "--links", 1)
    for option, state in (("--close", "closed"), ("--reopen", "open")):
        run("end", path, option)
        with open_study_store(path.parent / "studies.db") as store:
            assert f"' is {state}" in announcement(store.study("zita"), "http://127.0.0.1")


def test_what_people_say_of_themselves_is_in_the_results(path: Path, tmp_path: Path) -> None:
    path.write_text('ask = ["Age"]\n' + path.read_text())
    (link,) = json.loads(run("invite", path, "--links", 1, "--json"))["links"]
    with open_study_store(tmp_path / "studies.db") as store:
        token = link.rpartition("/")[2]
        shown = give_consent(store, token, {"Age": "41"})
        assert shown.item is not None
        give_answer(store, token, shown.assignment or 0, shown.item.expected or {"likely": "likely"})
    run("results", path, "-o", tmp_path / "a.jsonl")
    assert json.loads((tmp_path / "a.jsonl").read_text())["asked"] == {"Age": "41"}


def test_checks_that_cannot_be_made_say_of_what_they_are_made(tmp_path: Path) -> None:
    path = tmp_path / "who.toml"
    run("new", "guess", "-o", path)
    path.write_text("checks = 1\n" + path.read_text())
    output = " ".join(run("simulate", path, fails=True).split())
    assert "only scales and single choices" in output and "write" not in output


def test_a_crowd_leaves_no_database(path: Path, tmp_path: Path) -> None:
    document = json.loads(run("simulate", path, "--people", 6, "--skill", "0.8", "--json"))
    assert (document["answers"], document["wanted"], document["complete"]) == (10, 10, 2)
    assert not (tmp_path / "studies.db").exists()


def test_a_wrong_kind_path_and_key_are_named(path: Path, tmp_path: Path) -> None:
    assert "no kind of study called 'likly'" in run("new", "likly", "-o", tmp_path / "x.toml", fails=True)
    assert "study serve" in run("status", tmp_path / "zita.toml", fails=True)
    path.write_text(path.read_text() + 'lin = "x"\n')
    assert "'lin'" in run("simulate", path, fails=True)
