from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.writer import WriterAgent
from understudy.errors import BackendError
from understudy.formats import read
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import StoryViews
from understudy.judging.selection import evasion_drafts
from understudy.language.backends import ScriptedBackend
from understudy.story.dialogue import Agent, Draft, Sampling, Situation, StreamingAgent, Turn, situation_at
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from writers import HostileWriter, Offering

ENCODER = EncoderAgent()
LATER = "The Prior hid the bill in the tin box."
SECRET = "I wrote your father's confession in cell four."
QUESTION = "Did you write my father's confession?"


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


@pytest.fixture(scope="module")
def benedek(demo: Story) -> Situation:
    return situation_at(demo, "Danilo Reuss", "2.3", "Zita Karst")


@cache
def views_of(story: Story) -> StoryViews:
    return StoryViews(lambda _: [story])


def guarded(demo: Story, *drafters: Offering | OldLines, best_of: int = 8) -> GuardedAgent:
    return GuardedAgent(drafters, views_of(demo), ENCODER, best_of)


def asked(message: str) -> tuple[Turn, ...]:
    return (Turn("Zita Karst", message),)


def heard(agent: GuardedAgent, situation: Situation, message: str, sampling: Sampling | None = None) -> str:
    return "".join(agent.stream(situation, asked(message), sampling or Sampling()))


def is_evasion(agent: GuardedAgent, situation: Situation, history: tuple[Turn, ...], text: str) -> bool:
    return any(draft.text == text for draft in evasion_drafts(situation, history))


def test_it_speaks_the_protocols(demo: Story) -> None:
    agent = guarded(demo, Offering("No."))
    assert isinstance(agent, Agent) and isinstance(agent, StreamingAgent)


def test_the_best_that_passes_is_said_and_the_field_is_shown(demo: Story, benedek: Situation) -> None:
    agent = guarded(demo, Offering(SECRET, "No, dear lady, I am a dealer in feathers.", "As an AI, I cannot."))
    reply = agent.reply(benedek, asked(QUESTION))
    assert reply.text == "No, dear lady, I am a dealer in feathers."
    assert reply.candidates[0].text == reply.text and not reply.candidates[0].rejected
    rejected = {candidate.rejected: candidate.text for candidate in reply.candidates if candidate.rejected}
    assert rejected["not known yet"] == "" and rejected["speaks as an assistant"].startswith("As an AI")
    assert all(candidate.source == "writer" for candidate in reply.candidates)
    assert reply.usage is not None and reply.usage.calls == 1
    assert any("kept back" in evidence.text for evidence in reply.evidence)


def test_secrets_and_the_future_are_stopped_whoever_offers_them(demo: Story, benedek: Situation) -> None:
    agent = guarded(demo, OldLines(ENCODER), Offering(SECRET, LATER))
    reply = agent.reply(benedek, asked(QUESTION))
    shown = " ".join((reply.text, *(candidate.text for candidate in reply.candidates)))
    assert "cell four" not in shown and "I wrote" not in shown and "tin box" not in shown


def test_where_nothing_passes_the_character_does_not_answer(demo: Story, benedek: Situation) -> None:
    agent = guarded(demo, Offering(SECRET))
    reply = agent.reply(benedek, asked(QUESTION))
    assert is_evasion(agent, benedek, asked(QUESTION), reply.text)


def test_no_evasion_is_said_a_third_time(demo: Story, benedek: Situation) -> None:
    agent = guarded(demo, Offering(SECRET))
    history: tuple[Turn, ...] = ()
    for _ in range(60):
        history = (*history, *asked(QUESTION))
        reply = agent.reply(benedek, history)
        assert reply.text.strip()
        history = (*history, Turn("Danilo Reuss", reply.text))
    said = Counter(turn.text for turn in history if turn.speaker == "Danilo Reuss")
    assert max(said.values()) <= 2


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Hello", ("good", "hello", "welcome", "see you", "there", "ah")),
        ("Good night.", ("good night",)),
        ("Thank you very much!", ("thank", "welcome", "mention", "kind", "pleasure", "forget", "obliged")),
        ("Goodbye, Benedek.", ("farewell", "leave", "bye", "meet again", "excuse", "night", "care", "go")),
    ],
)
def test_greetings_get_greetings(demo: Story, benedek: Situation, message: str, words: tuple[str, ...]) -> None:
    reply = guarded(demo, OldLines(ENCODER)).reply(benedek, asked(message))
    assert any(word in reply.text.lower() for word in words), reply.text


def test_a_back_end_that_fails_is_done_without_and_told_of(demo: Story, benedek: Situation) -> None:
    class Broken(Offering):
        def drafts(self, *_: object, **__: object) -> object:  # type: ignore[override]
            raise BackendError("the server does not answer: start it")

    reply = guarded(demo, OldLines(ENCODER), Broken()).reply(benedek, asked("What is your name?"))
    assert reply.text == "My name is Aurel Benedek."
    assert any("does not answer" in evidence.text for evidence in reply.evidence)
    with pytest.raises(BackendError):
        guarded(demo, Broken()).reply(benedek, asked("What is your name?"))


def test_a_sentence_that_fails_is_written_again(demo: Story, benedek: Situation) -> None:
    writer = HostileWriter(f"Ah, dear lady! {SECRET}", "Believe me, I sell feathers.")
    assert heard(guarded(demo, writer, best_of=1), benedek, QUESTION) == "Ah, dear lady! Believe me, I sell feathers."
    assert writer.attempts == 2


def test_where_every_attempt_fails_the_rest_of_the_field_answers(demo: Story, benedek: Situation) -> None:
    agent = guarded(demo, HostileWriter(SECRET, LATER), best_of=1)
    assert is_evasion(agent, benedek, asked(QUESTION), heard(agent, benedek, QUESTION))


def test_what_is_said_as_it_comes_has_no_score(demo: Story, benedek: Situation) -> None:
    writer = HostileWriter(f"Ah, dear lady! {SECRET}", "Believe me, I sell feathers.")
    reply = guarded(demo, writer, best_of=1).reply(benedek, asked(QUESTION))
    assert [candidate.score for candidate in reply.candidates] == [None, None]  # said, and kept back


def test_closing_the_stream_stops_the_writer(demo: Story, benedek: Situation) -> None:
    writer = HostileWriter("Ah, dear lady! Believe me, I sell feathers. Feathers, imagine!")
    stream = guarded(demo, writer, best_of=1).stream(benedek, asked(QUESTION))
    assert next(stream).startswith("Ah")
    stream.close()
    assert writer.closed == 1


SENTENCES = (
    "Ah, dear lady!", "No, believe me.", "I sell feathers.", SECRET, LATER, "My name is Danilo Reuss.",
    "As an AI I cannot.", "Zita Karst: I knew it.", "Captain, come here.", "Yes.", "Dr Bohm is dead.", "Who knows?",
)  # fmt: skip


@given(
    texts=st.lists(  # a sentence that is said again and again is a loop, which is stopped whoever writes it
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5, unique=True).map(" ".join), min_size=1, max_size=4
    ),
    piece=st.integers(1, 40),
)
def test_nothing_unjudged_is_ever_shown(demo: Story, benedek: Situation, texts: list[str], piece: int) -> None:
    agent = guarded(demo, HostileWriter(*texts, piece=piece), best_of=1)
    shown = ""
    for part in agent.stream(benedek, asked(QUESTION)):
        shown += part
        ok = agent.judge(benedek, asked(QUESTION), Draft(shown.strip(), "writer")) is None
        assert ok or is_evasion(agent, benedek, asked(QUESTION), shown)
    assert shown.strip()


NEVER_SAID = (
    SECRET,
    LATER,
    "Dr Bohm is dead.",
    "Yes.",
    "My name is Danilo Reuss.",
    "As an AI I cannot.",
    "Zita Karst: I knew it.",
)


@given(
    texts=st.lists(  # a sentence that is said again and again is a loop, which is stopped whoever writes it
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5, unique=True).map(" ".join), min_size=1, max_size=4
    ),
    piece=st.integers(1, 40),
)
def test_a_capable_writer_gives_nothing_away_either(
    demo: Story, benedek: Situation, texts: list[str], piece: int
) -> None:
    agent = GuardedAgent([HostileWriter(*texts, piece=piece)], views_of(demo), ENCODER, 1, writer_first=True)
    stream, shown = agent.stream(benedek, asked(QUESTION)), ""
    while True:
        try:
            shown += next(stream)
        except StopIteration as end:
            reply = end.value
            break
        assert not any(text in shown for text in NEVER_SAID)
    assert reply.text == shown and shown.strip()
    told = " ".join((*(candidate.text for candidate in reply.candidates), *(item.text for item in reply.evidence)))
    assert SECRET not in told and LATER not in told and "Reuss" not in told
    if not any(text in texts[0] for text in NEVER_SAID):
        assert shown == texts[0]


@given(texts=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6))
def test_what_is_said_passed_every_guard_or_is_an_evasion(demo: Story, benedek: Situation, texts: list[str]) -> None:
    agent = guarded(demo, Offering(*texts))
    reply = agent.reply(benedek, asked(QUESTION))
    ok = agent.judge(benedek, asked(QUESTION), Draft(reply.text, "writer")) is None
    assert ok or is_evasion(agent, benedek, asked(QUESTION), reply.text)


def test_somebody_without_a_story_can_be_guarded_too() -> None:
    agent = GuardedAgent([OldLines(ENCODER), Offering("I walk dogs for a living.")], lambda _: (), ENCODER)
    ines = Situation(Persona("Ines", profile=("I walk dogs for a living.", "I like tea.")))
    assert agent.reply(ines, (Turn("You", "What do you do?"),)).text == "I walk dogs for a living."


def test_a_question_that_the_profile_answers_costs_no_writing() -> None:
    story = read("demo")
    writer = WriterAgent(ScriptedBackend(["I could not say."]))
    agent = GuardedAgent([OldLines(EncoderAgent()), writer], lambda _: [story], best_of=4)
    situation = situation_at(story, "Zita", "2.3", "Pia")
    answered = agent.reply(situation, [Turn("Pia Lenk", "How old are you?")])
    assert answered.text in ("Twenty-seven.", "I am twenty-seven.") and answered.usage is None
    assert agent.reply(situation, [Turn("Pia Lenk", "What will you do tomorrow?")]).usage is not None


def test_a_large_model_goes_before_what_is_known() -> None:
    story = read("demo")
    writer = WriterAgent(ScriptedBackend(["Old enough to count."]))
    agent = GuardedAgent([OldLines(EncoderAgent()), writer], lambda _: [story], best_of=1, writer_first=True)
    reply = agent.reply(situation_at(story, "Zita", "2.3", "Pia"), [Turn("Pia Lenk", "How old are you?")])
    assert reply.text == "Old enough to count." and any(c.source == "profile" for c in reply.candidates)


@pytest.mark.parametrize("label", ["Zita:", "**Zita Karst:**", "Zee:", "Miss Karst:", "[Zita]:"])
def test_a_name_before_a_reply_is_lost_and_not_the_reply(demo: Story, label: str) -> None:
    zita, history = situation_at(demo, "Zita", "2.3", "Pia"), (Turn("Pia Lenk", "Is the wind up?"),)
    text = "The wind is up. The letters will be late."
    for best_of, writer_first in ((1, True), (4, False)):
        writer = HostileWriter(f"{label} {text}") if writer_first else Offering(f"{label} {text}")
        agent = GuardedAgent([writer], views_of(demo), ENCODER, best_of, writer_first=writer_first)
        assert agent.reply(zita, history).text in (text, "The wind is up.")
