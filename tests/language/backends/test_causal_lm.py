from __future__ import annotations

import hashlib
import random
import shutil
from pathlib import Path

import pytest

from models import dialogue_base, gpt2_base, tiny_gguf, tiny_language_model, trades
from understudy.errors import InputError
from understudy.language.backends.catalog import LocalModel
from understudy.language.backends.causal_lm import (
    PromptedReplies,
    base_card,
    find_base,
    reply_log_probs,
    reply_states,
    write_greedily,
)
from understudy.language.backends.transformer import Transformer, open_transformer

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

END = 6  # </s>


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Transformer:
    folder = tmp_path_factory.mktemp(request.param)
    llama = dialogue_base(folder / "llama", trades(folder / "data"))
    return open_transformer(llama if request.param == "llama" else gpt2_base(folder / "gpt2", llama), "cpu")


def questions(count: int) -> list[PromptedReplies]:
    rng = random.Random(3)

    def ids(least: int, most: int) -> list[int]:
        return [rng.randrange(7, 60) for _ in range(rng.randint(least, most))]

    return [PromptedReplies(ids(1, 40), [[*ids(0, 9), END] for _ in range(rng.randint(1, 6))]) for _ in range(count)]


def by_hand(model: Transformer, prompt: list[int], reply: list[int]) -> list[float]:
    """Each token asked for by itself, with nothing after it."""
    import torch

    values = []
    for position in range(len(reply)):
        with torch.no_grad():
            logits = model.network(input_ids=torch.tensor([prompt + reply[:position]])).logits[0, -1].double()
        values.append(float(logits[reply[position]] - torch.logsumexp(logits, 0)))
    return values


def test_replies_behind_one_prompt_have_the_values_worked_out_by_hand(model: Transformer) -> None:
    asked = questions(6)
    for question, found in zip(asked, reply_log_probs(model, asked)):
        assert len(found) == len(question.replies)
        for reply, values in zip(question.replies, found):
            assert values == pytest.approx(by_hand(model, question.prompt, reply), abs=1e-5)


def test_the_state_of_a_reply_is_that_of_its_last_token_read_alone(model: Transformer) -> None:
    import torch

    asked = questions(6)
    for question, states in zip(asked, reply_states(model, asked), strict=True):
        for reply, state in zip(question.replies, states, strict=True):
            with torch.no_grad():
                alone = model.network.base_model(input_ids=torch.tensor([question.prompt + reply])).last_hidden_state
            assert state == pytest.approx(alone[0, -1].numpy(), abs=1e-5)


@pytest.mark.parametrize(("setting", "value"), [("SHARED_TOKENS", 1), ("BATCH_TOKENS", 1), ("LOGITS", 1)])
def test_how_much_is_read_at_once_changes_no_value(
    model: Transformer, monkeypatch: pytest.MonkeyPatch, setting: str, value: int
) -> None:
    asked = questions(5)
    wanted = reply_log_probs(model, asked)
    monkeypatch.setattr(f"understudy.language.backends.causal_lm.{setting}", value)
    for replies, others in zip(reply_log_probs(model, asked), wanted):
        for values, other in zip(replies, others, strict=True):
            assert values == pytest.approx(other, abs=1e-5)


def test_what_is_written_is_the_most_probable_token_after_the_other(model: Transformer) -> None:
    import torch

    prompts = [question.prompt for question in questions(5)]
    written = write_greedily(model, prompts, END, 6)
    for prompt, (ids, log_probs) in zip(prompts, written):
        assert 1 <= len(ids) <= 6 and ids[0] != END and END not in ids[:-1]
        assert log_probs[1:] == pytest.approx(by_hand(model, prompt, ids)[1:], abs=1e-4)
        for position in range(1, len(ids)):
            with torch.no_grad():
                logits = model.network(input_ids=torch.tensor([prompt + ids[:position]])).logits[0, -1]
            assert int(logits.argmax()) == ids[position]
    assert [write_greedily(model, [prompt], END, 6)[0][0] for prompt in prompts] == [ids for ids, _ in written]


pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


def test_a_file_and_a_folder_are_known_by_their_weights(tmp_path: Path) -> None:
    gguf, folder = tiny_gguf(tmp_path / "letters.gguf"), tiny_language_model(tmp_path / "folder", "causal", ["key"])
    assert base_card(gguf)["sha256"] == hashlib.sha256(gguf.read_bytes()).hexdigest()
    weights = (folder / "model.safetensors").read_bytes()
    assert base_card(folder) == {"source": str(folder), "sha256": hashlib.sha256(weights).hexdigest()}


def test_a_base_is_found_where_it_was_beside_the_adapter_or_among_the_models_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gguf, adapter = tiny_gguf(tmp_path / "letters.gguf"), tmp_path / "adapter"
    adapter.mkdir()
    card = base_card(gguf)
    assert find_base(card, adapter) == str(gguf)
    moved = gguf.rename(tmp_path / "elsewhere.gguf")
    with pytest.raises(InputError, match=r"put it, or a link to it, into the folder as base\.gguf"):
        find_base(card, adapter)
    (adapter / "base.gguf").symlink_to(moved)
    assert find_base(card, adapter) == str(adapter / "base.gguf")
    (adapter / "base.gguf").unlink()
    gguf.write_bytes(b"another model in its place")
    monkeypatch.setattr("understudy.language.backends.causal_lm.local_models", lambda: [LocalModel("mine", moved)])
    assert find_base(card, adapter) == str(moved)


def test_a_model_of_the_hub_is_found_in_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    cache = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(cache))
    model = tiny_language_model(tmp_path / "folder", "causal", ["key"])
    snapshot = cache / "models--somebody--talker" / "snapshots" / ("0" * 40)
    shutil.copytree(model, snapshot)
    refs = cache / "models--somebody--talker" / "refs"
    refs.mkdir()
    (refs / "main").write_text("0" * 40)
    card = base_card("somebody/talker")
    assert card["source"] == "somebody/talker" and card["sha256"] == base_card(model)["sha256"]
    assert find_base(card, tmp_path) == "somebody/talker"
    shutil.rmtree(cache)
    with pytest.raises(InputError, match="its base model is not on this machine"):
        find_base(card, tmp_path)
