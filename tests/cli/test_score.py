from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from cliruns import Document, Run
from understudy.formats import read
from understudy.metrics import Samples
from understudy.metrics import scoring as score_lines
from understudy.metrics.registry import DEFAULT_METRICS, METRICS
from understudy.registry import Need

LINES = ["The brass key was on its hook.", "", "Quantum flux.", "I keep the keys of the harbour.", "Get out."]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join([*LINES, ""]), encoding="utf-8")
    return path


def written(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_line_with_every_score_and_its_reason(document: Document, lines: Path, story: Path) -> None:
    found = document("score", lines, "--story", story, "--as", "Ines", "--at", "2.1")
    assert (found["character"], found["moment"], found["count"]) == ("Ines Vale", "2.1", 5)
    assert found["metrics"] == list(DEFAULT_METRICS)
    assert [(row["line"], row["text"]) for row in found["lines"]] == list(enumerate(LINES, 1))
    key, blank, strange, copied, _ = found["lines"]
    assert all(set(row["scores"]) == set(row["reasons"]) == set(DEFAULT_METRICS) for row in found["lines"])
    assert set(blank["scores"].values()) == {None}
    assert set(blank["reasons"].values()) == {"the line has no words"}
    assert key["scores"]["psprob"] > strange["scores"]["psprob"]
    assert key["scores"]["uppl"] < strange["scores"]["uppl"]
    assert key["scores"]["maxbleu"] > 0.3
    assert "hook" in key["reasons"]["maxbleu"]
    assert (copied["scores"]["copying"], copied["scores"]["p_f1"]) == (1.0, 1.0)
    assert found["summary"]["copying"]["missing"] == 1
    assert found["summary"]["copying"]["mean"] == pytest.approx(1 / 4)


def test_what_is_said_later_counts_for_nothing(document: Document, lines: Path, story: Path) -> None:
    asked = ("score", lines, "--story", story, "--as", "Ines", "--metrics", "maxbleu")
    early, late = (document(*asked, "--at", at)["lines"][4] for at in ("2.1", "2.2"))
    assert early["scores"]["maxbleu"] == 0.0
    assert late["reasons"]["maxbleu"] == "nearest: I know a thief by his shoes. Get out."


def test_somebody_who_has_not_spoken_yet_has_no_samples(document: Document, lines: Path, story: Path) -> None:
    found = document("score", lines, "--story", story, "--as", "Mara", "--at", "1.2", "--metrics", "psprob,ptsal,uppl")
    assert {reason for row in found["lines"] for reason in row["reasons"].values()} == {"no sample lines of Mara Quill"}
    assert found["summary"]["psprob"] == {"mean": None, "missing": 5}


def test_as_something_to_read(run: Run, lines: Path, story: Path) -> None:
    shown = run("score", lines, "--story", story, "--as", "Ines").stdout
    assert "nearest: The brass key was on its hook at noon, Tobias." in shown
    assert "5 lines as Ines Vale at the end" in shown
    lines.write_text("The key.\n" * 12, encoding="utf-8")
    table = run("score", lines, "--story", story, "--as", "Ines", "--metrics", "ptsal,p_f1").stdout
    assert table.count("The key.") == 12
    assert "nearest" not in table


@pytest.mark.parametrize("width", ["60", "80", "200"])
@pytest.mark.parametrize("count", [3, 13])
def test_every_line_and_score_can_be_read_at_any_width(
    run: Run, lines: Path, story: Path, monkeypatch: pytest.MonkeyPatch, width: str, count: int
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    said = "I keep the keys of the harbour and the brass key was on its hook"
    lines.write_text(f"{said}.\n" * count, encoding="utf-8")
    shown = run("score", lines, "--story", story, "--as", "Ines").stdout
    assert max(map(len, shown.splitlines())) <= int(width)
    words = " ".join(shown.split())
    assert words.count(said if width != "200" or count == 3 else said[:60].strip()) >= count
    for name in DEFAULT_METRICS:
        assert words.count(f"{name} ") >= (count if width != "200" or count == 3 else 1)
    assert not any(line.strip() in ("I", "keep", "the") for line in shown.splitlines())  # a word a line


@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_a_missing_score_says_why_among_many_lines_too(
    run: Run, lines: Path, story: Path, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    lines.write_text("The key.\n" * 12 + "...\n", encoding="utf-8")
    shown = run("score", lines, "--story", story, "--as", "Ines", "--metrics", "ptsal,p_f1").stdout
    assert "no ptsal, p_f1: the line has no words" in shown


def test_lines_from_a_pipe_and_from_objects(document: Document, lines: Path, story: Path) -> None:
    asked = ("--story", story, "--as", "Ines", "--metrics", "psprob")
    piped = document("score", "-", *asked, stdin="\n".join(LINES))
    objects = lines.with_suffix(".jsonl")
    objects.write_text("".join(json.dumps({"text": text}) + "\n" for text in LINES), encoding="utf-8")
    assert piped["lines"] == document("score", objects, *asked)["lines"] == document("score", lines, *asked)["lines"]


def test_a_file_has_a_line_for_every_line(run: Run, document: Document, lines: Path, story: Path) -> None:
    shown = run("score", lines, "--story", story, "--as", "Ines", "-o", "out.jsonl").stdout
    assert "Every line's scores are in out.jsonl." in shown
    rows = written(Path("out.jsonl"))
    expected = document("score", lines, "--story", story, "--as", "Ines")["lines"]
    assert [row["scores"] for row in rows] == [row["scores"] for row in expected]
    assert [set(row.get("reasons", {})) for row in rows[:2]] == [set(), set(DEFAULT_METRICS)], (
        "only why a score is missing"
    )
    run("score", lines, "--story", story, "--as", "Ines", "-o", "why.jsonl", "--why")
    assert written(Path("why.jsonl")) == expected


@pytest.mark.parametrize("left", [0, 1, 7, 200, 500, 900])
def test_a_run_that_was_stopped_goes_on_where_it_was(
    run: Run, lines: Path, story: Path, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("score", lines, "--story", story, "--as", "Ines", "-o", "out.jsonl")
    run(*asked)
    whole = Path("out.jsonl").read_bytes()
    Path("out.jsonl").write_bytes(whole[:left])
    scored: list[int] = []
    real = score_lines._scored

    def watched(texts: list[str], first: int, *rest: Any) -> Any:
        scored.extend(range(first, first + len(texts)))
        return real(texts, first, *rest)

    monkeypatch.setattr(score_lines, "_scored", watched)
    again = run(*asked)
    assert Path("out.jsonl").read_bytes() == whole
    assert "5 lines as Ines Vale" in again.stdout
    done = whole[:left].count(b"\n")
    assert scored == list(range(max(done, 1), 6)), "what was done is not done again, but for the last line of it"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--as", "Tobias"), "for another character or moment"),
        (("--as", "Ines", "--at", "1.2"), "for another character or moment"),
        (("--as", "Ines", "--metrics", "psprob"), "was written with other metrics"),
    ],
)
def test_another_run_is_not_mixed_with_it(
    run: Run, lines: Path, story: Path, change: tuple[str, ...], message: str
) -> None:
    asked = ("score", lines, "--story", story, "-o", "out.jsonl")
    run(*asked, "--as", "Ines")
    before = Path("out.jsonl").read_bytes()
    refused = run(*asked, *change, status=1)
    assert message in refused.stderr
    assert "--force" in refused.stderr
    assert Path("out.jsonl").read_bytes() == before
    run(*asked, *change, "--force")
    assert len(written(Path("out.jsonl"))) == 5


def test_other_lines_and_other_files_are_not_written_over(run: Run, lines: Path, story: Path) -> None:
    asked = ("--story", story, "--as", "Ines", "--metrics", "psprob", "-o", "out.jsonl")
    run("score", lines, *asked)
    lines.write_text("The key.\n", encoding="utf-8")
    assert "more than there are to score" in run("score", lines, *asked, status=1).stderr
    for content in ("a diary without an end", "a diary\n", '{"line": 2}\n', '{"line": 1, "text": 3}\n', "[]\n"):
        Path("out.jsonl").write_text(content, encoding="utf-8")
        assert "holds something else" in run("score", lines, *asked, status=1).stderr
        assert Path("out.jsonl").read_text(encoding="utf-8") == content
    itself = run("score", lines, "--story", story, "--as", "Ines", "--force", "-o", lines, status=1)
    assert "is what is being read" in itself.stderr
    assert lines.read_text(encoding="utf-8") == "The key.\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"caf\xe9 cr\xe8me\n", "is not UTF-8"), (b"a\0b\n", "holds NUL bytes"), (b"", "is empty")],
)
def test_bad_files_are_named(run: Run, lines: Path, story: Path, content: bytes, message: str) -> None:
    lines.write_bytes(content)
    assert message in run("score", lines, "--story", story, "--as", "Ines", status=1).stderr
    assert "no such file" in run("score", "nowhere.txt", "--story", story, "--as", "Ines", status=1).stderr


def test_a_line_of_a_megabyte(run: Run, lines: Path, story: Path) -> None:
    lines.write_text("The key. " + "ha " * 350_000 + "\nThe key.\n", encoding="utf-8")
    run("score", lines, "--story", story, "--as", "Ines", "-o", "out.jsonl")
    long, short = written(Path("out.jsonl"))
    assert len(long["text"]) > 1_000_000
    assert 0 < long["scores"]["psprob"] < 1
    assert short["scores"]["p_f1"] == 0.0


def test_an_unknown_metric_is_a_usage_error(run: Run, lines: Path, story: Path) -> None:
    shown = run("score", lines, "--story", story, "--as", "Ines", "--metrics", "psprob,charm", status=2)
    assert "no metric 'charm'" in shown.stderr


def test_words_ranked_by_a_glove_file(document: Document, lines: Path, story: Path, tmp_path: Path) -> None:
    glove = tmp_path / "glove.txt"
    glove.write_text("".join(f"word{n} 0.1\n" for n in range(999)) + "harbour 0.1\nkeys 0.2\n", encoding="utf-8")
    asked = ("score", lines, "--story", story, "--as", "Ines", "--metrics", "p_cover")
    plain, ranked = document(*asked), document(*asked, "--glove", glove)
    values = [found["lines"][3]["scores"]["p_cover"] for found in (plain, ranked)]
    assert values[1] > values[0], "the words are rarer there"


@pytest.mark.parametrize(("story_name", "language"), [("demo", "en"), ("demo-ja", "ja"), ("demo-zh", "zh")])
def test_the_stories_that_come_with_it(document: Document, tmp_path: Path, story_name: str, language: str) -> None:
    samples = Samples.of_story(read(story_name))
    assert samples.language == language
    first, second = samples.names[:2]
    path = tmp_path / "own.txt"
    own, theirs = samples.lines(first)[:20], samples.lines(second)[:20]
    path.write_text("\n".join(" ".join(line.split()) for line in [*own, *theirs]), encoding="utf-8")
    wanted = ",".join(name for name, metric in METRICS.items() if metric.needs is Need.NOTHING)
    found = document("score", path, "--story", story_name, "--as", first, "--metrics", wanted)["lines"]

    def mean(metric: str, rows: list[dict[str, Any]]) -> float:
        return statistics.fmean(row["scores"][metric] for row in rows if row["scores"][metric] is not None)

    for metric in ("psprob", "ptsal", "maxbleu"):
        assert mean(metric, found[:20]) > mean(metric, found[20:]), metric
    assert mean("uppl", found[:20]) < mean("uppl", found[20:])
