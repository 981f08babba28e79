"""The second stage, start to end: cross-encoder from the first stage's tower, its labels, distilled towers, their mean.

python stage2.py FOLDER RUNS RESULTS      FOLDER/soup.safetensors is the first stage's mean of towers.
Chooses by the held-back mean among going on without a teacher and two strengths of distillation, then trains the chosen
one twice on all dialogues and averages.
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

FOLDER, RUNS, RESULTS = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
FIRST = f"{FOLDER}/soup.safetensors"
SUBSET = "query+history+last+persona"
GO_ON = dict(start=FIRST, pseudo=0, parts=True, pairs=128, paraphrase=0.25, synonym=0.06, both_ways=0.5, own_negatives=64, scale=25, lr=6e-5, epochs=5)
TAUGHT = dict(GO_ON, distil=str(RUNS / "cross/soft.npz"), distil_k=9, extra=0)
TRIED = {"k": GO_ON, "d1": dict(TAUGHT, ce_weight=0.5), "d2": dict(TAUGHT, ce_weight=0.3, distil_weight=2.0, lr=1.2e-4, epochs=6)}
CROSS = dict(tower=FIRST, start=FIRST, epochs=5, negatives=9, hard=3, batch=80, lr=1.5e-4, label=12, label_hard=4, max_query=208)
began = time.time()


def start(script, name, cfg):
    return subprocess.Popen([sys.executable, "-u", script, FOLDER, str(RUNS / name), json.dumps(cfg)], stdout=open(RESULTS / f"{script[6:-3]}.log", "a"),
                            stderr=subprocess.STDOUT, env={**os.environ, "OMP_NUM_THREADS": "2"})


def result(name):
    path = RUNS / name / "result.json"
    return json.loads(path.read_text()) if path.exists() else None


def say(*what):
    print(f"{time.time() - began:.0f}s", *what, flush=True)


def main():
    RUNS.mkdir(parents=True, exist_ok=True)
    both = start("train_cross.py", "cross", CROSS), start("train_tower.py", "k", TRIED["k"])
    [p.wait() for p in both]
    cross = result("cross")
    say("cross", json.dumps(cross))
    if cross:
        [p.wait() for p in [start("train_tower.py", n, TRIED[n]) for n in ("d1", "d2")]]
    found = {n: result(n)["subsets"][SUBSET] for n in TRIED if result(n)}
    for n, (weights, held) in found.items():
        say(n, weights, held, "query alone", result(n)["query"])
    chosen = max(found, key=lambda n: found[n][1]["mean"])
    weights = found[chosen][0]
    say("chosen", chosen, weights)
    finals = {f"final{s}": dict(TRIED[chosen], everything=True, seed=s) for s in (11, 12)}
    [p.wait() for p in [start("train_tower.py", n, cfg) for n, cfg in finals.items()]]
    from soup import soup
    soup(FOLDER, RUNS / "final", [str(RUNS / n / "tower.safetensors") for n in finals], evaluate=False)
    subprocess.run(["split", "-b", "15500000", str(RUNS / "final/tower.safetensors"), str(RESULTS / "tower.part.")], check=True)
    say("final tower written")
    python = [sys.executable, "eval_valid.py", FOLDER, str(RUNS / "final/tower.safetensors"), json.dumps(weights)]
    runs = [subprocess.Popen(python)]
    if cross:
        runs.append(subprocess.Popen([*python, "--sample", "1000", "--conditions", "self_original", "self_revised", "--cross", str(RUNS / "cross/cross.safetensors"), str(cross["held"]["weight"])]))
    [p.wait() for p in runs]
    say("done")


if __name__ == "__main__":
    main()
