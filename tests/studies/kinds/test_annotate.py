from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import understudy
from understudy.formats import read
from understudy.progress import ignore_progress
from understudy.story.persona import persona_at
from understudy.story.types import Fact, Relation, holding_at
from understudy.studies import Study
from understudy.studies.item import Problem, StudyItem, item_from_document
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds.annotate import ANNOTATE as KIND
from understudy.studies.participation import give_answer, give_consent, view
from understudy.studies.store import open_study_store

SCRIPT = """\
# part 1

## chapter 1

### scene 1: The pier

INES VALE: I keep the keys here.
TOBIAS ROOK: Then you know the brass one.

## chapter 2

### scene 1: The cellar

TOBIAS ROOK: You lied to me, Ines.
INES VALE: I did.
"""


@pytest.fixture
def story_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "story"
    folder.mkdir()
    (folder / "part-1.txt").write_text(SCRIPT)
    return folder


def study_of(folder: Path, **material: object) -> Study:
    own = {"story": "story", "people": ["The Keeper"], **material}
    return Study("annotate", "Who?", people_per_item=3, material=own, folder=folder.parent)


def chapters(study: Study) -> list[StudyItem]:
    return [item_from_document(item.document()) for item in KIND.items(study, ignore_progress)]


def fact(who: str, attribute: str, value: str, since: str = "") -> dict[str, str]:
    return {"who": who, "attribute": attribute, "value": value, "from": since}


def tie(of: str, to: str, kind: str, level: str = "", since: str = "") -> dict[str, str]:
    return {"of": of, "to": to, "kind": kind, "level": level, "from": since}


def given(item: StudyItem, *answers: dict[str, Any]) -> list[GivenAnswer]:
    return [GivenAnswer(item, f"p{number}", answer) for number, answer in enumerate(answers, 1)]


def test_a_chapter_is_shown_line_by_line_with_numbers_to_refer_to(story_folder: Path) -> None:
    first, second, *integrations = chapters(study_of(story_folder))

    lines = [line.text for block in first.blocks for line in block.lines]
    assert lines[0].endswith("I keep the keys here.")
    assert lines[0].startswith("[1.1.1.1]")
    assert [question.name for question in first.questions] == ["facts", "ties", "scenes"]
    assert [item.name for item in (first, second)] == ["1-1", "1-2"]
    assert [(item.name, item.after, item.people) for item in integrations] == [
        ("1-1.integrated", ("1-1",), 1), ("1-2.integrated", ("1-2",), 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "row", "message"),
    [
        ("facts", fact("Inez Vale", "age", "40"), "did you mean 'Ines Vale'"),
        ("facts", fact("", "age", "40"), "write a name"),
        ("facts", fact("Ines Vale", "ages", "40"), "did you mean 'age'"),
        ("facts", fact("Ines Vale", "age", " "), "write what"),
        ("facts", fact("Ines Vale", "age", "40", "soon"), "'soon' is not a moment"),
        ("facts", fact("Ines Vale", "age", "40", "1.2"), "comes after this chapter"),
        ("facts", fact("Ines Vale", "secret", "none"), "not for a secret"),
        ("ties", tie("Ines Vale", "INES VALE", "friend"), "to themselves"),
        ("ties", tie("Ines Vale", "Tobias Rook", "affection", "11"), "from -10 to 10"),
        ("ties", tie("Ines Vale", "Tobias Rook", "familiarity", "-1"), "from 0 to 10"),
        ("ties", tie("Ines Vale", "Tobias Rook", "affection", "much"), "a whole number"),
        ("ties", tie("Ines Vale", "Tobias Rook", "friend", "3"), "has no level"),
        ("ties", tie("Ines Vale", "Tobias Rook", "frend"), "did you mean 'friend'"),
        ("scenes", {"first": "1.1.1.2", "last": "1.1.1.1"}, "before the first"),
        ("scenes", {"first": "1.1.1.1", "last": "1.1.1.9"}, "no line of this chapter"),
        ("scenes", {"first": "1.1.1.1", "last": "1.1.1.2", "present": "Ines Vale; Nobody"}, "nobody is called"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_beside_it(
    story_folder: Path, table: str, row: dict[str, str], message: str
) -> None:
    item = chapters(study_of(story_folder))[0]

    (problem,) = KIND.problems(item, {table: [{}, row]})

    assert message in problem.message
    assert (problem.question, problem.index) == (table, 1)


def test_rows_that_are_right_or_still_blank_are_accepted(story_folder: Path) -> None:
    item = chapters(study_of(story_folder))[0]
    answer = {
        "facts": [fact("ines vale", "Belongings", "the brass key; a lamp", "1.1.1.2"), fact("The Keeper", "age", "90")],
        "ties": [tie("Ines Vale", "Tobias Rook", "affection", "-10"), tie("Ines Vale", "Tobias Rook", "friend"), {}],
        "scenes": [{"first": "[1.1.1.1]", "last": "1.1.1.2", "setting": "the pier", "present": "Ines Vale"}],
    }

    assert KIND.problems(item, answer) == []


def test_two_levels_of_one_tie_and_scenes_that_overlap_are_refused(story_folder: Path) -> None:
    item = chapters(study_of(story_folder))[0]
    levels = [tie("Ines Vale", "Tobias Rook", "affection", level) for level in ("3", "4")]
    scenes = [{"first": "1.1.1.1", "last": "1.1.1.2"}, {"first": "1.1.1.2", "last": "1.1.1.2"}]

    problems = KIND.problems(item, {"ties": levels, "scenes": scenes})

    assert [(problem.question, problem.index) for problem in problems] == [("ties", 1), ("scenes", 1)]


def test_the_integrator_sees_who_said_what_and_decides_what_is_not_agreed(story_folder: Path) -> None:
    item, *_, integration, _ = chapters(study_of(story_folder))
    answers = given(
        item,
        {"facts": [fact("Ines Vale", "age", "40"), fact("Ines Vale", "title", "Keeper of the keys")]},
        {"facts": [fact("ines vale", "age", "40", "1.1"), fact("Tobias Rook", "age", "30")]},
        {"facts": [fact("Ines Vale", "age", "41"), fact("Ines Vale", "title", "keeper of the KEYS")]},
    )

    prepared = KIND.prepared(integration, {"1-1": answers})

    assert prepared.default is not None
    marks = [(row["who"], row["attribute"], row["value"], row["by"]) for row in prepared.default["facts"]]
    assert marks == [
        ("Ines Vale", "age", "40", "A, B"),
        ("Ines Vale", "age", "41", "C"),
        ("Ines Vale", "title", "Keeper of the keys", "A, C"),
        ("Tobias Rook", "age", "30", "B"),
    ]
    (differing,) = prepared.blocks[len(integration.blocks) :]
    assert differing.lines[0].text == "Ines Vale, age. A: 40 from 1.1 | B: 40 from 1.1 | C: 41 from 1.1"
    assert differing.lines[2].text == "Tobias Rook, age. A: nothing | B: 30 from 1.1 | C: nothing"
    problems = KIND.problems(prepared, prepared.default)
    assert [problem.index for problem in problems] == [0, 1, 2, 3]
    decided = [{**prepared.default["facts"][0], "by": ""}]
    assert KIND.problems(prepared, {"facts": decided}) == []


def test_agreed_rows_are_filled_in_without_a_question(story_folder: Path) -> None:
    item, *_, integration, _ = chapters(study_of(story_folder))
    answers = given(item, *[{"ties": [tie("Ines Vale", "Tobias Rook", "friend")]}] * 3)

    prepared = KIND.prepared(integration, {"1-1": answers})

    assert prepared.default == {"ties": [{**tie("Ines Vale", "Tobias Rook", "friend", "", "1.1"), "by": "all"}]}
    assert len(prepared.blocks) == len(integration.blocks)
    assert KIND.problems(prepared, prepared.default) == []


def test_a_fourth_person_is_given_the_chapter_with_the_draft_filled_in(story_folder: Path, tmp_path: Path) -> None:
    study = study_of(story_folder, within="1.1")
    with open_study_store(tmp_path / "studies.db") as store:
        store.add_study("keys", study, KIND.items(study, ignore_progress))
        tokens = store.invite("keys", 4)
        for token in tokens:
            give_consent(store, token, {})
        for token in tokens[:3]:
            assignment = view(store, token).assignment
            assert assignment is not None
            after = give_answer(store, token, assignment, {"facts": [fact("Ines Vale", "age", "40")]})
            assert after.state == "done"

        seen = view(store, tokens[3])

        assert seen.item is not None
        assert seen.item.name == "1-1.integrated"
        assert seen.document()["draft"] == {"facts": [{**fact("Ines Vale", "age", "40", "1.1"), "by": "all"}]}


def test_the_cast_file_is_read_back_with_these_facts_at_these_moments(story_folder: Path, tmp_path: Path) -> None:
    study = study_of(story_folder)
    first, second, integrated, _ = chapters(study)
    answers = [
        *given(first, {"facts": [fact("Ines Vale", "age", "39")]}, {}, {}),  # what was integrated counts instead
        GivenAnswer(
            integrated,
            "p4",
            {
                "facts": [
                    fact("Ines Vale", "belongings", "the brass key; a lamp"),
                    fact("Ines Vale", "title", "Keeper", "1.1.1.2"),
                    fact("Tobias Rook", "secret", "I sold the lamp"),
                ],
                "ties": [
                    tie("Tobias Rook", "Ines Vale", "friend"),
                    tie("Tobias Rook", "Ines Vale", "affection", "6"),
                ],
            },
        ),
        *given(
            second,
            *[
                {
                    "facts": [
                        fact("Ines Vale", "belongings", "the brass key; a lamp"),
                        fact("Ines Vale", "title", "none"),
                    ],
                    "ties": [
                        tie("Tobias Rook", "Ines Vale", "friend", "over", "1.2.1.1"),
                        tie("Tobias Rook", "Ines Vale", "affection", "-5", "1.2.1.1"),
                    ],
                }
            ]
            * 2,
            {"facts": [fact("Ines Vale", "age", "41")]},  # one of three: not what most say
        ),
    ]

    KIND.outputs["cast"](study, answers, story_folder / "cast.toml")
    story = read(story_folder)
    at = story.moment

    assert set(story.annotated_facts()) == {
        Fact("Ines Vale", "belongings", ("the brass key", "a lamp"), at("1.1")),
        Fact("Ines Vale", "title", ("Keeper",), at("1.1.1.2"), at("1.2")),
        Fact("Tobias Rook", "secret", ("I sold the lamp",), at("1.1"), known_to=()),
    }
    assert set(story.annotated_relations()) == {
        Relation("Tobias Rook", "Ines Vale", "friend", None, at("1.1"), at("1.2.1.1")),
        Relation("Tobias Rook", "Ines Vale", "affection", 6, at("1.1")),
        Relation("Tobias Rook", "Ines Vale", "affection", -5, at("1.2.1.1")),
    }
    assert story.character("The Keeper").name == "The Keeper"
    before, after = (persona_at(story, "Tobias Rook", moment) for moment in ("1.2", "1.2.1.2"))
    assert {(felt.kind, felt.level) for felt in before.relations} == {("friend", None), ("affection", 6)}
    assert {(felt.kind, felt.level) for felt in after.relations} == {("affection", -5)}


def test_annotators_who_state_all_that_an_author_wrote_give_the_same_story(tmp_path: Path) -> None:
    """The demo, annotated chapter by chapter: at every moment the ties hold that its author wrote."""
    study = Study("annotate", "All", people_per_item=1, material={"story": "demo", "integrators": 0})
    items = chapters(study)
    perfect = [GivenAnswer(item, "p1", KIND.simulate(item, 1.0, random.Random(0))) for item in items]
    assert [KIND.problems(each.item, each.answer) for each in perfect] == [[]] * len(items)
    demo = read("demo")
    folder = tmp_path / "again"
    folder.mkdir()
    scripts = Path(understudy.__file__).parent / "stories" / "demo"
    for script in scripts.glob("part-*.txt"):
        (folder / script.name).write_bytes(script.read_bytes())

    KIND.outputs["cast"](study, perfect, folder / "cast.toml")
    again = read(folder)

    stated = {(tie.key, tie.level, tie.since) for tie in again.annotated_relations()}
    assert len(stated) > 50
    endless = {tie.key for tie in demo.annotated_relations()} - {
        tie.key for tie in demo.annotated_relations() if tie.until is not None
    }
    for moment in ("1.1", "1.3.2", "2.2.4", "3.2", "end"):
        now = demo.moment(moment)
        ours, theirs = (
            {
                (tie.key, tie.level)
                for tie in holding_at(story.annotated_relations(), now)
                if tie.key in endless and tie.since.numbers >= (1, 1)
            }
            for story in (again, demo)
        )
        assert ours == theirs


def test_agreement_is_worked_out_by_hand(story_folder: Path) -> None:
    study = study_of(story_folder)
    first, second, integrated, _ = chapters(study)
    age, later, title = (
        fact("Ines Vale", "age", "40"),
        fact("Ines Vale", "age", "40", "1.1.1.2"),
        fact("Ines Vale", "title", "x"),
    )
    answers = [
        *given(first, {"facts": [age, title]}, {"facts": [age]}, {"facts": [later]}),
        GivenAnswer(integrated, "p4", {"facts": [age]}),
        *given(second, {"facts": [fact("Tobias Rook", "age", "30")]}, {"facts": [fact("Tobias Rook", "age", "30")]}),
    ]

    assert KIND.figures is not None
    rows = {(row["table"], row["with"], row["match"], row["metric"]): row for row in KIND.figures(study, answers)}

    # pairs of the first chapter share 1 of 2+1, 0 of 2+1 and 0 of 1+1 rows; the pair of the second its one row
    assert rows["facts", "each other", "whole", "f1"]["value"] == pytest.approx(2 * (1 + 0 + 0 + 1) / (3 + 3 + 2 + 2))
    assert rows["facts", "each other", "undated", "f1"]["value"] == pytest.approx(2 * (1 + 1 + 1 + 1) / 10)
    assert rows["facts", "integrated", "whole", "f1"]["value"] == pytest.approx(2 * (1 + 1 + 0) / (3 + 2 + 2))
    assert rows["facts", "each other", "whole", "f1"]["n"] == 4
    # one person with 19 attributes in each chapter: both state 1, 1, 1, 1; only the first states 1, 1, 0, 0 more
    both, only, total = 4, 2, 4 * 19
    observed = (total - only) / total
    expected = ((both + only) * both + (total - both - only) * (total - both)) / total**2
    kappa = rows["facts", "each other", "subject", "kappa"]["value"]
    assert kappa == pytest.approx((observed - expected) / (1 - expected))


def test_levels_of_affection_have_an_alpha(story_folder: Path) -> None:
    study = study_of(story_folder)
    first, second, *_ = chapters(study)
    answers = [
        each
        for item, levels in ((first, (6, 6, 6)), (second, (-5, -5, -5)))
        for each in given(item, *({"ties": [tie("Tobias Rook", "Ines Vale", "affection", str(n))]} for n in levels))
    ]

    assert KIND.figures is not None
    (alpha,) = (row for row in KIND.figures(study, answers) if row["metric"] == "alpha")

    assert (alpha["match"], alpha["value"], alpha["n"]) == ("affection", 1.0, 2)


def test_skilled_crowds_agree_more(story_folder: Path) -> None:
    study = Study("annotate", "All", people_per_item=3, material={"story": "demo", "within": "1", "integrators": 0})
    items = chapters(study)

    def f1(skill: float) -> float:
        rng = random.Random(1)
        answers = [GivenAnswer(item, f"p{n}", KIND.simulate(item, skill, rng)) for item in items for n in range(3)]
        assert not [problem for each in answers for problem in KIND.problems(each.item, each.answer)]
        assert KIND.figures is not None
        rows = KIND.figures(study, answers)
        return next(float(row["value"]) for row in rows if row["with"] == "author" and row["match"] == "whole")

    assert f1(1.0) == 1.0
    assert f1(0.9) > f1(0.4)


def test_problems_name_nothing_of_an_empty_answer(story_folder: Path) -> None:
    item = chapters(study_of(story_folder))[0]

    problems: list[Problem] = KIND.problems(item, {})

    assert problems == []
