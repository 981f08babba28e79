"""Writes a trained transformer as a model folder: an ONNX graph to run, and weights to continue training from.

    encoder.int8.onnx    what is run                       config.json          what `--base` reads, so that another
    tokenizer.json       the tokenizer                     model.safetensors    training can start from these weights
    model.json           the card

A cross-encoder has `cross-encoder.onnx` and `head.safetensors` instead, and the encoder it stands beside in a folder of
its own, `encoder`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.cross_encoder import ENCODER, HEAD, HEAD_FILE
from understudy.agents.cross_encoder import GRAPH as PAIR_GRAPH
from understudy.language.encoding import Context, SentenceEncoder
from understudy.language.encoding.encoder import BACKGROUND, CARD, read_encoder_card
from understudy.language.encoding.encoder import WEIGHTS as GRAPH
from understudy.language.model_folder import write_card, write_tensors
from understudy.training.bert import PackedSequences, states
from understudy.training.contrastive import SHARPNESS, WEIGHTS
from understudy.training.onnxgraph import Peaks, encoder_graph, pair_graph
from understudy.training.pretrained import CONFIG, TOKENIZER, WEIGHTS_FILE, Base, Weights

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["peaks_of", "write_background", "write_cross_encoder", "write_encoder"]

WORDS, COMMONNESS = {"own": 0.25, "said": 0.25, "heard": 0.15}, 0.1  # chosen on held-back dialogues
QUANTISED = "weights 7 bits a column, activations 8 bits a row, embeddings 8 bits a row"


def write_encoder(folder: Path, weights: Weights, base: Base, card: Mapping[str, Any], peaks: Peaks) -> dict[str, Any]:
    """Fill a folder that the agent `encoder` opens, and give its whole card.

    `base` is what the weights were trained from. `write_background` adds what the model knows of its texts.
    """
    (folder / GRAPH).write_bytes(encoder_graph(weights, base.shape, peaks))
    shutil.copyfile(base.tokenizer, folder / TOKENIZER)
    shutil.copyfile(base.folder / CONFIG, folder / CONFIG)
    write_tensors(folder / WEIGHTS_FILE, {name: weights[name].astype(np.float16) for name in base.shape.tensors()})
    full_card = {
        **card,
        "quantised": QUANTISED,
        "width": base.shape.width,
        "sequences": _sequences(base, dict(base.form.longest)),
        "weights": WEIGHTS,
        "sharpness": SHARPNESS,
    }
    write_card(folder, full_card)
    return full_card


def write_background(folder: Path, rarity: NDArray[np.float32], contexts: Sequence[Context]) -> dict[str, Any]:
    """Add to an encoder's folder how rare each token was and what some contexts are like, and give its whole card."""
    card = {**read_encoder_card(folder), "words": WORDS, "commonness": COMMONNESS}
    encoder = SentenceEncoder(folder, cache=False)
    turns = [Context(turns=context.turns) for context in contexts]
    added = WEIGHTS["query"] * encoder.encode_contexts(contexts) + WEIGHTS["history"] * encoder.encode_contexts(turns)
    tensors = {"rarity": rarity.astype(np.float16), "contexts": added.astype(np.float16)}
    write_tensors(folder / BACKGROUND, tensors)
    write_card(folder, card)
    return card


def write_cross_encoder(
    folder: Path,
    weights: Weights,
    base: Base,
    encoder: Path,
    card: Mapping[str, Any],
    longest: Mapping[str, int],
    peaks: Peaks,
    bits: int = 8,
) -> dict[str, Any]:
    """Fill a folder that the agent `cross-encoder` opens, and give its whole card.

    The card must say the encoder's `weight`; `encoder` is the model folder of the encoder it stands beside, and
    `longest` how many tokens of a context and a reply are read.
    """
    (folder / PAIR_GRAPH).write_bytes(pair_graph(weights, base.shape, peaks, bits))
    head = {name: weights[name].astype(np.float32) for name in HEAD}
    write_tensors(folder / HEAD_FILE, head)
    shutil.copyfile(base.tokenizer, folder / TOKENIZER)
    read_encoder_card(encoder)
    (folder / ENCODER).mkdir(exist_ok=True)
    for name in (CARD, GRAPH, TOKENIZER, BACKGROUND):
        if (encoder / name).is_file():  # a model may do without words
            shutil.copyfile(encoder / name, folder / ENCODER / name)
    full_card = {
        **card,
        "bits": bits,
        "quantised": QUANTISED if bits == 8 else "no: in 8 bits it chose worse",
        "width": base.shape.width,
        "sequences": _sequences(base, longest),
        "weights": {},
    }
    write_card(folder, full_card)
    return full_card


def _sequences(base: Base, longest: Mapping[str, int]) -> dict[str, Any]:
    """How a model's sequences are made, as its card tells it."""
    form = base.form
    return {
        "first": form.first,
        "last": form.last,
        "markers": dict(form.markers),
        "longest": dict(longest),
        "theirs": False,
    }


def peaks_of(weights: Weights, base: Base, stream: PackedSequences) -> Peaks:
    """How large the inputs of the linear layers get over some sequences, channel by channel."""
    import torch

    peaks: dict[str, NDArray[np.float32]] = {}
    real = stream.real[:, None]

    def watch(name: str, rows: Tensor) -> None:
        peaks[name] = (rows.abs() * real).amax(dim=0).numpy()

    with torch.no_grad():
        states({name: torch.from_numpy(tensor) for name, tensor in weights.items()}, stream, base.shape, watch=watch)
    return peaks
