"""The sentence encoder: texts in, vectors of length 1 out, with ONNX Runtime on the CPU.

A model folder holds `encoder.int8.onnx` (ids and mask in, one vector a row out), `tokenizer.json` and its card,
`model.json`. Texts go through in batches of like length: each is padded to the next multiple of 4 of its own length and
batched only with texts of that length, so that its vector is the same whatever it is batched with. For that the model's
activations must be quantised row by row, not over a whole batch.

Vectors are rounded to float16, as the cache keeps them, so that one read from it equals one newly made.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from understudy.encoding.cache import EncodingCache, cache_key
from understudy.encoding.card import CARD, TOKENIZER, WEIGHTS, form_of, read_card
from understudy.encoding.sequences import PROCESSING, ROLES, Context, Floats, Sequencer
from understudy.errors import InputError, UnderstudyError
from understudy.libraries import import_library
from understudy.model_folder import read_tensors

__all__ = ["SentenceEncoder", "session_of", "shipped_model", "tokens_of"]

BACKGROUND = "background.safetensors"  # what a model knows of the texts it was trained on, where it does
STEP = 4  # texts are padded to multiples of this
BATCH_TOKENS = 512  # of a batch: its activations then stay in the processor's own cache
KEPT_AT_ONCE = 512  # texts that are encoded before they are written to the cache


def shipped_model() -> Path:
    """The model folder that comes with the package."""
    return Path(str(files("understudy"))) / "models" / "encoder"


class SentenceEncoder:
    """A tower from a model folder. `progress` is told (done, of) while many texts are encoded."""

    def __init__(
        self,
        folder: Path | None = None,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`cache` is the folder of encodings; None is the user's own, False means to keep none."""
        self.folder = folder or shipped_model()
        self.card = read_card(self.folder)
        self._progress = progress
        form = form_of(self.card, self.folder)
        self._session = session_of(self.folder / WEIGHTS, threads)
        self._sequencer = Sequencer(form, tokens_of(self.folder / TOKENIZER))
        made = self._session.get_outputs()[0].shape[-1]
        if isinstance(made, int) and made != self.width:
            told = f"the card says that vectors are {self.width} wide, and the model makes them {made} wide"
            raise InputError(f"{told}: fetch the model again", self.folder / CARD)
        self._keep_in = cache

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
        """How much words in common count beside the vectors; nothing for a model that was not made with them."""
        weights: Mapping[str, float] = self.card.get("words", {})
        return weights

    @property
    def commonness(self) -> float:
        """How much it counts against a reply that it is near to anything."""
        return float(self.card.get("commonness", 0.0))

    @property
    def rarity(self) -> Floats:
        """How rare each token was where the model was trained."""
        return self._background("rarity", 1)

    @property
    def contexts(self) -> Floats:
        """Some contexts of the training, a vector each: query and history, added up as they are weighed."""
        return self._background("contexts", 2)

    def _background(self, name: str, dimensions: int) -> Floats:
        found = read_tensors(self.folder / BACKGROUND)[0].get(name)
        if found is None or found.ndim != dimensions or (dimensions == 2 and found.shape[1] != self.width):
            raise InputError(f"holds no '{name}' of the model's size: fetch the model again", self.folder / BACKGROUND)
        return found.astype(np.float32)

    def words(self, text: str) -> list[int]:
        """A text's tokens."""
        return self._sequencer.words(text)

    @cached_property
    def fingerprint(self) -> str:
        """Tells apart models, and versions of how texts are prepared for them, that would encode differently."""
        digest = blake2b(PROCESSING.to_bytes(4, "little"), digest_size=12)
        for name in (WEIGHTS, TOKENIZER):
            digest.update((self.folder / name).read_bytes())
        digest.update(json.dumps(self.card["sequences"], sort_keys=True).encode())
        return digest.hexdigest()

    @cached_property
    def _cache(self) -> EncodingCache | None:
        if isinstance(self._keep_in, bool):
            return EncodingCache(self.fingerprint, self.width) if self._keep_in else None
        return EncodingCache(self.fingerprint, self.width, self._keep_in)

    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:
        """A vector a text. `keep` says whether they may be written to the cache."""
        if role not in ROLES:
            raise ValueError(f"role '{role}' is not one of {', '.join(ROLES)}")
        distinct = list(dict.fromkeys(texts))
        vectors = self._kept(
            [cache_key(role, text) for text in distinct] if keep else [],
            len(distinct),
            lambda some: self._sequencer.texts([distinct[place] for place in some], role),
        )
        places = {text: place for place, text in enumerate(distinct)}
        return vectors[[places[text] for text in texts]] if len(distinct) < len(texts) else vectors

    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats:
        """A vector a context. Chats are not kept, a benchmark's questions may be."""
        keys = [cache_key("context", json.dumps([one.own, one.theirs, one.turns])) for one in contexts] if keep else []
        return self._kept(
            keys, len(contexts), lambda some: self._sequencer.contexts([contexts[place] for place in some])
        )

    def _kept(self, keys: list[bytes], size: int, sequences: Callable[[Sequence[int]], list[list[int]]]) -> Floats:
        """Vectors from the cache, the others made; what is made is written as it goes, so a stop loses little."""
        cache = self._cache if keys else None
        if cache is None:
            vectors, found = np.zeros((size, self.width), np.float32), np.zeros(size, np.bool_)
        else:
            vectors, found = cache.get(keys)
        missing = np.flatnonzero(~found).tolist()
        for start in range(0, len(missing), KEPT_AT_ONCE):
            some = missing[start : start + KEPT_AT_ONCE]
            vectors[some] = self._run(sequences(some))
            if cache is not None:
                cache.add([keys[place] for place in some], vectors[some])
            if self._progress is not None:
                self._progress(start + len(some), len(missing))
        return vectors

    def _run(self, sequences: list[list[int]]) -> Floats:
        vectors = np.zeros((len(sequences), self.width), np.float32)
        for length, places in _batches(sequences):
            ids = np.zeros((len(places), length), np.int64)
            mask = np.zeros((len(places), length), np.int64)
            for row, place in enumerate(places):
                ids[row, : len(sequences[place])] = sequences[place]
                mask[row, : len(sequences[place])] = 1
            try:
                vectors[places] = self._session.run(None, {"ids": ids, "mask": mask})[0]
            except Exception as error:  # such as a token that its card names and it does not know
                raise InputError(f"the model does not fit its card: {error}", self.folder) from error
        return vectors.astype(np.float16).astype(np.float32)


def _batches(sequences: Sequence[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """(padded length, which sequences), shortest first."""
    alike: dict[int, list[int]] = defaultdict(list)
    for place, ids in enumerate(sequences):
        alike[-(-len(ids) // STEP) * STEP].append(place)
    for length, places in sorted(alike.items()):
        size = max(BATCH_TOKENS // length, 1)
        for start in range(0, len(places), size):
            yield length, places[start : start + size]


def session_of(path: Path, threads: int) -> Any:
    try:
        onnxruntime = import_library("onnxruntime")
    except ImportError as error:
        raise _incomplete("onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The graph is written the way it runs fastest. More would join Add and LayerNormalization into an operator that is
    # an order slower on a CPU.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InputError(f"the model cannot be loaded: {error}", path) from error


def tokens_of(path: Path) -> Callable[[Sequence[str]], list[list[int]]]:
    """Cuts many texts into tokens, without special ones."""
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
    return lambda texts: [cut.ids for cut in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def _incomplete(library: str) -> UnderstudyError:
    return UnderstudyError(
        f"the encoder needs {library}, which belongs to every installation and cannot be loaded: "
        "install it again with pip install --force-reinstall understudy"
    )
