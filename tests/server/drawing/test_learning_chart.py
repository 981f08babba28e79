"""The chart of who learns what when: a row a person, a mark where they first hear of it, and nothing unescaped."""

from __future__ import annotations

from xml.etree import ElementTree

from understudy.people.continuity.scenes import Learning
from understudy.server.drawing.learning_chart import learning_chart
from understudy.story.storyfile import Story
from understudy.story.types import Moment

SVG = "{http://www.w3.org/2000/svg}"


def chart(story: Story, *items: Learning, link: bool = False) -> ElementTree.Element:
    drawn = learning_chart(story, items, (lambda moment: f"/at/{moment.dotted}") if link else None, standalone=True)
    return ElementTree.fromstring(str(drawn))


def test_marks_stand_in_story_order_and_do_not_overlap(stories: dict[str, Story]) -> None:
    story = stories["brass-key"]
    early, late = Moment((1, 1, 2)), Moment((2, 2, 1))
    both = [Learning("a", {"Ines Vale": early, "Tobias Rook": late}), Learning("b", {"Ines Vale": early})]
    marks = [
        (float(circle.get("cx", "0")), float(circle.get("cy", "0")))
        for group in chart(story, *both).iter(f"{SVG}g")
        if "heard" in (group.get("class") or "")
        for circle in group.iter(f"{SVG}circle")
    ]
    (first, second, third) = marks
    assert first[0] == second[0] and second[1] - first[1] >= 18 and third[0] > first[0]


def test_a_mark_leads_to_its_scene_and_text_is_escaped(stories: dict[str, Story]) -> None:
    item = Learning("<b>&", {"Ines Vale": Moment((1, 1, 2))})
    drawn = chart(stories["brass-key"], item, link=True)
    (anchor,) = drawn.iter(f"{SVG}a")
    assert anchor.get("href") == "/at/1.1.2" and "<b>&" in "".join(drawn.itertext())
