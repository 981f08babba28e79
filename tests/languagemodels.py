"""Tiny language models, made here and now: random numbers, and a vocabulary of the words they are to read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["tiny_gguf", "tiny_language_model", "words_of"]

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
