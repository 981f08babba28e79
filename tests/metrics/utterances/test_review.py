"""The review queue, on both databases: against what one finds by going through everything."""

from __future__ import annotations

import random

import pytest

from studyserver import line
from understudy.errors import InputError
from understudy.metrics.utterances import UtteranceStore, open_store
from understudy.metrics.utterances.record import (
    APPROVED,
    FILTER,
    PENDING,
    REJECTED,
    ReviewDecision,
    last_decisions,
    standing_decisions,
)
from understudy.metrics.utterances.review import MINE, NEW, SECOND, Near, Review


def filled(store: UtteranceStore, marks: dict[str, float | None], decision: str = APPROVED) -> None:
    store.add([line(text, psprob=mark) for text, mark in marks.items()], decision, FILTER)


def texts(store: UtteranceStore, show: str, by: str = "Mara", near: Near | None = None, limit: int = 99) -> list[str]:
    return [stored.utterance.text for stored in Review(store, by).queue(show, near, limit).lines]


def test_any_history_of_decisions_gives_the_queues_that_going_through_it_gives(store: UtteranceStore) -> None:
    chance = random.Random(7)
    marks = [None if chance.random() < 0.1 else round(chance.random(), 1) for _ in range(120)]
    store.add([line(f"Line {index}.", psprob=mark) for index, mark in enumerate(marks)], APPROVED, FILTER)
    store.add([line("Other.", "Tobias", psprob=0.5)], REJECTED, FILTER)
    numbers = [stored.number for stored in store.find(character="Ines Vale")]
    value = dict(zip(numbers, marks))
    said: dict[int, list[tuple[str, str]]] = {number: [] for number in numbers}
    for _ in range(200):
        number, who = chance.choice(numbers), chance.choice(["Mara", "Ines", "Zoe"])
        if said[number] and said[number][-1][0] == who and chance.random() < 0.5:
            store.undo(number, who, own=True)
            said[number].pop()
        else:
            word = chance.choice([APPROVED, REJECTED])
            store.decide(number, word, who)
            said[number].append((who, word))

    def order(wanted: list[int], bound: float) -> list[int]:
        known = sorted(
            (number for number in wanted if value[number] is not None),
            key=lambda number: (abs((value[number] or 0) - bound), number),
        )
        return known + [number for number in wanted if value[number] is None]

    people = {number: {who for who, _ in words} for number, words in said.items()}
    for bound in (-1.0, 0.0, 0.33, 0.5, 2.0):
        for by in ("Mara", "Nobody"):
            review = Review(store, by, "Ines Vale")
            new = order([number for number in numbers if not people[number]], bound)
            results = review.queue(NEW, Near("psprob", bound), 200)
            assert [stored.number for stored in results.lines] == new and results.left == len(new)
            second = order([number for number in numbers if people[number] and by not in people[number]], bound)
            results = review.queue(SECOND, Near("psprob", bound), 200)
            assert [stored.number for stored in results.lines] == second and results.left == len(second)
            mine = {number for number in numbers if by in people[number]}
            assert {stored.number for stored in review.queue(MINE, None, 200).lines} == mine and results.done == len(
                mine
            )
            for number in numbers:
                assert review.decisions(number) == dict(said[number])
                assert review.can_undo(number) == (bool(said[number]) and said[number][-1][0] == by)
    both = [dict(words) for words in said.values()]
    both = [words for words in both if {"Mara", "Ines"} <= words.keys()]
    number, share, _ = store.agreement("Mara", "Ines")
    assert number == len(both) > 5 and share == sum(words["Mara"] == words["Ines"] for words in both) / number


def test_a_few_of_many_are_the_nearest_on_both_sides(store: UtteranceStore) -> None:
    filled(store, {f"Line {number}.": number / 100 for number in range(100)})
    results = texts(store, NEW, near=Near("psprob", 0.503), limit=4)
    assert results == ["Line 50.", "Line 51.", "Line 49.", "Line 52."]
    assert texts(store, NEW, near=Near("psprob", 5), limit=2) == ["Line 99.", "Line 98."]
    assert texts(store, NEW, near=Near("charm", 0.5), limit=2) == ["Line 0.", "Line 1."]


def test_what_is_skipped_is_passed_over(store: UtteranceStore) -> None:
    filled(store, {"One.": 0.1, "Two.": 0.2, "Three.": 0.3})
    first = store.find().__next__().number
    queue = Review(store, "Mara").queue(NEW, Near("psprob", 0), 9, skipped=[first])
    assert [stored.utterance.text for stored in queue.lines] == ["Two.", "Three."] and queue.left == 3


def test_the_last_decision_comes_first(store: UtteranceStore) -> None:
    filled(store, {"One.": 0.1, "Two.": 0.2, "Three.": 0.3})
    first, two, three = (stored.number for stored in store.find())
    for number in (two, three, first):
        store.decide(number, REJECTED, "Mara")
    assert [stored.number for stored in Review(store, "Mara").latest(9)] == [first, three, two]
    assert [stored.number for stored in Review(store, "Mara").latest(1)] == [first]
    store.decide(two, APPROVED, "Ines")
    assert [stored.number for stored in Review(store, "Ines").latest(9)] == [two]


def test_scores_and_where_the_bound_must_have_been(store: UtteranceStore) -> None:
    assert Review(store, "Mara").metrics() == []
    store.add([line("Fit.", psprob=0.6, uppl=20.0), line("Fitter.", psprob=0.8, uppl=30.0)], APPROVED, FILTER)
    store.add([line("Unfit.", psprob=0.2, uppl=90.0)], REJECTED, FILTER)
    review = Review(store, "Mara")
    assert review.metrics() == ["psprob", "uppl"]
    assert review.bound("psprob", at_least=True) == 0.6 and review.bound("uppl", at_least=False) == 30.0
    for stored in list(store.find()):
        store.decide(stored.number, REJECTED, "Mara")
    assert review.bound("psprob", at_least=True) == pytest.approx(0.5)
    assert review.bound("charm", at_least=True) == 0.0


def test_a_decision_that_was_taken_back_is_no_word_of_its_maker(store: UtteranceStore) -> None:
    filled(store, {"One.": 0.5})
    (stored,) = store.find()
    store.decide(stored.number, REJECTED, "Mara")
    store.decide(stored.number, REJECTED, "Ines")
    assert store.agreement("Mara", "Ines")[0] == 1
    with pytest.raises(InputError, match="is Ines's"):
        store.undo(stored.number, "Mara", own=True)
    store.undo(stored.number, "Ines", own=True)
    store.undo(stored.number, "Mara", own=True)
    assert store.agreement("Mara", "Ines") == (0, None, None) == store.agreement("Mara", FILTER)
    assert store.get(stored.number).decision == APPROVED and texts(store, NEW) == ["One."]


def test_histories_replay() -> None:
    def entry(decision: str, by: str, why: str = "") -> ReviewDecision:
        return ReviewDecision(decision, by, "", why)

    history = [entry(PENDING, FILTER), entry(APPROVED, FILTER), entry(REJECTED, "Mara"), entry(APPROVED, "Ines")]
    assert last_decisions(history) == {FILTER: APPROVED, "Mara": REJECTED, "Ines": APPROVED}
    history.append(entry(REJECTED, "Ines", "taken back"))
    assert last_decisions(history) == {FILTER: APPROVED, "Mara": REJECTED} and len(standing_decisions(history)) == 3
    assert last_decisions([*history, entry(PENDING, "Mara")]) == {FILTER: APPROVED}
    assert standing_decisions([entry(PENDING, FILTER, "taken back")]) == []


def test_the_version_grows_with_every_decision_also_another_programs(store: UtteranceStore, location: str) -> None:
    seen = [store.version()]
    filled(store, {"One.": 0.5})
    seen.append(store.version())
    other = open_store(location)
    (stored,) = other.find()
    other.decide(stored.number, REJECTED, "Mara")
    seen.append(store.version())
    other.undo(stored.number, "Mara")
    other.close()
    seen.append(store.version())
    assert seen == sorted(set(seen))
