"""Trains the writer: a low-rank adapter on SmolLM2-135M-Instruct, from what prepare.py wrote.

    train.py FOLDER OUT --gguf SmolLM2-135M-Instruct.Q4_1.gguf

The base is the GGUF file that will run, its weights put back to bfloat16, so that the adapter is trained for the very
numbers it will be added to. The loss is that of the reply alone. Two epochs with prompts drawn anew, and fifteen rounds
of the seeds spread over both; about two minutes on an H200, 383 steps of 24,000 tokens.
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import random
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer

from base import adapted, index_of, model_of, quantised
from lora_gguf import plain, written

END = 2
RANKS = {"q_proj": 64, "v_proj": 64, "o_proj": 64, "gate_proj": 64, "up_proj": 64, "down_proj": 64}
SCALE, RATE, TOKENS, LONGEST = 2.0, 4e-4, 24_000, 900


class Data:
    """Prompts with replies, as token numbers."""

    def __init__(self, path: Path, tokenizer: Tokenizer) -> None:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        prompts = [e.ids for e in tokenizer.encode_batch([r["prompt"] for r in rows], add_special_tokens=False)]
        replies = [e.ids + [END] for e in tokenizer.encode_batch([r["reply"] for r in rows], add_special_tokens=False)]
        keep = [i for i in range(len(rows)) if len(prompts[i]) + len(replies[i]) <= LONGEST]
        self.words = [len(rows[i]["reply"].split()) for i in keep]
        self.prompts, self.replies = [prompts[i] for i in keep], [replies[i] for i in keep]

    def __len__(self) -> int:
        return len(self.prompts)

    def size(self, place: int) -> int:
        return len(self.prompts[place]) + len(self.replies[place])


def batches(data: Data, tokens: int, rng: random.Random) -> list[list[int]]:
    """Batches of like length holding about so many tokens, in random order."""
    order = sorted(range(len(data)), key=lambda i: data.size(i) + rng.random() * 24)
    made: list[list[int]] = [[]]
    longest = 0
    for i in order:
        longest = max(longest, data.size(i))
        if made[-1] and longest * (len(made[-1]) + 1) > tokens:
            made.append([])
            longest = data.size(i)
        made[-1].append(i)
    rng.shuffle(made)
    return made


def losses(model: Any, prompts: list[list[int]], replies: list[list[int]], device: str) -> torch.Tensor:
    """Negative log-probability of each reply token. Padding stands after the reply, where nothing looks at it."""
    longest = max(len(p) + len(r) for p, r in zip(prompts, replies))
    ids = torch.full((len(prompts), longest + -longest % 8), END, dtype=torch.long)
    rows, columns, targets = [], [], []
    for row, (p, r) in enumerate(zip(prompts, replies)):
        ids[row, : len(p) + len(r)] = torch.tensor(p + r)
        rows += [row] * len(r)
        columns += range(len(p) - 1, len(p) + len(r) - 1)
        targets += r
    hidden = model.model(input_ids=ids.to(device), use_cache=False).last_hidden_state
    chosen = hidden[torch.tensor(rows, device=device), torch.tensor(columns, device=device)]
    return F.cross_entropy(model.lm_head(chosen).float(), torch.tensor(targets, device=device), reduction="none")


@torch.no_grad()
def perplexity(model: Any, data: Data, device: str) -> dict[str, float]:
    """Per word and per token, without the end of the reply."""
    total, count = 0.0, 0
    for batch in batches(data, 60_000, random.Random(0)):
        loss = losses(model, [data.prompts[i] for i in batch], [data.replies[i][:-1] for i in batch], device)
        total += float(loss.sum())
        count += len(loss)
    return {"word": round(math.exp(total / sum(data.words)), 2), "token": round(math.exp(total / count), 3), "n": len(data)}


def train(model: Any, parameters: list[torch.nn.Parameter], parts: list[Data], device: str, seed: int = 3) -> dict[str, int]:
    rng = random.Random(seed)
    plan = [(data, batch) for data in parts for batch in batches(data, TOKENS, rng)]
    rng.shuffle(plan)
    optimizer = torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.98), weight_decay=0.01, fused=device == "cuda")
    steps, warm, began = len(plan), max(1, len(plan) // 20), time.time()
    for step, (data, batch) in enumerate(plan):
        share = step / warm if step < warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
        for group in optimizer.param_groups:
            group["lr"] = RATE * max(share, 0.02)
        loss = losses(model, [data.prompts[i] for i in batch], [data.replies[i] for i in batch], device).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 100 == 99 or step == steps - 1:
            print(f"step {step + 1}/{steps} loss {float(loss):.3f} {time.time() - began:.0f} s", flush=True)
    return {"steps": steps, "examples": sum(len(batch) for _, batch in plan), "seconds": round(time.time() - began)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json, as tokenizer.make() writes it")
    given = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    model = model_of(given.gguf, index_of(given.gguf)).to(device)
    held = {path.stem.split(".")[0]: Data(path, tokenizer) for path in sorted(given.folder.glob("held-*.jsonl.xz"))}
    figures: dict[str, Any] = {"untrained": {name: perplexity(model, data, device) for name, data in held.items()}}
    parameters = adapted(model, RANKS, SCALE)
    figures["training"] = train(
        model, list(parameters.values()), [Data(given.folder / f"{name}.jsonl.xz", tokenizer) for name in ("epoch1", "epoch2", "seeds")], device
    )
    figures["trained"] = {name: perplexity(model, data, device) for name, data in held.items()}
    packed = {name: quantised(p.detach().float().cpu().numpy()) for name, p in parameters.items()}
    written(given.out / "writer.gguf", packed, SCALE)
    save_file({name: torch.from_numpy(value) for name, value in plain(packed).items()}, given.out / "writer.safetensors")
    (given.out / "figures.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
