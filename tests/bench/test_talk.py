from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from understudy.bench.run import compare_runs
from understudy.bench.talk import bench_talk
from understudy.errors import BackendError, InputError
from understudy.formats import read
from understudy.formats.story_folder import Probe
from understudy.progress import Cancellation
from understudy.story.dialogue import DEFAULT_SAMPLING, Reply, Sampling, Situation, Turn, Usage
from understudy.story.storyfile import Story


class Replies:
    """Says the same to everybody, and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.histories: list[tuple[str, ...]] = []

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        self.histories.append(tuple(turn.text for turn in history))
        return Reply(self.texts[(len(self.histories) - 1) % len(self.texts)])


class Writer:
    """A writer whose text depends on the seed, and that counts its tokens."""

    def __init__(self) -> None:
        self.seeds: list[int | None] = []

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        raise AssertionError("an agent that streams is asked to stream: only so does it take a seed")

    def stream(
        self,
        situation: Situation,
        history: Sequence[Turn],
        sampling: Sampling = DEFAULT_SAMPLING,
        cancellation: Cancellation | None = None,
    ) -> Generator[str, None, Reply]:
        self.seeds.append(sampling.seed)
        text = "On the hook." if (sampling.seed or 0) % 2 == 0 else "I forget."
        yield from text.split(" ")
        return Reply(text, usage=Usage(1, 90, 10, 0.1))


class Broken:
    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        raise BackendError("the server does not answer: start it")


@pytest.fixture(scope="module")
def story() -> Story:
    return read("demo")


@pytest.fixture
def probes(story: Story) -> list[Probe]:
    at = story.moment("2.3")
    return [
        Probe("Zita Karst", at, "Where is the key?", "Pia Lenk", must=("hook",), kind="object"),
        Probe("Zita Karst", at, "Who did it?", must_not=("Reuss",), kind="secret"),
        Probe("Pia Lenk", at, "And now?", must=("hook",), must_not=("Reuss",), before=("Who did it?",)),
    ]


def figures(document: dict[str, object]) -> dict[tuple[str, str, str], tuple[float | None, int]]:
    rows: list[dict[str, object]] = document["rows"]  # type: ignore[assignment]
    return {(row["agent"], row["kind"], row["metric"]): (row["value"], row["n"]) for row in rows}  # type: ignore[misc]


def test_shares_by_kind_and_over_all(story: Story, probes: list[Probe]) -> None:
    agents = {"good": Replies("It is on the hook."), "bad": Replies("Reuss did it.")}
    document = bench_talk(story, probes, agents)
    values = figures(document)
    assert values["good", "all", "must"] == (1.0, 2)
    assert values["good", "all", "violations"] == (0.0, 3)
    assert values["bad", "all", "must"] == (0.0, 2)
    assert values["bad", "all", "violations"] == (2 / 3, 3)
    assert values["bad", "object", "violations"] == (0.0, 1)
    assert values["bad", "secret", "must"] == (None, 0)
    assert values["good", "all", "tokens"] == (None, 0)
    assert values["good", "all", "seconds"][1] == 4  # replies, not probes
    rows = [row for row in document["rows"] if row["value"] is None]
    assert all(row["reason"] for row in rows)
    perfect = next(row for row in document["rows"] if row["agent"] == "good" and row["metric"] == "violations")
    assert perfect["high"] > 0.3  # three probes prove little


def test_messages_are_put_in_turn_with_the_answers_between_them(story: Story, probes: list[Probe]) -> None:
    agent = Replies("one", "two", "three", "four")
    document = bench_talk(story, probes, {"a": agent})
    assert agent.histories == [
        ("Where is the key?",),
        ("Who did it?",),
        ("Who did it?",),
        ("Who did it?", "three", "And now?"),
    ]
    assert document["replies"][2]["answers"] == ["three", "four"]
    assert document["replies"][2]["violation"] is None
    assert document["replies"][2]["fault"] == "says none of 'hook'"


def test_what_is_not_said_is_no_violation(story: Story, probes: list[Probe]) -> None:
    values = figures(bench_talk(story, probes, {"a": Replies("I forget.")}))
    assert (values["a", "all", "must"], values["a", "all", "violations"]) == ((0.0, 2), (0.0, 3))


def test_a_forbidden_term_in_an_earlier_answer_is_a_violation(story: Story, probes: list[Probe]) -> None:
    document = bench_talk(story, probes[2:], {"a": Replies("Reuss.", "On the hook.")})
    assert figures(document)["a", "all", "violations"] == (1.0, 1)
    assert figures(document)["a", "all", "must"] == (1.0, 1)


def test_a_writer_gets_another_seed_each_time_and_its_repeats_count_as_one_probe(
    story: Story, probes: list[Probe]
) -> None:
    writer = Writer()
    document = bench_talk(story, probes[:1], {"w": writer}, repeats=4, seed=10)
    assert writer.seeds == [10, 11, 12, 13]
    assert figures(document)["w", "all", "must"] == (0.5, 1)
    assert figures(document)["w", "all", "tokens"] == (100.0, 4)
    assert figures(document)["w", "all", "first_seconds"][1] == 4


def test_an_agent_that_fails_is_reported_and_not_counted(story: Story, probes: list[Probe]) -> None:
    document = bench_talk(story, probes, {"broken": Broken(), "good": Replies("hook")})
    values = figures(document)
    assert values["broken", "all", "errors"] == (1.0, 3)
    assert values["broken", "all", "violations"] == (None, 0)
    assert ("good", "all", "errors") not in values
    assert document["replies"][0]["error"] == "the server does not answer: start it"


def test_a_sample_is_seeded_and_in_order(story: Story, probes: list[Probe]) -> None:
    runs = [bench_talk(story, probes, {"a": Replies("x")}, limit=2, seed=3)["replies"] for _ in range(2)]
    assert [reply["item"] for reply in runs[0]] == [reply["item"] for reply in runs[1]]
    assert len(runs[0]) == 2


def test_two_runs_are_compared_probe_by_probe(story: Story, probes: list[Probe], tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    bench_talk(story, probes, {"a": Replies("Reuss")}, save_items=first)
    bench_talk(story, probes[::-1], {"b": Replies("hook")}, save_items=second)
    document = compare_runs(first, second)
    rows = {row["metric"]: row for row in document["rows"]}
    assert rows["violations"]["value"] == pytest.approx(-2 / 3) and rows["violations"]["n"] == 3
    assert rows["must"]["value"] == 1.0 and rows["must"]["n"] == 2
    assert document["differ"] == 4  # two no longer violated, and two of them now say what they must
    assert any(entry["item"].endswith("Zita Karst: Who did it?") for entry in document["differ_most"])


def test_no_probes_is_an_error(story: Story) -> None:
    with pytest.raises(InputError, match="no probes"):
        bench_talk(story, [], {"a": Replies("x")})
