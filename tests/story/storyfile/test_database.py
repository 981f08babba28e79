"""One story, many threads: nobody waits for ever, and nothing stays open."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.formats import read
from understudy.formats.assembly import Assembly
from understudy.sources import Description, Event, Opening, Speech
from understudy.sources.source import SourceFile
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story, StoryWriter
from understudy.story.storyfile.story import PASTS

OPEN_FILES = Path("/proc/self/fd")
CROWD = """
import sys
from concurrent.futures import ThreadPoolExecutor
from understudy import Turn, read, situation_at
from understudy.agents import AGENTS

agent = AGENTS["tfidf"]()
for story in map(read, sys.argv[1:]):
    shared = situation_at(story, "葛长顺", "2.1")

    def look(turn):
        for situation in (situation_at(story, "葛长顺", f"1.{turn % 2 + 1}"), shared):
            list(situation.persona.past.scenes())
            assert agent.reply(situation, [Turn("You", "船呢？")]).text
        return len(list(story.scenes()))

    with ThreadPoolExecutor(8) as threads:
        print(len(set(threads.map(look, range(48)))))
"""


def test_eight_threads_share_a_story_and_a_persona(tmp_path: Path) -> None:
    """In memory all connections share a cache, on file they do not."""
    path = tmp_path / "zh.story"
    read("demo-zh", path)
    crowd = subprocess.run([sys.executable, "-c", CROWD, "demo-zh", path], timeout=600, capture_output=True, text=True)
    assert (crowd.stdout.split(), crowd.stderr) == (["1", "1"], "")


COLLECTED_WHILE_ASKED = """
import gc
from understudy import read, situation_at
from understudy.story.storyfile import Story, past

authorize = past._authorize
gc.disable()

def collect_and_authorize(*access):
    gc.collect()
    return authorize(*access)

past._authorize = collect_and_authorize
story = read("demo-ja")
garbage = [Story(story.identity)]
garbage.append(garbage)
del garbage
print(len(situation_at(story, story.cast()[0].character.name, "2.1").persona.past))
"""


def test_a_story_that_is_collected_while_another_of_its_connections_asks_stops_nothing() -> None:
    """SQLite asks what a query may read: Python may collect just then, and with it a connection to the same story."""
    done = subprocess.run([sys.executable, "-c", COLLECTED_WHILE_ASKED], timeout=60, capture_output=True, text=True)
    assert done.stderr == "" and int(done.stdout) > 0


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="needs /proc")
def test_who_asks_again_gets_the_same_past_and_a_story_keeps_only_so_many(tmp_path: Path) -> None:
    story = read("demo-zh", tmp_path / "zh.story")
    before = len(list(OPEN_FILES.iterdir()))
    assert persona_at(story, "葛长顺", "1.2").past is persona_at(story, "葛长顺", "1.2").past
    assert persona_at(story, "葛长顺", "1.2").past is not persona_at(story, "葛长顺", "1.1").past
    lines = [line.moment for scene in story.scenes() for line in scene.lines]
    for moment in lines[: 2 * PASTS]:
        persona_at(story, "葛长顺", moment)
    assert len(lines) > PASTS
    assert len(list(OPEN_FILES.iterdir())) <= before + PASTS


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
