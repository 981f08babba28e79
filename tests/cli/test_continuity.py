"""`understudy continuity`: what it lists, dismissing for good, the status for CI, and the chart."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from understudy.cli import understudy

CAST = 'title = "Water"\nlanguage = "en"\n[[character]]\nname = "Ines"\n[[character]]\nname = "Odo"\n' + (
    '[[character]]\nname = "Mara"\n[[fact]]\nwho = "Odo"\nattribute = "died"\nvalue = "of a fever"\nfrom = "1.2"\n'
)
SCENE = """Present: Ines, Odo, Mara
INES: We came from Varrenholm.
ODO: We came to Varrenholm, I thought.
MARA: Varrenholm."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "water"
    path.mkdir()
    (path / "cast.toml").write_text(CAST, encoding="utf-8")
    (path / "act-1.txt").write_text(
        f"# act 1: Water\n## scene 1: The quay\n{SCENE}\n\n## scene 2: The quay\n{SCENE}\n", encoding="utf-8"
    )
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(understudy, ["continuity", *map(str, arguments)])


def faults(*arguments: str | Path) -> list[dict[str, object]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    listed: list[dict[str, object]] = json.loads(result.stdout)["faults"]
    return listed


def test_a_line_is_listed_with_what_it_conflicts_with(folder: Path) -> None:
    (fault,) = faults(folder)
    assert fault["kind"] == "dead" and fault["who"] == "Odo" and fault["moment"] == "1.2.2"
    assert fault["sources"] == ["1.2"] and fault["confidence"] == 0.95 and fault["dismissed"] is False
    shown = run(folder).output
    assert "1.2.2" in shown and "speaks while dead" in shown and str(fault["id"]) in shown and "1 line to look" in shown


def test_lines_are_chosen_by_moment_person_and_confidence(folder: Path) -> None:
    assert len(faults(folder, "--at", "1.2", "--who", "odo")) == 1
    assert not faults(folder, "--at", "1.1") and not faults(folder, "--who", "Ines")
    assert not faults(folder, "--least", "0.96")
    assert run(folder, "--who", "Nobody").exit_code == 1


def test_dismissed_for_good_and_listed_again(folder: Path) -> None:
    (fault,) = faults(folder)
    assert not faults(folder, "--dismiss", str(fault["id"]))
    script = folder / "act-1.txt"  # the story is read again, with the line elsewhere
    script.write_text(script.read_text().replace("MARA:", "MARA: Well.\nMARA:"), encoding="utf-8")
    assert not faults(folder) and "1 dismissed" in run(folder).output
    assert [one["dismissed"] for one in faults(folder, "--all")] == [True]
    assert len(faults(folder, "--restore", str(fault["id"]))) == 1
    assert (folder / "continuity.toml").exists()


def test_an_id_that_is_none_changes_nothing(folder: Path) -> None:
    for option in ("--dismiss", "--restore"):
        result = run(folder, option, "ffffffff")
        assert result.exit_code == 1 and "ffffffff" in result.output
    assert not (folder / "continuity.toml").exists()


def test_a_story_files_dismissals_lie_beside_it(folder: Path, tmp_path: Path) -> None:
    story = tmp_path / "water.story"
    assert CliRunner().invoke(understudy, ["read", str(folder), "-o", str(story)]).exit_code == 0
    (fault,) = faults(story)
    assert not faults(story, "--dismiss", str(fault["id"]))
    assert (tmp_path / "water.continuity.toml").exists()


def test_those_of_the_demo_are_kept_with_the_users_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_DATA", str(tmp_path / "data"))
    before = faults("demo", "--least", "0.3")
    run("demo", "--dismiss", str(before[0]["id"]))
    assert len(faults("demo", "--least", "0.3")) == len(before) - 1
    assert (tmp_path / "data" / "demo.continuity.toml").exists()


def test_fail_is_for_ci(folder: Path) -> None:
    assert run(folder).exit_code == 0 and run(folder, "--fail").exit_code == 1
    (fault,) = faults(folder)
    assert run(folder, "--fail", "--dismiss", str(fault["id"])).exit_code == 0
    assert run(folder, "--fail", "--all").exit_code == 0


def test_the_chart_is_an_svg_of_who_learns_what(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "learning.svg"
    assert run(folder, "--chart", path, "--item", "Varrenholm").exit_code == 0
    text = "".join(ElementTree.parse(path).getroot().itertext())
    assert "Mara first hears of Varrenholm in 1.1.1" in text
    result = run(folder, "--chart", path, "--item", "Varrenhol")
    assert result.exit_code == 1 and "did you mean 'Varrenholm'" in result.output
    assert run(folder, "--item", "Varrenholm").exit_code == 2
