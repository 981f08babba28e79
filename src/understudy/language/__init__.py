"""Models of language: counts and weights of words, sentence encoders, and language models behind one protocol.

Here: libraries with telemetry, or with caches in unsafe folders, are imported after switching these off. The switches
are environment variables, which some libraries read only once, when they are loaded. A variable that is already set is
left as it is. A test checks that these libraries are imported through `import_library` only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from understudy.story.user_folders import private_folder

HUGGING_FACE = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
ONNX_RUNTIME = {"ORT_DISABLE_TELEMETRY": "1"}

SWITCHES: Mapping[str, Mapping[str, str]] = {
    "accelerate": HUGGING_FACE,
    "daft": {"DAFT_ANALYTICS_ENABLED": "0"},
    "huggingface_hub": HUGGING_FACE,
    "numba": {},  # its cache is unpickled: see below
    "onnxruntime": ONNX_RUNTIME,
    "onnxruntime_extensions": ONNX_RUNTIME,
    "ray": {"RAY_USAGE_STATS_ENABLED": "0"},
    "transformers": HUGGING_FACE,
}


def import_library(name: str) -> Any:
    """Import a module after setting the switches of its library."""
    library = name.partition(".")[0]
    for variable, value in SWITCHES[library].items():
        os.environ.setdefault(variable, value)
    if library == "numba" and (folder := private_folder("numba")) is not None:
        os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))
    return import_module(name)
