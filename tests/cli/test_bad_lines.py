"""Files that cannot be judged, and places that cannot be written: said the same way by `score`, `filter` and
`--engine daft`, with nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cliruns import Document, Run
from understudy.metrics.scoring.engine import ScoringRequest
from understudy.metrics.scoring.inputs import FilePart

COMMANDS = {
    "score": ("score", "--metrics", "psprob", "-o", "out.jsonl"),
    "filter": ("filter", "--rule", "psprob>=0", "--no-vectors", "--store", "out.db"),
    "daft": ("score", "--metrics", "psprob", "--engine", "daft", "-o", "out.parquet"),
}
EVERY = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(autouse=True)
def scale(request: pytest.FixtureRequest) -> None:
    if "daft" in request.node.name:
        pytest.importorskip("daft", reason="--engine daft needs the extra 'scale'")


@pytest.fixture
def no_worker_processes(scale: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--engine daft` with its worker in this process: Daft would start one for each run."""
    if "daft" not in request.node.name:
        return
    import daft

    from understudy.metrics.scoring.output import Worker

    def error_messages(request: ScoringRequest, parts: Sequence[FilePart], folder: Path, *_: object) -> Iterator[str]:
        yield from Worker(str(request), str(folder)).score(daft.Series.from_pylist([str(part) for part in parts]))

    monkeypatch.setattr("understudy.metrics.scoring.engine._error_messages", error_messages)


def command_line(
    command: str, file: Path, story: Path | str, name: str = "Ines", output: str | None = None
) -> list[str]:
    verb, *options = COMMANDS[command]
    arguments = [verb, str(file), "--story", str(story), "--as", name, *options]
    return [*arguments[:-1], output] if output is not None else arguments


SHIFT_JIS = "Good morning.\n潮が引いた。\n".encode("shift_jis")


def test_a_worker_process_names_the_file_and_the_line(run: Run, story: Path, tmp_path: Path) -> None:
    pytest.importorskip("daft", reason="--engine daft needs the extra 'scale'")
    file = tmp_path / "sjis.txt"
    file.write_bytes(SHIFT_JIS)
    assert "sjis.txt:2: is not UTF-8" in run(*command_line("daft", file, story), status=1).stderr
    assert not Path("out.parquet").exists()


@EVERY
@pytest.mark.usefixtures("no_worker_processes")
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("sjis.txt", SHIFT_JIS, ":2: is not UTF-8: convert it first"),
        ("latin.txt", "Café.\n".encode("latin-1"), ":1: is not UTF-8"),
        ("utf16.txt", "The tide is out.\n".encode("utf-16"), "is UTF-16: convert it to UTF-8"),
        ("nul.txt", b"The tide\0is out.\n", ":1: holds NUL bytes"),
        ("nul.jsonl", b'{"text": "The tide"}\n{"text": "is\\u0000out"}\n', ":2: has a NUL character"),
        ("half.jsonl", b'{"text": "\\ud83d"}\n', ":1: has half a character"),
        ("list.jsonl", b'["The tide"]\n', ":1: is not an object with a text"),
        ("empty.txt", b"", "is empty: there is no line to score"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(
    run: Run, story: Path, tmp_path: Path, command: str, name: str, content: bytes, said: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    stderr = run(*command_line(command, file, story), status=1).stderr
    assert f"{name}{said}" in stderr.replace(f"{name}: ", name) and "Traceback" not in stderr
    assert not Path("out.jsonl").exists() and not Path("out.db").exists() and not Path("out.parquet").exists()


@EVERY
def test_a_wrong_path_and_a_folder(run: Run, story: Path, tmp_path: Path, command: str) -> None:
    assert "no such file" in run(*command_line(command, tmp_path / "nowhere.txt", story), status=1).stderr
    assert "is a folder" in run(*command_line(command, tmp_path, story), status=1).stderr
    assert not Path("out.jsonl").exists() and not Path("out.db").exists()


@EVERY
@pytest.mark.parametrize("output", ["nowhere/at/all", "file.txt/out"])
def test_an_output_that_cannot_be_written(run: Run, story: Path, tmp_path: Path, command: str, output: str) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("The tide is out.\n")
    Path("file.txt").write_text("mine")
    if command == "daft" and output.startswith("nowhere"):
        return  # it makes the folders that are missing
    stderr = run(*command_line(command, lines, story, output=output), status=1).stderr
    assert output.split("/")[0] in stderr and "Traceback" not in stderr
    assert Path("file.txt").read_text() == "mine"


@EVERY
def test_a_line_of_a_megabyte_is_a_line(
    run: Run, document: Document, story: Path, tmp_path: Path, command: str
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("tide " * 210_000 + "\nKeep the brass key.\n")
    report = document(*command_line(command, lines, story))
    assert report.get("count", report.get("new")) == 2
    if command == "filter":
        shown = run("utterances", "show", "1", "--store", "out.db").stdout
        assert len(shown) < 4_000
        assert len(document("utterances", "show", "1", "--store", "out.db")["text"]) > 1_000_000


@EVERY
@pytest.mark.usefixtures("no_worker_processes")
def test_a_persona_with_two_lines_is_judged_as_far_as_that_goes(
    run: Run, document: Document, tmp_path: Path, command: str
) -> None:
    story, lines = tmp_path / "two.txt", tmp_path / "lines.txt"
    story.write_text("# act 1\n## scene 1\nINES: The key is gone.\nTOBIAS: Which key?\nINES: The brass one.\n")
    lines.write_text("The key is here.\n")
    run(*command_line(command, lines, story))
    arguments = ("--story", story, "--as", "Ines")
    voice = document("score", lines, *arguments, "--metrics", "voice")["lines"][0]
    assert voice["scores"]["voice"] is None and "2 sample lines" in voice["reasons"]["voice"]
    report = document("filter", lines, *arguments, "--rule", "voice>=0.5", "--no-vectors", "--store", "voice.db")
    assert report["decided"] == {"pending": 1}  # for people to decide
    wanted = ("filter", lines, *arguments, "--bound", "voice", "--keep", "0.5", "--no-vectors", "--store", "none.db")
    assert "2 sample lines" in run(*wanted, status=1).stderr and not Path("none.db").exists()


@EVERY
@pytest.mark.parametrize(("story", "module"), [("demo-ja", "fugashi"), ("demo-zh", "jieba")])
def test_a_language_without_its_tokeniser_names_the_extra(
    document: Document, tmp_path: Path, command: str, story: str, module: str
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("潮\n")
    arguments = command_line(command, lines, story, document("cast", story)["cast"][0]["name"])
    (tmp_path / "shadow").mkdir()  # found first by every process, the workers' too
    (tmp_path / "shadow" / f"{module}.py").write_text("raise ModuleNotFoundError(__name__)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "shadow")}
    ended = subprocess.run(
        [sys.executable, "-m", "understudy", *arguments], capture_output=True, text=True, env=environment
    )
    assert ended.returncode == 1 and f".[{story[-2:]}]" in ended.stderr and "Traceback" not in ended.stderr
    assert not Path("out.jsonl").exists() and not Path("out.db").exists() and not Path("out.parquet").exists()


def test_labelled_lines_of_another_encoding(run: Run, story: Path, tmp_path: Path) -> None:
    lines, labelled = tmp_path / "lines.txt", tmp_path / "labelled.jsonl"
    lines.write_text("The tide is out.\n")
    labelled.write_bytes(json.dumps({"text": "潮が引いた", "fit": True}, ensure_ascii=False).encode("shift_jis"))
    wanted = (*command_line("filter", lines, story)[:6], "--no-vectors", "--bound", "psprob", "--precision", "0.9")
    stderr = run(*wanted, "--labelled", labelled, "--store", "out.db", status=1).stderr
    assert "labelled.jsonl" in stderr and "UTF-8" in stderr


def test_the_database_is_not_written_over_by_its_own_export(run: Run, story: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("The tide is out.\n")
    run(*command_line("filter", lines, story))
    arguments = run("utterances", "export", "--store", "out.db", "-o", "out.db", "--force", status=1).stderr
    assert "would be lost" in arguments
    run("utterances", "show", "1", "--store", "out.db")
