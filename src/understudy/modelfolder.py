"""A model folder: `model.json`, which says what the model is, and its weights in safetensors files.

    my-model/
        model.json            agent, format, what it was trained on, settings, seed, figures
        weights.safetensors

A safetensors file is 8 bytes that say how long its head is, the head (JSON: name -> dtype, shape, place), and the
numbers. It is read through a memory map and believed only after its places have been checked; nothing is unpickled.
Texts (a vocabulary, a memory) lie in it too, as UTF-8 bytes with a line end after each.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError

__all__ = [
    "CARD",
    "FORMAT",
    "ModelFolder",
    "agent_of",
    "card_of",
    "is_model_folder",
    "is_number",
    "new_folder",
    "read_model",
    "read_tensors",
    "texts_as_tensor",
    "write_card",
    "write_model",
    "write_tensors",
]

FORMAT = 1
CARD, WEIGHTS = "model.json", "weights.safetensors"
LONGEST_HEAD = 100_000_000  # bytes, as the format itself allows
LONGEST_CARD = 10_000_000
LARGEST_WHOLE = 2**63
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
ABOUT = "__metadata__"

Tensor = NDArray[Any]
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model as it was read, or as it is about to be written (then it has no path)."""

    card: Mapping[str, Any]
    tensors: Tensors
    path: Path | None = None

    def tensor(self, name: str, *shape: int | None) -> NDArray[np.float32]:
        """The numbers of a name, which must have this shape (None: any length)."""
        found = self._named(name)
        fits = found.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, found.shape))
        if not fits or found.dtype != np.float32:
            wanted = " x ".join("any" if want is None else str(want) for want in shape) or "one number"
            raise self.error(f"'{name}' is {found.dtype} {list(found.shape)}, where float32 {wanted} belongs")
        if not np.isfinite(found).all():
            raise self.error(f"'{name}' holds numbers that are not finite: the training went wrong")
        return found

    def texts(self, name: str) -> list[str]:
        found = self._named(name)
        if found.dtype != np.uint8 or found.ndim != 1:
            raise self.error(f"'{name}' is {found.dtype} {list(found.shape)}, where text belongs")
        try:
            return found.tobytes().decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            raise self.error(f"'{name}' is not UTF-8 text") from error

    def number(self, *names: str, low: float = -math.inf, high: float = math.inf) -> float:
        """A number of the card: `number("settings", "gain", low=0, high=100)`. One out of its bounds is an error."""
        told: Any = self.card
        for name in names:
            told = told.get(name) if isinstance(told, Mapping) else None
        if not is_number(told):
            raise self.error(f"{CARD} has no number for {'.'.join(names)}")
        if not low <= told <= high:
            raise self.error(f"{CARD} has {told:g} for {'.'.join(names)}, which must be from {low:g} to {high:g}")
        return float(told) if isinstance(told, float) else int(told)

    def whole(self, *names: str, low: int, high: int) -> int:
        """A whole number of the card, within bounds."""
        told = self.number(*names, low=low, high=high)
        if told != int(told):
            raise self.error(f"{CARD} has {told:g} for {'.'.join(names)}, where a whole number belongs")
        return int(told)

    def error(self, what: str) -> InputError:
        return InputError(f"{what}: train the model again, or fetch it again", self.path)

    def _named(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise self.error(f"the weights have no '{name}' (they have {', '.join(sorted(self.tensors)) or 'nothing'})")
        return self.tensors[name]


def is_number(told: object) -> TypeGuard[int | float]:
    """Whether this, out of a JSON file, is a number that can be worked with."""
    if isinstance(told, bool) or not isinstance(told, int | float):
        return False
    return math.isfinite(told) if isinstance(told, float) else abs(told) < LARGEST_WHOLE


def is_model_folder(path: Path) -> bool:
    return (path / CARD).is_file()


def agent_of(folder: Path) -> str:
    """Which agent a model folder is for."""
    card = _read_card(folder)
    agent = card.get("agent", card.get("model"))
    if not isinstance(agent, str):
        raise InputError("does not say which agent it is for: it has no 'agent'", folder / CARD)
    return agent


def read_model(folder: Path, agent: str) -> ModelFolder:
    """The model in a folder, which must be one for that agent and in the form that this version reads."""
    return ModelFolder(card_of(folder, agent), read_tensors(folder / WEIGHTS)[0], folder)


def card_of(folder: Path, agent: str) -> dict[str, Any]:
    """The card of a model for that agent, in the form that this version reads."""
    card = _read_card(folder)
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
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, beside its place; moved there once it is whole. What stood there before is replaced."""
    beside, before = (folder.with_name(f".{folder.name}.{os.getpid()}.{end}") for end in ("partial", "old"))
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        yield beside
        if folder.exists():
            os.replace(folder, before)  # a folder that is not empty cannot be replaced in one go
        os.replace(beside, folder)
        shutil.rmtree(before, ignore_errors=True)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    text = json.dumps(card, ensure_ascii=False, indent=2, allow_nan=False)
    (folder / CARD).write_text(text + "\n", encoding="utf-8")


def write_model(folder: Path, card: Mapping[str, Any], tensors: Tensors) -> ModelFolder:
    """A model's card and weights."""
    with new_folder(folder) as beside:
        write_tensors(beside / WEIGHTS, tensors)
        write_card(beside, card)
    return ModelFolder(card, tensors, folder)


def texts_as_tensor(texts: Iterable[str]) -> NDArray[np.uint8]:
    joined = "".join(" ".join(text.splitlines()) + "\n" for text in texts)
    return np.frombuffer(joined.encode("utf-8"), np.uint8)


def write_tensors(path: Path, tensors: Tensors, about: Mapping[str, str] | None = None) -> None:
    """One safetensors file, whole or not at all: written beside its place and moved there."""
    head: dict[str, Any] = {ABOUT: dict(about)} if about else {}
    arrays = {name: np.asarray(tensors[name], order="C") for name in sorted(tensors)}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        head[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [start, end]}
    told = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    told += b" " * (-len(told) % 8)  # so that numbers begin where the processor likes them
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with beside.open("wb") as file:
            file.write(len(told).to_bytes(8, "little") + told)
            for array in arrays.values():
                file.write(array.tobytes())
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, mapped into memory, and what it says about itself."""
    if not path.is_file():
        raise InputError("there is no such file: the model folder is not whole; train it again", path)
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(size - 8, LONGEST_HEAD):
            raise _damaged(path, f"its head is said to be {length:,} bytes long, and the file has {size:,}")
        raw = file.read(length)
    try:
        head = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its head is not JSON") from error
    if not isinstance(head, dict):
        raise _damaged(path, "its head is not a JSON object")
    about = head.pop(ABOUT, None) or {}
    if not isinstance(about, dict) or not all(isinstance(value, str) for value in about.values()):
        raise _damaged(path, "what it says about itself is not text")
    if size == 8 + length:
        numbers: Tensor = np.zeros(0, np.uint8)
    else:
        numbers = np.memmap(path, np.uint8, mode="r", offset=8 + length)
    return {name: _placed(path, name, told, numbers) for name, told in head.items()}, about


def _placed(path: Path, name: str, told: Any, numbers: Tensor) -> Tensor:
    """The tensor that the head tells of, once dtype, shape, place and size agree with each other and with the file."""
    told = told if isinstance(told, dict) else {}
    dtype, shape, place = (told.get(key) for key in ("dtype", "shape", "data_offsets"))
    if dtype not in NAMES.values():
        raise _damaged(path, f"'{name}' is of a kind that is not read here ({dtype})")
    if not _are_sizes(shape) or not _are_sizes(place) or len(place) != 2:
        raise _damaged(path, f"the shape or the place of '{name}' is not told")
    start, end = place
    if not start <= end <= numbers.nbytes:
        raise _damaged(path, f"'{name}' is said to lie at {start:,} to {end:,}, and there are {numbers.nbytes:,} bytes")
    if math.prod(shape) * DTYPES[dtype].itemsize != end - start:
        raise _damaged(path, f"'{name}' is said to be {dtype} {shape}, which does not take {end - start:,} bytes")
    tensor: Tensor = np.asarray(numbers[start:end]).view(DTYPES[dtype]).reshape(shape)
    return tensor


def _are_sizes(told: Any) -> bool:
    return isinstance(told, list) and all(type(size) is int and 0 <= size < 2**48 for size in told) and len(told) < 9


def _damaged(path: Path, why: str) -> InputError:
    return InputError(f"is damaged or cut short: {why}; train the model again, or fetch it again", path)


def _read_card(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError("there is no such model folder: make one with 'understudy train'", folder)
    path = folder / CARD
    if not path.is_file():
        raise InputError(f"is not a model folder: it has no {CARD}; make one with 'understudy train'", folder)
    if path.stat().st_size > LONGEST_CARD:
        raise InputError("is too large to be a model's card", path)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}): train the model again, or fetch it again", path) from error
    if not isinstance(card, dict):
        raise InputError("is not a JSON object: train the model again, or fetch it again", path)
    return card
