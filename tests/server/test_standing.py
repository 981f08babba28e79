from __future__ import annotations

import pytest

from understudy.errors import Dead
from understudy.server.problems import Refused
from understudy.server.standing import heard_so_far, person, shown_names, situation_of
from understudy.storyfile import Story


@pytest.fixture
def demo(stories: dict[str, Story]) -> Story:
    return stories["demo"]


def test_a_false_name_is_shown_until_it_is_known_to_all(demo: Story) -> None:
    assert shown_names(demo, demo.moment("1.1")) == {"Danilo Reuss": "Aurel Benedek"}
    assert shown_names(demo, demo.moment("end")) == {}


def test_the_cast_so_far_goes_by_shown_names(demo: Story) -> None:
    early = [name for name, _ in heard_so_far(demo, demo.moment("1.2"))]
    assert "Aurel Benedek" in early and "Danilo Reuss" not in early and "Ottoline Sool" not in early
    assert {"Danilo Reuss", "Ottoline Sool"} <= {name for name, _ in heard_so_far(demo, demo.moment("end"))}


def test_people_are_found_by_the_name_they_go_by(demo: Story) -> None:
    assert person(demo, "Aurel Benedek", demo.moment("1.2")) == "Danilo Reuss"
    assert person(demo, "Zita", demo.moment("1.2")) == "Zita Karst"
    faced = situation_of(demo, "Zita", demo.moment("1.2"), "Benedek").faced
    assert faced is not None and faced.name == "Aurel Benedek"


def test_nobody_of_later_is_named_when_somebody_is_not_found(demo: Story) -> None:
    with pytest.raises(Refused) as refused:
        situation_of(demo, "Nobody", demo.moment("1.1"))
    assert refused.value.status == 404
    assert not any(member.character.name in str(refused.value) for member in demo.cast())


def test_the_dead_are_not_met(demo: Story) -> None:
    assert situation_of(demo, "Bohm", demo.moment("3.2")).persona.name == "Ignace Bohm"
    with pytest.raises(Dead):
        situation_of(demo, "Bohm", demo.moment("end"))
