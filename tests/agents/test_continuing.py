"""A reply that has begun is gone on with: the beginning and what comes after it are one text, with nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from people import hearing, situation
from understudy.agents.continuing import continued, continuing, joint, split_begun
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.recall import Recall
from understudy.agents.tfidf import TfIdfAgent
from understudy.agents.writer import WriterAgent
from understudy.judging.guarded import GuardedAgent
from understudy.language.backends.scripted import ScriptedBackend
from understudy.server.executor import AgentExecutor
from understudy.story.dialogue import Agent, Candidate, Reply, Situation, Turn

LINE = "The key is in my coat. I put it there when the fog came. Nobody has asked me for it since."
TOMAS = situation(("Ines", "Where is the key?", LINE), ("Ines", "And the boat?", "The boat is at the quay."))
ASKED = hearing("Where is the key?")
ENCODER = EncoderAgent(cache=False)


def going_on(agent: Agent, begun: str, of: Situation = TOMAS, asked: Sequence[Turn] = ASKED) -> tuple[list[str], Reply]:
    """The pieces and the reply that a server gets, for a reply of which `begun` stands already."""

    async def run() -> tuple[list[str], Reply]:
        executor, pieces = AgentExecutor(agent), list[str]()
        try:
            async with aclosing(executor.stream(of, (*asked, Turn("Tomas", begun)))) as items:
                async for item in items:
                    if isinstance(item, Reply):
                        return pieces, item
                    pieces.append(item)
        finally:
            executor.close()
        raise AssertionError("a stream ends with a reply")

    return asyncio.run(run())


def test_only_a_last_turn_of_ones_own_is_a_beginning() -> None:
    assert split_begun(TOMAS.persona, ASKED) == (ASKED, "")
    assert split_begun(TOMAS.persona, (*ASKED, Turn("tomas", "It is"))) == (tuple(ASKED), "It is")
    assert split_begun(TOMAS.persona, ()) == ((), "")


@pytest.mark.parametrize(
    ("begun", "more", "between"),
    [
        ("It is", "here.", " "),
        ("It is ", "here.", ""),
        ("It is", ", perhaps, here.", ""),
        ("It is here.", "Take it.", " "),
        ("鍵は", "ここだ。", ""),
        ("", "Here.", ""),
    ],
)
def test_what_stands_between_them(begun: str, more: str, between: str) -> None:
    assert joint(begun, more) == between


def test_a_model_is_given_the_beginning_as_its_own_and_told_to_go_on() -> None:
    backend = ScriptedBackend(["in my coat, as ever."])
    pieces, reply = going_on(WriterAgent(backend, Recall(ENCODER)), "The key is")
    assert "".join(pieces) == reply.text == " in my coat, as ever."
    *_, asked, begun = backend.requests[0][0]
    assert (begun.role, begun.content) == ("assistant", "The key is")
    assert asked.role == "user" and "Where is the key?" in asked.content


@pytest.mark.parametrize("best_of", [1, 8])
def test_what_a_model_says_again_of_the_beginning_is_left_out(best_of: int) -> None:
    again = "I keep it close. It is in my coat."
    writer = WriterAgent(ScriptedBackend([again] * 9), Recall(ENCODER))
    assert going_on(writer, "I keep it close.")[1].text == " It is in my coat."
    guarded = GuardedAgent([writer], lambda _: [], ENCODER, best_of, writer_first=best_of == 1)
    assert "close" not in going_on(guarded, "I keep it close.")[1].text


def test_a_small_model_that_ends_after_a_whole_sentence_is_asked_for_another_reply() -> None:
    backend = ScriptedBackend(["I keep it close to me. Nobody has asked for it.", "", ""])
    guarded = GuardedAgent([WriterAgent(backend, Recall(ENCODER), "compact")], lambda _: [], ENCODER, best_of=2)
    assert going_on(guarded, "I keep it close.")[1].text == " Nobody has asked for it."
    only = WriterAgent(ScriptedBackend(["It is close.", "", ""]), Recall(ENCODER), "compact")
    assert going_on(GuardedAgent([only], lambda _: [], ENCODER, best_of=2), "I keep it close.")[1].text


def test_an_old_line_that_was_begun_is_told_to_its_end() -> None:
    for agent in (GuardedAgent([OldLines(ENCODER)], lambda _: [], ENCODER), ENCODER, TfIdfAgent()):
        pieces, reply = going_on(agent, "The key is in my coat. I put it there")
        whole = "The key is in my coat. I put it there" + reply.text
        assert whole == LINE, type(agent).__name__
        assert "".join(pieces) in (reply.text, "")


def test_in_the_middle_of_a_sentence_only_its_rest_will_do() -> None:
    pilot = situation(("Ines", "Well?", "Yes."), profile=("I guide the ships through the narrows.",))
    agent = GuardedAgent([OldLines(ENCODER)], lambda _: [], ENCODER)
    assert going_on(agent, "I guide the ships", pilot)[1].text == " through the narrows."
    for chooser in (agent, ENCODER, TfIdfAgent()):
        assert going_on(chooser, "The key is in", pilot)[1].text == ""


def test_who_has_nothing_to_add_says_nothing() -> None:
    silent = situation(profile=("I am a harbour pilot.",))
    agent = GuardedAgent([OldLines(ENCODER)], lambda _: [], ENCODER)
    assert going_on(agent, "I am a harbour pilot.", silent, hearing("What are you?"))[1].text == ""
    only = Reply("Yes.", (Candidate("Yes.", 1.0), Candidate("No.", 0.5, rejected="no")))
    reply = continued(only, "Yes.")
    assert reply.text == "" and "nothing to add" in reply.evidence[0].text


@given(st.lists(st.text("ab .\n", max_size=4), max_size=8), st.text("ab .", max_size=6))
def test_the_pieces_joined_are_the_reply(pieces: list[str], begun: str) -> None:
    def writing() -> Generator[str, None, Reply]:
        yield from pieces
        return Reply("".join(pieces))

    told, items = list[str](), continuing(writing(), begun)
    while True:
        try:
            told.append(next(items))
        except StopIteration as end:
            assert "".join(told) == end.value.text
            break
