"""GGUF model files: what one says about its model (context length, vocabulary), and loading it with xllamacpp.

The file begins with the magic, a version, the number of tensors and of fields; each field is a key, a type and a value.
`GGUFModel` reads these alone, and no weights.

xllamacpp starts an HTTP server that cannot be switched off. It is given a Unix socket in a folder of our own that is
deleted as soon as the model is loaded, so that nobody can reach it. Windows has none of these: there it listens on the
loopback device and answers nobody without a random key, which is not kept.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import BackendError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
import os
import secrets
import shutil
import sys
import tempfile
from importlib.util import find_spec

from understudy.errors import MissingExtra

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
MAX_FIELDS = 65_536
CONTROL_TOKEN, USER_DEFINED_TOKEN = 3, 4
BYTES_PER_TOKEN = 3  # an estimate on the safe side, for vocabularies that are not byte-level BPE
SINGLE_DIGITS = ("smollm", "qwen2")  # their numbers are cut into digits first
BATCH_TOKENS = 512  # of a prompt between two looks at whether it was cancelled
PROMPT_CACHE_MIB = 512  # cached prompts of other chats, in memory
SOCKET_PATH_BYTES = 100  # a little less than any system allows
QUIET = -1


class GGUFModel:
    """The fields of one file. Exact token counts for SmolLM2, close ones for other byte-level BPE models."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """Every field by its key.

        :raises BackendError: the file is not there, not GGUF, or broken off.
        """
        try:
            with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Fields(data).read()
        except FileNotFoundError:
            raise BackendError(f"{self.path}: there is no such model file") from None
        except (OSError, ValueError, struct.error, UnicodeDecodeError, IndexError) as error:
            raise BackendError(f"{self.path}: cannot be read as a GGUF model ({error}): fetch it again") from error

    @property
    def context_length(self) -> int | None:
        """How many tokens the model was trained to see at once, where the file says so."""
        length = self.fields.get(f"{self.fields.get('general.architecture')}.context_length")
        return length if isinstance(length, int) and length > 0 else None

    @cached_property
    def control_tokens(self) -> tuple[str, ...]:
        """Tokens that mark where messages begin and end; longest first."""
        tokens, types = self._list("tokens"), self._list("token_type")
        control = {str(token) for token, kind in zip(tokens, types) if _is_control(str(token), kind)}
        return tuple(sorted(control, key=len, reverse=True))

    def count_tokens(self, text: str) -> int:
        tokens = self.tokenize(text)
        return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN) if tokens is None else len(tokens)

    def tokenize(self, text: str) -> list[int] | None:
        """The tokens of a text; None for vocabularies that are not byte-level BPE."""
        if self._tokenizer is None:
            return None
        tokens: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        return tokens

    @cached_property
    def _tokenizer(self) -> Tokenizer | None:
        if self.fields.get("tokenizer.ggml.model") != "gpt2":
            return None
        from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

        vocabulary = {str(token): index for index, token in enumerate(self._list("tokens"))}
        halves = (str(merge).partition(" ") for merge in self._list("merges"))
        merges = [(first, second) for first, _, second in halves]
        try:
            tokenizer = Tokenizer(models.BPE(vocabulary, merges))
        except Exception:  # the library's own, of no narrower class: merges of tokens that are not there
            return None
        steps: list[Any] = [pre_tokenizers.ByteLevel(add_prefix_space=False)]
        if self.fields.get("tokenizer.ggml.pre") in SINGLE_DIGITS:
            steps.insert(0, pre_tokenizers.Digits(individual_digits=True))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        tokenizer.add_special_tokens([AddedToken(token, special=True) for token in self.control_tokens])
        return tokenizer

    def _list(self, name: str) -> list[Any]:
        value = self.fields.get(f"tokenizer.ggml.{name}")
        return value if isinstance(value, list) else []


def _is_control(token: str, kind: object) -> bool:
    """Some models mark their messages with tokens that they count among the user's; whitespace is among these too."""
    is_mark = token.startswith("<") and token.endswith(">")
    return len(token) > 1 and (kind == CONTROL_TOKEN or (kind == USER_DEFINED_TOKEN and is_mark))


class _Fields:
    """Reads the fields from the beginning of a file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data, self._offset = data, 0

    def read(self) -> dict[str, Any]:
        if self._take(4) != MAGIC:
            raise ValueError("it does not begin with GGUF")
        if (version := self._number("I")) not in VERSIONS:
            raise ValueError(f"its version is {version}")
        self._number("Q")  # tensors
        if (count := self._number("Q")) > MAX_FIELDS:
            raise ValueError(f"it says it has {count} fields")
        return {self._string(): self._value(self._number("I")) for _ in range(count)}

    def _take(self, size: int) -> bytes:
        end = self._offset + size
        if end > len(self._data):
            raise ValueError("it is broken off")
        taken = self._data[self._offset : end]
        self._offset = end
        return taken

    def _number(self, code: str) -> Any:
        return struct.unpack("<" + code, self._take(struct.calcsize("<" + code)))[0]

    def _string(self) -> str:
        return self._take(self._number("Q")).decode("utf-8", errors="replace")

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            return self._number(_code(kind))
        item, length = self._number("I"), self._number("Q")
        if item == STRING:
            if length > len(self._data):
                raise ValueError("it is broken off")
            return [self._string() for _ in range(length)]
        code = f"<{length}{_code(item)}"
        return list(struct.unpack(code, self._take(struct.calcsize(code))))


def _code(kind: int) -> str:
    if kind not in NUMBERS:
        raise ValueError(f"a field has the unknown type {kind}")
    return NUMBERS[kind]


def load_server(model: Path, adapter: Path | None, context_tokens: int, parallel: int, threads: int | None) -> Any:
    """An `xllamacpp.Server` whose `parallel` slots share a cache of `context_tokens`.

    :raises BackendError: the model or its adapter cannot be loaded.
    :raises MissingExtra: xllamacpp is not installed.
    """
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtra("a language model in this process", "local") from error

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    if adapter is not None:
        if not adapter.is_file():
            raise BackendError(f"{adapter}: there is no such adapter file")
        lora = xllamacpp.CommonAdapterLoraInfo()
        lora.path, lora.scale = str(adapter), 1.0
        params.lora_adapters = [lora]
        params.special = True  # control tokens are text, so that they can stop a reply
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or available_cores()
    params.n_ctx, params.n_parallel, params.kv_unified = context_tokens, parallel, True
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.fit_params = params.warmup = params.ui = False
    params.offline = True
    params.verbosity = QUIET
    folder = _isolate(params)
    try:
        server = xllamacpp.Server(params)
        # deleting the server before its loop runs would hang
        server.handle_completions({"prompt": "\n", "max_tokens": 1})
    except RuntimeError as error:
        what = f"{model}" if adapter is None else f"{model} with the adapter {adapter}"
        raise BackendError(
            f"{what} cannot be loaded: it is damaged, needs more memory than there is, or is not for llama.cpp as in "
            f"xllamacpp {xllamacpp.__version__}"
        ) from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
    return server


def require_xllamacpp() -> None:
    """Raise MissingExtra before anything is loaded."""
    if find_spec("xllamacpp") is None:
        raise MissingExtra("a language model in this process", "local")


def available_cores() -> int:
    """Cores that this process may use and that nobody else uses now; of many processors, two are taken for one core.

    llama.cpp's threads wait for each other after every layer: on a core that others use as well, two threads are ten
    times slower than one.
    """
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    cores = processors if processors <= 4 else processors // 2
    busy = round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 0
    return max(1, min(cores, processors - busy))


def _isolate(params: Any) -> Path | None:
    """Keep others away from the HTTP server; the folder is to be deleted once it has started."""
    params.api_keys = [secrets.token_hex()]
    params.n_threads_http = 1
    if sys.platform == "win32":
        params.hostnames, params.port = ["127.0.0.1"], 0
        return None
    folder = tempfile.mkdtemp(prefix="understudy-")
    if len(os.fsencode(folder)) > SOCKET_PATH_BYTES - len("/s.sock"):
        shutil.rmtree(folder)
        folder = tempfile.mkdtemp(prefix="understudy-", dir="/tmp")
    params.hostnames = [f"{folder}/s.sock"]
    return Path(folder)
