from __future__ import annotations

from pathlib import Path

import numpy as np

from models import tiny_base
from understudy.language.model_folder import read_tensors, write_tensors
from understudy.training.pretrained import base_folder, load_base


def test_a_published_file_may_use_older_names(tmp_path: Path) -> None:
    folder = tiny_base(tmp_path / "base")
    current = load_base(folder)
    tensors, _ = read_tensors(folder / "model.safetensors")
    older = {
        f"bert.{name}".replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in tensors.items()
    }
    write_tensors(folder / "model.safetensors", older)
    read = load_base(folder).tensors
    assert read.keys() == current.tensors.keys()
    assert all(np.array_equal(read[name], tensor) for name, tensor in current.tensors.items())


def test_a_folder_is_a_base_as_it_is(tmp_path: Path) -> None:
    assert base_folder(str(tmp_path)) == tmp_path
    assert base_folder(None) is None
