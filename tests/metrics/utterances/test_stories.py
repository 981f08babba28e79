"""Whose story a line is of, on both databases; and databases from before lines had one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from understudy.errors import InputError
from understudy.metrics.utterances import UtteranceStore, open_store
from understudy.metrics.utterances.record import APPROVED, FILTER, PENDING, REJECTED, Utterance
from understudy.metrics.utterances.review import NEW, Near, Review
from understudy.story.types import Moment

AHOY = Utterance("Ahoy.", "Ines", story="Tides")


def texts(store: UtteranceStore, story: str | None) -> list[str]:
    return [stored.utterance.text for stored in store.find(story=story)]


def as_it_was(store: UtteranceStore) -> None:
    """Takes from a database what older ones do not have."""
    store._db.rows("DROP TABLE migrations")
    store._db.rows("ALTER TABLE utterances DROP COLUMN story")


def test_the_same_line_for_another_story_is_another_entry(store: UtteranceStore) -> None:
    both = [AHOY, replace(AHOY, story="Harbour")]
    assert store.add(both, PENDING, FILTER) == 2
    assert store.add(both, PENDING, FILTER) == 0
    assert [stored.utterance for stored in store.find()] == both
    assert store.stories() == ["Harbour", "Tides"]


def test_lines_are_found_counted_and_reviewed_by_story(store: UtteranceStore) -> None:
    store.add([AHOY, replace(AHOY, text="Low water.")], APPROVED, FILTER)
    store.add([replace(AHOY, text="Cast off.", story="Harbour")], REJECTED, FILTER)
    assert texts(store, "Tides") == ["Ahoy.", "Low water."]
    assert texts(store, "Harbour") == ["Cast off."] and texts(store, "Elsewhere") == []
    assert store.counts("Tides") == {("Ines", APPROVED): 2} and sum(store.counts().values()) == 3
    for near in (None, Near("psprob", 0.5)):
        queue = Review(store, "Mara", story="Harbour").queue(NEW, near, 9)
        assert [stored.utterance.text for stored in queue.lines] == ["Cast off."] and queue.left == 1
    (first, *_) = store.find(story="Tides")
    store.decide(first.number, REJECTED, "Mara")
    assert [stored.number for stored in Review(store, "Mara", story="Tides").latest(9)] == [first.number]
    assert Review(store, "Mara", story="Harbour").latest(9) == []


def test_only_lines_of_the_story_may_be_said_in_it(store: UtteranceStore) -> None:
    bound_to_none = replace(AHOY, text="Good morning.", story="")
    store.add([AHOY, replace(AHOY, text="Cast off.", story="Harbour"), bound_to_none], APPROVED, FILTER)

    def said(story: str) -> list[str]:
        return [line.text for line in store.sayable("Ines", Moment.end(), story)]

    assert said("Tides") == ["Ahoy.", "Good morning."]
    assert said("Harbour") == ["Cast off.", "Good morning."]
    assert said("") == ["Good morning."]


def test_an_older_database_is_brought_up_to_date_and_loses_nothing(location: str) -> None:
    old = open_store(location)
    old.add([replace(AHOY, story="")], APPROVED, FILTER)
    (stored,) = old.find()
    old.decide(stored.number, REJECTED, "Mara", "too short")
    as_it_was(old)
    old.close()
    for _ in range(2):  # the second time there is nothing to do
        store = open_store(location)
        (stored,) = store.find()
        assert stored.utterance == replace(AHOY, story="") and stored.decision == REJECTED
        assert [entry.by for entry in store.history(stored.number)] == [FILTER, FILTER, "Mara"]
        store.close()


def test_a_line_from_before_is_of_the_first_story_it_comes_with_again(location: str) -> None:
    old = open_store(location)
    old.add([replace(AHOY, story="")], APPROVED, FILTER)
    (before,) = old.find()
    old.decide(before.number, REJECTED, "Mara")
    as_it_was(old)
    old.close()
    store = open_store(location)
    assert store.add([AHOY], APPROVED, FILTER) == 0
    (now,) = store.find()
    assert now.number == before.number and now.utterance == AHOY and now.decision == REJECTED  # what Mara said holds
    assert store.add([replace(AHOY, story="Harbour")], APPROVED, FILTER) == 1
    assert store.add([replace(AHOY, story="")], PENDING, FILTER) == 1
    assert store.add([AHOY], APPROVED, FILTER) == 0  # and the one without a story is left alone
    assert [stored.utterance.story for stored in store.find()] == ["Tides", "Harbour", ""]
    store.close()


def test_a_database_of_a_newer_program_is_left_alone(location: str) -> None:
    store = open_store(location)
    store._db.rows("INSERT INTO migrations VALUES (99, 'of the future', '')")
    store.close()
    with pytest.raises(InputError, match="newer Understudy"):
        open_store(location)
