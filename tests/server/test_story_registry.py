"""Who can be spoken to: kept as long as the story is, and shown by the names that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from stories import FALSE, MASKED_CAST, TRUE, masks
from understudy.agents import Scripted
from understudy.formats import read
from understudy.judging import Rule
from understudy.judging.filtering import FilteredAgent, StoryMetrics
from understudy.judging.loading import load_guarded
from understudy.server.problems import Refused
from understudy.server.story_registry import ModelName, StoryRegistry
from understudy.story.dialogue import Agent, Candidate, Evidence, Reply, Turn
from understudy.story.storyfile import Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return read(masks(tmp_path / "masks"))


def renamed(folder: Path) -> Story:
    """The same story with another cast: the lodger is called Corin, and Bea has left it."""
    masks(folder)
    for file in (folder / "cast.toml", *folder.glob("act-*.txt")):
        text = file.read_text().replace(TRUE, "Corin Ash").replace("Bea Moor", "Bess Moor").replace("BEA", "BESS")
        file.write_text(text.replace('"Bea"', '"Bess"'))
    return read(folder)


def test_a_role_is_made_once(story: Story) -> None:
    registry = StoryRegistry({"masks": story})
    wanted = ModelName("masks", "Ann", "1.2", "Silas")
    assert registry.character(wanted) is registry.character(wanted)
    assert registry.character(wanted) is not registry.character(ModelName("masks", "Ann", "2.1", "Silas"))


def test_a_story_that_is_put_in_anothers_place_has_its_own_cast(story: Story, tmp_path: Path) -> None:
    registry = StoryRegistry({"masks": story})
    lodger, bea = ModelName("masks", "Silas", "1.2"), ModelName("masks", "Bea", "1.2")
    assert registry.character(lodger).situation.persona.name == TRUE
    registry.character(bea)
    registry.put("masks", renamed(tmp_path / "renamed"))
    assert registry.character(lodger).situation.persona.name == "Corin Ash"
    with pytest.raises(Refused, match="nobody heard so far is called 'Bea'"):
        registry.character(bea)


def test_a_role_made_of_a_story_that_has_been_replaced_meanwhile_is_not_kept(story: Story, tmp_path: Path) -> None:
    newer = renamed(tmp_path / "renamed")
    registry = StoryRegistry({"masks": story})

    class Slow(Story):
        """Is replaced while a role of it is being made."""

        def moment(self, text: str):  # type: ignore[no-untyped-def]
            registry.put("masks", newer)
            return super().moment(text)

    registry.put("masks", Slow(story._address))
    wanted = ModelName("masks", "Silas", "1.2")
    assert registry.character(wanted).situation.persona.name == TRUE
    assert registry.character(wanted).situation.persona.name == "Corin Ash"


def test_a_reply_is_shown_under_false_names_where_they_stand_whole(story: Story) -> None:
    character = StoryRegistry({"masks": story}).character(ModelName("masks", "Silas", "1.2"))
    text = f"{TRUE}'s house in Vaneshire"
    shown = character.redact(Reply(text, (Candidate(text, 1.0),), (Evidence("profile", text),)))
    for redacted in (shown.text, shown.candidates[0].text, shown.evidence[0].text):
        assert redacted == f"{FALSE}'s house in Vaneshire"


def test_who_is_in_on_it_is_shown_without_the_true_name(story: Story) -> None:
    character = StoryRegistry({"masks": story}).character(ModelName("masks", "Ann", "2.1", "Silas"))
    assert character.situation.faced is not None and character.situation.faced.name == TRUE
    shown = character.shown_situation
    assert shown.faced is not None and shown.faced.name == FALSE
    assert {tie.to for tie in shown.persona.relations} == {FALSE}
    assert not any(TRUE in sentence or "goes by" in sentence for sentence in shown.faced.profile)
    assert {line.speaker for scene in shown.persona.past.scenes() for line in scene.lines} >= {FALSE, "Bea Moor"}
    assert MASKED_CAST.count("confidant") == 1


def test_the_character_speaks_in_a_history_under_the_name_it_is_shown_by(story: Story) -> None:
    character = StoryRegistry({"masks": story}).character(ModelName("masks", "Silas", "1.2"))
    assert character.speaker("silas lodger", "You") == TRUE
    assert character.speaker(TRUE, "You") == "You"
    assert character.speaker("Ann", "You") == "Ann"


def test_stories_of_one_title_stay_apart(story: Story, tmp_path: Path) -> None:
    draft = renamed(tmp_path / "renamed")
    assert draft.title == story.title
    registry = StoryRegistry({"masks": story, "masks-2": draft})
    old, new = (registry.character(ModelName(name, "Silas", "1.2")).situation for name in ("masks", "masks-2"))
    assert registry.identified(old.persona.story_identity) == [story]
    assert registry.identified(new.persona.story_identity) == [draft]
    assert registry.labels() == {"masks": f"{story.title} (masks)", "masks-2": f"{story.title} (masks-2)"}
    registry.remove("masks")
    assert registry.identified(old.persona.story_identity) == []
    assert registry.labels() == {"masks-2": story.title}


def test_a_reply_begun_before_a_newer_reading_is_judged_by_that(story: Story, tmp_path: Path) -> None:
    registry = StoryRegistry({"masks": story})
    begun = registry.character(ModelName("masks", "Silas", "1.2")).situation
    newer = renamed(tmp_path / "renamed")
    registry.put("masks", newer)
    assert registry.identified(begun.persona.story_identity) == [newer]


@pytest.mark.parametrize("agent", ["guarded", "ruled"])
def test_each_of_two_stories_of_one_title_answers_by_itself(story: Story, tmp_path: Path, agent: str) -> None:
    registry = StoryRegistry({"masks": story, "masks-2": renamed(tmp_path / "renamed")})
    rules = [Rule.parse("anachronism<=0")]
    agents: dict[str, Agent] = {
        "guarded": load_guarded("guarded", registry.identified),
        "ruled": FilteredAgent(Scripted(["Good day."]), rules, StoryMetrics(["anachronism"], registry.identified)),
    }
    for name, who in (("masks", "Bea"), ("masks-2", "Bess")):
        situation = registry.character(ModelName(name, who, "2.1")).situation
        reply = agents[agent].reply(situation, [Turn("You", "Good day.")])
        assert reply.text and "no story" not in str(reply.evidence)
