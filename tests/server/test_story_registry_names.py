from __future__ import annotations

from pathlib import Path

import pytest

from stories import HIDDEN, masks
from understudy.errors import Dead
from understudy.formats import read
from understudy.server.problems import Refused
from understudy.server.story_registry import resolve_name, situation_of, speakers_before
from understudy.story.names import shown_names
from understudy.story.storyfile import Story


@pytest.fixture
def demo(stories: dict[str, Story]) -> Story:
    return stories["demo"]


def test_a_false_name_is_shown_until_it_is_known_to_all(demo: Story) -> None:
    assert shown_names(demo, demo.moment("1.1")) == {"Danilo Reuss": "Aurel Benedek"}
    assert shown_names(demo, demo.moment("end")) == {}


def test_the_cast_so_far_goes_by_shown_names(demo: Story) -> None:
    early = [name for name, _ in speakers_before(demo, demo.moment("1.2"))]
    assert "Aurel Benedek" in early and "Danilo Reuss" not in early and "Ottoline Sool" not in early
    assert {"Danilo Reuss", "Ottoline Sool"} <= {name for name, _ in speakers_before(demo, demo.moment("end"))}


def test_people_are_found_by_the_name_they_go_by(demo: Story) -> None:
    assert resolve_name(demo, "Aurel Benedek", demo.moment("1.2")) == "Danilo Reuss"
    assert resolve_name(demo, "Zita", demo.moment("1.2")) == "Zita Karst"
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


@pytest.fixture(scope="module")
def lodger(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return read(masks(tmp_path_factory.mktemp("lodger")))


@pytest.mark.parametrize("name", [*HIDDEN, "Nobody", "Ann Zephyr"])
def test_true_names_made_up_names_and_those_of_later_are_refused_alike(lodger: Story, name: str) -> None:
    for facing in (False, True):
        request = ("Ann", lodger.moment("1.2"), name) if facing else (name, lodger.moment("1.2"))
        with pytest.raises(Refused) as refused:
            situation_of(lodger, *request)
        assert (refused.value.status, refused.value.param, refused.value.code) == (404, "name", None)
        assert str(refused.value) == f"nobody heard so far is called '{name}': choose from the cast"


def test_who_faces_themselves_is_not_told_their_name(lodger: Story) -> None:
    with pytest.raises(Refused, match="^nobody can stand before themselves: name somebody else$"):
        situation_of(lodger, "Silas", lodger.moment("1.2"), "Lodger")


def test_of_namesakes_only_those_count_who_were_seen(lodger: Story) -> None:
    assert resolve_name(lodger, "Ann", lodger.moment("3.1")) == "Ann Archer"
    with pytest.raises(Refused, match="'Ann' may be Ann Archer or Ann Zephyr: give the full name"):
        resolve_name(lodger, "Ann", lodger.moment("end"))


def test_the_unborn_are_refused_as_anybody_unheard_of(tmp_path: Path) -> None:
    folder = masks(tmp_path)
    with (folder / "cast.toml").open("a") as cast:
        cast.write('[[fact]]\nwho = "Bea Moor"\nattribute = "born"\nfrom = "2.1"\n')
    story = read(folder)
    for name, facing in (("Bea", None), ("Ann", "Bea")):
        with pytest.raises(Refused, match="^nobody heard so far is called 'Bea': choose from the cast$"):
            situation_of(story, name, story.moment("1.2"), facing)
