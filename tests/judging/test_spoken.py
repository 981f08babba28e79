"""What a capable writer writes is said whole, streamed or not, but for the sentences that are stopped."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.agents.encoder import EncoderAgent
from understudy.agents.writer import WriterAgent
from understudy.errors import BackendError
from understudy.judging import spoken
from understudy.judging.guarded import GuardedAgent
from understudy.judging.guards import Guard, Verdict
from understudy.judging.selection import evasion_drafts
from understudy.judging.spoken import SENTENCE_END, ResumingAgent, _sentences, pieces_of
from understudy.language.backends import Completion, ScriptedBackend
from understudy.progress import Cancellation
from understudy.story.dialogue import Draft, Reply, Sampling, Situation, Turn
from understudy.story.persona import Persona
from writers import HostileWriter, Offering

INES = Situation(Persona("Ines", profile=("I walk dogs for a living.",)))
ASKED = (Turn("Mara", "Where were you on Tuesday?"),)
ENCODER = EncoderAgent()
WORDS = ("tide", "bread", "lamp", "coat", "bell", "soup", "rope", "wall")


class ReplayedBackend(ScriptedBackend):
    """Gives its texts one after the other, whatever the prompts, in pieces of some size."""

    def __init__(self, texts: Sequence[str], size: int = 7) -> None:
        super().__init__(texts)
        self.size = size

    def stream(self, *arguments: object) -> Generator[str, None, Completion]:
        text = self.texts[min(len(self.requests), len(self.texts) - 1)]
        self.requests.append(arguments[:2])  # type: ignore[arg-type]
        for start in range(0, len(text), self.size):
            yield text[start : start + self.size]
        return Completion(text)


def forbidding(*words: str) -> Guard:
    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        is_bad = any(word in draft.text for word in words)
        return Verdict.stopped("test", f"says {words[0]}") if is_bad else Verdict.passing("test")

    return guard


def capable(backend: ScriptedBackend, *guards: Guard) -> GuardedAgent:
    return GuardedAgent([WriterAgent(backend)], lambda _: (), ENCODER, 1, guards, writer_first=True)


def streamed(agent: GuardedAgent, history: Sequence[Turn] = ASKED) -> tuple[list[str], Reply]:
    pieces, stream = list[str](), agent.stream(INES, history)
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            return pieces, end.value


sentences = st.builds("{} {} the {}{}".format, st.sampled_from(["I saw", "You took", "Where is", "Nobody has"]),
                      st.sampled_from(["only", "perhaps", "again"]), st.sampled_from(WORDS),
                      st.sampled_from([".", "!", "?", "...", ".”", ".\n", ".\n\n", " of Mr. Hale."]))  # fmt: skip
texts = st.lists(sentences, min_size=1, max_size=5).map(lambda parts: " ".join(parts).strip())


@given(st.lists(texts, min_size=3, max_size=3), st.sets(st.sampled_from(WORDS), max_size=4), st.integers(1, 40))
def test_a_reply_is_the_same_streamed_or_not_and_nothing_stopped_is_shown(
    written: list[str], forbidden: set[str], size: int
) -> None:
    guard = forbidding(*sorted(forbidden))
    pieces, reply = streamed(capable(ReplayedBackend(written, size), guard))
    assert "".join(pieces) == reply.text
    assert capable(ReplayedBackend(written, 3), guard).reply(INES, ASKED).text == reply.text
    shown = ""
    for piece in pieces:
        shown += piece
        assert not any(word in shown for word in forbidden)
    if not any(word in written[0] for word in forbidden):
        assert reply.text == written[0], "what passes is said as it was written"
    else:
        kept = ""
        for piece in pieces_of(written[0]):
            if any(word in piece for word in forbidden):
                break
            kept += piece
        assert reply.text.startswith(kept.strip()), "what was shown stays"


def test_no_sentence_is_over_at_an_abbreviation() -> None:
    text = "Good evening, Mr. Hale. St. Anne is far. So?"
    assert list(pieces_of(text)) == ["Good evening, Mr. Hale. ", "St. Anne is far. ", "So?"]
    backend = ReplayedBackend([text])
    assert streamed(capable(backend, forbidding("Hale")))[1].text != "Good evening, Mr."


def test_a_stopped_sentence_is_asked_for_again_with_what_was_shown_as_its_beginning() -> None:
    backend = ReplayedBackend(["I was at home. I burned the coat. I slept.", "I was at home. I read until ten."])
    pieces, reply = streamed(capable(backend, forbidding("coat")))
    assert pieces == ["I was at home.", " I read until ten."] and reply.text == "".join(pieces)
    (first, _), (second, sampling) = backend.requests
    assert second[-1].role == "assistant" and second[-1].content == "I was at home."
    assert "I burned the coat." in second[-2].content and "says" not in second[-2].content.split("I burned")[1]
    assert [message.content for message in first][:-1] == [message.content for message in second][: len(first) - 1]
    assert sampling.seed is not None
    assert [c.rejected for c in reply.candidates] == ["", "says coat"]
    assert any("1 of 2 drafts were kept back" in item.text for item in reply.evidence)


def test_after_two_more_attempts_what_was_shown_stays() -> None:
    backend = ReplayedBackend(["I was at home. I burned the coat."])
    _, reply = streamed(capable(backend, forbidding("coat")))
    assert reply.text == "I was at home." and len(backend.requests) == 3


def test_where_nothing_passes_there_were_whole_new_drafts_before_an_evasion() -> None:
    backend = ReplayedBackend(["The coat? I burned the coat.", "My coat burned.", "I was at home. Alone."])
    assert streamed(capable(backend, forbidding("coat")))[1].text == "I was at home. Alone."
    backend = ReplayedBackend(["The coat? I burned the coat.", "My coat burned.", "What coat?", "Never."])
    _, reply = streamed(capable(backend, forbidding("coat")))
    assert len(backend.requests) == 3
    assert reply.text in [draft.text for draft in evasion_drafts(INES, ASKED)]


@pytest.mark.parametrize(
    ("message", "purpose"),
    [("Lovely weather today!", "small talk"), ("Hello, Ines.", "greeting"), ("You look well.", "remark")],
)
def test_who_asks_for_nothing_is_not_refused(message: str, purpose: str) -> None:
    agent = capable(ReplayedBackend(["My coat burned."]), forbidding("coat"))
    said = set()
    history: tuple[Turn, ...] = ()
    for _ in range(3):
        history = (*history, Turn("Mara", message))
        reply = agent.reply(INES, history)
        assert "rather not" not in reply.text and "nothing to say" not in reply.text and "Ask me" not in reply.text
        said.add(reply.text)
        history = (*history, Turn("Ines", reply.text))
    assert len(said) > 1, purpose


def test_a_writer_that_cannot_go_on_says_nothing_twice() -> None:
    class Plain(HostileWriter):
        """Begins anew each time."""

    writer = Plain("I was at home. My coat burned.", "I was at home! I was quite at home, and I read.")
    assert not isinstance(writer, ResumingAgent)
    agent = GuardedAgent([writer], lambda _: (), ENCODER, 1, [forbidding("coat")], writer_first=True)
    assert streamed(agent)[1].text == "I was at home. I was quite at home, and I read."


def test_the_name_before_a_reply_is_taken_off_whoever_writes() -> None:
    writer = HostileWriter("**Ines:** I was at home.")
    agent = GuardedAgent([writer], lambda _: (), ENCODER, best_of=1, writer_first=True)
    assert streamed(agent)[1].text == "I was at home."


def test_doubts_stop_no_capable_writer_and_are_shown() -> None:
    text = "Fourteen years I served. I was vigilant, and we learnt to coexist."
    agent = GuardedAgent([WriterAgent(ReplayedBackend([text]))], lambda _: (), ENCODER, 1, writer_first=True)
    pieces, reply = streamed(agent)
    assert "".join(pieces) == reply.text == text
    doubts = {item.text for item in reply.evidence if item.text.startswith("in doubt")}
    assert doubts == {"in doubt: counts what nobody counted", "in doubt: has a word that is none"}
    assert not any(candidate.rejected for candidate in reply.candidates)
    small = GuardedAgent([Offering(text)], lambda _: (), ENCODER)
    assert small.reply(INES, ASKED).text != text


def test_whole_drafts_of_a_capable_writer_are_never_cut() -> None:
    writer = Offering("I was at home. My coat burned.", "I read. Then I slept.")
    agent = GuardedAgent([writer], lambda _: (), ENCODER, 4, [forbidding("coat")], writer_first=True)
    reply = agent.reply(INES, ASKED)
    assert reply.text == "I read. Then I slept."
    assert {candidate.text for candidate in reply.candidates} == set(writer.texts)


def test_a_stream_that_is_cancelled_says_nothing_more() -> None:
    backend, cancellation = ReplayedBackend(["I was at home. My coat burned."], 4), Cancellation()
    agent = capable(backend, forbidding("coat"))
    pieces = list[str]()
    for piece in agent.stream(INES, ASKED, Sampling(), cancellation):
        pieces.append(piece)
        cancellation.cancel()
    assert pieces == ["I was at home."] and len(backend.requests) == 1


def test_a_model_that_fails_before_a_word_is_an_error_and_later_ends_the_reply() -> None:
    failing = ScriptedBackend(["I was at home, and I read."], error=BackendError("the server is gone"))
    with pytest.raises(BackendError, match="gone"):
        capable(failing).reply(INES, ASKED)
    with pytest.raises(BackendError, match="gone"):
        streamed(capable(failing))

    class Breaking(ScriptedBackend):
        def stream(self, *_: object) -> Generator[str, None, Completion]:
            yield "I was at home. And then I"
            raise BackendError("the server is gone")

    reply = capable(Breaking([""])).reply(INES, ASKED)
    assert reply.text == "I was at home."
    assert any(item.text == "broken off: the server is gone" for item in reply.evidence)


@pytest.mark.parametrize("text", ["a" * 400_000, "ab " * 130_000, "Mr. " * 100_000, "a.b" * 130_000, "”." * 200_000])
def test_a_text_without_an_end_is_cut_in_time_proportional_to_it(text: str) -> None:
    assert list(pieces_of(text)) == [text]  # squared, it would take an hour


def test_a_sentence_that_comes_in_many_pieces_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = list[int]()

    class Counting:
        def search(self, text: str, begin: int) -> re.Match[str] | None:
            searched.append(len(text) - begin)
            return SENTENCE_END.search(text, begin)

    monkeypatch.setattr(spoken, "SENTENCE_END", Counting())
    pieces = ["so ", "on ", "and ", "“so” "] * 2_000
    assert list(_sentences(_written(pieces))) == ["".join(pieces)]
    assert sum(searched) < 20 * sum(map(len, pieces))


def _written(pieces: list[str]) -> Generator[str, None, Reply]:
    yield from pieces
    return Reply("".join(pieces))


@given(st.text(alphabet="ADr.!? \n。」”…", max_size=40), st.integers(1, 5))
def test_however_it_is_cut_a_stream_has_the_same_sentences(text: str, size: int) -> None:
    whole = list(_sentences(_written([text])))
    assert list(_sentences(_written([text[at : at + size] for at in range(0, len(text), size)]))) == whole


@given(st.text(alphabet="Ab.!? \n。」”…", max_size=40))
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text
