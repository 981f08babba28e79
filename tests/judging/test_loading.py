from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from people import ListPast, hearing, situation
from understudy.agents import agent_named, draws_on_lines
from understudy.agents.encoder import EncoderAgent
from understudy.agents.pools import Candidates
from understudy.agents.tfidf import TfIdfAgent
from understudy.agents.writer import WriterAgent
from understudy.errors import AgentError
from understudy.formats import read
from understudy.judging import loading
from understudy.judging.guarded import GuardedAgent
from understudy.judging.loading import AgentDrafter, ApprovedCandidates, is_guarded, load_guarded
from understudy.language.backends import ScriptedBackend
from understudy.metrics.utterances import UtteranceStore, open_store
from understudy.metrics.utterances.record import APPROVED, DECISIONS, FILTER, PENDING, REJECTED, Utterance
from understudy.progress import Cancellation
from understudy.story.dialogue import DEFAULT_SAMPLING, Agent, Candidate, Reply, Sampling, Situation, Turn, situation_at
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


# Approved lines are said in their time and never outside it; what is decided now holds for the next reply.


TOLD = (("Ines", "Where is the lamp?", "On the hook."), ("Ines", "And the oil?", "Beside it."))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[UtteranceStore]:
    opened = open_store(tmp_path / "lines.db")
    yield opened
    opened.close()


def at(moment: Moment, *exchanges: tuple[str | None, str, str]) -> Situation:
    base = situation(*(exchanges or TOLD))
    return replace(base, persona=replace(base.persona, moment=moment))


def line(text: str, since: str = "start", until: str = "end", who: str = "Tomas") -> Utterance:
    return Utterance(text, who, Moment.parse(since), Moment.parse(until))


def drawn(candidates: Candidates, in_situation: Situation) -> list[str]:
    return [exchange.said.text for exchange in candidates(in_situation)]


moments = st.one_of(
    st.builds(lambda numbers: Moment(tuple(numbers)), st.lists(st.integers(0, 3), min_size=1, max_size=3)),
    st.just(Moment.end()),
)
spans = st.lists(st.tuples(moments, moments, st.sampled_from(DECISIONS)), max_size=12)


@settings(suppress_health_check=list(HealthCheck))
@given(spans, st.lists(moments, min_size=1, max_size=5))
def test_an_approved_line_is_drawn_on_from_its_first_moment_until_before_its_last_and_no_other_ever(
    decided_spans: list[tuple[Moment, Moment, str]], queried: list[Moment]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "lines.db")
        for index, (since, until, decision) in enumerate(decided_spans):
            store.add([Utterance(f"Lamp line {index}.", "Tomas", since, until)], decision, FILTER)
        candidates = ApprovedCandidates(store)
        agent = TfIdfAgent(candidates)
        for moment in queried:
            wanted = {
                f"Lamp line {index}."
                for index, (since, until, decision) in enumerate(decided_spans)
                if decision == APPROVED and since <= moment and (moment < until or until.is_end)
            }
            results = set(drawn(candidates, at(moment)))
            assert results - {"On the hook.", "Beside it."} == wanted
            reply = agent.reply(at(moment), hearing("The lamp line, the lamp line?"))
            said = {reply.text, *(candidate.text for candidate in reply.candidates)}
            assert not {text for text in said if text.startswith("Lamp line")} - wanted
        store.close()


@pytest.mark.parametrize("make", [EncoderAgent, TfIdfAgent], ids=["encoder", "tfidf"])
def test_a_reply_from_an_approved_line_says_which(store: UtteranceStore, make: Callable[..., Agent]) -> None:
    store.add([line("The lighthouse burned oil from Livorno, and wept soot.")], APPROVED, FILTER)
    reply = make(candidates=ApprovedCandidates(store)).reply(
        at(Moment.parse("3")), hearing("What oil did the lighthouse burn? Was it oil from Livorno?")
    )
    assert reply.text == "The lighthouse burned oil from Livorno, and wept soot."
    evidence = reply.evidence[0]
    assert evidence.kind == "approved" and evidence.moment is None
    assert evidence.text == f"utterance 1: {reply.text}" and "lighthouse" in evidence.words
    assert reply.candidates[0].moment is None
    own = {candidate.text: candidate.moment for candidate in reply.candidates[1:]}
    assert own.get("Beside it.") == Moment((1, 2, 2))


@pytest.mark.parametrize("make", [EncoderAgent, TfIdfAgent], ids=["encoder", "tfidf"])
def test_what_is_decided_between_two_replies_holds_for_the_second(
    store: UtteranceStore, make: Callable[..., Agent]
) -> None:
    store.add([line("The lighthouse burned oil from Livorno.")], PENDING, FILTER)
    agent, present_situation = make(candidates=ApprovedCandidates(store)), at(Moment.parse("3"))
    message = hearing("What oil did the lighthouse burn? Was it oil from Livorno?")

    def says_it() -> bool:
        reply = agent.reply(present_situation, message)
        return any("Livorno" in text for text in (reply.text, *(option.text for option in reply.candidates)))

    assert not says_it()
    store.decide(1, APPROVED, "Mara")
    assert says_it()
    store.decide(1, REJECTED, "Ines")
    assert not says_it()
    store.undo(1, "Ines")
    assert says_it()


def test_another_programs_decision_holds_too(store: UtteranceStore, tmp_path: Path) -> None:
    candidates = ApprovedCandidates(store)
    assert drawn(candidates, at(Moment.end())) == ["On the hook.", "Beside it."]
    other = open_store(tmp_path / "lines.db")
    other.add([line("Ahoy.")], APPROVED, "Mara")
    other.close()
    assert "Ahoy." in drawn(candidates, at(Moment.end()))


def test_lines_stand_in_story_order(store: UtteranceStore) -> None:
    store.add(
        [line("Late.", "1.3"), line("Early.", "1.1"), line("Between.", "1.2"), line("Never.", "5")], APPROVED, "x"
    )
    results = ApprovedCandidates(store)(at(Moment.parse("4")))
    assert [exchange.said.text for exchange in results] == ["Early.", "On the hook.", "Between.", "Beside it.", "Late."]
    assert [exchange.approved for exchange in ApprovedCandidates(store)(at(Moment.parse("4")))] == [2, None, 3, None, 1]


def test_nothing_is_read_again_as_long_as_the_lines_stay_the_same(store: UtteranceStore) -> None:
    store.add([line("Ahoy."), line("Rejected already.")], APPROVED, FILTER)
    store.decide(2, REJECTED, "Mara")
    candidates, present_situation = ApprovedCandidates(store), at(Moment.end())
    past = present_situation.persona.past
    assert isinstance(past, ListPast)
    first = candidates(present_situation)
    store.add([line("Not his.", who="Ines")], APPROVED, FILTER)
    store.decide(2, REJECTED, "Ines")
    assert candidates(present_situation) is first and past.readings == 1
    store.decide(2, APPROVED, "Ines")
    assert candidates(present_situation) is not first and past.readings == 2


def test_who_has_no_approved_line_draws_on_the_past_alone(store: UtteranceStore) -> None:
    store.add([line("Not his.", who="Ines"), line("Not yet.", since="9")], APPROVED, FILTER)
    assert drawn(ApprovedCandidates(store), at(Moment.parse("2"))) == ["On the hook.", "Beside it."]


def test_a_character_of_a_story_keeps_its_own_past_before_the_moment(store: UtteranceStore, story: Path) -> None:
    store.add([line("The fog has no captain.", "2", who="Ines Vale")], APPROVED, FILTER)
    read_story = read(str(story))
    candidates = ApprovedCandidates(store)
    early, late = (situation_at(read_story, "Ines", moment) for moment in ("1.2", "2.2"))
    assert "The fog has no captain." not in drawn(candidates, early)
    assert "The fog has no captain." in drawn(candidates, late)
    assert set(drawn(candidates, early)) < set(drawn(candidates, late))


def test_agents_that_draw_on_lines_are_handed_them(store: UtteranceStore) -> None:
    store.add([line("The lighthouse burned oil from Livorno.")], APPROVED, FILTER)
    assert draws_on_lines("encoder") and draws_on_lines("tfidf") and not draws_on_lines("scripted")
    assert not draws_on_lines("") and not draws_on_lines("my_own:agent")
    agent = agent_named("tfidf", ApprovedCandidates(store))
    assert "Livorno" in agent.reply(at(Moment.end()), hearing("The lighthouse oil?")).text
    assert (
        agent_named("scripted", ApprovedCandidates(store)).reply(at(Moment.end()), hearing("Hello")).text == "Line 1."
    )


@pytest.mark.parametrize("make", [TfIdfAgent, EncoderAgent])
def test_a_line_approved_for_another_story_is_never_said(store: UtteranceStore, make: Callable[..., Agent]) -> None:
    present_situation = at(Moment.end())
    present_situation = replace(present_situation, persona=replace(present_situation.persona, story="Tides"))
    store.add([replace(line("The lamp of the harbour."), story="Harbour")], APPROVED, FILTER)
    candidates = ApprovedCandidates(store)
    assert drawn(candidates, present_situation) == ["On the hook.", "Beside it."]
    reply = make(candidates=candidates).reply(present_situation, hearing("The lamp of the harbour?"))
    assert "The lamp of the harbour." not in {reply.text, *(candidate.text for candidate in reply.candidates)}
    store.add([replace(line("The lamp of the harbour."), story="Tides")], APPROVED, FILTER)
    reply = make(candidates=candidates).reply(present_situation, hearing("The lamp of the harbour?"))
    assert reply.text == "The lamp of the harbour."


def test_a_persona_of_a_story_draws_on_that_storys_lines(store: UtteranceStore) -> None:
    demo = read("demo")
    zita = situation_at(demo, "Zita", "2.3")
    lines = [replace(line("The tide is out.", who=zita.persona.name), story=title) for title in (demo.title, "Another")]
    store.add(lines[1:], APPROVED, FILTER)
    assert "The tide is out." not in drawn(ApprovedCandidates(store), zita)
    store.add(lines[:1], APPROVED, FILTER)
    assert "The tide is out." in drawn(ApprovedCandidates(store), zita)
