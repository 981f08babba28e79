"""Scenes with their main speakers hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import StoryError
from understudy.formats import read
from understudy.guessing.scenes import Masking, main_characters
from understudy.people.names import CharacterNames
from understudy.story.types import Line, Moment, Scene

MAIN = ("Ross", "Monica", "Joey")
NAMES = CharacterNames({who: (who,) for who in MAIN})


def scene(*lines: tuple[str | None, str], setting: str = "Monica's flat", at: tuple[int, ...] = (1, 1)) -> Scene:
    story_scenes = tuple(Line(Moment((*at, index)), who, text) for index, (who, text) in enumerate(lines, 1))
    present = tuple(dict.fromkeys(who for who, _ in lines if who))
    return Scene(Moment(at), setting, present, story_scenes)


TALK = scene(
    ("Ross", "Monica, is Joey here?"),
    (None, "Joey enters."),
    ("Monica", "Ask him."),
    ("Gunther", "Joey never pays, Ross."),
    ("Ross and Monica", "Hi!"),
)


def test_main_speakers_are_hidden_and_the_rest_is_left() -> None:
    masked = Masking(MAIN, NAMES).masked(TALK)
    behind = {who: mask for mask, who in masked.answers.items()}
    assert set(behind) == {"Ross", "Monica"}
    assert masked.candidates == ("Monica", "Ross")
    ross, monica = behind["Ross"], behind["Monica"]
    assert [line.speaker for line in masked.scene.lines] == [ross, None, monica, "Gunther", f"{ross} and {monica}"]
    assert [line.text for line in masked.scene.lines] == [line.text for line in TALK.lines]
    assert masked.scene.setting == "Monica's flat"
    assert "Gunther" in masked.scene.present
    assert "Ross" not in masked.scene.present


def test_masks_are_drawn_by_seed_and_moment_alone() -> None:
    masking = Masking(MAIN, NAMES, seed=3)
    first = masking.masked(TALK)
    for second in range(20):
        masking.masked(scene(("Joey", "Hey."), at=(9, second)))
    assert masking.masked(TALK) == first
    drawn = {Masking(MAIN, NAMES, seed=seed).masked(TALK).answers["P0"] for seed in range(20)}
    assert drawn == {"Ross", "Monica"}


def test_masked_names_tell_nobody() -> None:
    masked = Masking(MAIN, NAMES, how="mask").masked(TALK)
    everything = [masked.scene.setting, *(line.text for line in masked.scene.lines)]
    assert not any(who in text for who in MAIN for text in everything)


def test_swapped_names_are_swapped_everywhere_and_the_answer_goes_by_the_new_name() -> None:
    masking = Masking(MAIN, NAMES, how="swap", seed=1)
    renamed = dict(zip(MAIN, masking.people))
    masked, content = masking.masked(TALK), masking.with_names(TALK)
    assert sorted(masking.people) == sorted(MAIN)
    assert masked.scene.lines[0].text == f"{renamed['Monica']}, is {renamed['Joey']} here?"
    assert set(masked.answers.values()) == {renamed["Ross"], renamed["Monica"]}
    assert content.lines[0].speaker == renamed["Ross"]
    assert [line.text for line in content.lines] == [line.text for line in masked.scene.lines]


def test_scenes_with_one_main_speaker_are_no_question() -> None:
    masking = Masking(MAIN, NAMES)
    assert list(masking.scenes([scene(("Ross", "Hello?"), ("Gunther", "Hi."))])) == []
    assert len(list(masking.scenes([TALK]))) == 1


def test_main_characters_are_those_who_speak_most() -> None:
    story = read("demo")
    assert main_characters(story) == tuple(member.character.name for member in story.cast()[:6])
    assert main_characters(story, most=2) == ("Zita Karst", "Casimir Ould")


def test_one_speaker_alone_cannot_be_told_apart(tmp_path: Path) -> None:
    script = tmp_path / "alone.txt"
    script.write_text("Ann: Hello.\n\nAnn: Is anybody here?\n\nAnn: No?\n", encoding="utf-8")
    with pytest.raises(StoryError, match="only Ann speaks"):
        main_characters(read(script))


def test_other_ways_with_names_are_refused() -> None:
    with pytest.raises(StoryError, match="keep, mask, swap"):
        Masking(MAIN, NAMES, how="shout")
