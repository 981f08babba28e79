"""Dialogues and tiny language models that can read them, for the tests of models of dialogues."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from languagemodels import tiny_language_model, words_of
from models import tiny_data
from understudy.formats.personachat import examples
from understudy.sources.source import SourceFile

__all__ = ["dialogue_base", "gpt2_base", "trades"]

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
