"""Tiny models and data to train them on, written for the tests."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
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
from understudy.formats.personachat import examples
from understudy.language.model_folder import FORMAT, texts_as_tensor, write_card, write_model, write_tensors
from understudy.sources.source import SourceFile
from understudy.training.cross_encoder import head_start
from understudy.training.export import write_cross_encoder, write_encoder
from understudy.training.pretrained import Shape, load_base

__all__ = [
    "PLACES",
    "TRADES",
    "dialogue_base",
    "gpt2_base",
    "tiny_base",
    "tiny_data",
    "tiny_gguf",
    "tiny_language_model",
    "tiny_lstm",
    "tiny_model",
    "trades",
    "words_of",
]


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

    spoken = "About Ines: Tomas: I am a harbour pilot. says: Where is the brass key? In my pocket. You boat lost it"
    tiny_language_model(folder, "causal", spoken.split())
    write_card(folder, {"agent": "causal", "format": FORMAT, "speakers": "names", "trained_on": "original", **told})
    return folder


def tiny_bob(folder: Path, **told: Any) -> Path:
    """BERT over BERT with random weights, and a mind to end what it says."""
    from understudy.agents.bob import write_bob
    from understudy.training.bob import initial_weights, network_card

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


# Tiny language models, made here and now: random numbers, and a vocabulary of the words they are to read.


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>")


def words_of(texts: Iterable[str]) -> list[str]:
    return sorted({word for text in texts for word in text.split()})


def tiny_language_model(
    folder: Path, kind: str, words: Iterable[str], positions: int = 32, spread: float = 0.02
) -> Path:
    """A folder as Hugging Face lays it out: a Llama where it is causal, a BERT where it is masked.

    `spread` is the standard deviation of the weights: more of it gives adapters more to use.
    """
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertForMaskedLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}
    tokenizer = Tokenizer(WordLevel(numbers, "[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    marks: dict[str, Any] = {"bos_token": "<s>", "eos_token": "</s>"}
    if kind == "masked":
        ends = [("[CLS]", numbers["[CLS]"]), ("[SEP]", numbers["[SEP]"])]
        tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
        marks = {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=positions, **marks
    )
    sizes: dict[str, Any] = {
        "vocab_size": len(numbers), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": positions, "initializer_range": spread,
    }  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(7)
        if kind == "masked":
            model: Any = BertForMaskedLM(BertConfig(**sizes, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
        else:
            model = LlamaForCausalLM(LlamaConfig(**sizes, bos_token_id=numbers["<s>"], eos_token_id=numbers["</s>"]))
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def tiny_gguf(path: Path) -> Path:
    """A causal model of random numbers in one .gguf file, which reads letters."""
    import numpy as np
    from gguf import GGUFWriter

    letters = ["<s>", "</s>", "<unk>", *"abcdefghijklmnopqrstuvwxyz.,", "Ġ", "Ġt", "he"]
    random, width, inner, layers = np.random.default_rng(3), 32, 64, 2
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(letters))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(letters)
    writer.add_token_types([3, 3, 3] + [1] * (len(letters) - 3))
    writer.add_token_merges(["Ġ t", "h e"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_unk_token_id(2)
    shapes = {"token_embd": (len(letters), width), "output": (len(letters), width), "output_norm": (width,)}
    for layer in range(layers):
        block = f"blk.{layer}."
        shapes |= {f"{block}attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
        shapes |= {f"{block}ffn_gate": (inner, width), f"{block}ffn_up": (inner, width)}
        shapes |= {f"{block}ffn_down": (width, inner), f"{block}attn_norm": (width,), f"{block}ffn_norm": (width,)}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.1, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


# Dialogues and tiny language models that can read them, for the tests of models of dialogues.


LABELS = "About A: B: A says: B says:"


def trades(folder: Path, dialogues: int = 20) -> Path:
    """A PersonaChat folder of a few dialogues, in which everybody talks of their trade."""
    return tiny_data(folder, dialogues)


def dialogue_base(folder: Path, data: Path, positions: int = 128, more: Iterable[str] = ()) -> Path:
    """A tiny Llama that knows the words of a PersonaChat folder."""
    return tiny_language_model(folder, "causal", words_of([*_texts(data), LABELS, *more]), positions)


def gpt2_base(folder: Path, base: Path) -> Path:
    """A tiny GPT-2, whose linear layers are the other way round and whose positions are learnt; words as in `base`."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(base)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        sizes = {"vocab_size": len(tokenizer), "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 128}
        marks = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        model: Any = GPT2LMHeadModel(GPT2Config(**sizes, **marks, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _texts(data: Path) -> Iterable[str]:
    for example in examples(SourceFile(data / "train_both_original_no_cands.txt")):
        faced = example.situation.faced
        yield from (turn.text for turn in example.history)
        yield from (*example.candidates, *example.situation.persona.profile, *(faced.profile if faced else ()))
