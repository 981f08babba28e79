"""The slider of a story: its stops, how far it has come, and what it may tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.server.pages import MAX_CELLS, requested_moment, slider_at
from understudy.story.storyfile import Story


def test_a_page_opens_at_the_end_of_the_first_chapter(stories: dict[str, Story]) -> None:
    assert requested_moment(stories["demo"], None).dotted == "1.2.1"
    assert requested_moment(stories["brass-key"], None).dotted == "2.1"
    assert requested_moment(stories["demo"], "2.3").dotted == "2.3"


@pytest.mark.parametrize(
    ("at", "position", "name"),
    [
        ("start", 0, "The start"),
        ("1.1", 0, "Act 1, scene 1"),
        ("1.2", 1, "Act 1, scene 2"),
        ("2", 2, "Act 2"),
        ("2.2", 3, "Act 2, scene 2"),
        ("2.2.3", 3 + 2 / 3, "Act 2, scene 2, line 3"),
        ("end", 4, "The end"),
    ],
)
def test_a_moment_lies_between_the_scenes_before_and_after_it(
    stories: dict[str, Story], at: str, position: float, name: str
) -> None:
    slider = slider_at(stories["brass-key"], stories["brass-key"].moment(at))
    assert slider.position == pytest.approx(position)
    assert slider.name == name


def test_stops_tell_chapters_begun_and_scenes_over_and_no_more(stories: dict[str, Story]) -> None:
    slider = slider_at(stories["brass-key"], stories["brass-key"].moment("1.2"))
    assert [(stop["at"], stop["title"], stop["setting"]) for stop in slider.stops] == [
        ("1.1", "Low Water", "The chandlery, noon"),
        ("1.2", "Low Water", ""),
        ("2.1", "", ""),
        ("2.2", "", ""),
        ("end", "", ""),
    ]
    assert (slider.title, slider.setting) == ("Low Water", "The chandlery, noon")
    assert [cell.reached for cell in slider.cells] == ["whole", "", "", ""]
    assert [cell.begins for cell in slider.cells] == ["part", "", "part", ""]


def test_where_a_chapter_begins_the_title_is_its_own(stories: dict[str, Story]) -> None:
    titles = {moment.dotted: title for moment, title in stories["demo"].headings()}
    for at in ("2.2", "2.3", "3.1"):
        slider = slider_at(stories["demo"], stories["demo"].moment(at))
        assert slider.title == titles[at]


def test_inside_a_scene_its_cell_is_partly_reached(stories: dict[str, Story]) -> None:
    slider = slider_at(stories["brass-key"], stories["brass-key"].moment("1.2.2"))
    assert [cell.reached for cell in slider.cells] == ["whole", "partly", "", ""]


def test_a_story_of_very_many_scenes_is_drawn_by_chapters(tmp_path: Path) -> None:
    text = "".join(
        f"# act {act}\n" + "".join(f"## scene {scene}\nINES: Line {scene}.\n" for scene in range(1, 31))
        for act in range(1, 11)
    )
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    story = read(tmp_path / "long.txt")
    slider = slider_at(story, story.moment("3.5"))
    assert len(slider.stops) == 301
    assert len(slider.cells) == 10 < MAX_CELLS
    assert sum(cell.scenes for cell in slider.cells) == 300
    assert [cell.reached for cell in slider.cells][:4] == ["whole", "whole", "partly", ""]
