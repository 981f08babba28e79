"""Tables of what telling masked speakers took."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import realdata
from understudy.errors import InputError
from understudy.formats.annotations import (
    COARSE,
    EVIDENCE,
    REASONING,
    Instance,
    Rationale,
    SpeakerGuess,
    guess_documents,
    read_annotations,
    read_needed_scenes,
    read_speaker_guesses,
)
from understudy.formats.tvshowguess import show_scenes

HEADS = "Episode\tneed history\tFacts abstracted from memory\tCharacter Code\tGuessed Character Name\t" + "\t".join(
    f"Evidence-{letter}1\tEvidence-{letter}2\tReasoning Type" for letter in "ab"
)


def table(folder: Path, *lines: str, heads: str = HEADS, name: str = "show.tsv") -> Path:
    path = folder / name
    path.write_text("\n".join((heads, *lines)) + "\n", encoding="utf-8")
    return path


def test_a_line_is_one_speaker_with_the_way_taken_and_the_other_ways(tmp_path: Path) -> None:
    path = table(tmp_path, "09x01 2500\tno\tyes\tP4\tRoss\tfact(relation)\tpersonality\t\thistory event\t\t")
    (found,) = read_annotations(path)
    assert found.source == "show"
    assert found.instance == Instance((9, 1), 2500, 4)
    assert found.needs_history == "indirect"
    assert found.rationales == (
        Rationale(("fact (relation)", "personality"), "default conjunction"),
        Rationale(("memory",), "none"),
    )
    assert found.evidence == ("fact (relation)", "personality")
    assert found.coarse_evidence == ("fact", "personality")


def test_a_scene_of_two_episodes_in_one_is_of_the_first(tmp_path: Path) -> None:
    path = table(tmp_path, "09x22/23 2500\tno\tyes\tP4\tRoss\tfact(relation)\tpersonality\t\t\t\t")
    assert [one.instance for one in read_annotations(path)] == [Instance((9, 22), 2500, 4)]


@pytest.mark.parametrize(
    ("event", "abstracted", "expected"),
    [("no", "no", "none"), ("no", "yes", "indirect"), ("yes", "yes", "direct"), ("yes", "no", "direct")],
)
def test_an_event_is_direct_and_what_is_abstracted_alone_indirect(
    tmp_path: Path, event: str, abstracted: str, expected: str
) -> None:
    path = table(tmp_path, f"1x1 1\t{event}\t{abstracted}\tP0\t\tpersonality")
    assert read_annotations(path)[0].needs_history == expected


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("history event", "memory"),
        ("Memory ", "memory"),
        ("inside_scene(exclusive)", "exclusion"),
        ("Inside-scene (Mention)", "inside-scene (mention)"),
        ("FACT( relationship )", "fact (relation)"),
        ("linguistic_style", "linguistic style"),
    ],
)
def test_evidence_is_known_however_it_is_spelt(tmp_path: Path, written: str, kind: str) -> None:
    assert read_annotations(table(tmp_path, f"01x02 3\tNo\tYES\tp1\t\t{written}"))[0].evidence == (kind,)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("memory\t\t", "none"),
        ("memory\t\tno", "none"),
        ("memory\tmemory\t", "none"),  # the same kind twice is one kind
        ("memory\tpersonality\t", "default conjunction"),
        ("memory\tpersonality\tMulti-hop (character)", "multihop-character"),
        ("memory\t\tcommon sense", "commonsense"),
    ],
)
def test_reasoning_is_conjunction_where_none_is_named_and_evidence_is_joined(
    tmp_path: Path, cells: str, expected: str
) -> None:
    assert read_annotations(table(tmp_path, f"01x02 3\tno\tno\tP0\t\t{cells}"))[0].reasoning == expected


def test_other_heads_blank_lines_and_missing_trailing_cells_are_read(tmp_path: Path) -> None:
    heads = "Episode\tneed history event\tFacts abstracted from memory\tCharacter Code\tEvidence-a1\tReasoning Type"
    found = read_annotations(
        table(tmp_path, "08x04 4914 \tno\tno\tP0\tpersonality", "", "\t\t", heads=f"\ufeff{heads}")
    )
    assert [one.instance for one in found] == [Instance((8, 4), 4914, 0)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("scene 3\tno\tno\tP0\t\tmemory", "'scene 3': it should name episode and scene"),
        ("01x01 3\tmaybe\tno\tP0\t\tmemory", "'maybe' is none of yes, no"),
        ("01x01 3\tno\tno\tQ0\t\tmemory", "it should be P0, P1"),
        ("01x01 3\tno\tno\tP0\t\tintuition", "'intuition' is none of linguistic style, personality, fact (attribute)"),
        ("01x01 3\tno\tno\tP0\t\tmemory\t\tmagic", "'magic' is none of none, default conjunction, multihop-character"),
        ("01x01 3\tno\tno\tP0\t\t\t\t\tmemory", "names no evidence under 'Evidence-a1'"),
        ("01x01 2\tno\tno\tP0\t\tmemory", "twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    path = table(tmp_path, "01x01 2\tno\tno\tP0\t\tmemory", line)
    with pytest.raises(InputError) as caught:
        read_annotations(path)
    assert told in str(caught.value)
    assert caught.value.line == 3
    assert caught.value.path == path


def test_missing_columns_are_named(tmp_path: Path) -> None:
    path = table(tmp_path, "x", heads="Episode\tneed history\tCharacter Code")
    with pytest.raises(InputError, match="'Facts abstracted from memory', 'Evidence-a1'"):
        read_annotations(path)


def test_places_are_by_first_lines_where_the_scene_is_beside_the_table(tmp_path: Path) -> None:
    scenes = ("01x01 2", "01x01 2", "01x01 2", "01x01 3")
    path = table(tmp_path, *(f"{at}\tno\tno\tP{code}\t\tmemory" for at, code in zip(scenes, (0, 1, 2, 1))))
    raw = 'No.,Scene,Answer\n1,"01x01 2[\'a\'] P1 : ""Hi,"" P7!\nP0 : Oh. P1 : Yes.","{}"\n'
    path.with_suffix(".raw").write_text(raw, encoding="utf-8")
    # P2 says nothing in the scene and comes last; in a scene that is not there the number counts
    assert [one.instance.place for one in read_annotations(path)] == [1, 0, 4, 1]


def test_whoever_has_no_line_is_not_taken_for_somebody_who_has(tmp_path: Path) -> None:
    path = table(tmp_path, "01x01 2\tno\tno\tP0\t\tmemory", "01x01 2\tno\tno\tP1\t\tmemory")
    path.with_suffix(".raw").write_text("No.,Scene\n1,01x01 2 P1 : Hi.\n", encoding="utf-8")
    assert [one.instance.place for one in read_annotations(path)] == [1, 0]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("No.,Text\n1,x\n", "no column 'Scene'"),
        ("No.,Scene\n1,x\n", "should begin with episode and scene"),
        ("No.,Scene\n1\n", "2"),
    ],
)
def test_a_file_of_scenes_that_is_none_is_refused(tmp_path: Path, raw: str, told: str) -> None:
    path = table(tmp_path, "01x01 2\tno\tno\tP0\t\tmemory")
    path.with_suffix(".raw").write_text(raw, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_annotations(path)


def test_a_folder_is_all_its_tables(tmp_path: Path) -> None:
    for name in ("b.tsv", "a.tsv"):
        table(tmp_path, "01x01 2\tno\tno\tP0\t\tmemory", name=name)
    assert [one.source for one in read_annotations(tmp_path)] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no tables"):
        read_annotations(tmp_path / "empty")


KINDS = st.lists(st.sampled_from(sorted(EVIDENCE)), min_size=1, max_size=2, unique=True)
SPEAKERS = st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 9999), st.integers(0, 9))


@given(st.dictionaries(SPEAKERS, st.tuples(KINDS, st.sampled_from(sorted(REASONING))), max_size=6))
def test_what_is_written_is_what_is_read(tmp_path: Path, told: dict[tuple[int, ...], tuple[list[str], str]]) -> None:
    lines = [
        f"{a}x{b} {scene}\tno\tno\tP{place}\t\t{kinds[0]}\t{kinds[1] if len(kinds) > 1 else ''}\t{reasoning}"
        for (a, b, scene, place), (kinds, reasoning) in told.items()
    ]
    found = {one.instance: (list(one.evidence), one.reasoning) for one in read_annotations(table(tmp_path, *lines))}
    assert found == {((a, b), scene, place): said for (a, b, scene, place), said in told.items()}


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_whatever_the_file_holds_it_is_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.tsv"
    path.write_bytes(f"{HEADS}\n{text}".encode())
    try:
        read_annotations(path)
    except InputError as error:
        assert str(error)


@pytest.fixture
def folder() -> Path:
    return realdata.folder("tvshowguess")


def shares(folder: Path, source: str, attribute: str) -> dict[str, int]:
    """How often something is said in a released table, of 151 speakers a show."""
    told = (getattr(one, attribute) for one in read_annotations(folder / "human_annotation" / f"{source}.tsv"))
    return Counter(kind for said in told for kind in ((said,) if isinstance(said, str) else said))


def test_needs_of_history_are_the_papers(folder: Path) -> None:
    assert shares(folder, "friends", "needs_history") == {"none": 81, "direct": 40, "indirect": 30}
    assert shares(folder, "tbbt", "needs_history") == {"none": 49, "direct": 55, "indirect": 47}


def test_evidence_is_the_papers_but_for_the_background(folder: Path) -> None:
    friends, tbbt = (shares(folder, source, "evidence") for source in ("friends", "tbbt"))
    printed = {  # per cent of 151
        "linguistic style": (0.66, 9.93), "personality": (7.28, 21.85), "fact (attribute)": (2.65, 8.61),
        "fact (relation)": (16.56, 22.52), "fact (status)": (1.32, 1.99), "memory": (36.42, 27.15),
        "exclusion": (8.61, 22.52),
    }  # fmt: skip
    for kind, told in printed.items():
        assert [100 * counts[kind] / 151 for counts in (friends, tbbt)] == pytest.approx(told, abs=0.006), kind
    mention = "inside-scene (mention)"  # one line of the second table names it twice, and the paper counts both
    assert (friends[mention], tbbt[mention]) == (23, 23 - 1)
    background = "inside-scene (background)"  # the paper prints 50 and 19: the released tables have fewer
    assert (friends[background], tbbt[background]) == (49, 17)
    assert set(shares(folder, "tbbt", "coarse_evidence")) == set(COARSE)


def test_reasoning_is_the_papers_but_for_what_the_missing_background_joined(folder: Path) -> None:
    friends, tbbt = (shares(folder, source, "reasoning") for source in ("friends", "tbbt"))
    for kind, printed in {"multihop-character": (6, 21), "multihop-textual": (8, 8), "commonsense": (7, 1)}.items():
        assert (friends[kind], tbbt[kind]) == printed
    assert (friends["default conjunction"], tbbt["default conjunction"]) == (25 - 1, 43 - 1)


def test_places_are_those_of_the_people_whom_the_answers_name(folder: Path) -> None:
    speakers = {
        (scene.season, scene.episode, scene.number): list(
            dict.fromkeys(who for who, _ in scene.lines if who in scene.main_characters)
        )
        for scene in show_scenes(folder / "dev.jsonl")
    }
    checked = Counter[bool]()
    for source in ("friends", "tbbt"):
        path = folder / "human_annotation" / f"{source}.tsv"
        with path.with_suffix(".raw").open(encoding="utf-8", newline="") as file:
            answers = {re.match(r"\S+ \d+", row["Scene"])[0]: row["Answer"] for row in csv.DictReader(file)}  # type: ignore[index]
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        for line, one in zip(lines, read_annotations(path), strict=True):
            answer = re.search(rf"'{line[3]}': '(\w+)'", answers.get(line[0].strip(), ""))
            (season, episode), scene, place = one.instance
            said = speakers[season, episode, scene]
            if answer is not None and place < len(said):
                checked[said[place] == answer[1]] += 1
    # of 302, two are of a scene whose answers are missing, and one is of somebody who has no line in the file
    assert checked == {True: 299}


GOOD = '{"episode": "09x01", "scene": 2510, "place": 0, "needed": [2501, 2504, 2501]}'


def test_scenes_are_told_by_speaker(tmp_path: Path) -> None:
    path = tmp_path / "needed.jsonl"
    path.write_text(f'{GOOD}\n\n{{"episode": "10x12", "scene": 3, "place": 2, "needed": []}}\n')
    assert read_needed_scenes(path) == {
        ("", Instance((9, 1), 2510, 0)): {2501, 2504},
        ("", Instance((10, 12), 3, 2)): frozenset(),
    }


def test_two_shows_may_number_their_scenes_alike(tmp_path: Path) -> None:
    path = tmp_path / "needed.jsonl"
    record = {"episode": "09x01", "scene": 2510, "place": 0}
    records = [{**record, "show": "FRIENDS", "needed": [2501]}, {**record, "show": "Frasier", "needed": [7]}]
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    at = Instance((9, 1), 2510, 0)
    assert read_needed_scenes(path) == {("FRIENDS", at): {2501}, ("Frasier", at): {7}}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", "should be an object with 'episode'"),
        ('{"episode": "09x01", "scene": 1, "place": 0}', "'needed'"),
        ('{"episode": "nine", "scene": 1, "place": 0, "needed": []}', "it should look like '09x01'"),
        ('{"episode": "09x01", "scene": "1", "place": 0, "needed": []}', "whole numbers"),
        ('{"episode": "09x01", "scene": 1, "place": 0, "needed": [true]}', "whole numbers"),
        ('{"episode": "09x01", "scene": 1, "place": -1, "needed": []}', "whole numbers"),
        ('{"show": 1, "episode": "09x01", "scene": 1, "place": 0, "needed": []}', "name of a show"),
        (GOOD, "twice"),
    ],
)
def test_what_is_wrong_with_needed_scenes_is_said_with_its_line(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "needed.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_needed_scenes(path)
    assert told in str(caught.value) and caught.value.line == 2


names = st.text(min_size=1)
guesses = st.builds(
    SpeakerGuess,
    show=st.text(),
    episode=st.lists(st.integers(0, 99), max_size=3).map(tuple),
    scene=st.integers(0, 9999),
    place=st.integers(0, 5),
    who=names,
    guess=names,
    person=st.text(),
)


@given(
    st.lists(guesses, min_size=1, unique_by=lambda each: (each.show, each.episode, each.scene, each.place, each.person))
)
def test_guesses_that_are_written_are_read(tmp_path_factory: pytest.TempPathFactory, some: list[SpeakerGuess]) -> None:
    path = tmp_path_factory.mktemp("guesses") / "answers.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in guess_documents(some)), encoding="utf-8")

    assert read_speaker_guesses(path) == some


@pytest.mark.parametrize("change", [{"guess": ""}, {"scene": "2"}, {"episode": ["9"]}, {"person": None}])
def test_lines_that_are_no_guesses_say_where(tmp_path: Path, change: dict[str, Any]) -> None:
    (document,) = guess_documents([SpeakerGuess("s", (9, 1), 7, 0, "Ann", "Bea", "p1")])
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(document) + "\n" + json.dumps(document | change) + "\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"answers\.jsonl:2: should be an object"):
        read_speaker_guesses(path)


def test_nobody_guesses_a_speaker_twice(tmp_path: Path) -> None:
    documents = guess_documents([SpeakerGuess("s", (9, 1), 7, 0, "Ann", guess, "p1") for guess in ("Ann", "Bea")])
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), encoding="utf-8")

    with pytest.raises(InputError, match="a second guess of p1"):
        read_speaker_guesses(path)
