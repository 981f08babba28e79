"""What a language model writes, as it is said."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from contextlib import aclosing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from people import hearing, situation
from understudy.agents.encoder import EncoderAgent
from understudy.agents.old_lines import OldLines
from understudy.agents.recall import Recall
from understudy.agents.reply_text import ReplyCleaner, StreamCleaner, continued, continuing, joint, split_begun
from understudy.agents.tfidf import TfIdfAgent
from understudy.agents.writer import WriterAgent
from understudy.judging.guarded import GuardedAgent
from understudy.language.backends import ScriptedBackend
from understudy.server.executor import AgentExecutor
from understudy.story.dialogue import Agent, Candidate, Reply, Situation, Turn

ZITA = ReplyCleaner(("Zita Karst", "Zita", "Karst"), ("Benedek",))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Fog again.", "Fog again."),
        ("Zita: Fog again.", "Fog again."),
        ("**Zita Karst:** Fog again.", "Fog again."),
        ("ZITA KARST : Fog again.", "Fog again."),
        ("[Zita]: Fog again.", "Fog again."),
        ("Miss Karst. Zita: Fog again.", "Miss Karst. Zita: Fog again."),
        ("Zita (softly): Fog again.", "(softly) Fog again."),
        ("Zita (who knows) is here.", "Zita (who knows) is here."),
        ("Zita Karst: **Zita:** Fog again.", "Fog again."),
        ("Zita has a brother: me.", "Zita has a brother: me."),
        ('"Fog again."', "Fog again."),
        ('Zita: "Fog again."', "Fog again."),
        ("“Fog again.”", "Fog again."),
        ("「また霧だ。」", "また霧だ。"),
        ('"Fog," he said, "again."', '"Fog," he said, "again."'),
        ("'Tis fog again.", "'Tis fog again."),
        ("Fog again.<|im_end|>", "Fog again."),
        ("<s> Fog </s>", "Fog"),
        ("<think>She wants fog.\nYes.</think>\n\nFog again.", "Fog again."),
        ("<think>never ends", ""),
        ("Fog again.\nBenedek: Indeed.\nZita: Yes.", "Fog again."),
        ("Fog again.\nUser: Indeed.", "Fog again."),
        ("  \n ", ""),
    ],
)
def test_labels_quotes_and_tokens_are_taken_off(written: str, said: str) -> None:
    assert ZITA.clean(written) == said
    for size in (1, 3, 1000):
        assert streamed(written, size)[0] == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Fog again. And the boats are", "Fog again."),
        ("Fog again! Is it? No one", "Fog again! Is it?"),
        ("Fog and the boats,", "Fog and the boats..."),
        ("霧だ。舟は", "霧だ。"),
        ('He said "No." And', 'He said "No."'),
        ("Fog again. I saw Mr.", "Fog again."),
        ("I saw Mr. Ould and J. R.", "I saw Mr. Ould and J. R..."),
        ("fog again . and the boats are", "fog again ."),
    ],
)
def test_a_sentence_that_broke_off_is_left_out(written: str, said: str) -> None:
    assert ZITA.clean(written, "length") == said
    assert streamed(written, 4, "length", max_tokens=10)[0] == said


def test_a_reply_is_shown_while_it_is_written() -> None:
    _, pieces = streamed("Fog again. And the boats are late, as they were in autumn.", 4)
    assert len(pieces) > 8
    assert pieces[0].startswith("Fog"[:2])


def test_what_was_shown_is_never_taken_back() -> None:
    text, pieces = streamed("Fog again and " + "no boats and " * 40, 4, "length", max_tokens=100)
    assert text.startswith("Fog again and no boats")
    assert "".join(pieces) == text


@given(
    st.lists(
        st.sampled_from(
            [
                "Zita",
                ":",
                " ",
                "\n",
                '"',
                "Fog",
                ".",
                "<|im",
                "_end|>",
                "Benedek",
                "<",
                "think>",
                "「",
                "」",
                "*",
                "Me",
                "(",
                ")",
            ]
        ),
        max_size=14,
    ),
    st.sampled_from(["stop", "length", "cancelled"]),
    st.sampled_from([None, 3, 60]),
)
@example(["<|im", ":", "_end|>"], "stop", None)
def test_pieces_joined_are_the_text(parts: list[str], reason: str, max_tokens: int | None) -> None:
    stream = StreamCleaner(ZITA, max_tokens)
    pieces = [stream.feed(part) for part in parts]
    pieces.append(stream.finish(reason))
    assert "".join(pieces) == stream.text
    if reason != "length":
        assert stream.text == ZITA.clean("".join(parts), reason)


def test_a_name_is_known_with_and_without_its_full_stops() -> None:
    assert ReplyCleaner(("Mr Bennet",)).clean("Mr. Bennet: My dear.") == "My dear."


def streamed(written: str, size: int, reason: str = "stop", max_tokens: int | None = None) -> tuple[str, list[str]]:
    stream = StreamCleaner(ZITA, max_tokens)
    pieces = [stream.feed(written[start : start + size]) for start in range(0, len(written), size)]
    pieces.append(stream.finish(reason))
    return stream.text, [piece for piece in pieces if piece]


# A reply that has begun is gone on with: the beginning and what comes after it are one text, with nothing twice.


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
