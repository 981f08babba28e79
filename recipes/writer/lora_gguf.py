"""An adapter as GGUF, for llama.cpp: tensors as they were trained, rotary rows in GGUF's order.

    lora_gguf.py OUT.gguf PART.safetensors...
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from base import HEADS, NAMES, permuted, unquantised

PLACES = {name: part for part, name in NAMES.items()}
SCALE = 2.0


def written(out: Path, packed: dict[str, np.ndarray], scale: float = SCALE, name: str = "Understudy writer") -> None:
    """`packed`: Q8_0 rows by the trainer's names (`layers.0.self_attn.q_proj.a`)."""
    import gguf

    rank = next(iter(v for k, v in packed.items() if k.endswith(".a"))).shape[0]
    writer = gguf.GGUFWriter(str(out), "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", scale * rank)
    writer.add_name(name)
    writer.add_license("apache-2.0")
    writer.add_string("general.base_model.0.name", "SmolLM2-135M-Instruct")
    writer.add_uint32("general.base_model.count", 1)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for key, rows in sorted(packed.items(), key=lambda item: (int(item[0].split(".")[1]), item[0])):
        _, layer, owner, linear, side = key.split(".")
        part = PLACES[f"{owner}.{linear}"]
        rows = np.ascontiguousarray(rows)
        if side == "b" and part in HEADS:
            rows = np.ascontiguousarray(permuted(rows, HEADS[part]))
        writer.add_tensor(f"blk.{layer}.{part}.weight.lora_{side}", rows, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def plain(packed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same numbers as peft names and keeps them, float16."""
    found = {}
    for key, rows in packed.items():
        name, side = key.rsplit(".", 1)
        found[f"base_model.model.model.{name}.lora_{side.upper()}.weight"] = unquantised(rows).astype(np.float16)
    return found


if __name__ == "__main__":
    packed: dict[str, np.ndarray] = {}
    for path in sys.argv[2:]:
        packed.update(load_file(path))
    out = Path(sys.argv[1])
    written(out, packed)
    save_file(plain(packed), out.with_suffix(".safetensors"))
    print(out, out.stat().st_size, len(packed))
