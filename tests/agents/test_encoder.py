from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from people import ListPast, hearing, situation, tie
from understudy.agents.encoder import EncoderAgent
from understudy.agents.fit import CachedEncoder, build_context, build_fits
from understudy.agents.plain_replies import REGISTERS, bank_lines, register_of
from understudy.errors import InputError
from understudy.language.encoding import Context, cache
from understudy.language.encoding.cache import BackgroundQueue, encoding_at_once
from understudy.language.encoding.encoder import MultilingualEncoder, SentenceEncoder
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona, Told
from understudy.story.types import Line, Moment, Scene

KEY = ("Ines", "Where is the brass key?", "In my pocket.")
BOAT = ("Ines", "When does the boat leave?", "Not before the tide turns.")
LAMP = ("Ruy", "Who lit the lamp?", "I did.")
LONG = "where is the brass key that you left in the boat " * 1_000
CANDIDATES = [
    "In my pocket.",
    "",
    "I have two dogs and a cat.",
    "🙂",
    "鍵はポケットの中だ。",
    "No. " * 400,
    "In my pocket.",
]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> EncoderAgent:
    return EncoderAgent(cache=tmp_path_factory.mktemp("encodings"))


def said(agent: EncoderAgent, given: Situation, *messages: str) -> str:
    return agent.reply(given, hearing(*messages)).text


def test_it_answers_with_what_it_said_to_something_alike(agent: EncoderAgent) -> None:
    given = situation(KEY, BOAT, LAMP)
    assert said(agent, given, "That key of yours, the one of brass, where do you keep it?") == "In my pocket."
    assert said(agent, given, "At what time do we sail?") == "Not before the tide turns."
    reply = agent.reply(given, hearing("Where do you keep the brass key?"))
    assert reply.evidence[0].kind == "exchange"
    assert reply.evidence[0].text == "Ines: Where is the brass key?"
    assert reply.evidence[0].words == ("brass", "key")
    assert reply.candidates[0].moment == Moment((1, 1, 2))


def test_whom_one_faces_decides_between_equals(agent: EncoderAgent) -> None:
    exchanges = (("Ruy", "Where is the key?", "I do not know."), ("Ines", "Where is the key?", "I do not know!"))
    assert said(agent, situation(*exchanges, faced="Ruy"), "Where is the key?") == "I do not know."
    assert said(agent, situation(*exchanges, faced="Ines"), "Where is the key?") == "I do not know!"


def test_ties_to_the_one_faced_are_shown(agent: EncoderAgent) -> None:
    reply = agent.reply(situation(KEY, relations=(tie("Ines", "affection", 9),), faced="Ines"), hearing("The key?"))
    assert "I love Ines with all my heart." in [item.text for item in reply.evidence if item.kind == "relation"]


def test_a_profile_answers_for_somebody_without_lines(agent: EncoderAgent) -> None:
    given = situation(profile=("I have two dogs.", "I work in a bakery.", "My favorite color is green."))
    reply = agent.reply(given, hearing("What do you do for a living?"))
    assert reply.text == "I work in a bakery."
    assert reply.evidence[0].kind == "profile"


def test_the_bank_answers_where_there_is_nothing_else(agent: EncoderAgent) -> None:
    reply = agent.reply(situation(), hearing("Thank you so much for your help!"))
    assert reply.text in bank_lines("plain")
    assert reply.evidence[0].kind == "bank"


def test_it_does_not_repeat_itself_while_there_is_something_else(agent: EncoderAgent) -> None:
    given, history = situation(KEY), list[Turn]()
    for _ in range(30):
        history += hearing("Where is the brass key?")
        history.append(Turn("Tomas", agent.reply(given, history).text))
    own = [turn.text for turn in history if turn.speaker == "Tomas"]
    assert own[0] == "In my pocket."
    assert len(set(own)) == 30


def test_once_all_has_been_said_the_oldest_comes_round_again(agent: EncoderAgent) -> None:
    exchanges = tuple(("Ines", f"Question {number}?", f"Answer {number}.") for number in range(24))
    history = [Turn("Tomas", f"Answer {number}.") for number in range(24)]
    assert agent.reply(situation(*exchanges), [*history, *hearing("Question 7?")]).text == "Answer 0."


def test_a_character_with_lines_enough_speaks_in_its_own_words(agent: EncoderAgent) -> None:
    exchanges = tuple(
        ("Ines", f"How deep is the water at pier {number}?", f"{number} feet.") for number in range(2, 40)
    )
    assert said(agent, situation(*exchanges, profile=("I am a pilot.",)), "Hello!").endswith(" feet.")


class Scenes(ListPast):
    def __init__(self) -> None:
        super().__init__([])
        self.read = 0

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        self.read += 1
        for number, text in enumerate(("The lighthouse burned down last night.", "I would like some more soup."), 1):
            at = Moment((1, number, 1))
            yield Scene(Moment((1, number)), f"Place {number}", ("Ruy",), (Line(at, "Ruy", text),))


def test_memories_that_bear_on_the_message_are_shown(agent: EncoderAgent) -> None:
    past = Scenes()
    given = Situation(Persona("Tomas", past=past))
    reply = agent.reply(given, hearing("Did you hear that the lighthouse burned down?"))
    memories = [evidence for evidence in reply.evidence if evidence.kind == "memory"]
    assert [memory.text for memory in memories] == ["Place 1 (Ruy: The lighthouse burned down last night.)"]
    assert memories[0].moment == Moment((1, 1, 1))
    agent.reply(given, hearing("What?"))
    assert past.read == 1


@pytest.mark.parametrize("messages", [(), ("",), ("   ",), ("🙂",), (LONG,), ("Tomas!",), ("{name} %s \x00",)])
def test_whatever_was_said_there_is_a_reply(agent: EncoderAgent, messages: tuple[str, ...]) -> None:
    for given in (situation(), situation(KEY, profile=("I am a pilot.",)), situation(KEY, faced="Ines")):
        reply = agent.reply(given, hearing(*messages))
        assert reply.text.strip()
        assert reply == agent.reply(given, hearing(*messages))


def test_a_score_does_not_depend_on_the_other_candidates(agent: EncoderAgent) -> None:
    given = situation(KEY, profile=("I have two dogs.",), relations=(tie("Ines", "friend"),), faced="Ines")
    for history in (hearing("Where is the key?"), [], hearing(LONG)):
        scores = agent.score(given, history, CANDIDATES)
        assert [agent.score(given, history, [candidate])[0] for candidate in CANDIDATES] == scores
        assert agent.score(given, history, CANDIDATES[::-1]) == scores[::-1]
        assert EncoderAgent(cache=False).score(given, history, CANDIDATES[2:5]) == scores[2:5]
        assert agent.score(given, history, []) == []


def test_many_questions_at_once_score_as_one_by_one(agent: EncoderAgent) -> None:
    situations = (situation(profile=("I have two dogs.",)), situation(), situation(KEY, language="ja"))
    questions = [(each, hearing("Do you have a pet?"), CANDIDATES[start:]) for start, each in enumerate(situations)]
    assert agent.score_many(questions) == [agent.score(*question) for question in questions]
    assert agent.score_many(questions[:2]) == [agent.score(*question) for question in questions[:2]]
    assert agent.score_many([]) == []


def test_ranking_knows_message_and_persona(agent: EncoderAgent) -> None:
    given, history = situation(profile=("I have two dogs.", "I am a vegan.")), hearing("Do you have any pets?")
    dogs, cats, steak = agent.score(given, history, ["Yes, my two dogs.", "I have three cats.", "I love a good steak."])
    assert dogs > cats > steak


def test_ranking_knows_what_the_one_faced_told_in_earlier_chats(agent: EncoderAgent) -> None:
    history, candidates = [Turn("Tom", "It was a long week.")], ["How are the bees?", "How is the weather?"]
    stranger = Situation(Persona("Zita"), faced=Other("Tom"))
    known = Situation(Persona("Zita"), faced=Other("Tom", told=(Told("I keep bees"),)))
    without, with_it = (agent.score(here, history, candidates) for here in (stranger, known))
    assert with_it[0] > without[0] and with_it[1] == without[1]


def test_a_long_profile_is_cut_to_what_bears_on_the_turns() -> None:
    profile = (*(f"I have been to town number {number}." for number in range(40)), "I have two dogs.")
    given = situation(profile=profile)
    cached = CachedEncoder(SentenceEncoder(cache=False))
    (fit,) = build_fits(cached, [(given, hearing("Do you have any pets?"))])
    assert len(fit.profile) == 8
    assert (np.abs(fit.profile - cached.encode(["I have two dogs."], "own")).max(axis=1) == 0).any()


def test_what_the_encoder_reads_of_a_situation() -> None:
    faced = Other("Ines", ("Ines has a boat.",))
    given = Situation(
        situation(profile=("I am a pilot.", " "), relations=(tie("Ines", "friend"),)).persona, faced=faced
    )
    assert build_context(given, [Turn("Ines", "Hello."), Turn("TOMAS", "Hm."), Turn("Ruy", "")]) == Context(
        ("I am a pilot.", "Ines is my friend."), ("Ines has a boat.",), ((False, "Hello."), (True, "Hm."))
    )


@pytest.mark.parametrize(("language", "text"), [("ja", "鍵はどこ？"), ("zh", "钥匙在哪里？")])
def test_other_languages_are_found_by_their_words_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch, language: str, text: str
) -> None:
    monkeypatch.setattr(MultilingualEncoder, "find", lambda *_: None)
    reply = EncoderAgent(cache=False).reply(situation(("Ines", text, "……"), language=language), hearing(text))
    assert reply.text == "……"
    assert reply.evidence[-1].kind == "notice"
    assert "reads English" in reply.evidence[-1].text


def test_a_multilingual_encoder_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MultilingualEncoder, "find", lambda *_: SentenceEncoder(cache=False))
    given = situation(("Ines", "鍵はどこ？", "ポケットの中だ。"), profile=("水先案内人だ。",), language="ja")
    reply = EncoderAgent(cache=False).reply(given, hearing("鍵はどこ？"))
    assert reply.text == "ポケットの中だ。"
    assert "a multilingual encoder" in reply.evidence[-1].text


def test_a_folder_that_is_no_model_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no encoder's model folder"):
        EncoderAgent(tmp_path)


def test_the_bank_has_three_registers_without_facts_or_repetition() -> None:
    lines = [line for register in REGISTERS for line in bank_lines(register)]
    assert len(lines) >= 200
    for register in REGISTERS:
        assert len(set(bank_lines(register))) == len(bank_lines(register)) >= 60
    assert all(line == line.strip() and line[-1] in ".?!" and len(line) < 80 for line in lines)


@pytest.mark.parametrize(
    ("lines", "register"),
    [
        ([], "plain"),
        (["I live here.", "I like soup."], "plain"),
        (["I shall see to it, madam.", "Indeed.", "The carriage is here."], "formal"),
        (["Shut up, you idiot.", "Yeah, so what?", "Gimme that."], "rough"),
    ],
)
def test_the_register_is_that_of_the_character(lines: list[str], register: str) -> None:
    assert register_of(lines) == register


def test_a_long_past_is_ranked_by_words_until_it_is_encoded(
    agent: EncoderAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same question gets the same reply while nothing more is encoded, and then the one of the whole past."""
    told = [("Ines", f"How deep is the water at pier {number}?", f"{number} feet, I think.") for number in range(900)]
    told[100] = ("Ruy", "Where is the brass key?", "In my pocket.")
    given = situation(*told)
    monkeypatch.setattr(cache, "BACKGROUND", BackgroundQueue())
    with cache.BACKGROUND.paused():
        first = EncoderAgent(cache=False)
        reply = first.reply(given, hearing("Where do you keep the brass key?"))
        assert reply.text == "In my pocket."
        assert "of 900 exchanges" in next(item.text for item in reply.evidence if item.kind == "notice")
        assert first.reply(given, hearing("Where do you keep the brass key?")) == reply
        newest = first.reply(given, hearing("Zzz?")).candidates[0].moment  # where no word is shared
        assert newest is not None
        assert newest > Moment((1, 800))
    cache.BACKGROUND.stop()
    with encoding_at_once():
        whole = EncoderAgent(cache=False).reply(given, hearing("Where do you keep the brass key?"))
    assert whole.text == "In my pocket."
    assert not [item for item in whole.evidence if item.kind == "notice"]
    assert whole.candidates[0].score == pytest.approx(reply.candidates[0].score, abs=1e-6)
