"""Loads a GGUF model with xllamacpp, unreachable for other processes and without output on stderr.

xllamacpp starts an HTTP server that cannot be switched off. It is given a Unix socket in a folder of our own that is
deleted as soon as the model is loaded, so that nobody can reach it. Windows has none of these: there it listens on the
loopback device and answers nobody without a random key, which is not kept.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from understudy.errors import BackendError, MissingExtra

__all__ = ["available_cores", "load_server", "require_xllamacpp"]

BATCH_TOKENS = 512  # of a prompt between two looks at whether it was cancelled
PROMPT_CACHE_MIB = 512  # cached prompts of other chats, in memory
SOCKET_PATH_BYTES = 100  # a little less than any system allows
QUIET, TALKATIVE = -1, 3


def load_server(
    model: Path, adapter: Path | None, context_tokens: int, parallel: int, threads: int | None, verbose: bool
) -> Any:
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
    params.verbosity = TALKATIVE if verbose else QUIET
    folder = _isolate(params)
    try:
        server = xllamacpp.Server(params)
        server.handle_completions(
            {"prompt": "\n", "max_tokens": 1}
        )  # deleting the server before its loop runs would hang
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
