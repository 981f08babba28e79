"""The judged figures: hits@1 among the official 20 candidates of PersonaChat valid, all seven conditions. Report only.

python eval_valid.py FOLDER WEIGHTS.safetensors '{"query": ...}' [--cross cross.safetensors W]      (GPU, bf16)
python eval_valid.py FOLDER MODEL.onnx '{"query": ...}' --sample 1500                               (CPU, onnxruntime)
"""
import argparse
import json
import random
import time
from pathlib import Path

import numpy as np
import torch
from personatext import MY_PERSONA, THEM, query_ids, reply_ids, sentence_ids
from tower import Tower, encode_all, own_scores

CONDITIONS = ("none_original", "self_original", "self_revised", "other_original", "other_revised", "both_original", "both_revised")


def load(path):
    z = np.load(path)
    flat, offsets = z["flat"].tolist(), z["offsets"]
    return [flat[a:b] for a, b in zip(offsets[:-1], offsets[1:])], json.loads(z["structure"].tobytes())


def contexts(tokens, files, condition, sample, seed=7, longest=256):
    """Token lists and candidate texts of one condition; the same seeded sample of examples in all. The gold is the last candidate."""
    same = lambda x: tokens[x]  # noqa: E731
    every = [(d, k) for d in range(len(files[condition])) for k in range(len(files["none_original"][d]["candidates"]))]
    if sample:
        every = sorted(random.Random(seed).sample(every, sample))
    lists, owner, cands = {k: [] for k in ("query", "history", "last", "persona")}, [], []
    for n, (d, k) in enumerate(every):
        shown, spoken = files[condition][d], files["none_original"][d]
        history = [(j % 2 == 1, t) for j, t in enumerate(spoken["turns"][: 2 * k + 1])]
        lists["query"].append(query_ids(shown["me"], shown["them"], history, same, longest))
        lists["history"].append(query_ids([], [], history, same))
        lists["last"].append(sentence_ids(THEM, history[-1][1], same))
        lists["persona"] += [sentence_ids(MY_PERSONA, s, same) for s in shown["me"]]
        owner += [n] * len(shown["me"])
        cands.append(spoken["candidates"][k])
    return lists, torch.tensor(owner, dtype=torch.long), np.array(cands)


class Onnx:
    def __init__(self, path, threads=1):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.known = {}
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def encode(self, lists):
        """Each distinct list once, in batches of like length."""
        found = self.known
        distinct = sorted(set(map(tuple, lists)) - set(found), key=len)
        for k in range(0, len(distinct), 32):
            some = distinct[k: k + 32]
            ids = np.zeros((len(some), len(some[-1])), np.int64)
            for row, x in zip(ids, some):
                row[: len(x)] = x
            found.update(zip(some, self.session.run(None, {"input_ids": ids, "attention_mask": (ids != 0).astype(np.int64)})[0]))
        return torch.from_numpy(np.stack([found[tuple(x)] for x in lists]))


def figures(encode, tokens, files, weights, device, beta=16.0, sample=0, conditions=CONDITIONS, cross=None):
    texts = None
    out = {}
    for condition in conditions:
        lists, owner, cands = contexts(tokens, files, condition, sample)
        if texts is None:
            texts = np.unique(cands)
            replies = encode([reply_ids(tokens[t], lambda x: x) for t in texts])
        used = {k: encode(v) for k, v in lists.items() if v and weights.get(k)}
        rows = torch.from_numpy(np.searchsorted(texts, cands)).to(device)
        owner, scores = owner.to(device), []
        for a in range(0, len(cands), 1024):
            b = min(len(cands), a + 1024)
            use = (owner >= a) & (owner < b)
            some = {k: v[a:b] for k, v in used.items() if k != "persona"} | ({"persona": used["persona"][use]} if "persona" in used else {})
            scores.append(own_scores(some, owner[use] - a, replies[rows[a:b]], weights, beta))
        scores = torch.cat(scores).cpu().numpy()
        hits = lambda s: round(float((s[:, -1] > s[:, :-1].max(1)).mean()), 4)  # noqa: E731
        out[condition] = hits(scores)
        print(condition, out[condition], len(cands), flush=True)
        if cross:
            model, w, longest = cross
            from train_cross import score_pairs
            theirs = score_pairs(model, contexts(tokens, files, condition, sample, longest=longest)[0]["query"], [[tokens[c] for c in cs] for cs in cands], device)
            out[condition] = dict(tower=hits(scores), cross=hits(theirs), both=hits(theirs + w * scores), n=len(cands))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("model")
    parser.add_argument("weights", type=json.loads)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--conditions", nargs="*", default=CONDITIONS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cross", nargs=2, help="cross.safetensors and the tower's weight beside it: also re-rank with it")
    a = parser.parse_args()
    tokens, files = load(Path(a.folder) / "valid.npz")
    began = time.time()
    if a.model.endswith(".onnx"):
        encode, device = Onnx(a.model, a.threads).encode, "cpu"
    else:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        tower = Tower(a.folder, a.model).to(device).eval()
        encode = lambda lists: encode_all(tower, lists, device)  # noqa: E731
    cross = None
    if a.cross:
        from safetensors.torch import load_file
        from train_cross import Cross
        model = Cross(a.folder, None, 0.1).to(device)
        model.load_state_dict({k: v.float() for k, v in load_file(a.cross[0]).items()}, strict=False)
        cross = model, float(a.cross[1]), 208
    print(json.dumps(dict(model=a.model, weights=a.weights, sample=a.sample, cross=a.cross,
                          hits=figures(encode, tokens, files, a.weights, device, sample=a.sample, conditions=a.conditions, cross=cross),
                          seconds=round(time.time() - began))), flush=True)


if __name__ == "__main__":
    main()
