"""The training loop that all models share: epochs of shuffled batches, Adam, checkpoints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.model_folder import Tensors
from understudy.training.checkpoint import Checkpoint

if TYPE_CHECKING:
    from torch import Tensor, device

__all__ = ["CHECKPOINT_EVERY", "Descent", "Loss", "Over", "Progress", "Settings", "device_named", "fit", "unwatched"]

CHECKPOINT_EVERY = 50  # steps
NEW = 10

Progress = Callable[[int, int, float], None]
"""Told the steps made, the steps in all, and the last loss."""

Loss = Callable[[Mapping[str, "Tensor"], NDArray[np.int64], int], "Tensor"]
"""The loss of a batch of questions, given by their numbers, under some parameters; and which step it is."""

Over = Callable[[Mapping[str, "Tensor"], int], bool]
"""Shown the parameters after each epoch, and how many there were: is it enough?"""


@dataclass(frozen=True, slots=True)
class Descent:
    """How parameters are moved: the rate rises over the share `warmup` of all steps, then falls to nothing.

    With a warm-up it falls as a cosine, else in a straight line. Matrices `decay`; gradients longer than `longest` are
    cut to it. Parameters whose names begin with one of `new` have nothing to lose and move ten times as fast.
    """

    epochs: int
    batch: int
    rate: float
    betas: tuple[float, float] = (0.9, 0.99)
    warmup: float = 0.0
    decay: float = 0.0
    longest: float = math.inf
    new: tuple[str, ...] = ()

    def steps(self, size: int) -> int:
        """Steps over so many questions."""
        return -(-size // self.batch) * self.epochs

    def rate_at(self, step: int, total: int) -> float:
        if not self.warmup:
            return self.rate * (1 - step / total)
        return self.rate * min(1, (step + 1) / (self.warmup * total)) * 0.5 * (1 + math.cos(math.pi * step / total))


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides a training besides its data and seed.

    Chosen on held-back dialogues of PersonaChat's training split. `turns` is how many turns of the history the message
    is; more brought in more of what is no longer talked about.
    """

    width: int = 512
    turns: int = 1
    hops: int = 1
    epochs: int = 3
    batch: int = 256
    negatives: int = 40
    margin: float = 0.4
    rate: float = 0.003
    held_back: float = 0.05

    def __post_init__(self) -> None:
        for name in ("width", "turns", "hops", "epochs", "batch", "negatives", "margin", "rate"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if not 0 <= self.held_back < 1:
            raise InputError(f"held_back is a share from 0 to below 1, not {self.held_back}")

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.batch, self.rate)


def unwatched(_done: int, _total: int, _loss: float) -> None:
    pass


def device_named(name: str) -> device:
    """'cpu', 'cuda', or 'auto' for the better one there is."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("training", "train") from error
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise InputError(f"device '{name}' is not one of cpu, cuda, auto")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("there is no CUDA device here, or torch was installed without it: say --device cpu")
    return torch.device(name)


@contextmanager
def _one_thread() -> Iterator[None]:
    """On one thread sums are made in one order, whatever the machine; and a busy machine does not make two wait."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@_one_thread()
def fit(
    start: Tensors,
    loss: Loss,
    size: int,
    descent: Descent,
    seed: int,
    on: device,
    checkpoint: Checkpoint,
    progress: Progress = unwatched,
    every: int = CHECKPOINT_EVERY,
    over: Over | None = None,
) -> dict[str, NDArray[np.float32]]:
    """Parameters that make the loss small over `size` questions. Goes on from the checkpoint, if there is one.

    Before each step chance is set from seed and step, so that it has the same in store after a stop.
    """
    import torch

    resumed = checkpoint.load()
    done, state = resumed if resumed is not None else (0, start)
    parameters = {name: _on(state[name], on).requires_grad_() for name in start}
    optimizer = torch.optim.AdamW(_groups(parameters, descent), lr=descent.rate, betas=descent.betas, fused=True)
    if resumed is not None:
        remembered = [name for name in parameters if f"{name}.{MOMENTS[0]}" in state]
        for name, parameter in ((name, parameters[name]) for name in remembered):
            optimizer.state[parameter] = {
                "step": torch.tensor(float(done), device=on),
                **{kind: _on(state[f"{name}.{kind}"], on) for kind in MOMENTS},
            }
    total = descent.steps(size)
    batches = total // descent.epochs
    order = np.empty(0, np.int64)
    with torch.random.fork_rng([on] if on.type == "cuda" else []):
        for step in range(done, total):
            epoch, place = divmod(step, batches)
            if place == 0 or step == done:
                order = np.random.default_rng((seed, epoch)).permutation(size)
            batch = order[place * size // batches : (place + 1) * size // batches]
            for group in optimizer.param_groups:
                group["lr"] = descent.rate_at(step, total) * group["times"]
            torch.manual_seed(seed * 1_000_003 + step)
            optimizer.zero_grad()
            value = loss(parameters, batch, step)
            value.backward()  # type: ignore[no-untyped-call]
            if descent.longest < math.inf:
                torch.nn.utils.clip_grad_norm_(parameters.values(), descent.longest)
            optimizer.step()
            progress(step + 1, total, float(value.detach()))
            if (step + 1) % every == 0 or step + 1 == total:
                checkpoint.save(step + 1, _state(parameters, optimizer))
            if over is not None and place + 1 == batches and over(parameters, epoch + 1):
                break
    return {name: _off(parameter) for name, parameter in parameters.items()}


MOMENTS = ("exp_avg", "exp_avg_sq")


def _groups(parameters: Mapping[str, Tensor], descent: Descent) -> list[dict[str, Any]]:
    """Parameters that are moved alike."""
    groups: dict[tuple[float, int], list[Tensor]] = {}
    for name, parameter in parameters.items():
        times = NEW if descent.new and name.startswith(descent.new) else 1
        decay = descent.decay if parameter.ndim > 1 and times == 1 else 0.0
        groups.setdefault((decay, times), []).append(parameter)
    return [{"params": some, "weight_decay": decay, "times": times} for (decay, times), some in groups.items()]


def _state(parameters: Mapping[str, Tensor], optimizer: Any) -> Tensors:
    state = {name: _off(parameter) for name, parameter in parameters.items()}
    for name, parameter in parameters.items():
        for kind, moment in optimizer.state[parameter].items():
            if kind in MOMENTS:  # a parameter that no question needs has none
                state[f"{name}.{kind}"] = _off(moment)
    return state


def _on(array: NDArray[np.float32], device: device) -> Tensor:
    import torch

    return torch.from_numpy(np.array(array, np.float32)).to(device)


def _off(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy()
    return array
