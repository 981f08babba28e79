"""The sentence encoder: texts in, vectors of length 1 out, with ONNX Runtime on the CPU.

A model folder holds `encoder.int8.onnx` (ids and mask in, one vector a row out), `tokenizer.json` and its card,
`model.json`. Texts go through in batches of like length: each is padded to the next multiple of 4 of its own length and
batched only with texts of that length, so that its vector is the same whatever it is batched with. For that the model's
activations must be quantised row by row, not over a whole batch.

Vectors are rounded to float16, as the cache stores them, so that a cached vector equals one newly encoded. Numbers of a
card are checked against bounds before anything is created from them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, UnderstudyError
from understudy.language.encoding.cache import EncodingCache, cache_key
from understudy.language.encoding.sequences import PROCESSING, ROLES, Context, Floats, SequenceFormat, Sequencer
from understudy.language.libraries import import_library
from understudy.language.model_folder import MAX_CARD_BYTES, is_number, read_tensors

__all__ = [
    "BACKGROUND",
    "CARD",
    "MAX_WEIGHT",
    "TOKENIZER",
    "WEIGHTS",
    "SentenceEncoder",
    "load_session",
    "load_tokenizer",
    "parse_sequence_format",
    "read_encoder_card",
    "shared_encoder",
    "shipped_model",
]

FORMAT = 1
CARD, WEIGHTS, TOKENIZER = "model.json", "encoder.int8.onnx", "tokenizer.json"
BACKGROUND = "background.safetensors"  # token statistics and contexts of the training data; not every model has them
MAX_WIDTH = 65_536
SEQUENCE_TOKENS = (8, 4_096)  # room for the markers at least; attention within memory at most
MAX_TOKEN_ID = 10_000_000
MAX_WEIGHT = 1_000.0  # of either sign
MAX_SHARPNESS = 10_000.0
STEP = 4  # texts are padded to multiples of this
BATCH_TOKENS = 512  # the activations of such a batch stay in the processor's cache
CACHED_AT_ONCE = 512  # texts that are encoded before they are written to the cache


def shipped_model() -> Path:
    """The model folder that comes with the package."""
    return Path(str(files("understudy"))) / "models" / "encoder"


@cache
def shared_encoder() -> SentenceEncoder:
    """The encoder that comes with the package, loaded once."""
    return SentenceEncoder()


class SentenceEncoder:
    """The encoder of a model folder. `progress` is called with (done, total) while many texts are encoded."""

    def __init__(
        self,
        folder: Path | None = None,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`folder` is the shipped model by default; `cache` a folder, None for the user's own, False for no cache."""
        self.folder = folder or shipped_model()
        self.card = read_encoder_card(self.folder)
        self._progress = progress
        sequence_format = parse_sequence_format(self.card, self.folder)
        self._session = load_session(self.folder / WEIGHTS, threads)
        self._sequencer = Sequencer(sequence_format, load_tokenizer(self.folder / TOKENIZER))
        width = self._session.get_outputs()[0].shape[-1]
        if isinstance(width, int) and width != self.width:
            problem = f"the card says that vectors are {self.width} wide, and the model makes them {width} wide"
            raise InputError(f"{problem}: fetch the model again", self.folder / CARD)
        self._cache_option = cache

    @property
    def width(self) -> int:
        return int(self.card["width"])

    @property
    def weights(self) -> Mapping[str, float]:
        weights: Mapping[str, float] = self.card["weights"]
        return weights

    @property
    def sharpness(self) -> float:
        return float(self.card.get("sharpness", 20.0))

    @property
    def word_weights(self) -> Mapping[str, float]:
        """The weights of shared words in the ranking score; empty for a model trained without them."""
        weights: Mapping[str, float] = self.card.get("words", {})
        return weights

    @property
    def hubness_weight(self) -> float:
        """How much it counts against a reply that it is near to any context."""
        return float(self.card.get("commonness", 0.0))

    @property
    def rarity(self) -> Floats:
        """How rare each token was where the model was trained."""
        return self._background("rarity", 1)

    @property
    def contexts(self) -> Floats:
        """A sample of the training contexts, a vector each: the weighted sum of query and history."""
        return self._background("contexts", 2)

    def _background(self, name: str, dimensions: int) -> Floats:
        tensor = read_tensors(self.folder / BACKGROUND)[0].get(name)
        if tensor is None or tensor.ndim != dimensions or (dimensions == 2 and tensor.shape[1] != self.width):
            raise InputError(f"holds no '{name}' of the model's size: fetch the model again", self.folder / BACKGROUND)
        return tensor.astype(np.float32)

    def words(self, text: str) -> list[int]:
        """The token ids of a text."""
        return self._sequencer.words(text)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that decides a vector: weights, tokenizer, and how texts are prepared."""
        digest = blake2b(PROCESSING.to_bytes(4, "little"), digest_size=12)
        for name in (WEIGHTS, TOKENIZER):
            digest.update((self.folder / name).read_bytes())
        digest.update(json.dumps(self.card["sequences"], sort_keys=True).encode())
        return digest.hexdigest()

    @cached_property
    def _cache(self) -> EncodingCache | None:
        if isinstance(self._cache_option, bool):
            return EncodingCache(self.fingerprint, self.width) if self._cache_option else None
        return EncodingCache(self.fingerprint, self.width, self._cache_option)

    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:
        """A vector for each text. `keep` says whether the cache is used."""
        if role not in ROLES:
            raise ValueError(f"role '{role}' is not one of {', '.join(ROLES)}")
        distinct = list(dict.fromkeys(texts))
        vectors = self._encode(
            [cache_key(role, text) for text in distinct] if keep else [],
            len(distinct),
            lambda indices: self._sequencer.texts([distinct[index] for index in indices], role),
        )
        rows = {text: row for row, text in enumerate(distinct)}
        return vectors[[rows[text] for text in texts]] if len(distinct) < len(texts) else vectors

    def cached(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """The vectors of replies that are in the cache, and which are; the others are zero."""
        if self._cache is None:
            return np.zeros((len(texts), self.width), np.float32), np.zeros(len(texts), np.bool_)
        return self._cache.get([cache_key("reply", text) for text in texts])

    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats:
        """A vector for each context. Chats are not cached; the questions of a benchmark may be."""
        keys = (
            [cache_key("context", json.dumps([context.own, context.theirs, context.turns])) for context in contexts]
            if keep
            else []
        )
        return self._encode(
            keys, len(contexts), lambda indices: self._sequencer.contexts([contexts[index] for index in indices])
        )

    def _encode(self, keys: list[bytes], count: int, sequences: Callable[[Sequence[int]], list[list[int]]]) -> Floats:
        """Cached vectors, and the missing ones encoded. They are cached batch by batch, so that a stop loses little."""
        cache = self._cache if keys else None
        if cache is None:
            vectors, present = np.zeros((count, self.width), np.float32), np.zeros(count, np.bool_)
        else:
            vectors, present = cache.get(keys)
        missing = np.flatnonzero(~present).tolist()
        for start in range(0, len(missing), CACHED_AT_ONCE):
            batch = missing[start : start + CACHED_AT_ONCE]
            vectors[batch] = self._run(sequences(batch))
            if cache is not None:
                cache.add([keys[index] for index in batch], vectors[batch])
            if self._progress is not None:
                self._progress(start + len(batch), len(missing))
        return vectors

    def _run(self, sequences: list[list[int]]) -> Floats:
        vectors = np.zeros((len(sequences), self.width), np.float32)
        for length, indices in _batches(sequences):
            ids = np.zeros((len(indices), length), np.int64)
            mask = np.zeros((len(indices), length), np.int64)
            for row, index in enumerate(indices):
                ids[row, : len(sequences[index])] = sequences[index]
                mask[row, : len(sequences[index])] = 1
            try:
                vectors[indices] = self._session.run(None, {"ids": ids, "mask": mask})[0]
            except Exception as error:  # such as a token id of the card that the model does not have
                raise InputError(f"the model does not fit its card: {error}", self.folder) from error
        return vectors.astype(np.float16).astype(np.float32)


def _batches(sequences: Sequence[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """(padded length, indices of sequences), shortest first."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, ids in enumerate(sequences):
        by_length[-(-len(ids) // STEP) * STEP].append(index)
    for length, indices in sorted(by_length.items()):
        size = max(BATCH_TOKENS // length, 1)
        for start in range(0, len(indices), size):
            yield length, indices[start : start + size]


def load_session(path: Path, threads: int) -> Any:
    try:
        onnxruntime = import_library("onnxruntime")
    except ImportError as error:
        raise _incomplete("onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The graph is already written the way it runs fastest. Higher levels fuse Add and LayerNormalization into an
    # operator that is an order of magnitude slower on a CPU.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InputError(f"the model cannot be loaded: {error}", path) from error


def load_tokenizer(path: Path) -> Callable[[Sequence[str]], list[list[int]]]:
    """A function from many texts to their token ids, without special tokens."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _incomplete("tokenizers") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library has no class of its own for it
        raise InputError(f"cannot be read as a tokenizer: {error}", path) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def _incomplete(library: str) -> UnderstudyError:
    return UnderstudyError(
        f"the encoder needs {library}, which belongs to every installation and cannot be loaded: "
        "install it again with pip install --force-reinstall understudy"
    )


def read_encoder_card(folder: Path) -> dict[str, Any]:
    """The card of the encoder in a folder, which must have all its files."""
    path = folder / CARD
    for name in (CARD, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise InputError(f"this is no encoder's model folder: it has no {name}", folder)
    if path.stat().st_size > MAX_CARD_BYTES:
        raise InputError("is too large to be a model's card", path)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the card cannot be read: {error}", path) from error
    if not isinstance(card, dict) or card.get("agent") != "encoder":
        raise InputError("the card is not an encoder's: choose a folder whose model.json says 'agent': 'encoder'", path)
    if card.get("format") != FORMAT:
        raise InputError(
            f"the model is of format {str(card.get('format'))[:20]}, this Understudy reads format {FORMAT}: "
            "use a model made for it, or the Understudy the model was made for",
            path,
        )
    return card


def parse_sequence_format(card: Mapping[str, Any], folder: Path) -> SequenceFormat:
    """How a card says that sequences are built. All other numbers of the card are checked too."""
    try:
        sequences = card["sequences"]
        _integer("width", card["width"], 1, MAX_WIDTH)
        for name in ("weights", "words"):
            for part, weight in dict(card["weights"] if name == "weights" else card.get(name, {})).items():
                _number(f"{name}.{part}", weight, -MAX_WEIGHT, MAX_WEIGHT)
        _number("commonness", card.get("commonness", 0.0), -MAX_WEIGHT, MAX_WEIGHT)
        _number("sharpness", card.get("sharpness", 1.0), 1 / MAX_SHARPNESS, MAX_SHARPNESS)
        return SequenceFormat(
            _integer("sequences.first", sequences["first"], 0, MAX_TOKEN_ID),
            _integer("sequences.last", sequences["last"], 0, MAX_TOKEN_ID),
            {
                role: _integer(f"markers.{role}", marker, 0, MAX_TOKEN_ID)
                for role, marker in dict(sequences["markers"]).items()
            },
            {
                kind: _integer(f"longest.{kind}", length, *SEQUENCE_TOKENS)
                for kind, length in dict(sequences["longest"]).items()
            },
            bool(sequences.get("theirs", True)),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"the card lacks what the encoder needs: {error}", folder / CARD) from error


def _number(name: str, value: Any, low: float, high: float) -> float:
    if not is_number(value):
        raise ValueError(f"{name} is not a number")
    if not low <= value <= high:
        raise ValueError(f"{name} is {value:g}, and must be from {low:g} to {high:g}")
    return float(value)


def _integer(name: str, value: Any, low: int, high: int) -> int:
    if _number(name, value, low, high) != int(value):
        raise ValueError(f"{name} is {value:g}, where a whole number belongs")
    return int(value)
