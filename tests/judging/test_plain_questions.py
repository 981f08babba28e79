"""Plain questions of a chat, put to old lines alone and to a small writer that repeats its profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.writer import WriterAgent
from understudy.formats import read
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import StoryViews
from understudy.language.backends import ScriptedBackend
from understudy.story.dialogue import Drafter, Situation, Turn, situation_at
from understudy.story.storyfile import Story
from understudy.text import sentences

PARROT = (
    "I am a woman, Pia.",
    "I am twenty-seven. It is a friendship.",
    "I am relatively familiar with Pia.",
    "I saw Mr. Ould. I am a woman, like any other.",
)
Chat = Callable[..., list[str]]


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


@pytest.fixture(scope="module", params=["old lines", "writer"])
def agent(demo: Story, request: pytest.FixtureRequest) -> GuardedAgent:
    encoder = EncoderAgent()
    writer = WriterAgent(ScriptedBackend(PARROT), style="compact")
    drafters: list[Drafter] = [OldLines(encoder), *([writer] if request.param == "writer" else [])]
    return GuardedAgent(drafters, StoryViews(lambda _: [demo]), encoder, best_of=4)


@pytest.fixture
def chat(agent: GuardedAgent, demo: Story) -> Chat:
    """What Zita answers to some messages, one after the other."""

    def chat(*messages: str, facing: str | None = "Pia") -> list[str]:
        return _answers(agent, situation_at(demo, "Zita", "2.3", facing), messages)

    return chat


def _answers(agent: GuardedAgent, situation: Situation, messages: Sequence[str]) -> list[str]:
    history: list[Turn] = []
    for message in messages:
        history.append(Turn(situation.faced.name if situation.faced else "You", message))
        history.append(Turn(situation.persona.name, agent.reply(situation, history).text))
    return [turn.text for turn in history[1::2]]


@pytest.mark.parametrize(
    "message", ["How are you?", "How are you feeling today?", "Are you lonely?", "Are you happy?", "What do you think?"]
)
def test_who_is_not_asked_for_age_or_sex_does_not_tell_it(chat: Chat, message: str) -> None:
    (answer,) = chat(message)
    assert "a woman" not in answer and "twenty-seven" not in answer


def test_who_is_asked_for_age_or_sex_tells_it(chat: Chat) -> None:
    assert chat("How old are you?") in (["Twenty-seven."], ["I am twenty-seven."])
    assert chat("Are you a man or a woman?")[0] in ("A woman.", "I am a woman.")


def test_how_well_somebody_is_known_is_no_answer_to_who_they_are(chat: Chat) -> None:
    for facing in ("Pia", None):
        assert "familiar" not in chat("Tell me about Pia.", facing=facing)[0]
    assert "familiar" in chat("Do you know Pia?", facing=None)[0]


def test_what_was_just_said_is_known(chat: Chat) -> None:
    assert chat("It is late, and the boat has gone.", "What did I just say?")[1] == (
        'You said: "It is late, and the boat has gone."'
    )
    assert chat("How old are you?", "It is late.", "What did I ask you?")[2] == 'You asked: "How old are you?"'
    assert chat("Do you trust the Prior?", "Why?", "What did I just ask you?")[2] == 'You asked: "Why?"'
    first, second = chat("How old are you?", "What did you just say?")
    assert second == f'I said: "{first}"'


def test_the_name_of_whoever_gave_none_is_not_made_up(chat: Chat) -> None:
    assert chat("What is my name?", facing=None) == ["You have not told me your name."]
    assert chat("Who am I?") == ["You are Pia Lenk."]
    _, second, third = chat("My name is Bob.", "What is my name?", "And what is my name?", facing=None)
    assert "Bob" in second and "Bob" in third and second != third


def test_a_bare_why_is_about_what_was_said_before(chat: Chat) -> None:
    trusts, why = chat("Do you trust the Prior?", "Why?")
    assert trusts == "No. I despise the Prior."
    assert "Prior" in why and why != trusts


def test_nothing_is_said_twice_in_a_chat(chat: Chat) -> None:
    messages = ("Where is the key?", "Who wrote it?", "What about the letters?", "Where is the key?", "Who wrote it?")
    said = [sentence for answer in chat(*messages, "Tell me about the letters.") for sentence in sentences(answer)]
    long = [sentence for sentence in said if len(sentence.split()) >= 5]
    assert len(long) == len(set(long))


def test_no_reply_ends_after_an_abbreviation(chat: Chat) -> None:
    assert not any(answer.endswith("Mr.") for answer in chat("Whom did you see?", "And then?", "Who was there?"))
