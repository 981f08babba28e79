"""The cross-encoder: post-train on the domain (masked words + relevance), fine-tune on gold against hard and random replies.

python train_cross.py FOLDER OUT '{"tower": "runs/mix/tower.safetensors", ...}'
Input: the tower's query ids, then REPLY reply [SEP] (token type 1). Score: a small head on [the CLS state; the mean state
of the reply], plus a learned multiple of the cosine of the two sides' mean states. Writes cross.safetensors, held-back figures (alone and beside the tower), and soft labels to distil from.
"""
import json
import math
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from personatext import MY_PERSONA, REPLY, SEP, THEM, query_ids, reply_ids, sentence_ids
from safetensors.torch import save_file
from torch import nn
from tower import (
    Batches,
    Data,
    Tower,
    context_vectors,
    dialogue_examples,
    encode_all,
    held_contexts,
    on,
    own_scores,
    pack,
    pseudo_examples,
)
from train_tower import DEFAULTS as TOWER_DEFAULTS
from train_tower import groups, mine, prepare_kept

DEFAULTS = dict(seed=1, epochs=3, batch=48, negatives=15, hard=6, lr=1e-4, weight_decay=0.01, dropout=0.1, warmup=0.1, conditions=[0.25, 0.5, 0.25, 0.0],
                paraphrase=0.15, synonym=0.05, word_drop=0.0, overlap_times=3.0, start=None, tower=None, post_epochs=0, post_lr=1e-4, max_query=224,
                embedding_lr=1.0, layer_decay=1.0, everything=False, label=0, label_weight=0, label_hard=4, pseudo=0.0, fold=None, turns=99, plain=0, skip_eval=False)
MASK = 103


class Cross(Tower):
    def __init__(self, folder, weights, dropout):
        super().__init__(folder, weights, dropout)
        width = self.bert.config.hidden_size
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Linear(width, 1))
        nn.init.zeros_(self.head[2].weight)
        self.near = nn.Parameter(torch.tensor(20.0))  # starts as a tower that reads both sides at once

    def score(self, stream):
        x = self.states(stream).float()
        n, reply = len(stream["lengths"]), stream["types"].float()
        mean = torch.zeros(n, x.shape[1], device=x.device).index_add(0, stream["owner"], x * reply.unsqueeze(1))
        count = torch.zeros(n, device=x.device).index_add(0, stream["owner"], reply)
        rest = torch.zeros(n, x.shape[1], device=x.device).index_add(0, stream["owner"], x * (1 - reply).unsqueeze(1))
        features = torch.cat([x[stream["starts"][:-1]], mean / count.unsqueeze(1)], 1)
        return self.head(features).squeeze(1) + self.near * F.cosine_similarity(mean, rest, dim=-1)


def pair(query, reply):
    tail = [REPLY, *reply[:45], SEP]
    return query + tail, [0] * len(query) + [1] * len(tail)


@torch.no_grad()
def score_pairs(model, queries, candidates, device, size=1536):
    """queries: token lists; candidates: for each, a list of token lists (all of one length). -> array."""
    model.eval()
    flat = [(q, c) for q, cs in zip(queries, candidates) for c in cs]
    order = sorted(range(len(flat)), key=lambda k: len(flat[k][0]))
    out = np.zeros(len(flat), np.float32)
    for k in range(0, len(order), size):
        some = order[k: k + size]
        ids, types = zip(*(pair(*flat[j]) for j in some))
        out[some] = model.score(on(pack(ids, types), device)).float().cpu().numpy()
    return out.reshape(len(queries), -1)


def post_train(model, data, examples, cfg, device):
    """BERT-FP's post-training, short: masked words, and is the last turn the next one, one of the same dialogue, or any."""
    rng, relevance = random.Random(cfg["seed"]), nn.Linear(384, 3).to(device)
    optimizer = torch.optim.AdamW([*model.parameters(), *relevance.parameters()], lr=cfg["post_lr"], weight_decay=0.01, fused=device == "cuda")
    size, t, step = 256, data.tokens, 0
    total = cfg["post_epochs"] * (len(examples) // size)
    model.train()
    for _ in range(cfg["post_epochs"]):
        order = rng.sample(range(len(examples)), len(examples))
        for k in range(0, len(order) - size + 1, size):
            ids, types, labels = [], [], []
            for i in order[k: k + size]:
                e = examples[i]
                label = rng.randrange(3)
                reply = (rng.choice(examples)["gold"], rng.choice(sorted(e["own"])), e["gold"])[label]
                a, b = pair(query_ids(e["persona"] if rng.random() < 0.5 else [], [], e["history"][-6:], lambda x: t[x], cfg["max_query"]), t[reply])
                ids.append(a)
                types.append(b)
                labels.append(label)
            stream = on(pack(ids, types), device)
            true = stream["ids"]
            draw = torch.rand(true.shape, device=device)
            chosen = (draw < 0.15) & (true > 110)
            stream["ids"] = torch.where(chosen & (draw < 0.12), MASK, torch.where(chosen & (draw < 0.135), torch.randint_like(true, 1000, 30000), true))
            x = model.states(stream)
            logits = F.linear(x[chosen], model.bert.embeddings.word_embeddings.weight.to(x.dtype))
            loss = F.cross_entropy(logits.float(), true[chosen]) + F.cross_entropy(relevance(x[stream["starts"][:-1]].float()), torch.tensor(labels, device=device))
            for g in optimizer.param_groups:
                g["lr"] = cfg["post_lr"] * min(1, (step + 1) / 30) * (1 - step / total)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
    return loss.item() if total else None


def fine_tune(model, data, examples, hard, pool, near, cfg, device):
    rng, tokens, same = random.Random(cfg["seed"] + 5), data.tokens, lambda x: x
    maker = Batches(data, examples, pool, near, cfg, 1)
    total, step, losses = cfg["epochs"] * (len(examples) // cfg["batch"]), 0, []
    optimizer = torch.optim.AdamW(groups(model, cfg), betas=(0.9, 0.98), fused=device == "cuda")
    model.train()
    for _ in range(cfg["epochs"]):
        order = rng.sample(range(len(examples)), len(examples))
        for k in range(0, len(order) - cfg["batch"] + 1, cfg["batch"]):
            ids, types = [], []
            for i in order[k: k + cfg["batch"]]:
                e = examples[i]
                condition = rng.choices(("none", "self", "both", "other"), cfg["conditions"])[0]
                mine_ = [maker.sentence(s, e["gold"], e["own"], rng) for s in rng.sample(e["persona"], len(e["persona"]))] if condition in ("self", "both") else []
                theirs = [tokens[s] for s in e["partner"]] if condition in ("both", "other") else []
                query = query_ids(mine_, theirs, [(m, tokens[x]) for m, x in e["history"]], same, cfg["max_query"])
                others = rng.sample(hard[i], min(cfg["hard"], len(hard[i])))
                others += [c for c in rng.sample(pool, cfg["negatives"] + 2) if c != e["gold"]][: cfg["negatives"] - len(others)]
                for c in (e["gold"], *others):
                    a, b = pair(query, tokens[c])
                    ids.append(a)
                    types.append(b)
            rate = min(1, (step + 1) / (cfg["warmup"] * total)) * 0.5 * (1 + math.cos(math.pi * step / total))
            for g in optimizer.param_groups:
                g["lr"] = g["base"] * rate
            scores = model.score(on(pack(ids, types), device)).view(-1, 1 + cfg["negatives"])
            loss = F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            losses.append(loss.detach())
    return torch.stack(losses[-50:]).mean().item()


TOWER_WEIGHTS = dict(query=0.75, history=0.35, last=0.1, persona=0.35)


def hits(scores, gold=0):
    others = np.delete(scores, gold, 1)
    return round(float((scores[:, gold] > others.max(1)).mean()), 4)


def held_scores(model, tower, data, device, cfg, conditions=("none", "self", "revised", "both"), seed=3):
    """hits@1 of the cross-encoder, of the tower and of both, on 19 seeded random distractors of other held-back dialogues."""
    rng, out = random.Random(seed), {}
    turns = {i: set(data.dialogues[i]["turns"]) for i in data.held}
    everything = sorted({t for ts in turns.values() for t in ts})
    at = {t: k for k, t in enumerate(everything)}
    replies = encode_all(tower, [reply_ids(data.tokens[t], lambda x: x) for t in everything], device)
    for condition in conditions:
        lists, owner, gold, chair = held_contexts(data, condition, cfg["turns"], 256)
        cands = [[g, *rng.sample([x for x in everything if x not in turns[i]], 19)] for g, i in zip(gold.tolist(), chair.tolist())]
        short = held_contexts(data, condition, cfg["turns"], cfg["max_query"])[0]["query"]
        cross = score_pairs(model, short, [[data.tokens[c] for c in cs] for cs in cands], device)
        rows = torch.tensor([[at[c] for c in cs] for cs in cands], device=device)
        own = own_scores(context_vectors(tower, lists, device), torch.from_numpy(owner).to(device), replies[rows], TOWER_WEIGHTS, 16.0).cpu().numpy()
        out[condition] = dict(cross=hits(cross), tower=hits(own), **{f"+{w}": hits(cross + w * own) for w in HYBRID})
    out["weight"] = max(HYBRID, key=lambda w: sum(out[c][f"+{w}"] for c in conditions))
    return out


HYBRID = (5, 10, 15, 20, 30, 40, 60)


def label(model, tower, weight, data, examples, hard, pool, cfg, device, k, seed=11):
    """The teacher's logits (cross-encoder + weight x tower) for k candidates of each example, gold first: none, self, both, other."""
    rng, same = random.Random(seed), lambda x: data.tokens[x]
    cands = []
    for e, h in zip(examples, hard):
        others = rng.sample(h, min(cfg["label_hard"], len(h)))
        others += [c for c in rng.sample(pool, k) if c != e["gold"]][: k - 1 - len(others)]
        cands.append([e["gold"], *others])
    texts = sorted({c for cs in cands for c in cs})
    at = {t: n for n, t in enumerate(texts)}
    replies = encode_all(tower, [reply_ids(data.tokens[t], lambda x: x) for t in texts], device)
    rows = torch.tensor([[at[c] for c in cs] for cs in cands], device=device)
    logits = []
    for mine_, theirs in ((False, False), (True, False), (True, True)):
        lists, owner, short = {"query": [], "history": [], "last": [], "persona": []}, [], []
        for n, e in enumerate(examples):
            persona, partner = e["persona"] if mine_ else [], e["partner"] if theirs else []
            lists["query"].append(query_ids(persona, partner, e["history"], same))
            lists["history"].append(query_ids([], [], e["history"], same))
            lists["last"].append(sentence_ids(THEM, [x for m, x in e["history"] if not m][-1], same))
            lists["persona"] += [sentence_ids(MY_PERSONA, s, same) for s in persona]
            owner += [n] * len(persona)
            short.append(query_ids(persona, partner, e["history"], same, cfg["max_query"]))
        vectors, parts = context_vectors(tower, lists, device), []
        owner = torch.tensor(owner, device=device, dtype=torch.long)
        for a in range(0, len(examples), 2048):
            b = min(len(examples), a + 2048)
            use = (owner >= a) & (owner < b)
            some = {q: v[a:b] for q, v in vectors.items() if q != "persona"} | ({"persona": vectors["persona"][use]} if len(owner) else {})
            parts.append(own_scores(some, owner[use] - a, replies[rows[a:b]], TOWER_WEIGHTS, 16.0))
        cross = score_pairs(model, short, [[data.tokens[c] for c in cs] for cs in cands], device)
        logits.append(cross + weight * torch.cat(parts).cpu().numpy())
    logits.append(logits[0])
    return dict(cands=np.array(cands), logits=np.stack(logits).astype(np.float16), key=np.array([1000 * e["dialogue"] + e["t"] for e in examples]))


def train(folder, out, **changes):
    cfg = {**DEFAULTS, **changes}
    assert not set(changes) - set(DEFAULTS), set(changes) - set(DEFAULTS)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(cfg["seed"])
    folder, out, began = Path(folder), Path(out), time.time()
    out.mkdir(parents=True, exist_ok=True)
    data = Data(folder / "data.npz")
    prepare_kept(data, cfg["everything"])
    near = {int(k): v for k, v in json.loads((folder / "neighbours.json").read_text()).items()}
    held = set() if cfg["everything"] else set(data.held)
    examples = dialogue_examples(data, [i for i in range(len(data.dialogues)) if i not in held])
    if cfg["plain"]:
        examples = examples[: cfg["plain"]]
    pool = sorted({e["gold"] for e in examples} | {e["gold"] for e in pseudo_examples(data, cfg["everything"])})
    tower = Tower(folder, cfg["tower"]).to(device)
    hard = mine(tower, data, examples, pool, device, {**TOWER_DEFAULTS, **cfg}, low=3, high=80)
    model = Cross(folder, cfg["start"] or folder / "base.safetensors", cfg["dropout"]).to(device)
    if not cfg["start"]:
        model.name_markers(folder)
    result = dict(name=out.name, cfg=changes)
    if cfg["post_epochs"]:
        result["post_loss"] = post_train(model, data, examples, cfg, device)
        result["post_seconds"] = round(time.time() - began, 1)
    use = [i for i, e in enumerate(examples) if cfg["fold"] is None or e["dialogue"] % 2 != cfg["fold"]]
    result["loss"] = fine_tune(model, data, [examples[i] for i in use], [hard[i] for i in use], pool, near, cfg, device)
    result["seconds"] = round(time.time() - began, 1)
    save_file({k: v.half().contiguous() for k, v in model.state_dict().items() if v.is_floating_point()}, str(out / "cross.safetensors"))
    if not cfg["everything"] and not cfg["skip_eval"]:
        result["held"] = held_scores(model, tower, data, device, cfg)
        print(json.dumps(result), flush=True)
    if cfg["label"]:  # held-back dialogues too: the teacher never saw them, and the last training may use them
        everyone = dialogue_examples(data, range(len(data.dialogues)))
        if cfg["plain"]:
            everyone = everyone[: cfg["plain"]]
        hard = mine(tower, data, everyone, pool, device, {**TOWER_DEFAULTS, **cfg}, low=3, high=80)
        weight = cfg["label_weight"] or result["held"]["weight"]
        np.savez(out / "soft.npz", **label(model, tower, weight, data, everyone, hard, pool, cfg, device, cfg["label"]))
        result["labelled"] = round(time.time() - began, 1)
    (out / "result.json").write_text(json.dumps(result))
    print(out.name, json.dumps(result), flush=True)
    return result


if __name__ == "__main__":
    train(sys.argv[1], sys.argv[2], **json.loads(sys.argv[3]))
