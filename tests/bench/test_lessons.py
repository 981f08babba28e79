"""What a guesser may be taught: nothing of what it is judged on, nor of what comes later."""

from __future__ import annotations

from pathlib import Path

import pytest

from talkers import PEOPLE, shows_folder
from understudy.bench.lessons import lessons_of_shows, lessons_of_story
from understudy.errors import InputError, StoryError
from understudy.guessing import main_characters
from understudy.readers import read


def test_of_shows_the_episodes_before_the_judged_ones(tmp_path: Path) -> None:
    data = shows_folder(tmp_path / "shows", episodes=6, judged=2)
    for named in ((), ("the_harbour",), ("The Harbour",)):
        ((title, told),) = lessons_of_shows(data, named).items()
        assert title == "The Harbour" and sorted(told.main) == sorted(PEOPLE)
        assert [one.moment.numbers for one in told.scenes] == [(1, e, n) for e in range(1, 5) for n in range(1, 5)]
    rows = (data / "dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "judged.jsonl").write_text("".join(rows[4:]), encoding="utf-8")  # one episode fewer is judged
    (told,) = lessons_of_shows(data, judge=tmp_path / "judged.jsonl").values()
    assert told.scenes[-1].moment.numbers == (1, 5, 4)
    with pytest.raises(InputError, match="has no frasier: choose from The Harbour"):
        lessons_of_shows(data, ("Frasier", "The Harbour"))


def test_of_a_story_what_comes_before_a_moment() -> None:
    story = read("demo")
    ((title, told),) = lessons_of_story(story, "2.3", 4).items()
    assert title == story.title and told.main == main_characters(story, 4)
    assert told.scenes[0].moment.numbers[:2] == (1, 1)
    assert max(line.moment for one in told.scenes for line in one.lines) < story.moment("2.3")
    assert len(told.scenes) < len(lessons_of_story(story, "end", 4)[title].scenes)
    with pytest.raises(StoryError, match="nothing to learn from"):
        lessons_of_story(story, "1.1", 4)
