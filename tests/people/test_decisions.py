from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from found import found_fact, found_tie
from understudy.errors import InputError
from understudy.people.found_file import accept, change, reject, undecided_of_kind, undo
from understudy.story.storyfile.found import Decision, FoundEntry, FoundFile
from understudy.story.types import Moment, Schema

Decide = Callable[[FoundFile, Collection[str]], FoundFile]
SOURCE = Moment((1, 1, 2))
FILE = FoundFile(
    Path("found.toml"),
    entries=(
        FoundEntry("a", found_fact("Ines", "hobby", "chess", SOURCE), ("q",)),
        FoundEntry("b", found_tie("Ines", "Mara", "friend", SOURCE), ("q",)),
        FoundEntry("c", found_tie("Ines", "Mara", "affection", SOURCE, level=3), ("q",)),
        FoundEntry("d", found_fact("Mara", "hobby", "tea", SOURCE), ("q",)),
    ),
)


def verdicts(file: FoundFile) -> dict[str, Decision]:
    return {entry.id: entry.decision for entry in file.entries}


def test_all_of_a_kind_are_decided_and_taken_back_together() -> None:
    decided = reject(FILE, ["a"])
    file = accept(decided, undecided_of_kind(decided, "hobby"))
    assert [verdicts(file)[entry].verdict for entry in "ad"] == ["rejected", "accepted"]
    assert verdicts(undo(file)) == verdicts(decided)
    assert verdicts(undo(undo(file))) == verdicts(FILE)


@pytest.mark.parametrize(
    ("entry", "value"), [("a", " "), ("b", "best friend"), ("b", "confidant"), ("c", "11"), ("c", "much"), ("c", "²")]
)
def test_a_change_must_say_something_that_there_is(entry: str, value: str) -> None:
    with pytest.raises(InputError):
        change(FILE, entry, value, Schema())


def test_a_change_is_kept_beside_what_was_found() -> None:
    file = change(change(change(FILE, "a", "go", Schema()), "b", "enemy", Schema()), "c", "-4", Schema())
    assert [verdicts(file)[entry].values for entry in "abc"] == [("go",), ("enemy",), ("-4",)]
    assert [entry.claim for entry in file.entries] == [entry.claim for entry in FILE.entries]


def test_unknown_entries_and_kinds_are_told_of() -> None:
    with pytest.raises(InputError, match="no entry 'x'"):
        accept(FILE, ["x"])
    with pytest.raises(InputError, match="affection, friend, hobby"):
        undecided_of_kind(FILE, "title")
    with pytest.raises(InputError, match="no decision to take back"):
        undo(FILE)


@given(st.lists(st.tuples(st.sampled_from([accept, reject]), st.sets(st.sampled_from("abcd"), min_size=1)), max_size=9))
def test_undo_goes_back_step_by_step(steps: list[tuple[Decide, set[str]]]) -> None:
    files = [FILE]
    for decide, ids in steps:
        files.append(decide(files[-1], ids))
    for before, after in zip(reversed(files[:-1]), reversed(files[1:])):
        assert verdicts(undo(after)) == verdicts(before)
