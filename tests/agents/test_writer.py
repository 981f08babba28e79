"""Agents that write, with a scripted language model."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from people import hearing, situation, tie
from understudy.agents import AGENTS, WRITING, agent_named
from understudy.agents.encoder import EncoderAgent
from understudy.agents.recall import Recall
from understudy.agents.writer import WriterAgent, writer_agent
from understudy.errors import BackendError, InputError
from understudy.language.backends import Completion, ScriptedBackend
from understudy.language.model_folder import shipped_folder
from understudy.progress import Cancellation
from understudy.registry import Imported
from understudy.story.dialogue import ChatMessage, Drafter, LanguageModel, Reply, Sampling, StreamingAgent, Turn
from understudy.story.types import LoreEntry

TOMAS = situation(
    ("Ines", "Where is the key?", "In my coat pocket, where it always was."),
    profile=("I am a harbour pilot.",),
    relations=(tie("Ines", "affection", 8),),
    faced="Ines",
)
ASKED = hearing("Where is the key?")


@cache
def recall() -> Recall:
    return Recall(EncoderAgent(cache=False))


def writing(*texts: str) -> tuple[WriterAgent, ScriptedBackend]:
    backend = ScriptedBackend(texts)
    return WriterAgent(backend, recall()), backend


def drained(stream: Generator[str, None, Reply]) -> tuple[list[str], Reply]:
    pieces = list[str]()
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as stop:
            return pieces, stop.value


def test_a_reply_is_what_the_model_writes() -> None:
    agent, backend = writing('Tomas: "In my pocket, of course."')
    reply = agent.reply(TOMAS, ASKED)
    assert reply.text == "In my pocket, of course."
    (candidate,) = reply.candidates
    assert (candidate.text, candidate.source) == (reply.text, "writer")
    assert reply.usage is not None
    assert reply.usage.calls == 1
    assert reply.usage.prompt_tokens > 50
    ((messages, sampling),) = backend.requests
    assert "Where is the key?" in messages[-1].content
    assert "In my coat pocket, where it always was." in messages[-1].content
    assert (sampling.temperature, sampling.n) == (0.8, 1)
    assert "\nInes:" in sampling.stop


def test_evidence_is_what_was_recalled_and_who_wrote() -> None:
    agent, _ = writing("Aye.")
    evidence = agent.reply(TOMAS, ASKED).evidence
    trusted = agent.reply(TOMAS, hearing("Do you trust me?")).evidence
    assert ("relation", "I would trust Ines with my life.") in [(item.kind, item.text) for item in trusted]
    assert ("exchange", "Ines: Where is the key?") in [(item.kind, item.text) for item in evidence]
    assert evidence[-1].kind == "notice"
    assert "written by scripted" in evidence[-1].text


def test_a_request_may_say_how_to_write() -> None:
    agent, backend = writing("Aye.")
    agent.reply(TOMAS, ASKED, Sampling(temperature=0.1, max_tokens=7, stop=("##",), seed=5))
    sampling = backend.requests[0][1]
    assert (sampling.temperature, sampling.max_tokens, sampling.seed) == (0.1, 7, 5)
    assert sampling.top_p == 0.95
    assert sampling.stop[0] == "##"


def test_the_seed_comes_from_the_prompt() -> None:
    agent, backend = writing("Aye.")
    for message in ("Where is the key?", "Where is the key?", "Where is Vera?"):
        agent.reply(TOMAS, hearing(message))
    first, same, other = (sampling.seed for _, sampling in backend.requests)
    assert first == same != other


def test_a_stream_gives_what_a_reply_would() -> None:
    agent, _ = writing("Tomas: In my pocket. Where else, with all these people about?")
    pieces, reply = drained(agent.stream(TOMAS, ASKED))
    assert len(pieces) > 5
    assert "".join(pieces) == reply.text == agent.reply(TOMAS, ASKED).text


def test_a_stream_that_runs_into_its_limit_ends_with_a_sentence() -> None:
    agent, _ = writing("In my pocket. And before that it was in the boat of my brother")
    pieces, reply = drained(agent.stream(TOMAS, ASKED, Sampling(max_tokens=8)))
    assert "".join(pieces) == reply.text == "In my pocket."


def test_closing_a_stream_stops_the_back_end() -> None:
    closed = list[bool]()

    class Endless(ScriptedBackend):
        def stream(self, *_: object) -> Generator[str, None, Completion]:
            try:
                while True:
                    yield "and so on "
            finally:
                closed.append(True)

    stream = WriterAgent(Endless(["x"]), recall()).stream(TOMAS, ASKED)
    assert next(stream)
    stream.close()
    assert closed == [True]


def test_a_cancelled_stream_keeps_what_was_said() -> None:
    agent, _ = writing("In my pocket, where it always was.")
    cancellation = Cancellation()
    stream = agent.stream(TOMAS, ASKED, cancellation=cancellation)
    first = next(stream)
    cancellation.cancel()
    pieces, reply = drained(stream)
    assert reply.text == "".join((first, *pieces))
    assert "always" not in reply.text


def test_a_failing_back_end_is_reported() -> None:
    agent = WriterAgent(ScriptedBackend(["x y z"], error=BackendError("the server is gone")), recall())
    with pytest.raises(BackendError, match="gone"):
        agent.reply(TOMAS, ASKED)
    with pytest.raises(BackendError, match="gone"):
        drained(agent.stream(TOMAS, ASKED))


@pytest.mark.parametrize("blank", ["", "  ", "Tomas:", "<|im_end|>"])
def test_nothing_written_is_never_said(blank: str) -> None:
    agent, backend = writing(blank)
    reply = agent.reply(TOMAS, ASKED)
    assert reply.text.strip()
    assert len(backend.requests) == 2, "it was tried again"
    assert backend.requests[0][1].seed != backend.requests[1][1].seed
    assert [item.kind for item in reply.evidence] == ["notice"]
    pieces, streamed = drained(agent.stream(TOMAS, ASKED))
    assert "".join(pieces) == streamed.text == reply.text


def test_drafts_are_of_one_prompt() -> None:
    agent, backend = writing("In my pocket.", "", "Lost.", "In my pocket.")
    drafts, usage = agent.drafts(TOMAS, ASKED, Sampling(n=4))
    assert [draft.text for draft in drafts] == ["In my pocket.", "Lost."]
    assert {draft.source for draft in drafts} == {"writer"}
    assert len(backend.requests) == 1
    assert usage.calls == 4


def test_a_small_writers_drafts_tell_nothing_unasked_and_nothing_twice() -> None:
    texts = ("I am a man, Ines.", "It was late. I never left the quay.", "I am relatively familiar with you.", "Fog.")
    history = [*hearing("Who was there?"), Turn("Tomas", "I never left the quay."), *hearing("How are you?")]
    asked = Sampling(n=len(texts))
    small = WriterAgent(ScriptedBackend(texts), recall(), style="compact")
    assert {draft.text for draft in small.drafts(TOMAS, history, asked)[0]} == {"Fog."}
    large = WriterAgent(ScriptedBackend(texts), recall())
    assert {draft.text for draft in large.drafts(TOMAS, history, asked)[0]} == set(texts)


def test_probabilities_belong_to_the_text_as_it_was_written() -> None:
    class Sure(ScriptedBackend):
        def complete(self, *_: object) -> list[Completion]:
            return [Completion("Aye.", log_probs=(-1.0,)), Completion("Tomas: No.", log_probs=(-2.0, -3.0))]

    drafts, _ = WriterAgent(Sure(["x"]), recall()).drafts(TOMAS, ASKED, Sampling(n=2))
    assert [(draft.text, draft.log_probs) for draft in drafts] == [("Aye.", (-1.0,)), ("No.", None)]


class ScoringScript(ScriptedBackend):
    """A script whose tokens are words, each with a probability of a half."""

    def reply_log_probs(self, messages: Sequence[ChatMessage], text: str) -> list[float]:
        assert "Where is the key?" in messages[-1].content
        return [-math.log(2)] * (len(text.split()) + 1)


def test_what_its_back_end_can_score_it_can_score_too() -> None:
    for name in ("local", "writer"):
        agent = AGENTS[name](backend=ScoringScript(["Aye."]), recall=recall())
        assert isinstance(agent, LanguageModel)
        assert len(agent.log_probs(situation(), hearing("Where is the key?"), "In my pocket.")) == 4
    for name in ("llm", "local", "writer"):
        assert not isinstance(AGENTS[name](backend=ScriptedBackend(["Aye."])), LanguageModel)


def test_a_small_context_is_kept_to() -> None:
    backend = ScriptedBackend(["Aye."], context_tokens=600)
    agent = WriterAgent(backend, recall())
    history = [Turn(("Ines", "Tomas")[number % 2], "one two three four " * 20) for number in range(31)]
    assert agent.prompt(TOMAS, history, Sampling(max_tokens=100)).tokens <= 500
    assert agent.reply(TOMAS, history).text == "Aye."


@pytest.mark.parametrize("name", sorted(WRITING))
def test_every_writer_streams_and_drafts(name: str) -> None:
    agent = AGENTS[name](backend=ScriptedBackend(["Aye."]))
    assert isinstance(agent, StreamingAgent)
    assert isinstance(agent, Drafter)
    assert isinstance(agent, WriterAgent)
    assert agent.style == ("compact" if name == "writer" else "instructions")


@pytest.mark.parametrize(
    ("spec", "factory", "model"),
    [
        ("llm", "open_llm", None),
        ("llm:gpt-oss:20b", "open_llm", "gpt-oss:20b"),
        ("local", "open_local", "smollm2"),
        ("local:/models/a.gguf", "open_local", "/models/a.gguf"),
        ("local:hub:owner/repo/file.gguf", "open_local", "hub:owner/repo/file.gguf"),
        ("writer", "open_local", "smollm2"),
    ],
)
def test_a_model_is_named_after_a_colon(
    monkeypatch: pytest.MonkeyPatch, spec: str, factory: str, model: str | None
) -> None:
    opened = list[tuple[str, object, object]]()

    def load(self: Imported) -> object:
        if self.module != "understudy.language.backends":
            return original(self)

        def open_backend(name: str | None, adapter: Path | None = None) -> ScriptedBackend:
            opened.append((self.attribute, name, adapter))
            return ScriptedBackend(["Aye."])

        return open_backend

    original = Imported.load
    monkeypatch.setattr(Imported, "load", load)
    assert isinstance(agent_named(spec), WriterAgent)
    adapter = shipped_folder("writer") / "writer.gguf" if spec == "writer" else None
    assert opened == [(factory, model, adapter)]


def test_lore_that_the_talk_brings_up_is_told() -> None:
    entry = LoreEntry(content="{{char}} found the key at low tide.", keys=("key",))
    entries = (entry, LoreEntry(content="Goats!", keys=("goat",)))
    context = replace(TOMAS, persona=replace(TOMAS.persona, lore=entries))
    agent, _ = writing("Aye.")
    shown = agent.prompt(context, ASKED).messages[-1].content
    assert "Tomas found the key at low tide." in shown
    assert "Goats!" not in shown


def test_lore_that_was_told_is_among_the_reasons_with_the_keys_that_brought_it_up() -> None:
    entries = (
        LoreEntry(content="{{char}} found the key with a goat.", keys=("key", "lock")),
        LoreEntry(content="Goats!", keys=("goat",)),
        LoreEntry(content="The tide is out.", is_constant=True),
        LoreEntry(content="Nobody asked for this.", keys=("anchor",)),
    )
    context = replace(TOMAS, persona=replace(TOMAS.persona, lore=entries))
    agent, _ = writing("Aye.", "Aye again.")
    expected = {"Tomas found the key with a goat.": ("key",), "Goats!": (), "The tide is out.": ()}
    reply = agent.reply(context, ASKED)
    assert {item.text: item.words for item in reply.evidence if item.kind == "lore"} == expected
    (draft,), _ = agent.drafts(context, ASKED)
    assert {item.text for item in draft.evidence if item.kind == "lore"} == expected.keys()


def test_an_encoded_past_can_be_shared() -> None:
    encoder = EncoderAgent(cache=False)
    cached = encoder.encoder("en")
    assert cached is not None
    past = encoder.memory(TOMAS, cached)
    Recall(encoder).recall(TOMAS, ASKED)
    assert encoder.memory(TOMAS, cached) is past


def test_the_shipped_adapter_is_whole() -> None:
    folder = shipped_folder("writer")
    assert (folder / "writer.gguf").read_bytes()[:4] == b"GGUF"
    assert (folder / "writer.gguf").stat().st_size <= 20_000_000
    assert json.loads((folder / "model.json").read_text(encoding="utf-8"))["agent"] == "writer"
    shipped = sum(path.stat().st_size for path in folder.parent.rglob("*") if path.is_file())
    assert shipped < 60_000_000


def test_a_folder_without_an_adapter(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no writer\.gguf"):
        writer_agent(tmp_path, backend=ScriptedBackend(["Aye."]))


def test_the_example_in_the_docs_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guards.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(example, {})
