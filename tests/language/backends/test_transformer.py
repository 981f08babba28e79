from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import tiny_gguf, tiny_language_model, words_of
from understudy.errors import InputError, MissingExtra
from understudy.language.backends.transformer import CAUSAL, MASKED, Transformer, length_batches, open_transformer
from understudy.story.dialogue import LanguageModel, Situation
from understudy.story.persona import Persona

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

LINES = ["the tide is out", "my key is on the hook and the tide is in", "key", "where is my boat , Tobias ?"]
SOMEWHERE = Situation(Persona("Ines"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {kind: tiny_language_model(folder / kind, kind, words_of(LINES)) for kind in (CAUSAL, MASKED)}


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, Transformer]:
    return {kind: open_transformer(folder) for kind, folder in folders.items()}


@pytest.mark.parametrize("kind", [CAUSAL, MASKED])
def test_the_kind_is_told_from_the_folder_and_it_is_a_language_model(models: dict[str, Transformer], kind: str) -> None:
    assert models[kind].kind == kind and isinstance(models[kind], LanguageModel)


def test_a_causal_models_values_are_those_worked_out_by_hand(models: dict[str, Transformer]) -> None:
    import torch

    model = models[CAUSAL]
    ids = [5, *(model.tokenizer.convert_tokens_to_ids(word) for word in "the tide is out".split()), 6]  # <s> ... </s>
    wanted = []
    for position in range(1, len(ids)):  # each token asked for by itself, with nothing after it
        with torch.no_grad():
            logits = model.network(input_ids=torch.tensor([ids[:position]])).logits[0, -1].double()
        wanted.append(float(logits[ids[position]] - torch.logsumexp(logits, 0)))
    log_probs = model.log_probs(SOMEWHERE, (), "the tide is out")
    assert log_probs == pytest.approx(wanted, abs=1e-5) and len(log_probs) == 5
    assert model.tokens("the tide is out") == ["the", "tide", "is", "out", "</s>"]


def test_a_masked_models_pseudo_log_probabilities_are_those_worked_out_by_hand(models: dict[str, Transformer]) -> None:
    import torch

    model = models[MASKED]
    words = [model.tokenizer.convert_tokens_to_ids(word) for word in "the tide is out".split()]
    wanted = []
    for position, word in enumerate(words):
        ids = [2, *words, 3]  # [CLS] ... [SEP]
        ids[position + 1] = 4  # [MASK]
        with torch.no_grad():
            logits = model.network(input_ids=torch.tensor([ids])).logits[0, position + 1].double()
        wanted.append(float(logits[word] - torch.logsumexp(logits, 0)))
    assert model.log_probs(SOMEWHERE, (), "the tide is out") == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("kind", [CAUSAL, MASKED])
def test_many_lines_at_once_score_as_each_does_alone(
    models: dict[str, Transformer], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models[kind]
    alone = [model.many([line])[0] for line in LINES]
    assert [len(logs) for logs in alone] == [len(line.split()) + (kind == CAUSAL) for line in LINES]
    for room in (1 << 26, 1):  # all in one batch; each in its own
        monkeypatch.setattr("understudy.language.backends.transformer.ROOM", room)
        for batched, wanted in zip(model.many(LINES), alone):
            assert batched == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("kind", [CAUSAL, MASKED])
def test_a_text_longer_than_the_window_is_read_as_far_as_it_goes(models: dict[str, Transformer], kind: str) -> None:
    assert len(models[kind].log_probs(SOMEWHERE, (), " ".join(["tide"] * 1000))) < 32


def test_what_is_no_language_model_says_what_is_wanted(folders: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("not a model")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF but not really")
    for source in (
        tmp_path / "empty",
        tmp_path / "notes.txt",
        tmp_path / "nowhere" / "at" / "all",
        tmp_path / "broken.gguf",
    ):
        with pytest.raises(InputError, match=r"model\.safetensors and tokenizer\.json"):
            open_transformer(source)


def test_a_model_without_a_head_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    from transformers import BertForMaskedLM, PreTrainedTokenizerFast

    BertForMaskedLM.from_pretrained(folders[MASKED]).bert.save_pretrained(tmp_path)
    PreTrainedTokenizerFast.from_pretrained(folders[MASKED]).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="nothing to predict words with"):
        open_transformer(tmp_path)


def test_weights_that_would_be_unpickled_are_not_opened(folders: dict[str, Path], tmp_path: Path) -> None:
    import torch
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    model = LlamaForCausalLM.from_pretrained(folders[CAUSAL])
    model.config.save_pretrained(tmp_path)
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    PreTrainedTokenizerFast.from_pretrained(folders[CAUSAL]).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="cannot be opened as a language model"):
        open_transformer(tmp_path)


def test_damaged_weights_and_configurations_are_said_to_be_unusable(folders: dict[str, Path], tmp_path: Path) -> None:
    for name, content in (("model.safetensors", b"\x08"), ("config.json", b"{"), ("tokenizer.json", b"[]")):
        broken = tmp_path / name.replace(".", "-")
        broken.mkdir()
        for file in folders[CAUSAL].iterdir():
            (broken / file.name).write_bytes(content if file.name == name else file.read_bytes())
        with pytest.raises(InputError, match="cannot be opened"):
            open_transformer(broken)
    assert json.loads((folders[CAUSAL] / "config.json").read_text())["model_type"] == "llama"


def test_a_missing_extra_is_named(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"\.\[train\]"):
        open_transformer(folders[CAUSAL])


def test_a_gguf_file_is_a_model_that_can_be_written_as_a_folder(tmp_path: Path) -> None:
    model = open_transformer(tiny_gguf(tmp_path / "letters.gguf"))
    (log_probs,) = model.many(["the tide"])
    assert (
        model.kind == CAUSAL and len(log_probs) > 2 and all(math.isfinite(value) and value < 0 for value in log_probs)
    )
    model.network.save_pretrained(tmp_path / "folder")
    model.tokenizer.save_pretrained(tmp_path / "folder")
    assert open_transformer(tmp_path / "folder").many(["the tide"])[0] == pytest.approx(log_probs, abs=1e-5)


def fits(rows: int, longest: int) -> bool:
    return rows * longest <= 10


def test_rows_of_one_length_go_together_and_none_is_left_out() -> None:
    assert list(length_batches([5, 1, 5, 2], fits)) == [[1, 3], [0, 2]]
    assert list(length_batches([30, 1], fits)) == [[1], [0]]


@given(st.lists(st.integers(0, 30)))
def test_every_row_is_in_one_batch_that_fits_or_is_alone(lengths: list[int]) -> None:
    batches = list(length_batches(lengths, fits))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or fits(len(batch), max(lengths[row] for row in batch)) for batch in batches)
