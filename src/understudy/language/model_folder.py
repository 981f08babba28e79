"""A model folder: `model.json`, which says what the model is, and its weights in safetensors files.

    my-model/
        model.json            agent, format, what it was trained on, settings, seed, figures
        weights.safetensors

Nothing is unpickled: safetensors checks that names, dtypes, shapes and offsets agree with the file, and `ModelFolder`
checks what the model needs. Texts (a vocabulary, a memory) lie in the weights too: UTF-8 bytes, a line end after each.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from understudy.errors import InputError

FORMAT = 1
CARD, WEIGHTS = "model.json", "weights.safetensors"
MAX_CARD_BYTES = 10_000_000
MAX_INTEGER = 2**63
DTYPES = frozenset({"F64", "F32", "F16", "I64", "I32", "U8", "BOOL"})

Tensor = NDArray[Any]
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model that was read, or that is about to be written (then it has no path)."""

    card: Mapping[str, Any]
    tensors: Tensors
    path: Path | None = None

    def tensor(self, name: str, *shape: int | None) -> NDArray[np.float32]:
        """The tensor of a name, which must be finite float32 of this shape (None: any length)."""
        tensor = self._get(name)
        fits = tensor.ndim == len(shape) and all(size in (None, actual) for size, actual in zip(shape, tensor.shape))
        if not fits or tensor.dtype != np.float32:
            wanted = " x ".join("any" if size is None else str(size) for size in shape) or "one number"
            raise self.error(f"'{name}' is {tensor.dtype} {list(tensor.shape)}, where float32 {wanted} belongs")
        if not np.isfinite(tensor).all():
            raise self.error(f"'{name}' holds numbers that are not finite: the training went wrong")
        return tensor

    def texts(self, name: str) -> list[str]:
        tensor = self._get(name)
        if tensor.dtype != np.uint8 or tensor.ndim != 1:
            raise self.error(f"'{name}' is {tensor.dtype} {list(tensor.shape)}, where text belongs")
        try:
            return tensor.tobytes().decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            raise self.error(f"'{name}' is not UTF-8 text") from error

    def number(self, *names: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A number of the card within bounds: `number("settings", "gain", low=0, high=100)`."""
        value = self.section(*names[:-1]).get(names[-1])
        if not is_number(value):
            raise self.error(f"{CARD} has no number for {'.'.join(names)}")
        if not low <= value <= high:
            raise self.error(f"{CARD} has {value:g} for {'.'.join(names)}, which must be from {low:g} to {high:g}")
        return float(value) if isinstance(value, float) else int(value)

    def integer(self, *names: str, low: int, high: int) -> int:
        """A whole number of the card within bounds."""
        value = self.number(*names, low=low, high=high)
        if value != int(value):
            raise self.error(f"{CARD} has {value:g} for {'.'.join(names)}, where a whole number belongs")
        return int(value)

    def section(self, *names: str) -> Mapping[str, Any]:
        """A table of the card."""
        value: Any = self.card
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        if not isinstance(value, Mapping):
            raise self.error(f"{CARD} has no {'.'.join(names)}")
        return value

    def error(self, what: str) -> InputError:
        return InputError(f"{what}: train the model again, or fetch it again", self.path)

    def _get(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise self.error(f"the weights have no '{name}' (they have {', '.join(sorted(self.tensors)) or 'nothing'})")
        return self.tensors[name]


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value of a JSON file is a finite number, and no larger than 64 bits hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < MAX_INTEGER


def shipped_folder(name: str) -> Path:
    """A model folder that comes with the package."""
    return Path(str(files("understudy"))) / "models" / name


def is_model_folder(path: Path) -> bool:
    return (path / CARD).is_file()


def read_agent_name(folder: Path) -> str:
    """The agent that a model folder is for."""
    card = _load_card(folder)
    agent = card.get("agent", card.get("model"))
    if not isinstance(agent, str):
        raise InputError("does not say which agent it is for: it has no 'agent'", folder / CARD)
    return agent


def read_model(folder: Path, agent: str) -> ModelFolder:
    """The model in a folder, which must be for that agent and in the format that this version reads."""
    return ModelFolder(read_card(folder, agent), read_tensors(folder / WEIGHTS)[0], folder)


def read_card(folder: Path, agent: str) -> dict[str, Any]:
    """The card of a model folder, which must be for that agent and in the format that this version reads."""
    card = _load_card(folder)
    if card.get("agent") != agent:
        raise InputError(f"is a model for '{card.get('agent')}', not for '{agent}': choose another folder", folder)
    if card.get("format") != FORMAT:
        raise InputError(
            f"is a model of format {card.get('format')}, made by Understudy {card.get('understudy', '?')}, and this "
            f"version reads format {FORMAT}: train it again, or install that version",
            folder,
        )
    return card


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder to fill: renamed to `folder`, which it replaces, or removed where an error ends the block."""
    partial, former = (folder.with_name(f".{folder.name}.{os.getpid()}.{end}") for end in ("partial", "old"))
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        if folder.exists():
            os.replace(folder, former)  # a folder that is not empty cannot be replaced in one step
        os.replace(partial, folder)
        shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    text = json.dumps(card, ensure_ascii=False, indent=2, allow_nan=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")


def write_model(folder: Path, card: Mapping[str, Any], tensors: Tensors) -> ModelFolder:
    """Write a model's card and weights."""
    with atomic_folder(folder) as partial:
        write_tensors(partial / WEIGHTS, tensors)
        write_card(partial, card)
    return ModelFolder(card, tensors, folder)


def texts_as_tensor(texts: Iterable[str]) -> NDArray[np.uint8]:
    joined = "".join(" ".join(text.splitlines()) + "\n" for text in texts)
    return np.frombuffer(joined.encode("utf-8"), np.uint8)


def write_tensors(path: Path, tensors: Tensors, metadata: Mapping[str, str] | None = None) -> None:
    """A safetensors file, written beside its path and renamed, so that it is never seen half written."""
    arrays = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        save_file(arrays, partial, dict(metadata) if metadata else None)
        with partial.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(partial, path)
    except SafetensorError as error:  # of the disk: the arrays themselves can always be written
        raise OSError(f"{path} cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, and its metadata."""
    if not path.is_file():
        raise InputError("there is no such file: the model folder is not whole; train it again", path)
    tensors = dict[str, Tensor]()
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - it is not a mapping
                dtype = file.get_slice(name).get_dtype()
                if dtype not in DTYPES:
                    raise _damaged(path, f"'{name}' is of a kind that is not read here ({dtype})")
                tensors[name] = file.get_tensor(name)
            return tensors, file.metadata() or {}
    except SafetensorError as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"is damaged or cut short: {why}; train the model again, or fetch it again", path)


def _load_card(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError("there is no such model folder: make one with 'understudy train'", folder)
    path = folder / CARD
    if not path.is_file():
        raise InputError(f"is not a model folder: it has no {CARD}; make one with 'understudy train'", folder)
    if path.stat().st_size > MAX_CARD_BYTES:
        raise InputError("is too large to be a model's card", path)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}): train the model again, or fetch it again", path) from error
    if not isinstance(card, dict):
        raise InputError("is not a JSON object: train the model again, or fetch it again", path)
    return card
