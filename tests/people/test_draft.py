"""A draft: finders' claims become a found.toml; what is finished and what was decided is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stories import found_fact, found_tie
from understudy.errors import InputError
from understudy.formats import read
from understudy.people.draft import (
    Finder,
    accept,
    change,
    checkpoint_folder,
    draft,
    find_people,
    is_large,
    leave_pending,
    read_draft,
    reject,
    undecided_of_kind,
)
from understudy.progress import Progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FoundDecision, FoundEntry, FoundFile, line_after
from understudy.story.types import Fact, Moment, Relation, Schema

HOOKS = "I never look at hooks"
THIEF = "you are a thief"


def line_with(story: Story, text: str) -> Moment:
    return next(story.lines_with(lambda said: text in said, Moment.end())).moment


def hobbies(story: Story, _: Progress) -> Iterator[Fact | Relation]:
    yield found_fact("Tobias Rook", "hobby", "hooks", line_with(story, HOOKS), confidence=0.7)


def friends(story: Story, _: Progress) -> Iterator[Fact | Relation]:
    line = line_with(story, THIEF)
    yield found_tie("Mara Quill", "Tobias Rook", "friend", line, confidence=0.4)
    yield found_fact("Tobias Rook", "secret", "a theft", line)
    yield Fact("Tobias Rook", "title", ("thief",), line, found=found_fact("A", "b", "c", line).found)
    yield found_fact("Tobias Rook", "title", "a judge", Moment((9, 9, 9)))


FINDERS: tuple[tuple[str, Finder], ...] = (("hobbies", hobbies), ("friends", friends))


def test_what_finders_find_is_written_and_used(story: Path) -> None:
    opened = read(story)
    drafted = draft(opened, finders=FINDERS)
    assert [placed.problem for placed in drafted.entries] == ["", "below the bound of 0.6"]
    assert drafted.left_out == 3, "a secret, a claim that holds too early, and one of a line that is not there"
    assert [fact.values for fact in read(story).facts("Tobias")] == [("hooks",)]
    assert read_draft(opened).file == drafted.file
    assert not checkpoint_folder(opened).exists()


def test_a_draft_that_was_stopped_goes_on_where_it_was(story: Path) -> None:
    opened, calls = read(story), list[str]()

    def counted(story: Story, progress: Progress) -> Iterator[Fact | Relation]:
        calls.append("counted")
        return hobbies(story, progress)

    def stopped(_: Story, __: Progress) -> Iterator[Fact | Relation]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draft(opened, finders=[("hobbies", counted), ("friends", stopped)])
    assert not (story / "found.toml").exists()
    resumed = draft(opened, finders=[("hobbies", counted), ("friends", friends)])
    assert calls == ["counted"] and len(resumed.entries) == 2
    draft(opened, finders=[("hobbies", counted), ("friends", friends)])
    assert calls == ["counted"] * 2, "what is finished is looked for anew"
    with pytest.raises(KeyboardInterrupt):
        draft(opened, finders=[("hobbies", counted), ("friends", stopped)])
    draft(opened, finders=[("hobbies", counted), ("friends", friends)], fresh=True)
    assert calls == ["counted"] * 4


def test_decisions_survive_a_new_draft_and_a_changed_text(story: Path) -> None:
    opened = read(story)
    first = draft(opened, finders=FINDERS).file
    hobby, friend = first.entries
    change(reject(first, [friend.id]), hobby.id, "keys", opened.schema).write()
    script = (story / "act-1.txt").read_text().replace("[Rain on the roof.]", "[Rain.]\n[Thunder.]")
    (story / "act-1.txt").write_text(script.replace("TOBIAS: I sold", "[A bell.]\nTOBIAS: I sold"))
    changed = read(story)
    again = draft(changed, finders=FINDERS).file
    assert [(entry.id, entry.decision.verdict) for entry in again.entries] == [
        (hobby.id, "changed"),
        (friend.id, "rejected"),
    ]
    assert again.entries[0].claim.since == line_after(line_with(changed, HOOKS)) == Moment((1, 1, 5))
    assert [fact.values for fact in changed.facts("Tobias")] == [("keys",)]
    assert not changed.relations(of="Mara")


def test_what_was_accepted_stays_though_no_finder_finds_it_again(story: Path) -> None:
    opened = read(story)
    file = draft(opened, finders=FINDERS).file
    accept(file, [file.entries[1].id]).write()
    kept = draft(opened, finders=FINDERS[:1]).file
    assert [entry.decision.verdict for entry in kept.entries] == ["", "accepted"]
    unheard: list[tuple[str, Finder]] = [("hobbies", lambda _, __: ()), ("friends", lambda _, __: ())]
    assert [entry.kind for entry in draft(opened, finders=unheard).file.entries] == ["friend"]


def test_what_other_finders_had_found_stays(story: Path) -> None:
    opened = read(story)
    draft(opened, finders=FINDERS)
    assert {entry.finder for entry in draft(opened, finders=FINDERS[:1]).file.entries} == {"hobbies", "friends"}


def test_what_two_finders_find_is_one_entry_with_the_lines_of_both(story: Path) -> None:
    opened = read(story)

    def later(story: Story, _: Progress) -> Iterator[Fact | Relation]:
        yield found_fact("Tobias Rook", "hobby", "hooks", line_with(story, THIEF), confidence=0.9)

    (entry,) = draft(opened, finders=[("later", later), ("hobbies", hobbies)]).file.entries
    assert entry.finding.sources == (line_with(opened, HOOKS), line_with(opened, THIEF))
    assert entry.finding.confidence == 0.9 and entry.claim.since == line_after(line_with(opened, HOOKS))
    assert [quote.partition(":")[0] for quote in entry.quotes] == ["Tobias Rook", "Mara Quill"]


def test_the_same_words_said_twice_are_two_entries(story: Path) -> None:
    opened = read(story)
    line = line_with(opened, HOOKS)
    twice = [
        found_tie("Tobias Rook", "Ines Vale", "friend", line),
        found_tie("Tobias Rook", "Ines Vale", "friend", line),
    ]
    file = draft(opened, finders=[("twice", lambda _, __: twice)]).file
    assert len({entry.id for entry in file.entries}) == 2


def test_what_is_pending_is_so_until_it_is_looked_for(story: Path) -> None:
    opened = read(story)
    file = draft(opened, finders=FINDERS).file
    accept(file, [file.entries[1].id]).write()
    leave_pending(opened)
    assert opened.is_pending and [fact.values for fact in opened.facts("Tobias")] == [("hooks",)]
    find_people(opened)
    assert not opened.is_pending
    assert "accepted" in {entry.decision.verdict for entry in read_draft(opened).file.entries}


def test_a_story_is_large_by_its_lines_or_its_people(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = read(story)
    assert not is_large(opened)
    for limit in ("LARGE_LINES", "LARGE_CAST"):
        with monkeypatch.context() as smaller:
            smaller.setattr(f"understudy.people.draft.{limit}", 2)
            assert is_large(opened)


def test_several_files_have_no_place_for_it(story: Path) -> None:
    opened = read([story / "act-1.txt", story / "act-2.txt"])
    with pytest.raises(InputError, match=r"\.story"):
        draft(opened, finders=FINDERS)


def test_nobody_has_looked(story: Path) -> None:
    with pytest.raises(InputError, match="understudy draft"):
        read_draft(read(story))


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


def verdicts(file: FoundFile) -> dict[str, FoundDecision]:
    return {entry.id: entry.decision for entry in file.entries}


def test_all_of_a_kind_are_decided_and_taken_back_together() -> None:
    decided = reject(FILE, ["a"])
    file = accept(decided, undecided_of_kind(decided, "hobby"))
    assert [verdicts(file)[entry].verdict for entry in "ad"] == ["rejected", "accepted"]
    assert verdicts(file.undone()) == verdicts(decided)
    assert verdicts(file.undone().undone()) == verdicts(FILE)


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
        FILE.undone()


@given(st.lists(st.tuples(st.sampled_from([accept, reject]), st.sets(st.sampled_from("abcd"), min_size=1)), max_size=9))
def test_undo_goes_back_step_by_step(steps: list[tuple[Decide, set[str]]]) -> None:
    files = [FILE]
    for decide, ids in steps:
        files.append(decide(files[-1], ids))
    for before, after in zip(reversed(files[:-1]), reversed(files[1:])):
        assert verdicts(after.undone()) == verdicts(before)
