"""Who is speaking in a story of one's own?"""

from __future__ import annotations

from pathlib import Path

import pytest

from stories import brass_key
from talkers import PEOPLE, scenes
from understudy.errors import StoryError
from understudy.formats import read
from understudy.guessing import GUESSERS
from understudy.guessing.scenes import main_characters
from understudy.guessing.story import GuessSettings, guess_later, guess_scene, personas_in, training_scenes_of_story
from understudy.story.storyfile import Story
from understudy.story.types import Scene

VANILLA = GUESSERS["vanilla"]
CAST = """title = "The Harbour"
language = "en"

[[character]]
name = "Ann"
profile = ["I keep a lantern in the attic."]
[[character]]
name = "Ben"
[[character]]
name = "Cleo"

[[fact]]
who = "Cleo"
attribute = "died"
value = ["of a fever"]
from = "3.2"
"""


def chapter(number: int, story_scenes: list[Scene]) -> str:
    pages = [f"# act {number}: Act"]
    for index, item in enumerate(story_scenes, 1):
        pages += [f"## scene {index}: The quay", *(f"{str(line.speaker).upper()}: {line.text}" for line in item.lines)]
    return "\n".join(pages) + "\n"


def written(folder: Path, acts: int = 4) -> Path:
    folder.mkdir()
    (folder / "cast.toml").write_text(CAST, encoding="utf-8")
    for number in range(1, acts + 1):
        story_scenes = scenes(5, seed=number, called=0.6)
        (folder / f"act-{number}.txt").write_text(chapter(number, story_scenes), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return read(written(tmp_path_factory.mktemp("story") / "harbour"))


def test_a_scene_is_guessed_from_what_came_before_it(harbour: Story) -> None:
    results = guess_scene(harbour, "3.1", GuessSettings())
    assert (results["scene"], results["learned_from"], results["setting"]) == ("3.1", 10, "The quay")
    assert {item["truth"] for item in results["guesses"]} == set(PEOPLE)
    for item in results["guesses"]:
        assert item["guess"] == item["truth"] == next(iter(item["probabilities"]))
        assert sum(item["probabilities"].values()) == pytest.approx(1)
        assert item["evidence"] and item["evidence"][0]["kind"] in (
            "called",
            "phrase",
            "memory",
            "profile",
            "exclusion",
        )
    assert {line["speaker"] for line in results["lines"]} == {item["mask"] for item in results["guesses"]}


def test_what_comes_later_changes_nothing(tmp_path: Path) -> None:
    short = read(written(tmp_path / "short", acts=3))
    long = read(written(tmp_path / "long", acts=5))
    assert guess_scene(short, "2.3", GuessSettings()) == guess_scene(long, "2.3", GuessSettings())


def test_a_moment_inside_a_scene_means_that_scene_and_a_chapter_its_first(harbour: Story) -> None:
    whole = guess_scene(harbour, "3.1", GuessSettings(VANILLA))
    assert guess_scene(harbour, "3.1.4", GuessSettings(VANILLA)) == whole
    assert guess_scene(harbour, "3", GuessSettings(VANILLA)) == whole


@pytest.mark.parametrize("moment", ["end", "3.8"])
def test_where_no_scene_is_it_says_so(harbour: Story, moment: str) -> None:
    with pytest.raises(StoryError, match="no scene is at"):
        guess_scene(harbour, moment, GuessSettings())


def test_reasons_are_jointly_told_only_by_joint(harbour: Story) -> None:
    results = guess_scene(harbour, "3.1", GuessSettings(VANILLA))
    assert [item["evidence"] for item in results["guesses"]] == [[], [], []]


def test_the_first_scene_has_nothing_to_learn_from(harbour: Story) -> None:
    with pytest.raises(StoryError, match="nothing to learn from"):
        guess_scene(harbour, "1.1", GuessSettings())
    with pytest.raises(StoryError, match="nothing comes before"):
        guess_later(harbour, "start", GuessSettings())


def test_later_scenes_are_the_last_third_unless_it_is_said(harbour: Story) -> None:
    results = guess_later(harbour, None, GuessSettings())
    assert (results["since"], results["learned_from"]) == ("4", 15)
    (row,) = [row for row in results["rows"] if row["metric"] == "accuracy" and row["show"] == "The Harbour"]
    assert row["n"] == 15 and row["value"] > 0.9
    assert guess_later(harbour, "2.4", GuessSettings(VANILLA))["learned_from"] == 8
    with pytest.raises(StoryError, match="no scene has two main characters"):
        guess_later(harbour, "end", GuessSettings(VANILLA))


def test_a_story_of_few_scenes_gives_its_last_one(tmp_path: Path) -> None:
    story = read(brass_key(tmp_path / "key"))
    assert guess_later(story, None, GuessSettings(VANILLA))["since"] == "2.2"


def test_a_story_of_two_scenes_has_too_few(tmp_path: Path) -> None:
    script = tmp_path / "short.txt"
    script.write_text("Scene 1: A\n\nAnn: So.\n\nBen: Yes.\n", encoding="utf-8")
    with pytest.raises(StoryError, match="too few scenes"):
        guess_later(read(script), None, GuessSettings())


def test_only_the_main_characters_are_hidden(harbour: Story) -> None:
    results = guess_scene(harbour, "3.1", GuessSettings(most=2))
    assert len(results["guesses"]) == 2
    (shown,) = {line["speaker"] for line in results["lines"]} - {"P0", "P1"}
    assert shown in PEOPLE


def test_a_scene_with_one_main_speaker_is_no_question(tmp_path: Path) -> None:
    folder = written(tmp_path / "story")
    (folder / "act-5.txt").write_text("# act 5: Alone\n## scene 1: Attic\nANN: So.\nANN: Yes.\n", encoding="utf-8")
    with pytest.raises(StoryError, match="of the main characters Ann speaks at 5.1"):
        guess_scene(read(folder), "5.1", GuessSettings())


def test_candidates_are_as_they_are_then_and_the_dead_may_speak(harbour: Story) -> None:
    (scene,) = [item for item in harbour.scenes() if item.moment.dotted == "3.2"]
    ann, cleo = personas_in(harbour, GuessSettings().masking(harbour))(["Ann", "Cleo"], scene)
    assert (ann.name, cleo.name) == ("Ann", "Cleo")
    assert ann.profile == ("I keep a lantern in the attic.",) and ann.moment == scene.moment
    assert cleo.profile == () and len(cleo.past) == 0


def test_nothing_is_known_of_who_goes_by_anothers_name(harbour: Story) -> None:
    masking = GuessSettings(names="swap", seed=1).masking(harbour)
    (scene,) = [item for item in harbour.scenes() if item.moment.dotted == "3.2"]
    results = personas_in(harbour, masking)(masking.people, scene)
    assert [persona.name for persona in results] == list(masking.people)
    assert not any(persona.profile or persona.relations or len(persona.past) for persona in results)


@pytest.mark.parametrize("names", ["mask", "swap"])
def test_names_hidden_or_swapped_are_so_in_what_is_shown(harbour: Story, names: str) -> None:
    results = guess_scene(harbour, "3.3", GuessSettings(VANILLA, names=names, seed=2))
    plain = guess_scene(harbour, "3.3", GuessSettings(VANILLA, seed=2))
    texts, before = (" ".join(line["text"] for line in item["lines"]) for item in (results, plain))
    assert any(who in before for who in PEOPLE)
    assert texts != before
    assert not any(who in texts for who in PEOPLE) or names == "swap"
    assert {item["truth"] for item in results["guesses"]} == set(PEOPLE)
    content = {item["mask"]: item["truth"] for item in results["guesses"]}
    own = {item["mask"]: item["truth"] for item in plain["guesses"]}
    assert all((content[mask] == own[mask]) is (names == "mask") for mask in own)


def test_of_a_story_what_comes_before_a_moment() -> None:
    story = read("demo")
    ((title, content),) = training_scenes_of_story(story, "2.3", 4).items()
    assert title == story.title and content.main == main_characters(story, 4)
    assert content.scenes[0].moment.numbers[:2] == (1, 1)
    assert max(line.moment for item in content.scenes for line in item.lines) < story.moment("2.3")
    assert len(content.scenes) < len(training_scenes_of_story(story, "end", 4)[title].scenes)
    with pytest.raises(StoryError, match="nothing to learn from"):
        training_scenes_of_story(story, "1.1", 4)
