"""The tower (all-MiniLM-L6-v2 with role markers), its examples, batches and held-back figures."""
import json
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from personatext import MARKER_WORDS, MY_PERSONA, THEM, query_ids, reply_ids, sentence_ids
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.attention.varlen import varlen_attn
from transformers import BertConfig, BertModel

NEG = -1e4
PARTS = ("query", "history", "last", "persona", "tokens")  # the vectors a context may have; a reply has one


def attend(q, k, v, stream):
    if q.is_cuda:
        return varlen_attn(q, k, v, stream["cu"], stream["cu"], stream["longest"], stream["longest"])
    cuts = stream["starts"].tolist()
    one = [F.scaled_dot_product_attention(*(t[a:b].transpose(0, 1)[None] for t in (q, k, v)))[0].transpose(0, 1) for a, b in zip(cuts, cuts[1:])]
    return torch.cat(one)


class Tower(nn.Module):
    def __init__(self, folder, weights=None, dropout=0.1):
        super().__init__()
        config = BertConfig.from_pretrained(folder, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.dropout = dropout
        if weights:
            state = {k: v.float() for k, v in load_file(weights).items() if not k.startswith("pooler") and "position_ids" not in k}
            self.bert.load_state_dict(state)

    def name_markers(self, folder):
        """Start each marker's row from a plain word of like meaning."""
        vocabulary = {w: i for i, w in enumerate(Path(folder, "vocab.txt").read_text(encoding="utf-8").split("\n"))}
        rows = self.bert.embeddings.word_embeddings.weight.data
        for marker, word in MARKER_WORDS.items():
            rows[marker] = rows[vocabulary[word]]

    def states(self, stream):
        """Token states of an unpadded stream of sequences: every sequence behind the last, attention within each."""
        bert, dtype = self.bert, torch.bfloat16 if stream["ids"].is_cuda else torch.float32
        e, drop = bert.embeddings, self.dropout if self.training else 0.0
        x = F.embedding(stream["ids"], e.word_embeddings.weight) + F.embedding(stream["positions"], e.position_embeddings.weight)
        x = x + (F.embedding(stream["types"], e.token_type_embeddings.weight) if "types" in stream else e.token_type_embeddings.weight[0])
        x = F.dropout(F.layer_norm(x, x.shape[-1:], e.LayerNorm.weight, e.LayerNorm.bias, 1e-12).to(dtype), drop)

        def linear(m, y):
            return F.linear(y, m.weight.to(dtype), m.bias.to(dtype))

        def norm(m, y):
            return F.layer_norm(y, y.shape[-1:], m.weight.to(dtype), m.bias.to(dtype), 1e-12)

        heads = bert.config.num_attention_heads
        for layer in bert.encoder.layer:
            a = layer.attention
            w = torch.cat([a.self.query.weight, a.self.key.weight, a.self.value.weight]).to(dtype)
            v = torch.cat([a.self.query.bias, a.self.key.bias, a.self.value.bias]).to(dtype)
            q, k, v = F.linear(x, w, v).view(len(x), 3, heads, -1).unbind(1)
            y = attend(q, k, v, stream).reshape(len(x), -1)
            x = norm(a.output.LayerNorm, x + F.dropout(linear(a.output.dense, y), drop))
            y = linear(layer.output.dense, F.gelu(linear(layer.intermediate.dense, x)))
            x = norm(layer.output.LayerNorm, x + F.dropout(y, drop))
        return x

    def vectors(self, stream, with_tokens=0):
        """One unit vector a sequence (the mean of its states); of the first `with_tokens` sequences also the unit states."""
        x = self.states(stream)
        n = len(stream["lengths"])
        mean = torch.zeros(n, x.shape[1], device=x.device).index_add(0, stream["owner"], x.float()) / stream["lengths"].unsqueeze(1)
        if not with_tokens:
            return F.normalize(mean, dim=-1)
        first = int(stream["starts"][with_tokens])
        return F.normalize(mean, dim=-1), F.normalize(x[:first].float(), dim=-1)

    def forward(self, ids, mask):
        """Padded, for export and evaluation on a CPU: unit vectors and unit token states."""
        states = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(states.dtype)
        return F.normalize((states * weight).sum(1) / weight.sum(1), dim=-1), F.normalize(states, dim=-1)

    def save(self, path, dtype=torch.float16):
        save_file({k: v.to(dtype).contiguous() for k, v in self.bert.state_dict().items() if v.is_floating_point()}, str(path))


class Data:
    def __init__(self, path):
        z = np.load(path)
        flat, offsets = z["flat"].tolist(), z["offsets"]
        self.tokens = [flat[a:b] for a, b in zip(offsets[:-1], offsets[1:])]
        for name, value in json.loads(z["structure"].tobytes()).items():
            setattr(self, name, value)


def dialogue_examples(data, which):
    """One example a turn, from both chairs: dict(dialogue, persona, partner, history, gold, mine, theirs)."""
    out = []
    for i in which:
        d = data.dialogues[i]
        for t in range(1, len(d["turns"])):
            me, them, side = ("me", "them", 0) if t % 2 else ("them", "me", 1)
            history = [((k - t) % 2 == 0, x) for k, x in enumerate(d["turns"][:t])]
            out.append(dict(dialogue=i, t=t, me=me, them=them, persona=d[me], partner=d[them], history=history,
                            gold=d["turns"][t], cluster=d["cluster"][side], other=d["cluster"][1 - side], own=set(d["turns"])))
    return out


def pseudo_examples(data, everything):
    """Chairs rebuilt from the entailed pairs: a whole persona, no partner, the reply (its history is not known)."""
    out = []
    held = set() if everything else set(data.held_turns)
    for n, g in enumerate(data.pseudo):
        if g["held"] and not everything:
            continue
        for k, gold in enumerate(g["turns"]):
            if gold not in held:
                out.append(dict(dialogue=-1 - n, t=k, persona=g["persona"], partner=[], gold=gold, own=set(g["turns"]),
                                history=[(True, x) for x in g["turns"][:k]][-2:], pseudo=True))
    return out


class Batches(torch.utils.data.IterableDataset):
    """Endless batches of token lists, drawn and augmented anew each epoch; made in worker processes."""

    def __init__(self, data, examples, extra_pool, neighbours, cfg, epochs, hard=None, soft=None):
        self.soft = soft
        self.data, self.examples, self.pool, self.near, self.cfg, self.epochs, self.hard = data, examples, extra_pool, neighbours, cfg, epochs, hard

    def order(self):
        """The same for every worker: which examples make which batch."""
        rng, size = random.Random(self.cfg["seed"]), self.cfg["batch"]
        real = [i for i, e in enumerate(self.examples) if not e.get("pseudo")]
        made = [i for i, e in enumerate(self.examples) if e.get("pseudo")]
        for epoch in range(self.epochs):
            take = real * self.cfg.get("real_times", 1) + rng.sample(made, int(len(made) * self.cfg["pseudo"]))
            rng.shuffle(take)
            for k in range(0, len(take) - size + 1, size):
                yield take[k: k + size]

    def steps(self):
        return sum(1 for _ in self.order())

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        me, n = (info.id, info.num_workers) if info else (0, 1)
        for step, take in enumerate(self.order()):
            if step % n == me:
                yield self.build(take, random.Random(self.cfg["seed"] * 1000003 + step))

    def sentence(self, text, gold, own, rng):
        """One persona sentence as tokens, now and then in other words."""
        cfg, tokens = self.cfg, self.data.tokens
        if rng.random() < cfg["paraphrase"]:
            other = [x for x in self.data.alike.get(str(text), ()) if x != gold and x not in own]
            if other:
                return tokens[rng.choice(other)]
        ids = tokens[text]
        if cfg["synonym"] or cfg["word_drop"]:
            said, out = set(tokens[gold]), []
            for x in ids:
                p = cfg["synonym"] * (cfg["overlap_times"] if x in said else 1)
                if x in self.near and rng.random() < p:
                    out.append(rng.choice(self.near[x]))
                elif rng.random() >= cfg["word_drop"]:
                    out.append(x)
            ids = out or ids
        return ids

    def build(self, take, rng):
        cfg, tokens = self.cfg, self.data.tokens
        same = lambda x: x  # noqa: E731
        lists = {k: [] for k in (*PARTS[:4], "reply")}
        owner, gold, chair, which = [], [], [], []
        for i in take:
            e = self.examples[i]
            persona, partner, history = list(e["persona"]), list(e["partner"]), e["history"]
            if e.get("pseudo"):
                partner, keep = [], True
                which.append(1)
                if rng.random() < cfg["pseudo_no_history"]:
                    history = []
            else:
                condition = rng.choices(("none", "self", "both", "other"), cfg["conditions"])[0]
                which.append(("none", "self", "both", "other").index(condition))
                keep = condition in ("self", "both")
                if condition not in ("both", "other"):
                    partner = []
                if rng.random() < cfg["cut_history"]:
                    history = history[-rng.randint(1, 4):]
            history = history[-cfg["turns"]:]
            if cfg["drop_sentence"]:
                persona = [s for s in persona if rng.random() >= cfg["drop_sentence"]] or persona[:1]
            if cfg["shuffle"]:
                rng.shuffle(persona)
            mine = [self.sentence(s, e["gold"], e["own"], rng) for s in persona] if keep else []
            theirs = [tokens[s] for s in partner]
            turns = [(m, tokens[x]) for m, x in history]
            lists["query"].append(query_ids(mine, theirs, turns, same, cfg["max_query"]))
            if cfg["parts"]:
                lists["history"].append(query_ids([], [], turns, same, cfg["max_query"]))
                heard = [x for m, x in turns if not m]
                lists["last"].append(sentence_ids(THEM, heard[-1] if heard else [], same))
                for s in mine:
                    owner.append(len(gold))
                    lists["persona"].append(sentence_ids(MY_PERSONA, s, same))
            gold.append(e["gold"])
            chair.append(e["dialogue"])
        cands = list(gold)
        if self.hard is not None:
            for i in take:
                if self.hard[i]:
                    cands += rng.sample(self.hard[i], min(cfg["hard"], len(self.hard[i])))
        taught = None
        if self.soft is not None:  # the teacher's own candidates of each example join the batch: gold and some others
            columns = np.array([[0, *rng.sample(range(1, self.soft["cands"].shape[1]), cfg["distil_k"])] for _ in take])
            rows = np.array(take)[:, None]
            known = rows[:, 0] < len(self.soft["cands"])
            rows = np.where(known[:, None], rows, 0)
            others = self.soft["cands"][rows, columns][:, 1:]
            at = np.concatenate([np.arange(len(take))[:, None], len(cands) + np.arange(others.size).reshape(others.shape)], 1)
            cands += others.ravel().tolist()
            taught = dict(at=at, logits=self.soft["logits"][np.array(which)[:, None], rows, columns], known=known)
        cands += rng.sample(self.pool, cfg["extra"])
        if cfg["own_negatives"]:
            for i in rng.sample(take, min(len(take), cfg["own_negatives"])):
                cands.append(rng.choice(sorted(self.examples[i]["own"])))
        lists["reply"] = [reply_ids(tokens[c], same) for c in cands]
        gold, cands = np.array(gold), np.array(cands)
        mask = gold[:, None] == cands[None, :]
        mask[np.arange(len(gold)), np.arange(len(gold))] = False
        pairs = None
        if cfg["pairs"] and self.data.pairs_kept:
            pairs = [rng.choice(self.data.pairs_kept) for _ in range(cfg["pairs"])]
            lists["pair_a"] = [sentence_ids(MY_PERSONA, tokens[p], same) for p, _ in pairs]
            lists["pair_b"] = [reply_ids(tokens[u], same) for _, u in pairs]
        if cfg["nli"]:
            some = [rng.choice(self.data.nli_kept) for _ in range(cfg["nli"])]
            lists["nli_a"] = [sentence_ids(MY_PERSONA, tokens[a], same) for a, _, _ in some]
            lists["nli_b"] = [reply_ids(tokens[b], same) for _, b, _ in some]
            pairs = np.array([x[2] for x in some])
        order = [k for k in lists if lists[k]]
        return dict(stream=pack([x for k in order for x in lists[k]]), sizes={k: len(lists[k]) for k in order}, owner=np.array(owner), mask=mask, nli=pairs if cfg["nli"] else None,
                    taught=taught)


def pack(lists, types=None):
    """Lists of ids as one stream (numpy, int32)."""
    lengths = np.array([len(x) for x in lists], np.int32)
    out = dict(ids=np.concatenate([np.asarray(x, np.int32) for x in lists]), lengths=lengths)
    if types is not None:
        out["types"] = np.concatenate([np.asarray(x, np.int32) for x in types])
    return out


def on(stream, device):
    lengths = torch.from_numpy(stream["lengths"]).to(device, non_blocking=True).long()
    starts = F.pad(lengths.cumsum(0), (1, 0))
    owner = torch.repeat_interleave(torch.arange(len(lengths), device=device), lengths, output_size=len(stream["ids"]))
    out = {k: torch.from_numpy(v).to(device, non_blocking=True).long() for k, v in stream.items() if k in ("ids", "types")}
    return dict(out, positions=torch.arange(len(owner), device=device) - starts[owner], owner=owner, starts=starts, cu=starts.int(), lengths=lengths,
                longest=int(stream["lengths"].max()))


@torch.no_grad()
def encode_all(model, lists, device, size=1024):
    model.eval()
    return torch.cat([model.vectors(on(pack(lists[k: k + size]), device)) for k in range(0, len(lists), size)])


def smooth_max(similarities, owner, rows, beta):
    """(1/beta) log sum_i exp(beta s_i) over the persona sentences of each row; 0 where a row has none."""
    total = torch.zeros(rows, similarities.shape[1], device=similarities.device)
    total = total.index_add(0, owner, torch.exp(beta * (similarities - 1)))
    return torch.where(total > 0, torch.log(total.clamp_min(1e-30)) / beta + 1, torch.zeros_like(total))


def part_scores(vectors, owner, replies, beta):
    """{part: rows x replies} cosines of a context's vectors with every reply."""
    out = {k: vectors[k] @ replies.T for k in ("query", "history", "last") if k in vectors}
    if "persona" in vectors:
        out["persona"] = smooth_max(vectors["persona"] @ replies.T, owner, len(vectors["query"]), beta)
    return out


def own_scores(vectors, owner, replies, weights, beta):
    """Weighted sum of the parts for each context's own candidates: replies is contexts x candidates x width."""
    total = 0
    for k in ("query", "history", "last"):
        if weights.get(k) and k in vectors:
            total = total + weights[k] * torch.einsum("nd,nkd->nk", vectors[k], replies)
    if weights.get("persona") and "persona" in vectors:
        near = torch.einsum("pd,pkd->pk", vectors["persona"], replies[owner])
        total = total + weights["persona"] * smooth_max(near, owner, len(replies), beta)
    return total


def context_vectors(model, lists, device):
    return {k: encode_all(model, v, device) for k, v in lists.items() if v}


CONDITIONS = ("none", "self", "revised", "other", "both")


def held_contexts(data, condition, turns=99, max_query=256):
    """Held-back examples seen under a condition: token lists, gold texts, dialogues. The persona shown is never one trained on."""
    held, same = set(data.held_clusters), lambda x: data.tokens[x]
    lists, owner, gold, chair = {k: [] for k in PARTS[:4]}, [], [], []
    for e in dialogue_examples(data, data.held):
        if condition in ("self", "revised", "both") and e["cluster"] not in held or condition == "other" and e["other"] not in held:
            continue
        mine = {"none": [], "other": [], "revised": data.revised[f"{e['dialogue']}:{e['me']}"]}.get(condition, e["persona"])
        theirs = e["partner"] if condition in ("both", "other") else []
        history = e["history"][-turns:]
        lists["query"].append(query_ids(mine, theirs, history, same, max_query))
        lists["history"].append(query_ids([], [], history, same, max_query))
        lists["last"].append(sentence_ids(THEM, [x for m, x in history if not m][-1], same))
        for s in mine:
            owner.append(len(gold))
            lists["persona"].append(sentence_ids(MY_PERSONA, s, same))
        gold.append(e["gold"])
        chair.append(e["dialogue"])
    return lists, np.array(owner, int), np.array(gold), np.array(chair)


def expected_hits(scores, gold_at, allowed, draws=19):
    """Mean over rows of P(the true reply beats `draws` random others): exact, so that no draw of distractors adds noise."""
    rows = torch.arange(len(gold_at), device=scores.device)
    better = ((scores > scores[rows, gold_at].unsqueeze(1)) & allowed).sum(1).double()
    n = allowed.sum(1).double()
    p = torch.ones_like(n)
    for k in range(draws):
        p *= ((n - better - k) / (n - k)).clamp_min(0)
    return p.mean().item()


@torch.no_grad()
def held_parts(model, data, device, cfg):
    """{condition: (part scores, gold positions, allowed)} over the pool of all held-back turns."""
    pool = sorted({t for i in data.held for t in data.dialogues[i]["turns"]})
    at = {t: k for k, t in enumerate(pool)}
    said_in = np.zeros((max(data.held) + 1, len(pool)), bool)
    for i in data.held:
        said_in[i, [at[t] for t in data.dialogues[i]["turns"]]] = True
    replies = encode_all(model, [reply_ids(data.tokens[t], lambda x: x) for t in pool], device)
    out = {}
    for condition in CONDITIONS:
        lists, owner, gold, chair = held_contexts(data, condition, cfg["turns"], cfg["max_query"])
        vectors = {k: encode_all(model, v, device) for k, v in lists.items() if v and (k == "query" or cfg["parts"])}
        parts = part_scores(vectors, torch.from_numpy(owner).to(device), replies, cfg["beta"])
        if cfg["tokens"]:
            rows = []
            for k in range(0, len(gold), 256):
                some = lists["query"][k: k + 256]
                stream = on(pack(some), device)
                rows.append(smooth_max(model.vectors(stream, len(some))[1] @ replies.T, stream["owner"], len(some), cfg["beta"]))
            parts["tokens"] = torch.cat(rows)
        out[condition] = parts, torch.tensor([at[g] for g in gold], device=device), torch.from_numpy(~said_in[chair]).to(device)
    return out


def held_figures(parts_by_condition, weights):
    figures = {}
    for condition, (parts, gold_at, allowed) in parts_by_condition.items():
        total = sum(w * parts[k] for k, w in weights.items() if w and k in parts)
        figures[condition] = round(expected_hits(total, gold_at, allowed), 4)
    figures["mean"] = round(sum(figures.values()) / len(figures), 4)
    return figures


def best_weights(parts_by_condition, names=PARTS):
    """Weights of the parts by steps on the held-back mean, one part at a time."""
    weights = {k: float(k == "query") for k in names}
    best = held_figures(parts_by_condition, weights)
    for _ in range(2):
        for name in weights:
            for value in (0, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5):
                tried = {**weights, name: value}
                if not tried["query"]:
                    continue
                figures = held_figures(parts_by_condition, tried)
                if figures["mean"] > best["mean"]:
                    best, weights = figures, tried
    return weights, best
