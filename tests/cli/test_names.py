"""Names at the command line: an author may use them all, but an error at a moment tells of nobody who comes later."""

from __future__ import annotations

from pathlib import Path

import pytest

from cliruns import Document, Run
from stories import TRUE, masks

LATER = ("Zephyr", "Marsh", TRUE)


@pytest.fixture
def lodger(tmp_path: Path) -> Path:
    return masks(tmp_path / "lodger")


@pytest.mark.parametrize(
    "command",
    [
        ("persona", "{}", "Zephir", "--at", "1.1"),
        ("persona", "{}", "Ann", "--at", "1.1", "--facing", "Sila"),
        ("chat", "{}", "Ane Archer", "--at", "1.2", "--say", "Hello"),
        ("chat", "{}", "Ann", "--at", "1.2", "--facing", "Zephir", "--say", "Hello"),
        ("card", "{}", "Roderik Vane", "--at", "2.1"),
        ("score", "line.txt", "--story", "{}", "--as", "Zephir", "--at", "1.1", "--metrics", "copying"),
        ("filter", "line.txt", "--story", "{}", "--as", "Zephir", "--at", "1", "--rule", "copying<=1", "--store", "x"),
    ],
)  # fmt: skip
def test_an_error_lists_nobody_who_comes_later(run: Run, lodger: Path, command: tuple[str, ...]) -> None:
    Path("line.txt").write_text("The harbour.\n")
    shown = " ".join(run(*(part.format(lodger) for part in command), status=1).output.split())
    assert "so far it has Silas Lodger, Ann Archer, Bea Moor" in shown
    assert not [name for name in LATER if name in shown]


def test_a_misspelt_name_is_recognised_among_those_who_can_be_named(run: Run, lodger: Path) -> None:
    assert "did you mean 'Silas Lodger'?" in " ".join(
        run("persona", lodger, "Silas Loger", "--at", "1.1", status=1).output.split()
    )
    assert "did you mean 'Ann Zephyr'?" in " ".join(run("persona", lodger, "Ann Zefyr", status=1).output.split())


def test_an_author_may_use_a_true_name_at_any_moment(document: Document, lodger: Path) -> None:
    assert document("persona", lodger, TRUE, "--at", "1.2")["character"] == TRUE
    assert document("persona", lodger, "Silas", "--at", "1.2")["character"] == TRUE
    assert document("persona", lodger, "Bea", "--at", "1.2", "--facing", TRUE)["facing"]["name"] == "Silas Lodger"


def test_whoever_faces_themselves_is_called_as_they_were(run: Run, lodger: Path) -> None:
    shown = run("persona", lodger, "Silas", "--at", "1.2", "--facing", "Lodger", status=1).output
    assert "Lodger cannot stand before themselves" in shown
    assert TRUE not in shown


@pytest.mark.parametrize(
    ("command", "meant", "status"),
    [
        (("chat", "{}", "Ann", "--agent", "encodr", "--say", "Hello"), "'encoder'", 1),
        (("score", "line.txt", "--story", "{}", "--as", "Ann Archer", "--metrics", "copyng"), "'copying'", 2),
    ],
)
def test_a_misspelt_agent_or_metric_is_recognised(
    run: Run, lodger: Path, command: tuple[str, ...], meant: str, status: int
) -> None:
    Path("line.txt").write_text("The harbour.\n")
    shown = " ".join(run(*(part.format(lodger) for part in command), status=status).output.split())
    assert f"did you mean {meant}?" in shown


def test_a_misspelt_attribute_is_recognised(run: Run, lodger: Path) -> None:
    cast = lodger / "cast.toml"
    cast.write_text(cast.read_text().replace('attribute = "lineage"', 'attribute = "linage"'))
    assert "did you mean 'lineage'?" in " ".join(run("read", lodger, status=1).output.split())
