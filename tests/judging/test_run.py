from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from brasskey import brass_key
from understudy.formats import read
from understudy.judging import Rule
from understudy.judging.run import FilterJob, filter_lines, run_id
from understudy.metrics.registry import MetricContext
from understudy.metrics.utterances.record import APPROVED, PENDING, REJECTED
from understudy.metrics.utterances.store import open_store
from understudy.story.dialogue import situation_at
from understudy.story.types import Moment

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
