"""Who hears of what first when."""

from __future__ import annotations

from collections.abc import Callable

from understudy.people.continuity import check_continuity
from understudy.story.storyfile import Story

MakeStory = Callable[..., Story]

TOLD = "Present: Ines Vale, Tobias Rook\nINES: The boat came from old Varrenholm.\nTOBIAS: From Varrenholm?"
AGAIN = "Present: Tobias Rook, Mara Quill\nTOBIAS: It came from Varrenholm.\nMARA: Oh."


def test_each_person_learns_it_where_they_first_hear_it(make_story: MakeStory) -> None:
    learning = check_continuity(make_story(TOLD, AGAIN, AGAIN)).learnings["Varrenholm"]
    heard = {who: moment.dotted for who, moment in learning.hearings.items()}
    assert heard == {"Ines Vale": "1.1.1", "Tobias Rook": "1.1.1", "Mara Quill": "1.2.1"}
    assert learning.steps == 2


def test_what_is_mentioned_in_one_scene_is_left_out(make_story: MakeStory) -> None:
    everybody = TOLD.replace("Present:", "Present: Mara Quill, Odo Fenn,")
    assert "Varrenholm" not in check_continuity(make_story(everybody)).learnings
