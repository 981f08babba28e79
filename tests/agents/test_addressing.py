"""Old lines are said to whom they can be said to: not what called, or was said to or about, somebody else."""

from __future__ import annotations

import pytest

from understudy.agents import agent_named
from understudy.agents.addressing import Addressing
from understudy.formats import read
from understudy.judging.loading import load_guarded
from understudy.story.dialogue import Situation, Turn, situation_at
from understudy.story.storyfile import Story
from understudy.story.types import Exchange, Moment

CAST = """
title = "The Ancient"
language = "en"
[[character]]
name = "Ivo"
[[character]]
name = "Captain Moor"
aliases = ["Moor", "the Moor"]
[[character]]
name = "Rodric"
[[character]]
name = "Dina"
[[relation]]
of = "Ivo"
to = "Dina"
kind = "spouse"
from = "1"
[[fact]]
who = "Captain Moor"
attribute = "gender"
value = "a man"
from = "1"
"""
SCRIPT = """# act 1: Night
## scene 1: The street
Present: Ivo, Rodric
RODRIC: What do you think of him?
IVO: I hate the Moor.
RODRIC: And why do you follow him?
IVO: Sweet Rodric, put money in the purse.
RODRIC: What does he do?
IVO: He promoted a clerk before me.
RODRIC: What of the rain?
IVO: It falls on the just. Give me that lantern.
RODRIC: And the lamp?
IVO: Good oil is dear this year.
RODRIC: So it is.
IVO: I must look to my wife.
RODRIC: Bring her.
IVO: Bid the porter wait.
## scene 2: The fort
Present: Ivo, Captain Moor, Dina
MOOR: Is the gate shut, ancient?
IVO: It is shut, my lord.
DINA: Who has the key?
IVO: I gave your key to the porter, madam.
DINA: Is he honest?
IVO: Moor knows my heart.
MOOR: What do you say?
IVO: I say you are well loved.
[Moor falls asleep.]
DINA: Is he ill?
IVO: He drinks.
DINA: What shall we do?
IVO: We wait, and we say nothing.
DINA: Whom do we thank?
IVO: Thanks, Rodric and gentle Moor, for the rain.
DINA: Who is at the gate?
IVO: This is my good friend Rodric.
## scene 3: The quay
Present: Ivo, Captain Moor
MOOR: Good morrow.
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("ancient")
    (folder / "cast.toml").write_text(CAST, encoding="utf-8")
    (folder / "act-1.txt").write_text(SCRIPT, encoding="utf-8")
    return read(folder)


def said(situation: Situation, words: str) -> Exchange:
    return next(exchange for exchange in situation.persona.past.exchanges() if words in exchange.said.text)


@pytest.mark.parametrize(
    ("facing", "words", "fault"),
    [
        ("Captain Moor", "I hate the Moor", "behind the back"),
        ("Captain Moor", "He promoted a clerk", "behind the back"),
        ("Captain Moor", "Sweet Rodric", "calls somebody else"),
        ("Dina", "Sweet Rodric", "calls somebody else"),
        (None, "Sweet Rodric", "calls somebody else"),
        ("Captain Moor", "Give me that lantern", "to somebody else"),
        ("Dina", "my wife", "behind the back"),
        ("Rodric", "my wife", ""),
        ("Captain Moor", "Bid the porter", "to somebody else"),
        ("Captain Moor", "your key to the porter", "calls somebody else"),
        ("Captain Moor", "Moor knows my heart", "as of somebody else"),
        ("Captain Moor", "He drinks.", "behind the back"),
        ("Dina", "gentle Moor", "calls somebody else"),
        ("Dina", "my good friend", "calls somebody else"),
        ("Rodric", "I hate the Moor", ""),
        ("Dina", "I hate the Moor", ""),
        ("Rodric", "Sweet Rodric", ""),
        ("Captain Moor", "Good oil", ""),
        ("Captain Moor", "It is shut, my lord", ""),
        ("Captain Moor", "I say you are well loved", ""),
        ("Dina", "your key to the porter", ""),
    ],
)
def test_a_line_suits_whom_it_can_be_said_to(story: Story, facing: str | None, words: str, fault: str) -> None:
    situation = situation_at(story, "Ivo", "1.3", facing)
    found = Addressing(situation).fault(said(situation, words))
    assert fault in found and bool(found) == bool(fault)


def test_who_sleeps_was_not_there(story: Story) -> None:
    past = situation_at(story, "Ivo", "1.3").persona.past
    assert past.company(story.moment("1.2.8")) == {"Captain Moor", "Dina"}
    assert past.company(story.moment("1.2.11")) == {"Dina"}
    assert past.company(Moment((1, 3, 1))) == frozenset()


QUESTIONS = ("What do you think of me?", "Do you hate me?", "Why do you follow me?", "What does he do?", "Who is Moor?")


@pytest.mark.parametrize("agent", ["encoder", "tfidf", "guarded"])
def test_nobody_is_told_what_was_said_behind_their_back(story: Story, agent: str) -> None:
    speaking = load_guarded(agent, lambda _: [story]) if agent == "guarded" else agent_named(agent)
    situation = situation_at(story, "Ivo", "1.3", "Captain Moor")
    for question in QUESTIONS:
        reply = speaking.reply(situation, [Turn("Captain Moor", question)])
        for text in (reply.text, *(candidate.text for candidate in reply.candidates if not candidate.rejected)):
            assert not any(words in text for words in ("hate the Moor", "promoted", "Rodric", "lantern", "drinks"))


@pytest.mark.parametrize("agent", ["encoder", "tfidf", "guarded"])
def test_who_somebody_is_is_not_answered_with_a_line_about_somebody_else(agent: str) -> None:
    demo = read("demo")
    speaking = load_guarded(agent, lambda _: [demo]) if agent == "guarded" else agent_named(agent)
    for facing in (None, "Pia", "Haake"):
        situation = situation_at(demo, "Zita", "2.3", facing)
        reply = speaking.reply(situation, [Turn("You", "Who is the man in the yellow waistcoat?")])
        assert "orger" not in reply.text


def test_lines_of_others_are_not_judged_by_who_heard_them() -> None:
    situation = situation_at(read("demo"), "Zita", "2.3", "Pia")
    other = situation_at(read("demo"), "Gudrun Haake", "2.3", "Pia")
    line = next(iter(other.persona.past.exchanges()))
    assert Addressing(situation).suits(line, "What is it?")
