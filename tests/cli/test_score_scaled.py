from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from cli.raycluster import two_nodes
from cliruns import Document, Run, Start
from understudy.metrics.registry import DEFAULT_METRICS
from understudy.metrics.scoring import inputs

Rows = list[dict[str, Any]]

WORDS = "the brass key was on its hook at noon Tobias I keep keys of harbour get out a thief by his shoes".split()


def lines(count: int, seed: int) -> list[str]:
    """Some have no words, some one, some what Ines says."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(0, 9))) for _ in range(count)]


def write_lines(path: Path, texts: list[str]) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(pa.table({"id": range(len(texts)), "text": texts}), path, row_group_size=5)
    else:
        made = (json.dumps({"text": text}) if path.suffix == ".jsonl" else text for text in texts)
        path.write_text("".join(f"{line}\n" for line in made), encoding="utf-8")
    return path


@pytest.fixture
def asked(story: Path) -> tuple[str | Path, ...]:
    return "--story", story, "--as", "Ines", "--at", "2.1"


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PART_LINES", 7)


def written(path: Path) -> Rows:
    """Rows as the local run writes them, with the file they are of."""
    return [_as_local(row) for row in parquet.read_table(path).to_pylist()]


def _as_local(row: dict[str, Any]) -> dict[str, Any]:
    told = {name: reason for name, reason in (row["reasons"] or {}).items() if reason is not None}
    scores = {name: value for name, value in row.items() if name not in ("file", "line", "text", "reasons")}
    made = {"file": row["file"], "line": row["line"], "text": row["text"], "scores": scores}
    return {**made, "reasons": told} if told else made


def locally(run: Run, said: dict[str, list[str]], folder: Path, asked: tuple[str | Path, ...]) -> Rows:
    found: Rows = []
    for number, (file, texts) in enumerate(said.items()):
        run("score", write_lines(folder / f"local-{number}.jsonl", texts), *asked, "-o", f"local-{number}.jsonl")
        with Path(f"local-{number}.jsonl").open(encoding="utf-8") as stream:
            found += [{"file": file, **json.loads(line)} for line in stream]
    return found


@pytest.mark.usefixtures("small_parts")
def test_one_file_from_files_of_every_kind_equals_the_local_run(
    run: Run, tmp_path: Path, asked: tuple[str | Path, ...]
) -> None:
    folder = tmp_path / "lines"
    folder.mkdir()
    said = {str(folder / f"{name}"): lines(20, seed) for seed, name in enumerate(("a.jsonl", "b.parquet", "c.txt"))}
    for file, texts in said.items():
        write_lines(Path(file), texts)
    shown = run("score", f"{folder}/*", *asked, "--engine", "daft", "-o", "scores.parquet").stdout
    expected = locally(run, said, tmp_path, asked)
    assert written(Path("scores.parquet")) == expected
    assert {len(row["scores"]) for row in expected} == {len(DEFAULT_METRICS)}
    assert {None, 0.0} < {value for row in expected for value in row["scores"].values()}
    assert "60 lines as Ines Vale" in shown
    assert "Every line's scores are in scores.parquet." in shown
    assert not Path("scores.parquet.parts").exists()


@pytest.mark.usefixtures("small_parts")
def test_a_folder_keeps_what_is_done_and_its_summary_is_the_local_one(
    document: Document, run: Run, tmp_path: Path, asked: tuple[str | Path, ...]
) -> None:
    one = write_lines(tmp_path / "one.jsonl", lines(20, 1))
    write_lines(tmp_path / "two.jsonl", lines(9, 2))
    scored = ("score", f"{tmp_path}/*.jsonl", *asked, "--metrics", "psprob,maxbleu", "--engine", "daft", "-o", "out")
    first = document(*scored)
    made = sorted(Path("out").glob("*.parquet"))
    rows = written(Path("out"))
    assert [(Path(row["file"]).name, row["line"]) for row in rows] == [
        *(("one.jsonl", line) for line in range(1, 21)),
        *(("two.jsonl", line) for line in range(1, 10)),
    ]
    local = document("score", one, *asked, "--metrics", "psprob,maxbleu")
    assert [row["scores"] for row in rows[:20]] == [row["scores"] for row in local["lines"]]
    assert (first["count"], first["metrics"], "lines" in first) == (29, ["psprob", "maxbleu"], False)
    values = [row["scores"]["psprob"] for row in rows if row["scores"]["psprob"] is not None]
    assert first["summary"]["psprob"]["mean"] == pytest.approx(sum(values) / len(values))
    assert first["summary"]["psprob"]["missing"] == 29 - len(values)

    made[1].unlink()
    (Path("out") / ".part-of-a-killed-worker.partial").touch()
    write_lines(tmp_path / "two.jsonl", lines(5, 3))
    kept = {path.name: path.stat().st_mtime_ns for path in made[:1] + made[2:3]}
    assert document(*scored)["count"] == 25
    again = sorted(Path("out").glob("*.parquet"))
    assert {path.name: path.stat().st_mtime_ns for path in again if path.name in kept} == kept
    assert [path.name for path in again[:3]] == [path.name for path in made[:3]]
    assert written(Path("out"))[:20] == rows[:20]
    assert [row["text"] for row in written(Path("out"))[20:]] == lines(5, 3)
    assert not list(Path("out").glob(".*"))


def test_another_run_is_not_mixed_in(run: Run, tmp_path: Path, asked: tuple[str | Path, ...], story: Path) -> None:
    source = write_lines(tmp_path / "lines.jsonl", lines(5, 1))
    options = ("--engine", "daft", "--metrics", "ptsal", "-o")
    for out in ("scores.parquet", "scores"):
        run("score", source, *asked, *options, out, "--why")
        before = written(Path(out))
        told = locally(run, {str(source): lines(5, 1)}, tmp_path, (*asked, "--metrics", "ptsal", "--why", "--force"))
        assert before == told
        assert all(set(row["reasons"]) == {"ptsal"} for row in before)
        for other, message in (
            (("--why", "--metrics", "p_f1"), "was written with other metrics: say --force"),
            (("--why", "--as", "Tobias"), "was written with other character"),
            (("--why", "--at", "end"), "was written with other moment"),
            ((), "was written with other why"),
        ):
            assert message in run("score", source, *asked, *options, out, *other, status=1).stderr
        run("score", source, *asked, *options, out, "--why")
        assert written(Path(out)) == before
        run("score", source, *asked, *options, out, "--metrics", "p_f1", "--force")
        assert list(written(Path(out))[0]["scores"]) == ["p_f1"]
    for script in story.glob("*.txt"):
        script.write_text(script.read_text(encoding="utf-8").replace("hook", "nail"), encoding="utf-8")
    changed = run("score", source, *asked, *options, "scores", "--metrics", "p_f1", status=1).stderr
    assert "was written with other story" in changed
    write_lines(source, lines(6, 1))
    changed = run("score", source, *asked, *options, "scores.parquet", "--metrics", "p_f1", status=1).stderr
    assert "was written with other story, lines" in changed


def test_a_bad_line_is_told_and_what_is_done_before_stays(
    run: Run, tmp_path: Path, asked: tuple[str | Path, ...]
) -> None:
    write_lines(tmp_path / "a.jsonl", lines(5, 1))
    bad = tmp_path / "b.jsonl"
    bad.write_text('{"text": "fine"}\n{"words": 1}\n', encoding="utf-8")
    scored = ("score", f"{tmp_path}/*.jsonl", *asked, "--engine", "daft", "--metrics", "ptsal", "-o", "out")
    assert "b.jsonl:2: is not an object with a text" in run(*scored, status=1).stderr
    assert not list(Path("out").glob("part-00001*"))
    bad.write_text('{"text": "fine"}\n', encoding="utf-8")
    run(*scored)
    assert len(written(Path("out"))) == 6


def test_what_is_asked_for_wrongly(run: Run, tmp_path: Path, asked: tuple[str | Path, ...]) -> None:
    source = write_lines(tmp_path / "lines.parquet", lines(3, 1))
    daft = ("score", *asked, "--engine", "daft")
    assert "say where with -o" in run(*daft, source, status=2).stderr
    assert "goes with --engine daft" in run("score", source, *asked, "--cluster", "local", status=2).stderr
    assert "stdin cannot be shared" in run(*daft, "-", "-o", "out", status=1).stderr
    assert "no such file" in run(*daft, f"{tmp_path}/*.none", "-o", "out", status=1).stderr
    assert "what is being read" in run(*daft, source, "-o", source, "--force", status=1).stderr
    assert "what is being read" in run(*daft, source, "-o", tmp_path, "--force", status=1).stderr
    assert written_texts(source) == lines(3, 1)
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("keep")
    assert "something else in it" in run(*daft, source, "-o", "mine", "--force", status=1).stderr
    Path("mine.parquet").write_text("not ours")
    assert "holds something else" in run(*daft, source, "-o", "mine.parquet", status=1).stderr
    assert "is a file" in run(*daft, source, "-o", "mine/notes.txt", status=1).stderr
    assert "is a folder" in run("score", source, *asked, "-o", "mine", status=1).stderr


def written_texts(path: Path) -> list[str]:
    texts: list[str] = parquet.read_table(path)["text"].to_pylist()
    return texts


@pytest.mark.parametrize("lacking", ["daft", "pyarrow"])
def test_without_the_extra_its_name_is_told(
    run: Run, tmp_path: Path, asked: tuple[str | Path, ...], monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    source = write_lines(tmp_path / "lines.jsonl", lines(3, 1))
    for name in [name for name in sys.modules if name.startswith(("understudy.metrics.scoring.", lacking))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, lacking, None)
    told = run("score", source, *asked, "--engine", "daft", "-o", "out", status=1).stderr
    assert "pip install '.[scale]'" in told


def partials(folder: Path) -> Iterator[int]:
    """The processes that are writing a part."""
    for path in folder.glob(".*.partial"):
        yield int(path.stem.rpartition("-")[2])


def worker_at_work(process: Popen[str], folder: Path) -> int:
    """A worker that is at a part, after another part is done."""
    while process.poll() is None:
        if any(folder.glob("part-*.parquet")):
            for worker in partials(folder):
                return worker
        with suppress(TimeoutExpired):
            process.wait(0.01)
    pytest.fail(f"nobody was at work: {process.communicate()}")


@pytest.fixture
def two_cores() -> Iterator[None]:
    """With a worker for each of many cores, all parts would be done when the first is."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("where", ["cores", pytest.param("cluster", marks=pytest.mark.thorough)])
def test_a_worker_killed_half_way_loses_nothing(
    start: Start, run: Run, tmp_path: Path, asked: tuple[str | Path, ...], where: str
) -> None:
    said = {str(tmp_path / f"lines-{number}.txt"): lines(4000, number) for number in range(5)}
    for file, texts in said.items():
        write_lines(Path(file), texts)
    out = tmp_path / "scores.parquet"
    scored = ("score", f"{tmp_path}/lines-*.txt", *asked, "--metrics", "psprob,uppl", "--engine", "daft", "-o", out)
    with two_nodes() if where == "cluster" else nullcontext() as address:
        process = start(*scored, *(("--cluster", address) if address else ()))
        os.kill(worker_at_work(process, tmp_path / "scores.parquet.parts"), signal.SIGKILL)
        _, told = process.communicate()
    assert process.returncode == 0, told
    assert written(out) == locally(run, said, tmp_path, (*asked, "--metrics", "psprob,uppl"))


@pytest.mark.usefixtures("two_cores")
def test_a_run_that_is_interrupted_ends_well_and_goes_on(
    start: Start, run: Run, tmp_path: Path, asked: tuple[str | Path, ...]
) -> None:
    said = {str(tmp_path / f"lines-{number}.txt"): lines(4000, number) for number in range(6)}
    for file, texts in said.items():
        write_lines(Path(file), texts)
    folder = tmp_path / "scores"
    scored = ("score", f"{tmp_path}/lines-*.txt", *asked, "--metrics", "psprob,uppl", "--engine", "daft", "-o", folder)
    process = start(*scored)
    worker_at_work(process, folder)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert (process.returncode, told.strip()) == (130, "Stopped.")
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("part-*.parquet")}
    assert 0 < len(kept) < 6
    run(*scored)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert written(folder) == locally(run, said, tmp_path, (*asked, "--metrics", "psprob,uppl"))
