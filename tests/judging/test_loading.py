from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from understudy.agents.writer import WriterAgent
from understudy.errors import AgentError
from understudy.judging import loading
from understudy.judging.guarded import GuardedAgent
from understudy.judging.loading import AgentDrafter, is_guarded, load_guarded
from understudy.language.backends.scripted import ScriptedBackend
from understudy.story.cancellation import Cancellation
from understudy.story.dialogue import DEFAULT_SAMPLING, Candidate, Reply, Sampling, Situation, Turn
from understudy.story.persona import Persona
from understudy.story.types import Moment


def none(_: str) -> tuple[()]:
    return ()


def test_which_words_mean_a_guarded_agent() -> None:
    assert is_guarded("auto") and is_guarded("guarded") and is_guarded("guarded:tfidf")
    assert not is_guarded("encoder") and not is_guarded("mine:agent")


def test_without_a_writer_old_lines_answer_and_one_line_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_best_writer", lambda: "")
    agent = load_guarded("auto", none)
    assert isinstance(agent, GuardedAgent) and "models pull" in agent.notice


def test_the_writer_of_this_machine_is_put_behind_the_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_best_writer", lambda: "tfidf")
    agent = load_guarded("auto", none)
    assert not agent.notice and agent.description.startswith("guarded OldLines")


def test_any_agent_can_be_guarded() -> None:
    assert "AgentDrafter" in load_guarded("guarded:tfidf", none).description
    assert load_guarded("guarded:encoder", none).description == load_guarded("guarded", none).description
    with pytest.raises(AgentError, match="there is no agent"):
        load_guarded("guarded:nobody", none)
    with pytest.raises(AgentError, match="guarded:AGENT"):
        load_guarded("tfidf", none)


def test_candidates_of_an_agent_become_drafts() -> None:
    class Chooser:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            return Reply("Yes.", (Candidate("Yes.", 1.0, Moment((1, 1))), Candidate("No.", 0.5)))

    class Writer:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            return Reply("Perhaps.")

    ines = Situation(Persona("Ines"))
    drafts, _ = AgentDrafter(Chooser()).drafts(ines, ())
    assert [(draft.text, draft.source) for draft in drafts] == [("Yes.", "exchange"), ("No.", "writer")]
    drafts, _ = AgentDrafter(Writer()).drafts(ines, ())
    assert [(draft.text, draft.source) for draft in drafts] == [("Perhaps.", "writer")]


class Speaker:
    """Streams, and gives no drafts."""

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        return Reply("Perhaps.")

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        yield "Per"
        yield "haps."
        return Reply("Perhaps.")


def test_which_writers_are_said_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    backend = ScriptedBackend(["Aye."])
    agents = {
        "llm": WriterAgent(backend),
        "local:small.gguf": WriterAgent(backend),
        "local:large.gguf": WriterAgent(backend),
        "my-writer": WriterAgent(backend, style="compact"),
        "mine:speaker": Speaker(),
        "mine:chooser": AgentDrafter(Speaker()),
    }
    monkeypatch.setattr(loading, "agent_named", lambda spec, *_: agents[spec])
    monkeypatch.setattr(loading, "installed_model", lambda name: tmp_path / name)
    (tmp_path / "small.gguf").write_bytes(b"x")
    with (tmp_path / "large.gguf").open("wb") as file:
        file.truncate(2 * loading.SMALL_MODEL)
    capable = {spec: load_guarded(f"guarded:{spec}", none).is_capable for spec in agents}
    assert {spec for spec, is_capable in capable.items() if not is_capable} == {"local:small.gguf", "my-writer"}
    ines = Situation(Persona("Ines"))
    guarded = load_guarded("guarded:mine:speaker", none)
    assert list(guarded.stream(ines, (Turn("Mara", "Was it you?"),))) == ["Perhaps."]
