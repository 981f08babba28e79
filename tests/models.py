"""Tiny models and data to train them on, written for the tests."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents.wordvectors import spelled
from understudy.modelfolder import FORMAT, texts_as_tensor, write_model

__all__ = ["TRADES", "tiny_data", "tiny_model"]

TRADES = {
    "clocks": "mend", "bread": "bake", "boats": "sail", "bees": "keep", "lamps": "light", "rope": "twist",
    "maps": "draw", "nets": "knot", "bells": "cast", "wool": "spin", "glass": "blow", "salt": "boil",
}  # fmt: skip
PLACES = ("harbour", "square", "tower", "mill", "chapel", "lighthouse")


def tiny_data(folder: Path, dialogues: int = 40, personas: str = "original") -> Path:
    """A folder with a training file in which everybody talks of their trade."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(7)
    lines: list[str] = []
    for _ in range(dialogues):
        mine, yours = chance.sample(sorted(TRADES), 2)
        here, there = chance.sample(PLACES, 2)
        told = [
            f"your persona: i {TRADES[mine]} {mine}.",
            f"your persona: i live by the {here}.",
            f"partner's persona: i {TRADES[yours]} {yours}.",
            f"partner's persona: i live by the {there}.",
            f"hello , i {TRADES[yours]} {yours} , and you ?\ti {TRADES[mine]} {mine} all day .",
            f"where do you live ? the {there} is mine .\tmy house is by the {here} .",
        ]
        lines += [f"{number} {line}" for number, line in enumerate(told, 1)]
    (folder / f"train_both_{personas}_no_cands.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def tiny_model(agent: str, folder: Path, **told: Any) -> Path:
    """A model folder with a few words, as if it had been trained; `told` stands in the card."""
    words = ["boat", "brass", "harbour", "is", "key", "my", "pilot", "pocket", "the", "where"]
    tensors = {
        "words": texts_as_tensor(words),
        "vectors": np.stack([spelled(word, 32) * np.float32(0.5 if len(word) < 4 else 1) for word in words]),
        "balance": np.array(0.5, np.float32),
        "memory.heard": texts_as_tensor(["where is the key ?", "who are you ?", "where is the boat ?"]),
        "memory.said": texts_as_tensor(["in my pocket .", "the pilot .", "by the quay ."]),
    }
    if agent != "kv-memory":
        tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("memory.")}
    settings = {"turns": 1, "hops": 2, "sharpness": 10, "gain": 0.4}
    card = {"agent": agent, "format": FORMAT, "trained_on": "original", "settings": settings, "seed": 0, **told}
    write_model(folder, card, tensors)
    return folder
