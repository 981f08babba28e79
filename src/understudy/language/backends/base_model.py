"""The base model of an adapter: what identifies it, and where it is found again, here or on another machine.

A base is known by the SHA-256 of its weights: of the .gguf file, or of all safetensors files of a folder in the order
of their names. A model of the Hugging Face hub is the folder that it was downloaded to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.language.backends.catalog import local_models
from understudy.language.backends.transformer import located
from understudy.language.libraries import import_library

__all__ = ["BASE", "base_card", "find_base"]

BASE = "base"
"""Where the base may lie in a model folder: a file or a link `base.gguf`, or a folder `base`."""

CHUNK = 1 << 20


def base_card(source: str | Path) -> dict[str, str]:
    """What a card says of its base: where it was, and the digest of its weights."""
    where, options = located(source)
    is_local = "local_files_only" in options
    return {"source": str(Path(source).resolve()) if is_local else str(source), "sha256": _digest(source, where)}


def find_base(card: Mapping[str, Any], folder: Path) -> str:
    """The base of an adapter: beside it, where it was when it was trained, or a model of this machine like it."""
    wanted = card.get("sha256")
    for source in _candidates(str(card.get("source", "")), folder):
        try:
            where, _ = located(source)
            if _digest(source, where) == wanted:
                return str(source)
        except (InputError, OSError):
            continue
    raise InputError(
        f"is an adapter, and its base model is not on this machine ({card.get('source')}, SHA-256 {wanted}): put it, "
        f"or a link to it, into the folder as {BASE}.gguf, or as {BASE} where it is a folder",
        folder,
    )


def _candidates(source: str, folder: Path) -> Iterator[str | Path]:
    yield from (path for path in (folder / f"{BASE}.gguf", folder / BASE) if path.exists())
    if source:
        yield source
    yield from (model.path for model in local_models() if model.path is not None)


def _digest(source: str | Path, where: str) -> str:
    path = Path(source)
    if path.is_file():
        files = [path]
    else:
        folder = path if path.is_dir() else Path(_downloaded(where))
        files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise InputError("has no safetensors files", source)
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while chunk := opened.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _downloaded(name: str) -> str:
    """The folder of a hub model that has been opened before, so that it is in the cache."""
    hub = import_library("huggingface_hub")
    try:
        folder: str = hub.snapshot_download(name, local_files_only=True)
    except Exception as error:  # the library raises anything for what it does not have
        raise InputError("has not been downloaded", name) from error
    return folder
