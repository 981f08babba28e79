"""One contract for both databases."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.metrics.utterances import UtteranceStore, open_store
from understudy.metrics.utterances.record import APPROVED, PENDING, REJECTED, Utterance
from understudy.story.dialogue import Score
from understudy.story.types import Moment


def line(text: str, who: str = "Ines", since: str = "1", until: str = "end", **scores: float | None) -> Utterance:
    stored = {name: Score(name, value, "" if value is not None else "no lines") for name, value in scores.items()}
    return Utterance(text, who, Moment.parse(since), Moment.parse(until), stored, "lines.txt", 7)


def test_what_was_added_is_there_whole_also_after_a_restart(location: str) -> None:
    added = line("The tide is out. “Ja”, 潮が引いた", since="1.2", until="2.1.3", psprob=0.25, voice=None)
    first = open_store(location)
    assert first.add([added], PENDING, "filter") == 1
    first.close()
    again = open_store(location)
    (stored,) = again.find()
    assert stored.utterance == added and stored.utterance.scores["voice"].reason == "no lines"
    assert (stored.decision, stored.by) == (PENDING, "filter")
    again.close()


def test_the_same_line_twice_changes_nothing(store: UtteranceStore) -> None:
    assert store.add([line("Ahoy."), line("Ahoy.")], PENDING, "filter") == 1
    (stored,) = store.find()
    store.decide(stored.number, APPROVED, "Mara")
    assert store.add([line("Ahoy.", psprob=0.9)], REJECTED, "filter") == 0
    (stored,) = store.find()
    assert stored.decision == APPROVED and not stored.utterance.scores
    assert store.add([line("Ahoy.", since="2"), line("Ahoy.", who="Tobias")], PENDING, "filter") == 2


def test_all_or_nothing(store: UtteranceStore) -> None:
    with pytest.raises(InputError, match="NUL"):
        store.add([line("Good."), line("Bad\0.")], PENDING, "filter")
    assert list(store.find()) == []


def test_decisions_are_kept_and_taken_back_one_by_one(store: UtteranceStore) -> None:
    store.add([line("Ahoy.")], APPROVED, "filter")
    (stored,) = store.find()
    store.decide(stored.number, REJECTED, "Mara", "too short")
    store.decide(stored.number, APPROVED, "Ines")
    assert store.undo(stored.number, "Mara").decision == REJECTED
    assert store.undo(stored.number, "Mara").decision == APPROVED
    assert store.undo(stored.number, "Mara").decision == PENDING
    with pytest.raises(InputError, match="taken back"):
        store.undo(stored.number, "Mara")
    store.decide(stored.number, REJECTED, "Ines")
    assert store.undo(stored.number, "Ines").decision == PENDING
    history = store.history(stored.number)
    assert [entry.decision for entry in history][:4] == [PENDING, APPROVED, REJECTED, APPROVED]
    assert len(history) == 9 and history[2].why == "too short" and history[2].by == "Mara"


def test_found_by_character_decision_and_moment(store: UtteranceStore) -> None:
    early, late, other = line("Early.", until="2.1"), line("Late.", since="2.1"), line("Other.", who="Tobias")
    store.add([early, late], APPROVED, "filter")
    store.add([other], REJECTED, "filter")

    def texts(**conditions: object) -> list[str]:
        return [stored.utterance.text for stored in store.find(**conditions)]  # type: ignore[arg-type]

    assert texts(character="Ines") == ["Early.", "Late."]
    assert texts(decision=REJECTED) == ["Other."]
    assert texts(at=Moment.parse("1.9"), character="Ines") == ["Early."]
    assert texts(at=Moment.parse("2.1"), character="Ines") == ["Late."]  # until a moment is before it
    assert texts(at=Moment.end(), character="Ines") == ["Late."]
    assert texts(limit=2) == ["Early.", "Late."]
    assert store.counts() == {("Ines", APPROVED): 2, ("Tobias", REJECTED): 1}


def test_a_long_list_comes_whole_and_in_order(store: UtteranceStore) -> None:
    store.add([line(f"Line {number}.") for number in range(1203)], PENDING, "filter")
    assert [stored.utterance.text for stored in store.find()] == [f"Line {number}." for number in range(1203)]


def test_those_near_a_bound_come_first(store: UtteranceStore) -> None:
    marks = {"Far.": 0.9, "Near.": 0.42, "Nearest.": 0.39, "Low.": 0.0}
    store.add([line(text, psprob=mark) for text, mark in marks.items()], PENDING, "filter")
    store.add([line("Unscored."), line("Missing.", psprob=None)], PENDING, "filter")
    results = [stored.utterance.text for stored in store.find(near=("psprob", 0.4))]
    assert results == ["Nearest.", "Near.", "Low.", "Far."]


def test_vectors_are_searched_in_the_store(store: UtteranceStore) -> None:
    random = np.random.default_rng(5)
    vectors = random.normal(size=(50, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lines = [line(f"Line {number}.", since="1" if number % 2 else "3") for number in range(50)]
    store.add(lines, APPROVED, "filter", list(vectors))
    store.add([line("No vector.")], APPROVED, "filter")
    likeness = vectors @ vectors[7]
    results = store.nearest(vectors[7], 5, "Ines")
    assert [stored.utterance.text for stored in results] == [
        f"Line {location}." for location in np.argsort(-likeness)[:5]
    ]
    assert results[0].likeness == pytest.approx(1, abs=1e-3)
    before = store.nearest(vectors[7], 50, "Ines", Moment.parse("2"))
    assert len(before) == 25 and all(stored.utterance.since == Moment.parse("1") for stored in before)
    assert store.nearest(vectors[7], 5, "Tobias") == []


def test_a_run_goes_on_where_it_was(store: UtteranceStore) -> None:
    assert store.reached("run") == 0
    store.advance("run", 2, [line("One."), line("Two.")], [APPROVED, REJECTED], "filter")
    assert store.reached("run") == 2 and store.reached("other") == 0
    assert [(stored.utterance.text, stored.decision) for stored in store.find()] == [
        ("One.", APPROVED),
        ("Two.", REJECTED),
    ]
    with pytest.raises(InputError):
        store.advance("run", 4, [line("Three."), line("\0")], [APPROVED, APPROVED], "filter")
    assert store.reached("run") == 2 and len(list(store.find())) == 2


def test_agreement_of_two_reviewers(store: UtteranceStore) -> None:
    store.add([line(f"Line {number}.") for number in range(10)], PENDING, "filter")
    for stored in store.find():
        store.decide(stored.number, APPROVED if stored.number % 2 else REJECTED, "Mara")
        store.decide(stored.number, REJECTED if stored.number % 2 == 0 or stored.number % 5 == 0 else APPROVED, "Ines")
    number, same, kappa = store.agreement("Mara", "Ines")
    assert (number, same) == (10, 0.9)
    assert kappa == pytest.approx((0.9 - 0.5) / (1 - 0.5))
    assert store.agreement("Mara", "Nobody") == (0, None, None)


def test_many_at_once_lose_nothing(location: str) -> None:
    def work(worker: int) -> None:
        store = open_store(location)
        for number in range(20):
            store.add([line(f"{worker} {number}"), line(f"shared {number}")], PENDING, str(worker))
        store.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    store = open_store(location)
    assert len(list(store.find())) == 4 * 20 + 20
    store.close()


def test_what_does_not_exist_says_so(store: UtteranceStore) -> None:
    with pytest.raises(InputError, match="no utterance 99"):
        store.get(99)
    with pytest.raises(InputError, match="pending, approved, rejected"):
        store.add([line("Ahoy.")], "maybe", "filter")


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(InputError, match="something else"):
        open_store(path)
    (tmp_path / "text.db").write_text("not a database at all, but long enough to be looked at" * 20)
    with pytest.raises(InputError, match="choose another"):
        open_store(tmp_path / "text.db")


def test_a_server_that_cannot_be_reached_is_named_without_its_password() -> None:
    with pytest.raises(InputError) as raised:
        open_store("postgresql://me:secret@127.0.0.1:1/lines")
    assert "secret" not in str(raised.value) and "127.0.0.1" in str(raised.value)


@pytest.mark.parametrize("wrong", ["a\0b", "a\ud800b"])
def test_what_is_no_text_is_an_error_of_ours_wherever_it_stands(store: UtteranceStore, wrong: str) -> None:
    fine = Utterance("Ahoy.", "Ines")
    store.add([fine], "approved", "filter")
    for one in (
        Utterance(wrong, "Ines", file="lines.txt", line=7),
        Utterance("Ahoy.", wrong, file="lines.txt", line=7),
        Utterance("Ahoy.", "Ines", story=wrong, file="lines.txt", line=7),
        Utterance("Well.", "Ines", scores={"psprob": Score("psprob", None, wrong)}, file="lines.txt", line=7),
    ):
        with pytest.raises(InputError, match=r"lines\.txt:7: .* cannot be kept"):
            store.add([one], "approved", "filter")
    for conditions in (
        lambda: store.decide(1, "rejected", wrong),
        lambda: store.decide(1, "rejected", "Mara", wrong),
        lambda: store.advance(wrong, 1, [], [], "filter"),
        lambda: list(store.find(wrong)),
        lambda: store.sayable("Ines", Moment.end(), wrong),
    ):
        with pytest.raises(InputError, match="clean it first"):
            conditions()
    assert [stored.utterance for stored in store.find()] == [fine]
    assert len(store.history(1)) == 2


def test_a_file_whose_name_is_no_text_is_kept_by_a_name_that_is(store: UtteranceStore) -> None:
    store.add([Utterance("Ahoy.", "Ines", file="caf\udce9.txt")], "approved", "filter")
    assert store.get(1).utterance.file == r"caf\udce9.txt"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE utterances SET text = CAST(x'636166e9' AS TEXT)", "damaged"),
        ("UPDATE utterances SET text = x'636166e9'", "damaged"),
        ("UPDATE utterances SET since = '0000soon'", "moment"),
    ],
)
def test_old_rows_that_cannot_be_read_are_named(tmp_path: Path, change: str, says: str) -> None:
    store = open_store(tmp_path / "lines.db")
    store.add([Utterance("Ahoy.", "Ines")], "approved", "filter")
    with store.database.transaction():
        store.database.rows(change)
    for conditions in (lambda: list(store.find()), lambda: store.sayable("Ines", Moment.end())):
        with pytest.raises(InputError, match=says):
            conditions()
    store.close()


def test_one_who_changes_a_file_and_does_not_finish_holds_up_no_reader(tmp_path: Path) -> None:
    store, other = open_store(tmp_path / "lines.db"), open_store(tmp_path / "lines.db")
    store.add([Utterance("Ahoy.", "Ines")], "approved", "filter")
    with ThreadPoolExecutor(1) as thread, other.database.transaction():
        waiting = thread.submit(store.decide, 1, "rejected", "Mara")
        while store.database._write_lock.acquire(blocking=False):  # type: ignore[union-attr]
            store.database._write_lock.release()  # type: ignore[union-attr]
        assert [line.text for line in store.sayable("Ines", Moment.end())] == ["Ahoy."]
        assert not waiting.done()
    assert waiting.result(120).decision == "rejected"
    for one in (store, other):
        one.close()
