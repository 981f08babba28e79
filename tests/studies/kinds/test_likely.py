"""Lines that people judge, and the folder that `bench voice` reads."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from studies.samples import crowd, items_of, study_of
from understudy.errors import InputError
from understudy.papers.utterance_metrics.bench import bench_voice, judged_in
from understudy.studies import Study
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import KINDS
from understudy.studies.kinds.likely import number_of_likelies

KIND = KINDS["likely"]
OF_AGENTS = ("characters", "questions", "agents", "own", "limit")


def study_of_lines(folder: Path, **material: Any) -> Study:
    """A study of the lines of a file, in the place of what agents reply."""
    of_lines = {"character": "Zita", "lines": "lines.txt", **dict.fromkeys(OF_AGENTS)}
    return study_of(KIND, folder, **{**of_lines, **material})


def test_a_line_may_have_what_was_said_before_it(tmp_path: Path) -> None:
    first, second = items_of(KIND, study_of_lines(tmp_path))
    assert [(line.speaker, line.text) for line in first.blocks[-1].lines] == [("Zita Karst", "I count what I burn.")]
    assert [(line.speaker, line.text) for line in second.blocks[-1].lines] == [
        ("Somebody", "Good morning."),
        ("Zita Karst", "Yo, what is up?"),
    ]


def test_likelies_are_counted(tmp_path: Path) -> None:
    first, second = items_of(KIND, study_of_lines(tmp_path))
    said = {first.name: "likely likely likely likely unlikely", second.name: "unlikely " * 5}
    given = [
        GivenAnswer(item, f"p{person}", {"likely": answer})
        for item in (first, second)
        for person, answer in enumerate(said[item.name].split())
    ]
    assert number_of_likelies(given) == Counter({first.name: 4, second.name: 0})
    assert KIND.figures is not None
    rows = {row["metric"]: row for row in KIND.figures(study_of_lines(tmp_path), given)}
    assert (rows["nol"]["value"], rows["nol"]["n"]) == (2, 2)
    assert (rows["likely"]["value"], rows["likely"]["n"]) == (0.4, 10)


def test_replies_of_agents_are_judged_without_their_names(tmp_path: Path, story: Path) -> None:
    (tmp_path / "messages.txt").write_text("Who has the key?\n", encoding="utf-8")
    study = study_of(
        KIND, tmp_path, story=str(story), characters=["Ines", "Mara"], questions="messages.txt",
        agents=["scripted"], own=None, limit=None, at="2.1",
    )  # fmt: skip
    items = items_of(KIND, study)
    assert [item.hidden for item in items] == [{"agents": ["scripted"]}] * 2
    assert [item.blocks[-1].lines[-1].speaker for item in items] == ["Ines Vale", "Mara Quill"]
    assert KIND.figures is not None
    rows = KIND.figures(study, crowd(KIND, items, people=5))
    assert {(row["character"], row["agent"]) for row in rows} == {("Ines Vale", "scripted"), ("Mara Quill", "scripted")}


def test_the_voice_folder_is_its_own_data(tmp_path: Path) -> None:
    lines = [f"Line number {number} is mine to count." for number in range(12)]
    study = study_of_lines(tmp_path)
    (tmp_path / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    KIND.outputs["voice"](study, crowd(KIND, items_of(KIND, study), people=5, skill=0.5), tmp_path / "voice")
    (judged,) = judged_in(tmp_path / "voice", tmp_path / "voice")
    assert judged.character == "Zita Karst"
    assert judged.replies == tuple(lines)
    assert set(judged.scores) <= set(range(6))
    document = bench_voice(tmp_path / "voice", tmp_path / "voice", scorers=["length", "maxbleu"])
    assert {row["scorer"] for row in document["rows"] if row["metric"] == "spearman"} == {"length", "maxbleu"}


def test_a_novel_that_the_material_names_is_not_written(tmp_path: Path) -> None:
    study = study_of_lines(tmp_path, novel="12.json")
    KIND.outputs["voice"](study, crowd(KIND, items_of(KIND, study)), tmp_path / "voice")
    assert {file.name for file in (tmp_path / "voice").iterdir()} == {"names.json", "Zita Karst.json"}
    names = json.loads((tmp_path / "voice" / "names.json").read_text(encoding="utf-8"))
    assert names == {"Zita Karst.json": ["12.json", "Zita Karst"]}


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    study = study_of_lines(tmp_path)
    (tmp_path / "lines.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="no line to judge"):
        items_of(KIND, study)


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    study = study_of_lines(tmp_path)
    (tmp_path / "lines.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(InputError, match="UTF-8"):
        items_of(KIND, study)
