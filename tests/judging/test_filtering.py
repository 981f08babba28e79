from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from stories import brass_key
from understudy.errors import InputError
from understudy.formats import read
from understudy.judging import Rule
from understudy.judging.filtering import FilteredAgent, FilterJob, StoryMetrics, filter_lines, run_id
from understudy.metrics.registry import MetricContext
from understudy.metrics.utterances import open_store
from understudy.metrics.utterances.record import APPROVED, PENDING, REJECTED
from understudy.story.dialogue import Candidate, Evidence, Reply, Score, Situation, Turn, situation_at
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import Moment

INES = Situation(Persona("Ines"))


class Offering:
    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        candidates = tuple(Candidate(text, 1.0 / rank) for rank, text in enumerate(self._texts, 1))
        return Reply(self._texts[0], candidates, (Evidence("script", self._texts[0]),))


Metrics = list[Mapping[str, Callable[[Sequence[str]], list[Score]]]]


def length(_: Situation) -> Metrics:
    return [
        {"length": lambda texts: [Score("length", None if "?" in text else len(text), "a question") for text in texts]}
    ]


def length_in_two_stories(situation: Situation) -> Metrics:
    return [*length(situation), {"length": lambda texts: [Score("length", 2 * len(text)) for text in texts]}]


SHORT = [Rule("length", False, 8)]


def test_the_best_that_passes_is_said_and_what_was_kept_back_is_told() -> None:
    reply = FilteredAgent(Offering("far too long a reply", "short", "tiny"), SHORT, length).reply(INES, ())
    assert reply.text == "short" and [candidate.text for candidate in reply.candidates] == ["short", "tiny"]
    assert [evidence.kind for evidence in reply.evidence] == ["notice"] and "1 of 3" in reply.evidence[0].text


def test_a_reply_that_passes_is_left_as_it_is() -> None:
    agent = Offering("short")
    assert FilteredAgent(agent, SHORT, length).reply(INES, ()) == agent.reply(INES, ())


def test_what_cannot_be_judged_does_not_pass() -> None:
    assert FilteredAgent(Offering("Who?", "short"), SHORT, length).reply(INES, ()).text == "short"


def test_where_nothing_passes_something_harmless_that_does_is_said() -> None:
    reply = FilteredAgent(Offering("far too long a reply"), [Rule("length", False, 20)], length).reply(INES, ())
    assert reply.text == "far too long a reply"
    reply = FilteredAgent(Offering("far too long a reply"), [Rule("length", False, 15)], length).reply(INES, ())
    assert len(reply.text) <= 15 and reply.evidence[0].kind == "bank"
    reply = FilteredAgent(Offering("far too long a reply"), [Rule("length", False, 1)], length).reply(INES, ())
    assert reply.text == "..."


def test_of_several_stories_a_reply_must_pass_in_each() -> None:
    reply = FilteredAgent(Offering("short", "tiny"), SHORT, length_in_two_stories).reply(INES, ())
    assert reply.text == "tiny"


def test_without_a_story_only_a_neutral_line_is_said() -> None:
    reply = FilteredAgent(Offering("short"), SHORT, lambda _: []).reply(INES, ())
    assert reply.text not in ("short", "...") and reply.evidence[0].kind == "bank"
    assert reply.evidence[1].text == "1 of 1 replies were kept back by the rules"


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


NO_FUTURE = [Rule.parse("anachronism<=0")]


def test_a_line_of_the_future_is_kept_back_until_its_time(demo: Story) -> None:
    spoiler, harmless = "His name is Danilo Reuss.", "I count what I carry."
    metrics = StoryMetrics(["anachronism"], lambda _: [demo])
    agent = FilteredAgent(Offering(spoiler, harmless), NO_FUTURE, metrics)
    early = agent.reply(situation_at(demo, "Zita", "2.3"), ())
    assert early.text == harmless and "Reuss" not in str(early)
    assert early.evidence[-1].text == "1 of 2 replies were kept back by the rules"
    assert agent.reply(situation_at(demo, "Zita", "end"), ()).text == spoiler


def test_metrics_are_created_once_for_a_persona_and_again_for_another_reading_of_the_story(demo: Story) -> None:
    stories = [demo]
    metrics = StoryMetrics(["psprob"], lambda _: stories)
    situation = situation_at(demo, "Zita", "1.2")
    (first,) = metrics(situation)
    assert metrics(situation)[0] is first
    assert metrics(situation_at(demo, "Zita", "1.2"))[0] is not first
    stories[:] = [read("demo")]
    assert metrics(situation)[0] is not first
    stories.clear()
    assert metrics(situation) == []


def test_a_metric_that_does_not_exist_is_an_error_before_anything_is_said() -> None:
    with pytest.raises(InputError, match="did you mean 'anachronism'"):
        StoryMetrics(["anachronisms"], lambda _: [])


def test_what_a_guard_kept_back_is_no_choice() -> None:
    class Guarded:
        def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
            kept_back = Candidate("secret", 2.0, rejected="not known yet")
            return Reply("far too long a reply", (kept_back, Candidate("far too long a reply", 1.0)))

    assert FilteredAgent(Guarded(), SHORT, length).reply(INES, ()).text not in ("secret", "")


LINES = ["Good morning.", "", "Mara is at the lighthouse.", "Keep the key.", "Good morning.", "The key again."]
RULES = [Rule.parse("anachronism<=0")]


@pytest.fixture
def grounds(tmp_path: Path) -> MetricContext:
    opened = read(brass_key(tmp_path / "story"))
    return MetricContext(opened, situation_at(opened, "Ines", "1.2"), author=True)


@pytest.fixture
def job(tmp_path: Path) -> FilterJob:
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(LINES))
    return FilterJob("The Brass Key", "Ines Vale", Moment((1, 2)), Moment.end(), file)


def test_lines_enter_in_order_with_scores_source_and_decision(
    grounds: MetricContext, job: FilterJob, tmp_path: Path
) -> None:
    store = open_store(tmp_path / "lines.db")
    outcome = filter_lines([LINES[:3], LINES[3:]], [grounds.metric("anachronism")], RULES, store, job)
    stored = list(store.find())
    assert [entry.utterance.text for entry in stored] == ["Good morning.", LINES[2], "Keep the key.", "The key again."]
    assert [entry.decision for entry in stored] == [APPROVED, REJECTED, APPROVED, APPROVED]
    assert stored[1].utterance.scores["anachronism"].reason.startswith("not known yet")
    assert (stored[1].utterance.file, stored[1].utterance.line, stored[1].utterance.since) == (
        "lines.txt",
        3,
        Moment((1, 2)),
    )
    assert outcome.new == 4 and outcome.decided == {APPROVED: 4, REJECTED: 1}
    store.close()


def test_a_run_stopped_between_any_two_pieces_goes_on_to_the_same_end(
    grounds: MetricContext, job: FilterJob, tmp_path: Path
) -> None:
    metrics = [grounds.metric("anachronism"), grounds.metric("psprob")]
    whole = open_store(tmp_path / "whole.db")
    filter_lines([LINES], metrics, RULES, whole, job)
    expected = [(entry.utterance, entry.decision) for entry in whole.find()]
    for stop in range(len(LINES)):
        store = open_store(tmp_path / f"{stop}.db")

        def until_stopped(stop: int = stop) -> Iterator[list[str]]:
            for index, line in enumerate(LINES):
                if index == stop:
                    raise KeyboardInterrupt
                yield [line]

        with pytest.raises(KeyboardInterrupt):
            filter_lines(until_stopped(), metrics, RULES, store, job)
        outcome = filter_lines([[line] for line in LINES], metrics, RULES, store, job)
        assert outcome.before == stop
        assert [(entry.utterance, entry.decision) for entry in store.find()] == expected
        store.close()
    whole.close()


def test_other_rules_another_character_or_another_file_are_another_run(job: FilterJob) -> None:
    run = run_id(job, RULES)
    assert run == run_id(job, list(RULES))
    assert run != run_id(job, [Rule.parse("anachronism<=1")])
    assert run != run_id(FilterJob(job.story, "Mara", job.since, job.until, job.file), RULES)
    job.file.write_text("Something else.")
    assert run != run_id(job, RULES)


def test_only_what_is_approved_is_encoded_and_what_cannot_be_judged_waits(
    grounds: MetricContext, job: FilterJob, tmp_path: Path
) -> None:
    encoded: list[str] = []

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        encoded.extend(texts)
        return np.full((len(texts), 4), 0.5, np.float32)

    store = open_store(tmp_path / "lines.db")
    rules = [*RULES, Rule.parse("relation_fit>=0.5")]  # nobody is faced
    metrics = [grounds.metric("anachronism"), grounds.metric("relation_fit")]
    filter_lines([LINES[:4]], metrics, rules, store, job, encode)
    assert [entry.decision for entry in store.find()] == [PENDING, REJECTED, PENDING] and encoded == []
    filter_lines(
        [LINES[:4]],
        metrics[:1],
        RULES,
        store,
        FilterJob("The Brass Key", "Ines Vale", Moment((1, 1)), *(job.until, job.file)),
        encode,
    )
    assert encoded == ["Good morning.", "Keep the key."]
    assert len(store.nearest(np.full(4, 0.5, np.float32), 9, "Ines Vale", Moment((1, 1)))) == 2
    store.close()
