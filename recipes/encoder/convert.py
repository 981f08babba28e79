"""base.safetensors (fp16) from a MiniLM folder, and neighbours.json: words that lie near each other in MiniLM's own space."""
import collections
import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tower import Data, Tower

base, out = Path(sys.argv[1]), Path(sys.argv[2])
save_file({k: v.half() if v.is_floating_point() else v for k, v in load_file(base / "model.safetensors").items()
           if not k.startswith("pooler") and "position_ids" not in k}, str(out / "base.safetensors"))
torch.set_num_threads(1)
data = Data(out / "data.npz")
words = (out / "vocab.txt").read_text(encoding="utf-8").split("\n")
count = collections.Counter(x for t in data.tokens for x in t)
stop = {w for w, _ in count.most_common(120)}
use = [w for w, n in count.items() if n >= 3 and w not in stop and words[w].isalpha() and len(words[w]) > 2]
model = Tower(out, out / "base.safetensors").eval()
vectors = []
with torch.no_grad():
    for k in range(0, len(use), 512):
        ids = torch.tensor([[101, w, 102] for w in use[k:k + 512]])
        vectors.append(model.vectors(ids, torch.ones_like(ids)))
vectors = torch.cat(vectors)
near = {}
for k in range(0, len(use), 1024):
    top = (vectors[k:k + 1024] @ vectors.T).topk(7)
    for w, values, where in zip(use[k:k + 1024], top.values.tolist(), top.indices.tolist()):
        found = [use[j] for v, j in zip(values, where) if use[j] != w and v > 0.5]
        if found:
            near[w] = found
(out / "neighbours.json").write_text(json.dumps(near))
print(len(use), len(near), {words[w]: [words[x] for x in near[w]] for w in list(near)[:25]})
