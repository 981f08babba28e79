from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from languagemodels import tiny_gguf, tiny_model
from understudy.errors import InputError
from understudy.language.backends.base_model import base_card, find_base
from understudy.language.backends.catalog import LocalModel

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")


def test_a_file_and_a_folder_are_known_by_their_weights(tmp_path: Path) -> None:
    gguf, folder = tiny_gguf(tmp_path / "letters.gguf"), tiny_model(tmp_path / "folder", "causal", ["key"])
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
    monkeypatch.setattr("understudy.language.backends.base_model.local_models", lambda: [LocalModel("mine", moved)])
    assert find_base(card, adapter) == str(moved)


def test_a_model_of_the_hub_is_found_in_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    cache = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(cache))
    model = tiny_model(tmp_path / "folder", "causal", ["key"])
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
