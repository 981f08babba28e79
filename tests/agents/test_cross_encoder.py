from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from models import tiny_cross_encoder
from people import hearing, situation
from understudy.agents.cross_encoder import HEAD_FILE, CrossEncoder
from understudy.agents.encoder import EncoderAgent
from understudy.agents.fit import MAX_PROFILE, build_context
from understudy.errors import InputError
from understudy.language.model_folder import read_tensors, write_tensors
from understudy.story.dialogue import Question

pytest.importorskip("onnx", reason="the tiny models are written with the extra 'train'")

EXCHANGES = [  # enough for somebody to have something of their own to say
    ("Ines", f"where is the {item} of the {location} ?", f"the {item} is by the {location} .")
    for item in ("key", "boat", "bread", "rope", "salt", "wool", "glass", "maps")
    for location in ("mill", "harbour", "tower")
]
CANDIDATES = ["in my pocket .", "", "the key is by the mill .", "i sail boats all day . " * 12, "in my pocket ."]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_cross_encoder(tmp_path_factory.mktemp("models") / "cross")


@pytest.fixture(scope="module")
def agent(model: Path) -> CrossEncoder:
    return CrossEncoder(model, cache=False)


def test_a_score_is_the_models_own_and_the_encoders_weighed(agent: CrossEncoder, model: Path) -> None:
    given, history = situation(*EXCHANGES, profile=("i sail boats.",)), hearing("where is the key ?")
    beside = EncoderAgent(model / "encoder", cache=False).score(given, history, CANDIDATES)
    [own] = agent._pairs.scores([build_context(given, history)], [CANDIDATES])
    combined = agent.score(given, history, CANDIDATES)
    assert combined == [round(cross + 2.0 * fit, 6) for cross, fit in zip(own, beside)]
    assert len(set(own)) == 4


def test_many_at_once_have_the_scores_of_each_alone(model: Path, tmp_path: Path) -> None:
    calls = list[tuple[int, int]]()
    many = CrossEncoder(model, threads=2, cache=tmp_path, progress=lambda done, total: calls.append((done, total)))
    questions: list[Question] = [
        (situation(profile=("i sail boats.",)), hearing("hello ."), CANDIDATES),
        (situation(), hearing("where do you live ?", "and the key ?"), CANDIDATES[:1]),
        (situation(), [], []),
    ]
    alone = CrossEncoder(model, cache=False)
    assert many.score_many(questions) == [alone.score(*question) for question in questions]
    assert (3, 3) in calls  # of the pairs; the encoder reports its own progress
    foreign: Question = (situation(language="ja", profile=("港。",)), hearing("鍵？"), ["鍵。", "船。"])
    assert many.score_many([*questions, foreign]) == [*many.score_many(questions), alone.score(*foreign)]


def test_it_reranks_the_encoders_best(tmp_path: Path) -> None:
    model = tiny_cross_encoder(tmp_path / "model", weight=0)  # so that only the cross-encoder counts
    agent, given, history = CrossEncoder(model, cache=False), situation(*EXCHANGES), hearing("where is the key ?")
    answer = agent.reply(given, history)
    first = EncoderAgent(model / "encoder", cache=False).reply(given, history)
    texts = [candidate.text for candidate in answer.candidates]
    assert texts != [candidate.text for candidate in first.candidates]
    [own] = agent._pairs.scores([build_context(given, history)], [texts])
    assert own == sorted(own, reverse=True) == pytest.approx([candidate.score for candidate in answer.candidates])
    assert answer.text == texts[0]
    assert answer.evidence[0].kind == "exchange"
    [heard] = [heard for _, heard, said in EXCHANGES if said == answer.text]
    assert answer.evidence[0].text == f"Ines: {heard}"


def test_other_languages_are_the_encoders(agent: CrossEncoder, model: Path) -> None:
    given = situation(("Ines", "鍵はどこ？", "ポケットの中だ。"), language="ja")
    expected = EncoderAgent(model / "encoder", cache=False).reply(given, hearing("鍵は？"))
    assert agent.reply(given, hearing("鍵は？")) == expected


def test_of_a_long_profile_the_nearest_sentences_are_read(agent: CrossEncoder) -> None:
    profile = tuple(f"i live by the {name}, number {number}." for number, name in enumerate(["mill", "tower"] * 10))
    context = agent._context(situation(profile=profile), hearing("where do you live ?"))
    assert len(context.own) == MAX_PROFILE
    assert list(context.own) == [sentence for sentence in profile if sentence in context.own]


def broken(model: Path, to: Path, **card: object) -> Path:
    tiny_cross_encoder(to)
    content = json.loads((to / "model.json").read_text(encoding="utf-8")) | card
    (to / "model.json").write_text(json.dumps(content), encoding="utf-8")
    return to


def test_folders_that_cannot_be_used(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a model for 'encoder', not for 'cross-encoder'"):
        CrossEncoder(model / "encoder")
    with pytest.raises(InputError, match="format 2"):
        CrossEncoder(broken(model, tmp_path / "newer", format=2))
    with pytest.raises(InputError, match="no number for 'weight'"):
        CrossEncoder(broken(model, tmp_path / "unweighed", weight="much"))
    whole = broken(model, tmp_path / "cut")
    head = dict(read_tensors(whole / HEAD_FILE)[0])
    write_tensors(whole / HEAD_FILE, head | {"head.0.weight": np.zeros((3, 5), np.float32)})
    with pytest.raises(InputError, match=r"'head.0.weight' is float32 \[3, 5\]"):
        CrossEncoder(whole).score(situation(), [], ["yes ."])
    (whole / "cross-encoder.onnx").unlink()
    with pytest.raises(InputError, match="not whole: it has no cross-encoder.onnx; train it again"):
        CrossEncoder(whole)
