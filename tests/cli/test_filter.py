from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from cliruns import Document, Run

LINES = "Good morning.\nMara is at the lighthouse.\nKeep the brass key.\n"


@pytest.fixture
def filter_command(tmp_path: Path, story: Path) -> list[str]:
    """The command without its rules."""
    lines = tmp_path / "lines.txt"
    lines.write_text(LINES)
    words = ["filter", lines, "--story", story, "--as", "Ines", "--at", "1.2", "--no-vectors", "--store", "lines.db"]
    return [str(word) for word in words]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "labelled.jsonl"
    fit = [{"text": f"Keep the brass key, {number} times.", "fit": True} for number in range(12)]
    unfit = [{"text": f"Mara went to the lighthouse {number} times.", "fit": False} for number in range(12)]
    path.write_text("".join(json.dumps(record) + "\n" for record in (*fit, *unfit)))
    return path


def test_lines_are_judged_kept_and_looked_at(document: Document, filter_command: list[str]) -> None:
    report = document(*filter_command, "--rule", "anachronism<=0")
    assert report["decided"] == {"approved": 2, "rejected": 1} and report["new"] == 3
    again = document(*filter_command, "--rule", "anachronism<=0")
    assert again["new"] == 0 and again["done_before"] == 3
    listed = document("utterances", "list", "--store", "lines.db", "--decision", "rejected")
    (utterance,) = listed["utterances"]
    assert utterance["text"] == "Mara is at the lighthouse." and "not known yet" in utterance["reasons"]["anachronism"]
    assert {"character": "Ines Vale", "decision": "approved", "lines": 2} in listed["counts"]


def test_a_decision_is_made_shown_and_taken_back(run: Run, document: Document, filter_command: list[str]) -> None:
    run(*filter_command, "--rule", "anachronism<=0")
    run("utterances", "approve", "2", "--store", "lines.db", "--by", "Mara", "--why", "it is fine")
    shown = document("utterances", "show", "2", "--store", "lines.db")
    assert shown["decision"] == "approved" and shown["by"] == "Mara"
    assert [entry["decision"] for entry in shown["history"]] == ["pending", "rejected", "approved"]
    run("utterances", "undo", "2", "--store", "lines.db")
    assert document("utterances", "show", "2", "--store", "lines.db")["decision"] == "rejected"
    assert "it is fine" in run("utterances", "show", "2", "--store", "lines.db").stdout


def test_nothing_is_decided_where_one_of_several_is_not_there(
    run: Run, document: Document, filter_command: list[str]
) -> None:
    run(*filter_command, "--rule", "anachronism<=0")
    assert "no utterance 99" in run("utterances", "reject", "1", "99", "--store", "lines.db", status=1).stderr
    assert document("utterances", "show", "1", "--store", "lines.db")["decision"] == "approved"


def test_what_is_approved_is_taken_out(run: Run, filter_command: list[str]) -> None:
    run(*filter_command, "--rule", "anachronism<=0")
    run("utterances", "export", "--store", "lines.db", "-o", "out.jsonl")
    texts = [json.loads(line)["text"] for line in Path("out.jsonl").read_text().splitlines()]
    assert texts == ["Good morning.", "Keep the brass key."]
    assert "--force" in run("utterances", "export", "--store", "lines.db", "-o", "out.jsonl", status=1).stderr


def test_a_share_to_keep_finds_its_bound(document: Document, filter_command: list[str]) -> None:
    report = document(*filter_command, "--bound", "psprob", "--keep", "0.3")
    assert report["decided"] == {"approved": 1, "rejected": 2} and report["rules"][0].startswith("psprob>=")


def test_a_bound_found_from_labelled_lines_is_shown_before_it_is_used(
    run: Run, filter_command: list[str], labelled: Path
) -> None:
    wanted = [*filter_command, "--bound", "anachronism", "--precision", "0.9", "--labelled", str(labelled)]
    refused = run(*wanted, stdin="n\n", status=1)
    assert "precision 1.00" in refused.stderr and not Path("lines.db").exists()
    taken = run(*wanted, stdin="y\n")
    assert "anachronism<=0" in taken.stdout and "2 approved, 1 rejected" in taken.stdout


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        ([], 2, "at least one --rule"),
        (["--rule", "anachronism=0"], 1, "as in psprob>=0.2"),
        (["--rule", "charm>=1"], 1, "there is no metric 'charm'"),
        (["--keep", "0.5"], 2, "--bound"),
        (["--bound", "psprob"], 2, "one of --keep, --precision and --recall"),
        (["--bound", "psprob", "--precision", "0.9"], 2, "--labelled"),
        (["--rule", "psprob>=0", "--until", "1.1"], 2, "not after"),
    ],
)
def test_what_is_wrong_is_said(run: Run, filter_command: list[str], more: list[str], status: int, said: str) -> None:
    assert said in run(*filter_command, *more, status=status).stderr
    assert not Path("lines.db").exists()


def test_a_store_that_is_not_there_is_not_made_by_looking(run: Run) -> None:
    assert "understudy filter" in run("utterances", "list", "--store", "nowhere.db", status=1).stderr
    assert not Path("nowhere.db").exists()


def test_lines_are_kept_listed_and_taken_out_by_story(
    run: Run, document: Document, filter_command: list[str], story: Path
) -> None:
    run(*filter_command, "--rule", "anachronism<=0")
    of_demo = list(filter_command)
    of_demo[of_demo.index("--story") + 1], of_demo[of_demo.index("--as") + 1] = "demo", "Zita"
    run(*of_demo, "--rule", "anachronism<=0")

    def listed(*more: object) -> Any:
        return document("utterances", "list", "--store", "lines.db", *more)

    everything = listed()["utterances"]
    titles = list(dict.fromkeys(utterance["story"] for utterance in everything))
    assert len(everything) == 6 and len(titles) == 2 and all(titles)
    for wanted in (titles[1], "demo"):
        listing = listed("--story", wanted)
        assert [utterance["story"] for utterance in listing["utterances"]] == [titles[1]] * 3
        assert sum(record["lines"] for record in listing["counts"]) == 3
    assert [utterance["story"] for utterance in listed("--story", story)["utterances"]] == [titles[0]] * 3
    run("utterances", "export", "--store", "lines.db", "--story", titles[0], "--decision", "all", "-o", "out.jsonl")
    assert {json.loads(line)["story"] for line in Path("out.jsonl").read_text().splitlines()} == {titles[0]}
    assert titles[1] in run("utterances", "list", "--store", "lines.db", "--story", "Nothing", status=1).stderr
    assert titles[0] in run("utterances", "show", "1", "--store", "lines.db").stdout


def test_the_choice_is_drawn_before_it_is_used(run: Run, filter_command: list[str], labelled: Path) -> None:
    wanted = [*filter_command, "--bound", "psprob", "--precision", "0.9", "--labelled", str(labelled), "--plot"]
    refused = run(*wanted, "bound.svg", stdin="n\n", status=1)
    assert "Drawn in bound.svg" in refused.stderr and not Path("lines.db").exists()
    drawing = ElementTree.fromstring(Path("bound.svg").read_text(encoding="utf-8"))
    report = drawing.get("aria-label") or ""
    assert report.startswith("psprob>=") and all(name in report for name in ("precision", "recall", "keeps"))
    run(*wanted, "bound.html", "--yes")
    page = Path("bound.html").read_text(encoding="utf-8")
    assert page.count("class=marked") == 1 and "labelled.jsonl" in page and "<svg" in page


def test_a_share_to_keep_is_drawn_too(run: Run, document: Document, filter_command: list[str]) -> None:
    shown = run(*filter_command, "--bound", "psprob", "--keep", "0.3", "--plot", "keep.html").stderr
    assert "What a bound on psprob would do" in shown and "> " in shown
    page = Path("keep.html").read_text(encoding="utf-8")
    rule = document(*filter_command, "--bound", "psprob", "--keep", "0.3")["rules"][0].replace(">", "&gt;")
    assert f"{rule}: keeps 0.33" in page


@pytest.mark.parametrize(
    ("plot", "status", "said"),
    [("bound.png", 2, ".svg or an .html"), ("nowhere/bound.svg", 1, "no such folder"), ("lines.html", 1, "being read")],
)
def test_where_nothing_can_be_drawn(run: Run, filter_command: list[str], plot: str, status: int, said: str) -> None:
    lines = Path(filter_command[1]).rename(Path(filter_command[1]).with_name("lines.html"))
    filter_command[1] = str(lines)
    report = [*filter_command, "--bound", "psprob", "--keep", "0.3", "--plot", str(lines.parent / plot)]
    assert said in run(*report, status=status).stderr
    assert lines.read_text() == LINES and not Path("lines.db").exists()


def test_a_plot_needs_a_bound_to_be_found(run: Run, filter_command: list[str]) -> None:
    assert "--bound" in run(*filter_command, "--rule", "psprob>=0", "--plot", "bound.svg", status=2).stderr


def test_approved_lines_are_listed_by_how_like_a_text_they_are(
    run: Run, document: Document, filter_command: list[str]
) -> None:
    with_vectors = [word for word in filter_command if word != "--no-vectors"]
    run(*with_vectors, "--rule", "anachronism<=0")
    listed = document("utterances", "list", "--store", "lines.db", "--like", "Hello, a good day to you!")["utterances"]
    assert [utterance["text"] for utterance in listed] == ["Good morning.", "Keep the brass key."]
    assert 1 > listed[0]["likeness"] > listed[1]["likeness"]
    assert "likeness" in run("utterances", "list", "--store", "lines.db", "--like", "Hello").stdout
    both = ("--like", "Hello", "--near", "anachronism=0")
    assert "choose one" in run("utterances", "list", "--store", "lines.db", *both, status=2).stderr


BOT = "As an AI language model I cannot give you the map."


def test_the_guards_are_one_flag_and_keep_bots_out(
    run: Run, document: Document, filter_command: list[str], tmp_path: Path
) -> None:
    (tmp_path / "lines.txt").write_text(f"Good morning.\n{BOT}\nI have forty dogs and a wife in Lisbon.\n")
    report = document(*filter_command, "--guards")
    assert report["rules"] == ["guards<=0"]
    listed = document("utterances", "list", "--store", "lines.db")["utterances"]
    assert [utterance["decision"] for utterance in listed] == ["approved", "rejected", "pending"]
    assert listed[1]["reasons"]["guards"] == "form: speaks as an assistant"
    assert listed[2]["reasons"]["guards"].startswith("in doubt: ")


@pytest.mark.parametrize(
    ("rule", "decided"), [("guard-form<=0", {"approved": 2, "rejected": 1}), ("guard-secrets<=0", {"approved": 3})]
)
def test_each_guard_is_a_rule_of_its_own(
    document: Document, filter_command: list[str], tmp_path: Path, rule: str, decided: dict[str, int]
) -> None:
    (tmp_path / "lines.txt").write_text(f"Good morning.\n{BOT}\nMind the step.\n")
    assert document(*filter_command, "--rule", rule)["decided"] == decided


@pytest.mark.parametrize("name", ["lines.csv", "lines.jsonl"])
def test_tables_and_json_lines_are_judged_by_their_texts(
    run: Run, document: Document, filter_command: list[str], tmp_path: Path, name: str
) -> None:
    """Their columns are told by the usual names, or named."""
    rows = [(1, 'Keep the key, "Ines".'), (2, BOT)]
    for column, named in (("utterance", []), ("Zeile", ["--columns", "text=Zeile"])):
        path = tmp_path / column / name
        path.parent.mkdir()
        with path.open("w", newline="") as file:
            if name.endswith(".csv"):
                csv.writer(file).writerows([("id", column), *rows])
            else:
                file.writelines(json.dumps({"id": number, column: text}) + "\n" for number, text in rows)
        filter_command[1] = str(path)
        if named:
            assert "--columns text=NAME" in run(*filter_command, "--guards", status=1).stderr
        store = tmp_path / column / "lines.db"
        filter_command[filter_command.index("--store") + 1] = str(store)
        assert document(*filter_command, "--guards", *named)["decided"] == {"approved": 1, "rejected": 1}
        listed = document("utterances", "list", "--store", store)["utterances"]
        assert [utterance["text"] for utterance in listed] == [text for _, text in rows]
        assert document("score", path, "--story", "demo", "--as", "Zita", *named)["count"] == 2


def test_psprob_warns_where_there_are_few_to_be_told_apart(
    run: Run, document: Document, filter_command: list[str]
) -> None:
    assert "by chance" in run(*filter_command, "--rule", "psprob>=0.2").stderr
    assert "by chance" in document(*filter_command, "--rule", "psprob>=0.2")["warnings"][0]
    lines, story = filter_command[1], filter_command[3]
    assert "by chance" in run("score", lines, "--story", story, "--as", "Ines", "--metrics", "psprob").stderr
    assert "by chance" not in run("score", lines, "--story", "demo", "--as", "Zita", "--metrics", "psprob").stderr


def test_an_order_by_what_no_line_has_says_what_they_have(run: Run, filter_command: list[str]) -> None:
    run(*filter_command, "--rule", "anachronism<=0")
    nothing = run("utterances", "list", "--store", "lines.db", "--near", "psprob=0.2", status=1).stderr
    assert "psprob: they have anachronism" in nothing and 'filter FILE --rule "psprob>=0.2"' in nothing
    assert "--no-vectors" in run("utterances", "list", "--store", "lines.db", "--like", "A key?", status=1).stderr
