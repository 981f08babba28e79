from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models import tiny_base, tiny_data
from understudy.errors import InputError
from understudy.language.encoding.encoder import load_tokenizer
from understudy.training.bert import paired
from understudy.training.corpus import Sequences, Shown, TokenizedDialogues
from understudy.training.dialogues import dialogues_of, held_back
from understudy.training.loop import fit, no_progress
from understudy.training.post_training import (
    KINDS,
    PostTrainingSettings,
    _loss,
    heads_at_start,
    masking_loss,
    post_train,
    relevance_logits,
    second_text,
)
from understudy.training.pretrained import WORDS, Base, load_base
from understudy.training.run import Checkpoint, TrainingRun, TrainingTask

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

from understudy.training.bert import states  # noqa: E402

CPU = torch.device("cpu")
REPLY = 2  # the kind that is what follows


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return load_base(tiny_base(tmp_path_factory.mktemp("base")))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, base: Base) -> TokenizedDialogues:
    data = tiny_data(tmp_path_factory.mktemp("data"), dialogues=60)
    split = held_back(dialogues_of(data / "train_both_original_no_cands.txt"), 0.0, 0)
    return TokenizedDialogues(split, [], load_tokenizer(base.tokenizer))


def test_the_second_text_is_of_its_kind(corpus: TokenizedDialogues) -> None:
    rng = random.Random(0)
    for example in corpus.examples[:40]:
        texts = [second_text(corpus, example, kind, rng) for kind in range(len(KINDS))]
        assert texts[REPLY] == example.reply
        assert texts[1] in example.around and texts[1] != example.reply
        assert texts[0] in corpus.pool
    random_texts = [second_text(corpus, corpus.examples[0], 0, rng) for _ in range(500)]
    assert len(set(random_texts)) > len(corpus.pool) / 2


def test_the_loss_is_that_of_masked_words_and_of_the_kind(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the tokens to mask given, both parts by hand."""
    parameters = {
        name: torch.from_numpy(tensor) for name, tensor in {**base.tensors, **heads_at_start(base.shape, 0)}.items()
    }
    parameters["kinds.weight"] = torch.randn(3, base.shape.width, generator=torch.Generator().manual_seed(0))
    contexts, replies = [[8, 12, 13, 14, 9]], [[8, 1, 20, 21, 9]]
    stream = paired(contexts, replies, CPU)
    drawn = torch.ones(stream.ids.shape)
    drawn[[0, 2, 7]] = 0.0  # the first token is special and is never masked
    monkeypatch.setattr(torch, "rand", lambda *_args, **_options: drawn)
    ids = stream.ids.clone()
    ids[[2, 7]] = base.mask
    with torch.no_grad():
        state = states(parameters, replace(stream, ids=ids), base.shape)
        words = (state[[2, 7]] @ parameters[WORDS].T).log_softmax(dim=1)
        kind = (state[stream.firsts] @ parameters["kinds.weight"].T).log_softmax(dim=1)
        expected = -(words[0, stream.ids[2]] + words[1, stream.ids[7]]) / 2 - kind[0, 1]
        loss = masking_loss(parameters, stream, [1], base, dropout=0.0)
    assert float(loss) == pytest.approx(float(expected), rel=1e-4)


def test_what_follows_what_is_learnt(corpus: TokenizedDialogues, base: Base, tmp_path: Path) -> None:
    settings = PostTrainingSettings(epochs=20, batch=32, rate=2e-3, dropout=0.0)
    start = {**base.tensors, **heads_at_start(base.shape, 0)}
    learnt = fit(
        start, _loss(corpus, base, settings, 0, CPU), len(corpus.examples), settings.optimization, 0, CPU,
        Checkpoint(tmp_path / "partial", {}), no_progress, 1000,
    )  # fmt: skip
    parameters = {name: torch.from_numpy(tensor) for name, tensor in learnt.items()}
    make, rng, told = Sequences(base.form), random.Random(1), Counter[bool]()
    for kind in range(len(KINDS)):
        contexts, replies = list[list[int]](), list[list[int]]()
        for example in corpus.examples:
            turns = [(mine, corpus.tokens[text]) for mine, text in example.turns[-3:]]
            contexts.append(make.context(Shown([], [], turns)))
            replies.append(make.text(corpus.tokens[second_text(corpus, example, kind, rng)], "reply"))
        stream = paired(contexts, replies, CPU)
        with torch.no_grad():
            logits = relevance_logits(parameters, states(parameters, stream, base.shape), stream)
        told.update(((logits.argmax(dim=1) == REPLY) == (kind == REPLY)).tolist())
    assert told[True] / told.total() > 0.8  # whatever the seed; what is always said is right in two thirds


def test_post_training_leaves_a_base_of_the_same_shape(corpus: TokenizedDialogues, base: Base, tmp_path: Path) -> None:
    settings = PostTrainingSettings(epochs=1, batch=64, rate=1e-3)
    run = TrainingRun(TrainingTask(tmp_path, tmp_path / "model", settings, device="cpu"))
    run.begin({})
    trained = post_train(base, corpus, settings, run)
    assert trained.tensors.keys() == base.tensors.keys()
    assert not np.allclose(trained.tensors[WORDS], base.tensors[WORDS])
    assert post_train(base, corpus, PostTrainingSettings(), run) is base
    for wrong in ({"epochs": -1}, {"turns": 0}, {"dropout": 1.0}):
        with pytest.raises(InputError):
            PostTrainingSettings(**wrong)
