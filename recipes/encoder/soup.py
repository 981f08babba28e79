"""The mean of several towers' weights, with its held-back figures:  python soup.py FOLDER OUT [--no-figures] a.safetensors b.safetensors ..."""
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tower import Data, Tower, held_figures, held_parts
from train_tower import DEFAULTS, subsets


def soup(folder, out, paths, evaluate=True, **changes):
    states = [load_file(p) for p in paths]
    mean = {k: sum(s[k].float() for s in states) / len(states) for k in states[0]}
    Path(out).mkdir(parents=True, exist_ok=True)
    save_file({k: v.half().contiguous() for k, v in mean.items()}, f"{out}/tower.safetensors")
    if evaluate:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        cfg = {**DEFAULTS, "parts": True, "tokens": True, **changes}
        parts = held_parts(Tower(folder, f"{out}/tower.safetensors").to(device), Data(Path(folder) / "data.npz"), device, cfg)
        print("soup", Path(out).name, json.dumps(dict(query=held_figures(parts, dict(query=1)), subsets=subsets(parts, cfg))), flush=True)


if __name__ == "__main__":
    plain = "--no-figures" in sys.argv  # where a tower was trained on the held-back dialogues too, they say nothing
    soup(sys.argv[1], sys.argv[2], [a for a in sys.argv[3:] if not a.startswith("--")], evaluate=not plain)
