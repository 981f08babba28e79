"""A story file is old or new, never half: whatever happens while it is written."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.formats import read
from understudy.story.storyfile import Story
from understudy.story.storyfile.database import MIGRATIONS
from understudy.story.storyfile.writing import PresenceCue, PresenceInterval, presence_intervals

SCRIPT = """# act 1: One
## scene 1: A room
Present: Ann, Bob

ANN: Good evening, Bob.
BOB: Is it?
"""


def script(folder: Path, scenes: int = 1) -> Path:
    path = folder / "play.txt"
    more = [f"## scene {number}: A room\nANN: Line {number}.\n" for number in range(2, scenes + 1)]
    path.write_text(SCRIPT + "\n".join(more))
    return path


def test_a_written_story_opens_as_what_was_read(tmp_path: Path) -> None:
    written = read(script(tmp_path), tmp_path / "play.story")
    opened = Story.open(tmp_path / "play.story")
    assert list(opened.scenes()) == list(written.scenes()) == list(read(script(tmp_path)).scenes())
    assert [member.character.name for member in opened.cast()] == ["Ann", "Bob"]
    assert opened.levels == ("act", "scene", "line")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["play.story", "play.txt"]


def test_an_error_while_reading_leaves_the_old_story(tmp_path: Path) -> None:
    target = tmp_path / "play.story"
    read(script(tmp_path), target)
    before = target.read_bytes()
    bad = tmp_path / "bad.txt"
    bad.write_text(SCRIPT + "\n[never closed\n")
    with pytest.raises(InputError, match=r"bad.txt:8: .*never closed"):
        read(bad, target)
    assert target.read_bytes() == before
    assert not list(tmp_path.glob("*.partial")) and not list(tmp_path.glob(".*.partial"))


def test_who_has_the_old_story_open_goes_on_reading_it(tmp_path: Path) -> None:
    """The new one takes its name: nothing is written into it, not even for a moment."""
    target = tmp_path / "play.story"
    read(script(tmp_path), target)
    with target.open("rb") as old:
        before = old.read()
        longer = tmp_path / "longer.txt"
        longer.write_text(SCRIPT + "\nANN: And one more.\n")
        read(longer, target)
        old.seek(0)
        assert old.read() == before != target.read_bytes()


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
def test_kill_at_any_point_leaves_the_old_or_the_new_one(tmp_path: Path, after: float) -> None:
    target = tmp_path / "play.story"
    read(script(tmp_path), target)
    source = script(tmp_path, scenes=20_000)
    code = (
        "import pathlib, sys; from understudy.formats import read; print('go', flush=True); "
        "read(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])); print('done', flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(source), str(target)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(after)
        os.kill(process.pid, signal.SIGKILL)
        finished = "done" in process.stdout.read()
    scenes, lines = Story.open(target).count()
    assert (scenes, lines) == ((20_000, 20_001) if finished or scenes > 1 else (1, 2))
    # what a killed run left behind does not stand in the way of the next
    assert read(source, target).count() == (20_000, 20_001)
    assert not list(tmp_path.glob(".*.partial"))


STEP_BY_STEP = """
import os, signal, sys
from pathlib import Path
from understudy.formats import read

source, target, step = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
done = 0

def kill_before_the_step(event, arguments):
    global done
    if event in ("os.rename", "os.remove", "os.truncate", "os.link") and str(target.parent) in str(arguments[0]):
        done += 1
        if done == step:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill_before_the_step)
read(source, target)
"""


def test_killed_before_any_change_of_a_name_it_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    """However fast the machine is: the process kills itself before its first change, then before its second..."""
    target = tmp_path / "play.story"
    read(script(tmp_path), target)
    source, step, status = script(tmp_path, scenes=3), 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        step += 1
        status = subprocess.run([sys.executable, "-c", STEP_BY_STEP, source, target, str(step)]).returncode
        assert Story.open(target).count() in ((1, 2), (3, 4))
    assert step > 1 and status == 0 and Story.open(target).count() == (3, 4)


def test_files_that_are_no_stories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such story file"):
        Story.open(tmp_path / "none.story")
    (tmp_path / "text.story").write_text("hello " * 1000)
    with pytest.raises(InputError, match="not a story file"):
        Story.open(tmp_path / "text.story")
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE things (name)")
    other.close()
    with pytest.raises(InputError, match="not a story file"):
        Story.open(tmp_path / "other.db")


@pytest.mark.parametrize(("version", "says"), [(len(MIGRATIONS) + 1, "newer Understudy"), (1, "older Understudy")])
def test_a_story_of_another_version_says_what_to_do(tmp_path: Path, version: int, says: str) -> None:
    target = tmp_path / "play.story"
    read(script(tmp_path), target)
    with sqlite3.connect(target) as story:
        story.execute("DELETE FROM migrations WHERE number > ?", (version,))
        story.execute("INSERT OR IGNORE INTO migrations VALUES (?, 'later', '')", (version,))
    story.close()
    with pytest.raises(InputError, match=says):
        Story.open(target)


def test_a_story_that_lacks_its_description_is_damaged(tmp_path: Path) -> None:
    target = tmp_path / "play.story"
    read(script(tmp_path), target)
    with sqlite3.connect(target) as story:
        story.execute("DELETE FROM about WHERE key = 'levels'")
    story.close()
    with pytest.raises(InputError, match="is damaged"):
        Story.open(target)


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        read(script(tmp_path), tmp_path / "no" / "such" / "folder" / "play.story")


def test_the_file_is_opened_for_reading_only(tmp_path: Path) -> None:
    story = read(script(tmp_path), tmp_path / "play.story")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        story._db.rows("DELETE FROM lines")


ANN, BOB = 1, 2


def test_who_speaks_was_there_from_the_start() -> None:
    assert presence_intervals([PresenceCue(5, "speaks", ANN)], 1, 9) == [PresenceInterval(ANN, 1, 9)]


def test_who_enters_has_not_heard_what_came_before() -> None:
    cues = [PresenceCue(4, "enter", ANN), PresenceCue(5, "speaks", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 4, 9)]


def test_who_leaves_hears_nothing_after_and_comes_back_by_speaking() -> None:
    cues = [PresenceCue(1, "listed", ANN), PresenceCue(3, "leave", ANN), PresenceCue(7, "speaks", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 1, 3), PresenceInterval(ANN, 7, 9)]


def test_leaving_alone_tells_that_one_was_there() -> None:
    assert presence_intervals([PresenceCue(3, "leave", ANN)], 1, 9) == [PresenceInterval(ANN, 1, 3)]


def test_leaving_twice_counts_once() -> None:
    cues = [PresenceCue(1, "listed", ANN), PresenceCue(3, "leave", ANN), PresenceCue(5, "leave", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 1, 3)]


def test_everybody_goes() -> None:
    cues = [
        PresenceCue(1, "listed", ANN),
        PresenceCue(2, "speaks", BOB),
        PresenceCue(4, "leave", None),
        PresenceCue(6, "enter", BOB),
    ]
    assert sorted(presence_intervals(cues, 1, 9)) == [
        PresenceInterval(ANN, 1, 4),
        PresenceInterval(BOB, 1, 4),
        PresenceInterval(BOB, 6, 9),
    ]


def test_who_goes_out_and_comes_back_within_a_line_was_never_away() -> None:
    cues = [PresenceCue(1, "listed", ANN), PresenceCue(4, "leave", ANN), PresenceCue(4, "enter", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 1, 9)]


def test_who_comes_in_and_goes_within_a_line_has_heard_that_line() -> None:
    cues = [PresenceCue(4, "enter", ANN), PresenceCue(4, "leave", ANN)]
    assert presence_intervals(cues, 1, 9) == [PresenceInterval(ANN, 4, 4)]


def test_nobody_is_there_after_the_last_line() -> None:
    assert presence_intervals([PresenceCue(10, "enter", ANN)], 1, 9) == []
