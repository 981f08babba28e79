"""What gives away that a writer knows the story further than the character."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.judging.guards import StoryViews
from understudy.judging.guards.knowledge import known_later
from understudy.judging.guards.phrases import is_ordinary, is_title, repeated_line
from understudy.story.dialogue import Draft, Situation, Turn, situation_at
from understudy.story.persona import Persona
from understudy.story.storyfile import Story


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def passes(story: Story, who: str, at: str, text: str, heard: str = "", facing: str | None = None) -> bool:
    situation = situation_at(story, who, at, facing)
    history = (Turn(situation.faced.name if situation.faced else "You", heard),) if heard else ()
    verdict = known_later(StoryViews(lambda _: [story]))(situation, history, Draft(text, "writer"))
    assert verdict.passed or (verdict.is_spoiler and verdict.reason == "not known yet")
    return verdict.passed


def test_every_later_line_of_some_length_is_known_again(demo: Story) -> None:
    at = demo.moment("2.2")
    situation = situation_at(demo, "Zita Karst", at)
    witnessed = {line.text for scene in situation.persona.past.scenes() for line in scene.lines}
    unheard = [
        line.text
        for scene in demo.scenes()
        for line in scene.lines
        if line.speaker and len(line.text.split()) > 8 and line.text not in witnessed
    ]
    guard = known_later(StoryViews(lambda _: [demo]))
    stopped = [not guard(situation, (), Draft(text, "writer")).passed for text in unheard]
    assert sum(stopped) >= 0.99 * len(stopped) and len(stopped) > 300
    said = [line.text for line in situation.persona.past.lines()]
    assert all(guard(situation, (), Draft(text, "writer")).passed for text in said)


@pytest.mark.parametrize(
    ("who", "at", "text"),
    [
        ("Zita Karst", "1.2", "Danilo Reuss wrote my father's letters."),
        ("Danilo Reuss", "2.3", "The Prior hid the bill in the tin box."),
        ("Casimir Ould", "1.3", "I am told that her name is Ottoline."),
    ],
)
def test_names_and_rare_phrases_of_what_is_to_come_are_stopped(demo: Story, who: str, at: str, text: str) -> None:
    assert not passes(demo, who, at, text)


@pytest.mark.parametrize(
    ("who", "at", "text"),
    [
        ("Zita Karst", "1.3", "Treason, zeal and vigilance: we coexist with brimstone, and I find it tolerable."),
        ("Zita Karst", "1.3", "I have been as far as the mail boat, and I counted the planks."),
        ("Gudrun Haake", "1.3", "Captain's a word for whoever is blamed. Same as king, or aunt."),
        ("Casimir Ould", "1.3", "A severe person, by every report; I picture somebody tall, with a cold eye."),
    ],
)
def test_ordinary_words_of_any_time_titles_and_ones_own_profile_pass(demo: Story, who: str, at: str, text: str) -> None:
    assert passes(demo, who, at, text)


def test_a_phrase_of_later_lines_is_known_again_within_a_longer_sentence(demo: Story) -> None:
    situation = situation_at(demo, "Zita Karst", "2.2")
    guard = known_later(StoryViews(lambda _: [demo]))
    lines = [(line.moment, line.text.split()) for scene in demo.scenes() for line in scene.lines if line.speaker]
    own = [" ".join(line.text.split()[:9]) for line in situation.persona.past.lines() if len(line.text.split()) > 12]
    later = [" ".join(bag[:9]) for moment, bag in lines if moment > demo.moment("3.1") and len(bag) > 12]

    def stopped(phrases: list[str]) -> list[bool]:
        sentence = "I sat on the step for an hour with the coffee, and thought that {}, and went on with the count."
        drafts = (Draft(sentence.format(phrase.rstrip(".,;:?!")), "writer") for phrase in phrases)
        return [not guard(situation, (), draft).passed for draft in drafts]

    assert sum(stopped(later[:60])) > 0.8 * 60
    assert not any(stopped(own[:40]))


def test_what_the_other_has_named_may_be_asked_back_and_denied(demo: Story) -> None:
    heard = "Do you know a man called Reuss?"
    for text in ("Reuss? Who is Reuss?", "I know no man called Reuss.", "The name Reuss means nothing to me."):
        assert passes(demo, "Zita Karst", "1.2", text, heard)
    assert not passes(demo, "Zita Karst", "1.2", "Reuss is the forger.", heard)


def test_those_who_stand_before_one_may_be_called_by_name_at_the_first_meeting(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text(
        "# act 1: First\n## scene 1: Here\nANN: I am alone in this house tonight.\n"
        "## scene 2: There\nPERDITA: I am Perdita, and I come with the snow.\nANN: Sit down by the fire, Perdita.\n",
        encoding="utf-8",
    )  # fmt: skip
    story = read(path)
    assert passes(story, "Ann", "1.2", "Come in, Perdita.", facing="Perdita")
    assert not passes(story, "Ann", "1.2", "A girl named Perdita will come.")


def test_without_its_story_nothing_can_be_judged(demo: Story) -> None:
    guard = known_later(StoryViews(lambda _: ()))
    draft = Draft("I know nothing.", "writer")
    assert not guard(situation_at(demo, "Zita Karst", "1.2"), (), draft).passed
    assert guard(Situation(Persona("Ines")), (), draft).passed


def test_an_old_line_is_repeated_only_where_most_of_a_text_is_it(demo: Story) -> None:
    persona = situation_at(demo, "Zita Karst", "2.3").persona
    line = next(line for line in persona.past.lines() if len(line.text.split()) == 8)
    assert repeated_line(persona, line.text, 0.5) == line.moment
    longer = f"{line.text} And then there is everything else, of which nobody has spoken to me so far, and never will."
    assert repeated_line(persona, longer) == line.moment and repeated_line(persona, longer, 0.5) is None


@pytest.mark.parametrize("word", ["treason", "orange", "Oranges", "running", "happiest", "carried", "well-known"])
def test_words_of_every_day_are_ordinary(word: str) -> None:
    assert is_ordinary(word)


@pytest.mark.parametrize("word", ["fornagina", "Verrano", "xylograph", "Gusafano"])
def test_others_are_not(word: str) -> None:
    assert not is_ordinary(word)


def test_titles_are_what_many_are_called() -> None:
    assert is_title("Captain") and is_title("queen") and not is_title("Zita")
