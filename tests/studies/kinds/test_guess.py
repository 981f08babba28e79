from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from understudy.errors import InputError
from understudy.formats.annotations import Instance, read_annotations, read_needed_scenes, read_speaker_guesses
from understudy.progress import ignore_progress
from understudy.studies import Study
from understudy.studies.item import StudyItem, item_from_document
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds.guess import GUESS as KIND

SHOW = [
    {
        "show": "The_Pier", "season": 2, "episode_id": "02x03", "scene_id": number, "title": f"[Scene: Pier {number}]",
        "lines": [
            ["ann", f"Ann: Tide {number} is in."],
            ["background", "(A gull cries.)"],
            ["bea", "Bea: So it is, Ann."],
            ["porter", "Porter: Mind the step."],
            *([["cam", "Cam: I told you so."]] if number % 2 else []),
        ],
        "main_characters": ["ann", "bea", *(["cam"] if number % 2 else [])],
        "tvsg_split": "dev" if number >= 30 else None,
    }
    for number in range(1, 34)
]  # fmt: skip


@pytest.fixture
def show(tmp_path: Path) -> Study:
    lines = "".join(json.dumps(scene) + "\n" for scene in SHOW)
    (tmp_path / "scenes.jsonl").write_text(lines, encoding="utf-8")
    return Study("guess", "Who?", people_per_item=2, material={"scenes": "scenes.jsonl"}, folder=tmp_path)


def items_of(study: Study) -> list[StudyItem]:
    return [item_from_document(json.loads(json.dumps(item.document()))) for item in KIND.items(study, ignore_progress)]


def answer_to(item: StudyItem, history: str = "none", needed: tuple[str, ...] = (), **changed: Any) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for mask in item.hidden["masks"]:
        answer |= {
            f"{mask} who": item.hidden["answers"][mask],
            f"{mask} evidence": ["memory"] if history == "direct" else ["personality"],
            f"{mask} history": history,
            f"{mask} reasoning": "none",
            f"{mask} needed": list(needed),
        }
    return answer | {name.replace("_", " "): value for name, value in changed.items()}


def test_speakers_are_hidden_and_twenty_earlier_scenes_can_be_opened(show: Study) -> None:
    first, *rest = items_of(show)

    assert [item.name for item in (first, *rest)] == [f"The_Pier/02x03/{number}" for number in (30, 31, 32, 33)]
    shown = json.dumps(first.blocks[0].lines, default=lambda said: [said.speaker, said.text])
    assert '"Ann"' not in shown
    assert '"Porter"' in shown
    assert sorted(first.hidden["answers"].values()) == ["Ann", "Bea"]
    folded = [block for block in first.blocks if block.is_folded]
    assert [block.name for block in folded] == [f"2.3.{number}" for number in range(29, 9, -1)]
    assert folded[0].lines[0].speaker == "Ann"
    needed = next(question for question in first.questions if question.name.endswith("needed"))
    assert [option.key for option in needed.options] == [*(block.name for block in folded), "earlier"]
    assert "answers" not in json.dumps(first.shown())


def test_the_first_scenes_of_a_story_have_nothing_further_back(show: Study) -> None:
    study = Study("guess", "Who?", material={"story": "demo", "limit": 3})
    items = items_of(study)

    assert len(items) == 3
    names = {option.key for item in items for option in item.questions[0].options}
    assert names <= {"Zita Karst", "Casimir Ould", "Gudrun Haake", "Danilo Reuss", "Ignace Bohm", "Pia Lenk"}
    everything = items_of(Study("guess", "Who?", material={"story": "demo"}))
    opening = everything[0]
    assert not [block for block in opening.blocks if block.is_folded]
    assert not [question for question in opening.questions if question.name.endswith("needed")]


def test_all_main_characters_are_candidates_where_the_study_says_so(show: Study) -> None:
    study = Study("guess", "Who?", material={**show.material, "candidates": "cast"}, folder=show.folder)
    first = items_of(study)[0]

    assert [option.key for option in first.questions[0].options] == ["Ann", "Bea", "Cam"]
    assert KIND.problems(first, answer_to(first, P0_who="Cam", P1_who="Cam")) == []


@pytest.mark.parametrize(
    ("changed", "question"),
    [
        ({"P0_who": "Ann", "P1_who": "Ann"}, "P0 who"),
        ({"P0_needed": ["2.3.29"]}, "P0 needed"),
        ({"P1_history": "direct"}, "P1 needed"),
    ],
)
def test_what_does_not_go_together_is_refused(show: Study, changed: dict[str, Any], question: str) -> None:
    item = items_of(show)[0]

    problems = KIND.problems(item, answer_to(item, **changed))

    assert question in [problem.question for problem in problems]
    assert KIND.problems(item, answer_to(item)) == []


def test_annotations_are_read_back_by_the_readers_of_the_bench(show: Study, tmp_path: Path) -> None:
    items = items_of(show)
    given = [
        GivenAnswer(items[0], "p1", answer_to(items[0], "direct", ("2.3.29", "2.3.12"))),
        GivenAnswer(items[0], "p2", answer_to(items[0], "direct", ("2.3.29", "earlier"))),
        GivenAnswer(
            items[1], "p1", answer_to(items[1], P1_evidence=["memory", "fact (status)"], P1_history="indirect")
        ),
        GivenAnswer(items[1], "p2", answer_to(items[1])),
    ]

    KIND.outputs["annotation"](show, given, tmp_path / "human_annotation")

    folder = tmp_path / "human_annotation"
    assert sorted(path.name for path in folder.iterdir()) == [
        "The_Pier-p1.tsv", "The_Pier-p2.tsv", "needed_scenes.jsonl",
    ]  # fmt: skip
    first = {annotation.instance: annotation for annotation in read_annotations(folder / "The_Pier-p1.tsv")}
    assert len(first) == 2 + 3
    assert first[Instance((2, 3), 30, 0)].needs_history == "direct"
    place = items[1].hidden["masks"].index("P1")
    kinds = first[Instance((2, 3), 31, place)]
    assert (kinds.evidence, kinds.needs_history) == (("memory", "fact (status)"), "indirect")
    assert kinds.guess == items[1].hidden["answers"]["P1"]
    needed = read_needed_scenes(folder / "needed_scenes.jsonl")
    assert needed["The_Pier", Instance((2, 3), 30, 0)] == {29, 12}  # half of the two who annotated it suffice
    assert needed["The_Pier", Instance((2, 3), 31, 0)] == frozenset()


def test_scenes_of_two_shows_with_the_same_numbers_are_not_mixed_up(tmp_path: Path) -> None:
    lines = "".join(json.dumps({**scene, "show": show}) + "\n" for show in ("The_Pier", "The_Mill") for scene in SHOW)
    (tmp_path / "scenes.jsonl").write_text(lines, encoding="utf-8")
    study = Study("guess", "Who?", people_per_item=1, material={"scenes": "scenes.jsonl"}, folder=tmp_path)
    pier, mill = (next(item for item in items_of(study) if item.name.startswith(show)) for show in ("The_P", "The_M"))
    given = [
        GivenAnswer(pier, "p1", answer_to(pier, "direct", ("2.3.29",))),
        GivenAnswer(mill, "p2", answer_to(mill, "none")),
    ]

    assert KIND.figures is not None
    kappas = [row for row in KIND.figures(study, given) if row["metric"] == "kappa"]
    KIND.outputs["annotation"](study, given, tmp_path / "human_annotation")

    assert {row["reason"] for row in kappas} == {"no scene was annotated by two people"}
    needed = read_needed_scenes(tmp_path / "human_annotation" / "needed_scenes.jsonl")
    assert needed["The_Pier", Instance((2, 3), 30, 0)] == {29}
    assert needed["The_Mill", Instance((2, 3), 30, 0)] == frozenset()


def test_guesses_are_written_for_the_human_row_of_the_bench(show: Study, tmp_path: Path) -> None:
    item = items_of(show)[1]
    wrong = {f"{mask} who": "Ann" for mask in item.hidden["masks"]}
    given = [
        GivenAnswer(item, "p1", answer_to(item)),
        GivenAnswer(item, "p2", answer_to(item) | wrong),
    ]

    KIND.outputs["answers"](show, given, tmp_path / "people.jsonl")

    guesses = read_speaker_guesses(tmp_path / "people.jsonl")
    assert len(guesses) == 6
    assert [guess.who for guess in guesses[:3]] == ["Ann", "Bea", "Cam"]  # by their first lines
    assert [guess.guess == guess.who for guess in guesses] == [True, True, True, True, False, False]
    assert (guesses[0].show, guesses[0].episode, guesses[0].scene, guesses[0].person) == ("The_Pier", (2, 3), 31, "p1")


def test_figures_are_accuracy_and_the_kappas_of_the_paper(show: Study) -> None:
    items = items_of(show)
    histories = ("none", "indirect", "none", "indirect")
    given = [
        GivenAnswer(item, person, answer_to(item, history))
        for item, history in zip(items, histories)
        for person in ("p1", "p2", "p3")
    ]

    assert KIND.figures is not None
    rows = {row.get("annotation", row["metric"]): row for row in KIND.figures(show, given)}

    assert (rows["accuracy"]["value"], rows["accuracy"]["n"]) == (1.0, 3 * 10)
    assert (rows["history"]["value"], rows["history"]["n"], rows["history"]["paper"]) == (1.0, 3 * 10, 0.7551)
    assert rows["reasoning"]["value"] is None
    alone = KIND.figures(show, given[:1])
    assert [row["reason"] for row in alone if row["metric"] == "kappa"] == ["no scene was annotated by two people"] * 5


def test_skill_names_more_speakers_rightly(show: Study) -> None:
    items = items_of(show)

    def accuracy(skill: float) -> float:
        rng = random.Random(3)
        given = [GivenAnswer(item, f"p{n}", KIND.simulate(item, skill, rng)) for item in items for n in range(25)]
        assert not [problem for each in given for problem in KIND.problems(each.item, each.answer)]
        assert KIND.figures is not None
        return float(KIND.figures(show, given)[0]["value"])

    assert accuracy(1.0) == 1.0
    assert 0.3 < accuracy(0.0) < 0.6 < accuracy(0.7) < 1.0


def test_keys_of_a_story_beside_scenes_are_refused(show: Study) -> None:
    study = Study("guess", "Who?", material={**show.material, "since": "2.1"}, folder=show.folder)

    with pytest.raises(InputError, match="leave it out"):
        KIND.items(study, ignore_progress)
