"""Train the tower for reply selection.   python train_tower.py FOLDER OUT '{"epochs": 8, ...}'

FOLDER has data.npz (prepare.py), config.json, vocab.txt and base.safetensors. Loss: cross-entropy of the true reply
among every other reply of the batch (and extra ones), for the query vector alone and, with parts, for the weighted sum
of a context's vectors; duplicates of the true reply are masked.
"""
import copy
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from personatext import query_ids, reply_ids
from tower import (
    NEG,
    PARTS,
    Batches,
    Data,
    Tower,
    best_weights,
    dialogue_examples,
    encode_all,
    held_figures,
    held_parts,
    on,
    part_scores,
    pseudo_examples,
    smooth_max,
)

DEFAULTS = dict(
    seed=1, epochs=8, batch=512, lr=1e-4, embedding_lr=1.0, layer_decay=1.0, weight_decay=0.01, warmup=0.1, dropout=0.1, scale=20.0, smoothing=0.0,
    conditions=[0.2, 0.5, 0.2, 0.1], turns=99, max_query=256, cut_history=0.0, drop_sentence=0.0, shuffle=True,
    pseudo=1.0, pseudo_no_history=0.7, paraphrase=0.0, synonym=0.0, overlap_times=3.0, word_drop=0.0, parts=False, tokens=False, part_loss=0.3, beta=16.0,
    extra=512, own_negatives=0, hard=0, hard_from=0.5, pairs=0, pair_weight=0.3, nli=0, nli_weight=0.3, both_ways=0.0, ema=0.0, everything=False,
    start=None, plain=False, distil=None, distil_k=11, distil_weight=1.0, distil_heat=1.0, ce_weight=1.0, workers=3, save=True,
)


def prepare_kept(data, everything):
    held, turns = (set(), set()) if everything else (set(data.held_sentences), set(data.held_turns))
    data.pairs_kept = [x for x in data.pairs if x[0] not in held and x[1] not in turns]
    data.nli_kept = [x for x in data.nli if not {x[0], x[1]} & (held | turns)]


def groups(model, cfg):
    """Learning rates: lower for lower layers (layer_decay) and for the embeddings."""
    layers = len(model.bert.encoder.layer)
    found = {}
    for name, p in model.named_parameters():
        scale = cfg["embedding_lr"] * cfg["layer_decay"] ** layers if "embeddings" in name else 1.0
        if ".layer." in name:
            scale = cfg["layer_decay"] ** (layers - 1 - int(name.split(".layer.")[1].split(".")[0]))
        decay = 0.0 if p.ndim < 2 else cfg["weight_decay"]
        found.setdefault((scale, decay), []).append(p)
    return [dict(params=ps, lr=cfg["lr"] * s, base=cfg["lr"] * s, weight_decay=d) for (s, d), ps in found.items()]


def mine(model, data, examples, pool, device, cfg, low=5, high=60):
    """For each example, replies the model itself ranks high (ranks low..high), gold and its own dialogue left out."""
    same = lambda x: data.tokens[x]  # noqa: E731
    replies = encode_all(model, [reply_ids(data.tokens[t], lambda x: x) for t in pool], device)
    queries = encode_all(model, [query_ids(e["persona"], [], e["history"][-cfg["turns"]:], same, cfg["max_query"]) for e in examples], device)
    out = []
    for k in range(0, len(examples), 2048):
        top = (queries[k: k + 2048] @ replies.T).topk(min(high, len(pool))).indices[:, low:].cpu().numpy()
        for row, e in zip(top, examples[k: k + 2048]):
            out.append([pool[j] for j in row if pool[j] != e["gold"] and pool[j] not in e["own"]])
    return out


def train(folder, out, **changes):
    unknown = set(changes) - set(DEFAULTS)
    assert not unknown, unknown
    cfg = {**DEFAULTS, **changes}
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(cfg["seed"])
    torch.backends.cuda.matmul.allow_tf32 = True
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    data = Data(Path(folder) / "data.npz")
    prepare_kept(data, cfg["everything"])
    near = {int(k): v for k, v in json.loads((Path(folder) / "neighbours.json").read_text()).items()} if cfg["synonym"] else {}
    held = set() if cfg["everything"] else set(data.held)
    examples = dialogue_examples(data, [i for i in range(len(data.dialogues)) if i not in held])
    if cfg["plain"]:
        examples = examples[: cfg["plain"]]
    pool = sorted({e["gold"] for e in examples} | {e["gold"] for e in pseudo_examples(data, cfg["everything"])})
    examples += pseudo_examples(data, cfg["everything"]) if cfg["pseudo"] else []
    model = Tower(folder, cfg["start"] or Path(folder) / "base.safetensors", cfg["dropout"]).to(device)
    if not cfg["start"]:
        model.name_markers(folder)
    soft = {k: v for k, v in np.load(cfg["distil"]).items()} if cfg["distil"] else None
    if soft:  # the teacher's rows are keyed by dialogue and turn
        row = {k: n for n, k in enumerate(soft["key"].tolist())}
        rows = [row[1000 * e["dialogue"] + e["t"]] for e in examples if not e.get("pseudo")]
        soft = dict(cands=soft["cands"][rows], logits=soft["logits"][:, rows])
    average = copy.deepcopy(model) if cfg["ema"] else None
    log_weights = torch.nn.Parameter(torch.tensor([math.log(w * cfg["scale"]) for w in (1, 0.3, 0.2, 0.3, 0.5)], device=device))
    optimizer = torch.optim.AdamW(groups(model, cfg) + [dict(params=[log_weights], lr=3e-3, base=3e-3, weight_decay=0.0)],
                                  betas=(0.9, 0.98), fused=device == "cuda")
    began, step, hard = time.time(), 0, None
    per_epoch = Batches(data, examples, pool, near, cfg, 1).steps()
    total = per_epoch * cfg["epochs"]
    phases = [(0, total)] if not cfg["hard"] else [(0, int(total * cfg["hard_from"])), (int(total * cfg["hard_from"]), total)]
    losses = []
    for first, last in phases:
        if first:
            hard = mine(model, data, examples, pool, device, cfg)
        source = Batches(data, examples, pool, near, {**cfg, "seed": cfg["seed"] + (7919 if first else 0)}, math.ceil((last - first) / per_epoch), hard, soft)
        loader = torch.utils.data.DataLoader(source, batch_size=None, collate_fn=as_is, num_workers=cfg["workers"], prefetch_factor=4 if cfg["workers"] else None)
        model.train()
        for batch in loader:
            if step >= last:
                break
            rate = min(1, (step + 1) / (cfg["warmup"] * total)) * 0.5 * (1 + math.cos(math.pi * step / total))
            for g in optimizer.param_groups:
                g["lr"] = g["base"] * rate
            loss = batch_loss(model, batch, log_weights, cfg, device)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            losses.append(loss.detach())
            if average is not None:
                with torch.no_grad():
                    keep = min(cfg["ema"], step / (step + 10))
                    for a, b in zip(average.parameters(), model.parameters()):
                        a.lerp_(b, 1 - keep)
    seconds = time.time() - began
    result = dict(cfg=changes, steps=step, seconds=round(seconds, 1), loss=round(torch.stack(losses[-20:]).mean().item(), 4),
                  first_loss=round(losses[0].item(), 3), memory=round(torch.cuda.max_memory_allocated() / 2**30, 1) if device == "cuda" else 0)
    final = average if average is not None else model
    if not cfg["everything"]:
        with torch.no_grad():
            parts = held_parts(final, data, device, cfg)
            result["query"] = held_figures(parts, dict(query=1))
            if cfg["parts"] or cfg["tokens"]:
                learned = dict(zip(PARTS, [round(x, 2) for x in (log_weights.exp() / log_weights[0].exp()).tolist()]))
                result["learned"] = learned, held_figures(parts, learned)
                result["subsets"] = subsets(parts, cfg)
            if average is not None:
                result["not averaged"] = held_figures(held_parts(model, data, device, cfg), dict(query=1))
    result["name"] = out.name
    if cfg["save"]:
        final.save(out / "tower.safetensors")
    (out / "result.json").write_text(json.dumps(result))
    print(out.name, json.dumps(result), flush=True)
    return result


def subsets(parts, cfg):
    """What each choice of a context's vectors gives, with its weights chosen on the held-back examples."""
    choices = ([("query", "tokens")] if cfg["tokens"] else []) + ([("query", "history", "last", "persona"), ("query", "history", "persona"), ("query", "persona")] if cfg["parts"] else [])
    choices += [("query", "history", "last", "persona", "tokens"), ("query", "persona", "tokens")] if cfg["parts"] and cfg["tokens"] else []
    return {"+".join(names): best_weights(parts, names) for names in choices}


def as_is(batch):
    return batch


def cross_entropy(scores, mask, smoothing):
    return F.cross_entropy(scores.masked_fill(mask, NEG), torch.arange(len(scores), device=scores.device), label_smoothing=smoothing)


def distillation(scores, taught, heat):
    """KL from the teacher's softmax over an example's own candidates to the tower's."""
    own = scores.gather(1, torch.from_numpy(taught["at"]).to(scores.device))
    teacher = torch.from_numpy(taught["logits"]).to(scores.device).float()
    known = torch.from_numpy(taught["known"]).to(scores.device).float()
    kl = F.kl_div(F.log_softmax(own / heat, -1), F.softmax(teacher / heat, -1), reduction="none").sum(-1)
    return heat * heat * (kl * known).sum() / known.sum().clamp_min(1)


def batch_loss(model, batch, log_weights, cfg, device):
    stream, sizes = on(batch["stream"], device), batch["sizes"]
    found = model.vectors(stream, sizes["query"] if cfg["tokens"] else 0)
    vectors = dict(zip(sizes, (found[0] if cfg["tokens"] else found).split(list(sizes.values()))))
    mask = torch.from_numpy(batch["mask"]).to(device)
    parts = part_scores(vectors, torch.from_numpy(batch["owner"]).to(device), vectors["reply"], cfg["beta"])
    if cfg["tokens"]:
        n = sizes["query"]
        parts["tokens"] = smooth_max(found[1] @ vectors["reply"].T, stream["owner"][: len(found[1])], n, cfg["beta"])
    loss = cfg["ce_weight"] * cross_entropy(cfg["scale"] * parts["query"], mask, cfg["smoothing"])
    if batch["taught"] is not None:
        loss = loss + cfg["distil_weight"] * distillation(cfg["scale"] * parts["query"], batch["taught"], cfg["distil_heat"])
    if cfg["both_ways"]:
        n = len(mask)
        loss = loss + cfg["both_ways"] * cross_entropy(cfg["scale"] * parts["query"][:, :n].T, mask[:, :n].T, cfg["smoothing"])
    if cfg["parts"] or cfg["tokens"]:
        weights = log_weights.exp()
        together = sum(weights[k] * parts[name] for k, name in enumerate(PARTS) if name in parts)
        loss = loss + cfg["ce_weight"] * cross_entropy(together, mask, cfg["smoothing"])
        if batch["taught"] is not None:
            loss = loss + cfg["distil_weight"] * distillation(together, batch["taught"], cfg["distil_heat"])
    if cfg["parts"]:
        loss = loss + cfg["part_loss"] * cross_entropy(cfg["scale"] * parts["history"], mask, cfg["smoothing"])
    if cfg["pairs"]:
        s = cfg["scale"] * vectors["pair_a"] @ vectors["pair_b"].T
        loss = loss + cfg["pair_weight"] * cross_entropy(s, torch.zeros_like(s, dtype=torch.bool), 0.0)
    if cfg["nli"]:
        s = (vectors["nli_a"] * vectors["nli_b"]).sum(-1)
        label = torch.from_numpy(batch["nli"]).to(device)
        # a sentence's entailed words should lie nearer than contradicting and unrelated ones (all pairs in the batch)
        pos, neg = s[label == 2], s[label != 2]
        loss = loss + cfg["nli_weight"] * F.softplus(cfg["scale"] * (neg[None] - pos[:, None] + 0.1)).mean()
    return loss


if __name__ == "__main__":
    train(sys.argv[1], sys.argv[2], **(json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}))
