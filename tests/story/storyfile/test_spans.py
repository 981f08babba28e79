from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.formats.assembly import Assembly
from understudy.sources.events import Description, Event, Opening, Speech
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story, StoryWriter


def written(folder: Path) -> Path:
    source = SourceFile(folder / "novel.txt")
    source.units = 2
    with StoryWriter(folder / "novel.story") as writer:
        assembly = Assembly(writer)
        events: list[Event] = [
            Opening(),
            Speech(source.at(1), ("Ines",), "Yes, come.", spans=((1, 5), (16, 21)), confidence=0.75),
            Description(source.at(1), "she said", units=0, spans=((7, 15),)),
            Speech(source.at(2), ("Tomas",), "No."),
        ]
        assembly.add_file(source, "prose", events)
        assembly.finish("Novel")
    return folder / "novel.story"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "novel.txt").write_text('"Yes," she said, "come."\n"No."\n')
    return written(tmp_path)


def test_a_line_has_all_parts_of_its_quotation_and_how_surely_it_is_somebodys(path: Path) -> None:
    spans = [(line.line.text, line.spans, line.confidence) for line in Story.open(path).spans()]
    assert spans == [("Yes, come.", ((1, 5), (16, 21)), 0.75), ("she said", ((7, 15),), None)]


def test_how_surely_speakers_are_known_is_counted(path: Path) -> None:
    assert Story.open(path).attributed_lines() == (1, 0.75, 0)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE attributions SET confidence = 1.5",
        "UPDATE spans SET stop = 0",
        "UPDATE spans SET start = -1 WHERE start = 7",
    ],
)
def test_spans_and_confidences_that_cannot_be_are_refused(path: Path, damage: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    with pytest.raises(InputError, match="damaged"):
        Story.open(path)
