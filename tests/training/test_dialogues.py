from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models import TRADES, tiny_base, tiny_cross_encoder, tiny_data
from people import hearing
from realdata import folder
from understudy.agents import agent_named
from understudy.errors import InputError
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona
from understudy.training.cross_encoder import CrossEncoderSettings
from understudy.training.dialogues import (
    ALL_PARTS,
    ProfiledDialogue,
    dialogues_of,
    held_back,
    held_back_sessions,
    hpd_dialogues,
    hpd_training_file,
    parse_given,
    questions_of,
    training_file,
)

TWO = """\
1 your persona: i mend clocks.
2 your persona: i have no brothers.
3 partner's persona: i sail.
4 hello .\thi , i mend clocks .
5 i sail .\tfar ?
1 your persona: i bake.
2 __SILENCE__\tgood morning .
3 so it is .\twhat a day .
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "train_both_original_no_cands.txt"
    path.write_text(TWO, encoding="utf-8")
    return path


def test_a_dialogue_has_two_profiles_and_all_its_turns(two: Path) -> None:
    first, second = dialogues_of(two)
    assert first.profiles == (("i sail.",), ("i mend clocks.", "i have no brothers."))
    assert first.turns == ((0, "hello ."), (1, "hi , i mend clocks ."), (0, "i sail ."), (1, "far ?"))
    assert second.profiles == ((), ("i bake.",))
    assert [who for who, _ in second.turns] == [1, 0, 1]


def test_both_chairs_are_asked(two: Path) -> None:
    questions = list(questions_of(dialogues_of(two), "self"))
    assert [(question.reply, question.own[0]) for question in questions[:4]] == [
        ("hello .", "i sail."),
        ("hi , i mend clocks .", "i mend clocks."),
        ("i sail .", "i sail."),
        ("far ?", "i mend clocks."),
    ]
    assert questions[3].history == ((False, "hello ."), (True, "hi , i mend clocks ."), (False, "i sail ."))
    assert questions[3].message(1) == "i sail ."
    assert questions[3].message(2) == "hi , i mend clocks . i sail ."
    assert questions[0].message(1) == ""


@pytest.mark.parametrize(
    ("condition", "count", "shown"),
    [
        ("none", 7, ()),
        ("self", 6, ("i mend clocks.", "i have no brothers.")),
        ("their", 5, ("i sail.",)),
        ("both", 4, ("i mend clocks.", "i have no brothers.", "i sail.")),
    ],
)
def test_who_lacks_the_profile_that_is_to_be_shown_is_not_asked(
    two: Path, condition: str, count: int, shown: tuple[str, ...]
) -> None:
    questions = list(questions_of(dialogues_of(two), condition))
    assert len(questions) == count
    far = next(question for question in questions if question.reply == "far ?")
    assert far.shown(condition) == shown


def test_the_file_with_most_to_learn_from_is_taken(tmp_path: Path) -> None:
    for name in ("train_self_original.txt", "train_none_original.txt"):
        (tmp_path / name).touch()
    assert training_file(tmp_path, "original", "self").name == "train_self_original.txt"
    assert training_file(tmp_path, "revised", "none").name == "train_none_original.txt"
    (tmp_path / "train_both_original_no_cands.txt").touch()
    assert training_file(tmp_path, "original", "self").name == "train_both_original_no_cands.txt"
    with pytest.raises(InputError, match="with revised personas: it needs one of train_both_revised_no_cands"):
        training_file(tmp_path, "revised", "self")
    with pytest.raises(InputError, match="no such folder"):
        training_file(tmp_path / "nowhere", "original", "self")


def test_whoever_is_held_back_takes_part_in_no_training_dialogue(tmp_path: Path) -> None:
    dialogues = dialogues_of(training_file(tiny_data(tmp_path), "original", "self"))
    split = held_back(dialogues, 0.2, seed=0)
    assert split.asked
    assert len(split.training) + len(split.held) == len(dialogues)
    assert all(split.asked.isdisjoint(dialogue.profiles) for dialogue in split.training)
    assert all(question.own in split.asked for question in questions_of(split.held, "self", split.asked))
    assert held_back(dialogues, 0.2, seed=0) == split
    assert held_back(dialogues, 0.2, seed=1).asked != split.asked
    assert held_back(dialogues, 0, seed=0).held == []


def test_profiles_that_share_two_sentences_are_one_person() -> None:
    profiles: list[tuple[str, ...]] = [("a.", "b.", "c."), ("c.", "b."), ("a.", "x.")]
    first, part, last = profiles
    dialogues = [ProfiledDialogue((first, part), ()), ProfiledDialogue((last, ()), ())]
    split = held_back(dialogues, 0.5, seed=0)
    assert set(split.asked) in ({first, part}, {last})


def test_without_profiles_dialogues_are_held_back() -> None:
    split = held_back([ProfiledDialogue(((), ()), ((0, f"hello {number} ."),)) for number in range(10)], 0.2, seed=0)
    assert (len(split.training), len(split.held)) == (8, 2)
    assert len(list(questions_of(split.held, "none", split.asked))) == 2


def test_nothing_to_train_on(tmp_path: Path, two: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 your persona: i bake.\n", encoding="utf-8")
    with pytest.raises(InputError, match="no dialogue"):
        dialogues_of(path)
    with pytest.raises(InputError, match="too few"):
        held_back(dialogues_of(two), 0.99, seed=0)


def test_the_real_training_dialogues() -> None:
    dialogues = dialogues_of(training_file(folder("personachat"), "original", "self"))
    assert len(dialogues) == 1355
    assert sum(len(dialogue.turns) for dialogue in dialogues) == 19_998
    split = held_back(dialogues, 0.05, seed=0)
    assert 80 < len(split.held) < 200


def session(number: int, **more: Any) -> dict[str, Any]:
    mine, theirs = sorted(TRADES)[number % 12], sorted(TRADES)[(number + 5) % 12]
    return {
        "position": f"Book1-chapter{number + 1}",
        "speakers": ["Harry", "Ron"],
        "scene": f"Harry and Ron look at {mine} in the square.",
        "dialogue": [
            f"Ron: hello , i {TRADES[theirs]} {theirs} , and you ?",
            f"Harry: i {TRADES[mine]} {mine} all day .",
            "Ron: where do you live ?",
            "Harry: by the mill .",
        ],
        "attributes": {"Harry": {"name": "Harry", "talents": f"{TRADES[mine]} {mine}", "hobbies": "None"}},
        "relations with Harry": {"Ron": {"friend": 1.0, "Harry's affection to him": 7.0}, "Draco": {"enemy": 1.0}},
        **more,
    }


def written(path: Path, sessions: int = 24, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({f"Session-{n}": session(n, **more) for n in range(sessions)}), encoding="utf-8")
    return path


def test_what_is_given_is_in_harrys_profile(tmp_path: Path) -> None:
    path = written(tmp_path / "en_train_set.json", 1)
    [whole] = hpd_dialogues(path, parse_given(ALL_PARTS))
    scene, *sentences = whole.profiles[1]
    assert scene == "Harry and Ron look at bees in the square."
    assert whole.profiles[0] == (scene,)
    assert any("Ron" in text for text in sentences) and any("keep bees" in text for text in sentences)
    assert not any("Draco" in text for text in sentences), "he does not speak here"
    assert [mine for mine, _ in whole.turns] == [0, 1, 0, 1]
    assert whole.turns[3] == (1, "by the mill .")
    [bare] = hpd_dialogues(path, parse_given("dialogue"))
    assert bare.profiles == ((), ()) and bare.turns == whole.turns
    [related] = hpd_dialogues(path, parse_given("dialogue+relations"))
    assert related.profiles == ((), tuple(text for text in sentences if "Ron" in text))


def test_only_what_there_is_can_be_given() -> None:
    assert parse_given("dialogue+scene") == {"scene"}
    with pytest.raises(InputError, match="did you mean 'attributes'"):
        parse_given("dialogue+atributes")
    with pytest.raises(InputError, match="'scene' cannot be given"):
        parse_given("scene")


def test_test_sets_are_not_learnt_from(tmp_path: Path) -> None:
    assert hpd_training_file(tmp_path) is None
    written(tmp_path / "en_test_set.json", 2, positive_response="yes .", negative_response=["no ."])
    with pytest.raises(InputError, match="only test sets"):
        hpd_training_file(tmp_path)
    chinese = written(tmp_path / "cn_train_set.json", 2, dialogue=["Ron: 你好，你是谁？", "Harry: 我是哈利。"])
    english = written(tmp_path / "en_train_set.json", 2)
    assert hpd_training_file(tmp_path) == english != chinese


def test_sessions_are_held_back_whole(tmp_path: Path) -> None:
    dialogues = hpd_dialogues(written(tmp_path / "en_train_set.json"), parse_given(ALL_PARTS))
    split = held_back_sessions(dialogues, 0.25, 0)
    assert (len(split.training), len(split.held)) == (18, 6)
    assert all(profile in split.asked for dialogue in split.held for profile in dialogue.profiles)
    with pytest.raises(InputError, match="too few"):
        held_back_sessions(dialogues, 0.99, 0)


def test_a_cross_encoder_learns_from_sessions_and_reads_the_scene(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="training needs the extra 'train'")
    from understudy.training import train
    from understudy.training.encoder import EncoderSettings
    from understudy.training.post_training import PostTrainingSettings

    data = written(tmp_path / "hpd" / "en_train_set.json").parent
    base = tiny_base(tmp_path / "base")
    encoder = tiny_cross_encoder(tmp_path / "beside") / "encoder"
    settings = CrossEncoderSettings(
        epochs=1, batch=32, drawn=8, hardest=2, others=2, held_back=0.1,
        towers=EncoderSettings(runs=1, epochs=1, batch=64), post_training=PostTrainingSettings(epochs=1),
    )  # fmt: skip
    model = train("cross-encoder", data, tmp_path / "model", settings=settings, base=base, origin=encoder, device="cpu")
    assert model.card["data"]["given"] == ALL_PARTS and model.card["reads_setting"]
    assert model.card["settings"]["post_training"]["epochs"] == 1
    agent = agent_named(str(tmp_path / "model"))
    asked = hearing("where do you live ?")
    here = Situation(Persona("Harry", profile=("i keep bees.",)), setting="the lighthouse , the harbour , the boat .")
    nowhere = Situation(Persona("Harry", profile=("i keep bees.",)))
    assert agent._context(here, asked).own == (here.setting, "i keep bees.")
    assert agent._context(nowhere, asked).own == ("i keep bees.",)


def test_the_real_sessions(tmp_path: Path) -> None:
    """The test sessions without their replies, as a training set has them."""
    sessions = json.loads((folder("hpd") / "en_test_set.part1.json").read_text(encoding="utf-8"))
    for member in sessions.values():
        del member["positive_response"], member["negative_response"]
    path = tmp_path / "en_train_set.json"
    path.write_text(json.dumps(sessions), encoding="utf-8")
    assert hpd_training_file(tmp_path) == path
    dialogues = hpd_dialogues(path, parse_given(ALL_PARTS))
    assert len(dialogues) > 60
    assert sum(len(dialogue.profiles[1]) for dialogue in dialogues) / len(dialogues) > 5
    assert all(any(mine for mine, _ in dialogue.turns) or dialogue.turns for dialogue in dialogues)
