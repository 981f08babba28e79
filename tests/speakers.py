"""Scenes in which everybody talks of their own, and tiny transformers that can read them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from understudy.guessing.scenes import TrainingScenes
from understudy.people.names import CharacterNames
from understudy.story.types import Line, Moment, Scene

__all__ = ["CAST", "lessons", "scene", "talk", "tiny_reader"]

CAST = ("Ines", "Tobias", "Vera")
OWN = {"Ines": ("keys", "locks", "doors"), "Tobias": ("boats", "tides", "oars"), "Vera": ("bees", "honey", "wax")}
SAID = ("where are the", "I like", "no more")
OTHERS = "Pilot P0 P1 P2 P3 P4 P5 : ( ) , . ? is Who who Scene from Keys with and dawn".split()
LONGEST = 256


def scene(number: int, *lines: tuple[str | None, str], setting: str = "", chapter: int = 1) -> Scene:
    at = (1, chapter, number)
    told = tuple(Line(Moment((*at, place)), who, text) for place, (who, text) in enumerate(lines, 1))
    return Scene(Moment(at), setting, (), told)


def talk(count: int, seed: int, people: Sequence[str] = CAST) -> list[Scene]:
    """Scenes of two or three people, and somebody else; what they say gives each of them away."""
    chance = random.Random(seed)
    found = []
    for number in range(1, count + 1):
        there = chance.sample(list(people), chance.choice((2, 3)))
        turns = there + chance.choices([*there, "Pilot"], k=3)
        chance.shuffle(turns)
        lines = [(who, f"{chance.choice(SAID)} {chance.choice(OWN.get(who, ('dawn',)))}") for who in turns]
        found.append(scene(number, *lines, chapter=seed))
    return found


def lessons(scenes: Sequence[Scene], main: Sequence[str] = CAST) -> TrainingScenes:
    return TrainingScenes(scenes, tuple(main), CharacterNames({who: (who,) for who in main}))


def tiny_reader(folder: Path, kind: str, more: Iterable[str] = (), longest: int = LONGEST) -> Path:
    """A folder as Hugging Face lays it out, of random numbers: a causal Llama, a masked BERT, or a long Longformer.

    It knows the words of these scenes, and more.
    """
    import torch
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Punctuation, Sequence, WhitespaceSplit
    from transformers import (
        BertConfig,
        BertModel,
        LlamaConfig,
        LlamaForCausalLM,
        LongformerConfig,
        LongformerModel,
        PreTrainedTokenizerFast,
    )

    words = [word for text in (*SAID, *(" ".join(own) for own in OWN.values())) for word in text.split()]
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>")
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*special, *OTHERS, *CAST, *words, *more)))}
    tokenizer = Tokenizer(WordLevel(numbers, "[UNK]"))
    tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), Punctuation()])
    marks: dict[str, Any] = {"bos_token": "<s>", "eos_token": "</s>"}
    if kind != "causal":
        marks = {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=longest, **marks
    )
    sizes: dict[str, Any] = {
        "vocab_size": len(numbers), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": longest,
    }  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(7)
        if kind == "masked":
            model: Any = BertModel(BertConfig(**sizes, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
        elif kind == "long":
            sizes["max_position_embeddings"] += 2  # the first two of its kind are never used
            model = LongformerModel(LongformerConfig(**sizes, attention_window=[16, 16], pad_token_id=0))
        else:
            model = LlamaForCausalLM(LlamaConfig(**sizes, bos_token_id=numbers["<s>"], eos_token_id=numbers["</s>"]))
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
