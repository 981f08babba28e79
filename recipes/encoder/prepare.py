"""Read the training files once into token arrays: data.npz (tokens, structure) that train_*.py work on.

python prepare.py DATA OUT [--valid]   (--valid also writes valid.npz: the judged files, for eval_valid.py only)
"""
import collections
import json
import random
import sys
from pathlib import Path

import numpy as np
from personatext import canonical, read_dialogues
from tokenizers import Tokenizer

SEED, HELD_DIALOGUES = 20, 150


class Texts:
    """Every distinct text once, as tokens."""

    def __init__(self, tokenizer):
        self.tokenizer, self.index, self.texts = tokenizer, {}, []

    def __call__(self, text):
        text = canonical(text)
        if text not in self.index:
            self.index[text] = len(self.texts)
            self.texts.append(text)
        return self.index[text]

    def arrays(self):
        ids = [e.ids for e in self.tokenizer.encode_batch(self.texts, add_special_tokens=False)]
        return np.concatenate([np.array(x, np.int16) for x in ids]), np.cumsum([0] + [len(x) for x in ids])


def tokenizer_at(folder):
    tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def cluster(chairs):
    """Chairs (sets of sentences) of one persona: those that share two sentences or more."""
    parent = list(range(len(chairs)))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    having = collections.defaultdict(list)
    for i, chair in enumerate(chairs):
        for sentence in set(chair):
            having[sentence].append(i)
    shared = collections.Counter()
    for members in having.values():
        for a in range(len(members)):
            for b in range(a):
                shared[members[b], members[a]] += 1
    for (a, b), n in shared.items():
        if n >= 2:
            parent[root(a)] = root(b)
    return [root(i) for i in range(len(chairs))]


def main():
    shared, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    texts = Texts(tokenizer_at(out))
    rng = random.Random(SEED)
    raw = read_dialogues(shared / "personachat/train_both_original_no_cands.txt")
    dialogues = [{k: [texts(t) for t in d[k]] for k in ("me", "them", "turns")} for d in raw]
    chairs = [d[k] for d in dialogues for k in ("me", "them")]
    clusters = cluster(chairs)
    for i, d in enumerate(dialogues):
        d["cluster"] = clusters[2 * i: 2 * i + 2]
    members = collections.defaultdict(list)
    for chair, c in zip(chairs, clusters):
        members[c].append(chair)

    names = sorted(members)
    rng.shuffle(names)
    held_clusters, held = set(), set()
    for name in names:
        touched = {i for i, d in enumerate(dialogues) if name in d["cluster"]}
        if len(touched) > 8:
            continue
        held_clusters.add(name)
        held |= touched
        if len(held) >= HELD_DIALOGUES:
            break
    held_sentences = {s for c in held_clusters for chair in members[c] for s in chair}
    held_turns = {t for i in held for t in dialogues[i]["turns"]}

    pairs = [(texts(p), texts(u)) for p, u in json.loads((shared / "personachat/train_entailed_persona_utterance_pairs.json").read_text())]
    of_sentence = collections.defaultdict(set)
    for c, group in members.items():
        for chair in group:
            for s in chair:
                of_sentence[s].add(c)
    known = {t for d in dialogues for t in d["turns"]}
    groups, now = [], None  # the pairs come dialogue by dialogue: a run of sentences of one persona is one chair
    for p, u in pairs:
        if u in known:
            continue
        c = of_sentence.get(p, set())
        if now is not None and (now["c"] & c or (not c and not now["c"])):
            now["c"] &= c
        else:
            now = {"c": set(c), "seen": [], "turns": []}
            groups.append(now)
        if p not in now["seen"]:
            now["seen"].append(p)
        if u not in now["turns"]:
            now["turns"].append(u)
    pseudo = []
    for g in groups:
        persona = list(g["seen"])
        if g["c"]:
            best = max((chair for c in sorted(g["c"]) for chair in members[c]), key=lambda ch: len(set(ch) & set(persona)))
            persona += [s for s in best if s not in persona]
        pseudo.append({"persona": persona[:6], "turns": g["turns"], "held": bool(set(persona) & held_sentences)})

    nli = [(texts(a), texts(b), ("negative", "neutral", "positive").index(label))
           for a, b, label in (line.rstrip("\n").split("</s>") for line in open(shared / "dnli/nli-train.txt", encoding="utf-8"))]
    alike = collections.defaultdict(set)
    for p, u in pairs:
        alike[p].add(u)
    for a, b, label in nli:
        if label == 2:
            alike[a].add(b)
            alike[b].add(a)
    sentences = sorted({s for chair in chairs for s in chair} | {s for g in pseudo for s in g["persona"]})
    alike = {s: sorted(alike[s]) for s in sentences if s in alike}
    # the held-back stand-in for revised personas: each sentence put in other words that are not this dialogue's own
    covered = total = 0
    revised = {}
    for i in sorted(held):
        for side in ("me", "them"):
            new = []
            for s in dialogues[i][side]:
                other = [x for x in alike.get(s, ()) if x not in dialogues[i]["turns"]]
                total += 1
                covered += bool(other)
                new.append(rng.choice(other) if other else s)
            revised[f"{i}:{side}"] = new
    flat, offsets = texts.arrays()
    structure = dict(dialogues=dialogues, held=sorted(held), held_clusters=sorted(held_clusters), held_sentences=sorted(held_sentences),
                     held_turns=sorted(held_turns), pairs=pairs, pseudo=pseudo, nli=nli, alike=alike, revised=revised)
    np.savez_compressed(out / "data.npz", flat=flat, offsets=offsets, structure=np.frombuffer(json.dumps(structure).encode(), np.uint8))
    print(f"{len(dialogues)} dialogues, {len(held)} held back ({len(held_clusters)} personas of {len(members)}), {len(pairs)} pairs, "
          f"{len(pseudo)} pseudo chairs with {sum(len(g['turns']) for g in pseudo)} turns, {len(nli)} nli, {len(texts.texts)} texts, "
          f"revised stand-ins for {covered}/{total} sentences")

    if "--valid" in sys.argv:
        texts, files = Texts(texts.tokenizer), {}
        for condition in ("none_original", "self_original", "self_revised", "other_original", "other_revised", "both_original", "both_revised"):
            files[condition] = [{"me": [texts(s) for s in d["me"]], "them": [texts(s) for s in d["them"]],
                                 "turns": [texts(t) for t in d["turns"]], "candidates": [[texts(c) for c in cs] for cs in d["candidates"]]}
                                for d in read_dialogues(shared / f"personachat/valid_{condition}.txt")]
        for condition, ds in files.items():  # turns and candidates are the same in all: keep them once
            if condition != "none_original":
                for d, first in zip(ds, files["none_original"]):
                    assert d.pop("turns") == first["turns"]
                    if d["candidates"] == first["candidates"]:
                        d.pop("candidates")
        flat, offsets = texts.arrays()
        np.savez_compressed(out / "valid.npz", flat=flat, offsets=offsets, structure=np.frombuffer(json.dumps(files).encode(), np.uint8))
        print("valid", {c: len(d) for c, d in files.items()}, len(texts.texts), sum("candidates" in d for ds in files.values() for d in ds))


if __name__ == "__main__":
    main()
