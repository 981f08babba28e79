"""Tiny models and data to train them on, written for the tests."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from understudy.agents.bag_ranker import spelled
from understudy.agents.lstm import initial_parameters, parameter_shapes, rarity_weights
from understudy.agents.word_tokens import TokenVocabulary
from understudy.language.model_folder import FORMAT, texts_as_tensor, write_card, write_model, write_tensors
from understudy.training.cross_encoder import head_start
from understudy.training.export import write_cross_encoder, write_encoder
from understudy.training.pretrained import Shape, load_base

__all__ = ["PLACES", "TRADES", "tiny_base", "tiny_data", "tiny_lstm", "tiny_model"]

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
    if agent == "cross-encoder":
        return tiny_cross_encoder(folder, **told)
    if agent == "causal":
        return tiny_causal(folder, **told)
    if agent in ("seq2seq", "generative-memory"):
        return tiny_lstm(agent, folder, **told)
    if agent == "bob":
        return tiny_bob(folder, **told)
    if agent == "reranker":
        return tiny_reranker(folder, **told)
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


def tiny_lstm(agent: str, folder: Path, **told: Any) -> Path:
    """A model of random weights that writes."""
    words = [
        ".",
        "?",
        "the",
        "key",
        "is",
        "in",
        "my",
        "pocket",
        "where",
        "i",
        "lost",
        "it",
        "harbour",
        "pilot",
        "brass",
    ]
    vocabulary, has_memory = TokenVocabulary(words), agent == "generative-memory"
    shapes = parameter_shapes(len(vocabulary), 12, 16, has_memory=has_memory)
    start = initial_parameters(shapes, 16, seed=3)
    tensors: dict[str, Any] = {name: 4 * tensor for name, tensor in start.items()}
    tensors["words"] = texts_as_tensor(words)
    if has_memory:
        tensors["memory.weights"] = rarity_weights(np.arange(1, len(vocabulary) + 1))
    settings = {"width": 12, "hidden": 16}
    card = {"agent": agent, "format": FORMAT, "trained_on": "original", "settings": settings, "seed": 0, **told}
    write_model(folder, card, tensors)
    return folder


def tiny_cross_encoder(folder: Path, **told: Any) -> Path:
    """A cross-encoder of random weights beside an encoder of random weights."""
    base = load_base(tiny_base(folder / "base"))
    encoder = folder / "beside"
    card: dict[str, Any] = {"format": FORMAT, "seed": 0}
    encoder.mkdir()
    write_encoder(encoder, base.tensors, base, {**card, "agent": "encoder"}, {})
    head = head_start(base.shape, seed=1)
    head["head.2.weight"] = np.random.default_rng(2).normal(0, 1, head["head.2.weight"].shape).astype(np.float32)
    card = {**card, "agent": "cross-encoder", "weight": 2.0, "trained_on": "original", **told}
    write_cross_encoder(folder, {**base.tensors, **head}, base, encoder, card, base.form.longest, {})
    return folder


def tiny_causal(folder: Path, **told: Any) -> Path:
    """A causal language model of random weights, as one that was trained whole."""
    from languagemodels import tiny_language_model

    spoken = "About Ines: Tomas: I am a harbour pilot. says: Where is the brass key? In my pocket. You boat lost it"
    tiny_language_model(folder, "causal", spoken.split())
    write_card(folder, {"agent": "causal", "format": FORMAT, "speakers": "names", "trained_on": "original", **told})
    return folder


def tiny_bob(folder: Path, **told: Any) -> Path:
    """BERT over BERT with random weights, and a mind to end what it says."""
    from understudy.agents.bob import write_bob
    from understudy.training.bob.trainer import initial_weights, network_card

    base = load_base(tiny_base(folder.with_name(f"{folder.name} base"), width=16))
    weights = initial_weights(base, seed=1)
    rng = np.random.default_rng(1)
    for name in weights:
        if name.startswith(("cross.", "head.")) and name.endswith("weight") and "LayerNorm" not in name:
            weights[name] = rng.normal(0, 0.3, weights[name].shape).astype(np.float32)
        if name.startswith("head.") and name.endswith("y.bias"):
            weights[name][base.form.last] = 4
    card = {"agent": "bob", "format": FORMAT, "input": "per", "seed": 0, **network_card(base), **told}
    write_bob(folder, card, weights, base.tokenizer)
    return folder


def tiny_reranker(folder: Path, **told: Any) -> Path:
    """A reranker of random weights, its base model beside it."""
    from languagemodels import tiny_language_model
    from understudy.agents.reranker import ADAPTER, pack_matrices
    from understudy.language.backends.causal_lm import base_card

    spoken = "Ines: Tomas: I am a harbour pilot. Where is the brass key? In my pocket. Fog again. boat lost it"
    base = tiny_language_model(folder / "base", "causal", spoken.split(), 64)
    rng = np.random.default_rng(4)
    path = "model.layers.1.self_attn.q_proj"
    matrices = {f"{path}.a": rng.normal(size=(2, 32)), f"{path}.b": rng.normal(size=(32, 2))}
    tensors = pack_matrices({name: matrix.astype(np.float32) for name, matrix in matrices.items()})
    head = {"head.weight": rng.normal(size=(1, 32)).astype(np.float32), "head.bias": np.zeros(1, np.float32)}
    write_tensors(folder / ADAPTER, {**tensors, **head})
    card = {"agent": "reranker", "format": FORMAT, "base": base_card(base), "settings": {"scale": 0.5}, **told}
    write_card(folder, card)
    return folder


def tiny_base(folder: Path, width: int = 32, layers: int = 2, seed: int = 0) -> Path:
    """A BERT with a few dozen words and random weights, as Hugging Face lays one out."""
    folder.mkdir(parents=True, exist_ok=True)
    told = (
        "i you my the a by is and in where do what live all day hello house mine who are pocket key boat brass lost it"
    )
    trades = [*TRADES, *TRADES.values(), *PLACES]
    special = ["[PAD]", *(f"[unused{number}]" for number in range(6)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    marked = ["reply", "me", "personality", "partner", "query", ".", ",", "?", "!"]
    vocabulary = {
        word: number for number, word in enumerate(dict.fromkeys([*special, *marked, *told.split(), *trades]))
    }
    config = {
        "model_type": "bert", "hidden_act": "gelu", "type_vocab_size": 2, "num_hidden_layers": layers,
        "num_attention_heads": 4, "hidden_size": width, "intermediate_size": 2 * width, "vocab_size": len(vocabulary),
        "max_position_embeddings": 320, "layer_norm_eps": 1e-12,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    chance = np.random.default_rng(seed)
    shape = Shape(layers, 4, width, 2 * width, len(vocabulary), 320, 1e-12)
    tensors = {
        name: np.ones(size, np.float32)
        if name.endswith("LayerNorm.weight")
        else np.zeros(size, np.float32)
        if name.endswith("bias")
        else chance.normal(0, 0.05 if "position" in name else 0.2, size).astype(np.float32)
        for name, size in shape.tensors().items()
    }
    write_tensors(folder / "model.safetensors", tensors)
    return folder
