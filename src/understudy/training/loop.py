"""The training loop that all models share: epochs of shuffled batches, Adam, checkpoints."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.language import import_library
from understudy.language.model_folder import Tensors

if TYPE_CHECKING:
    from torch import Tensor, device

    from understudy.training.run import Checkpoint


NEW_RATE = 10  # times the rate of pretrained parameters

Progress = Callable[[int, int, float], None]
"""Called with the steps made, the steps in all, and the last loss."""

Loss = Callable[[Mapping[str, "Tensor"], NDArray[np.int64], int], "Tensor"]
"""From parameters, the indices of a batch of examples and the step number to the batch's loss."""

StopEarly = Callable[[Mapping[str, "Tensor"], int], bool]
"""Called after each epoch with the parameters and the number of epochs made: whether to stop."""

MOMENTS = ("exp_avg", "exp_avg_sq")


class Schedule(Protocol):
    """The settings of a training, as far as they decide its steps."""

    @property
    def epochs(self) -> int: ...
    @property
    def batch(self) -> int: ...
    @property
    def rate(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Optimization:
    """AdamW and its schedule: the rate rises over the share `warmup` of all steps, then falls to 0.

    With a warm-up it falls as a cosine, else linearly. Only matrices have weight `decay`; gradients are clipped to the
    norm `max_grad_norm`. Parameters whose names begin with one of `untrained_prefixes` get ten times the rate; those
    that begin with one of `slow_prefixes` get the share `slow_rate` of it.
    """

    epochs: int
    batch: int
    rate: float
    betas: tuple[float, float] = (0.9, 0.99)
    warmup: float = 0.0
    decay: float = 0.0
    max_grad_norm: float = math.inf
    untrained_prefixes: tuple[str, ...] = ()
    slow_prefixes: tuple[str, ...] = ()
    slow_rate: float = 1.0

    @classmethod
    def of_transformer(
        cls, settings: Schedule, warmup: float = 0.06, untrained_prefixes: tuple[str, ...] = ()
    ) -> Optimization:
        """What pretrained transformers are fine-tuned with."""
        return cls(
            settings.epochs, settings.batch, settings.rate, (0.9, 0.98), warmup, 0.01, 1.0, untrained_prefixes
        )  # fmt: skip

    def steps(self, size: int) -> int:
        """Steps over so many examples."""
        return -(-size // self.batch) * self.epochs

    def rate_at(self, step: int, total: int) -> float:
        if not self.warmup:
            return self.rate * (1 - step / total)
        return self.rate * min(1, (step + 1) / (self.warmup * total)) * 0.5 * (1 + math.cos(math.pi * step / total))


def no_progress(_done: int, _total: int, _loss: float) -> None:
    pass


def select_device(name: str) -> device:
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


@dataclass(frozen=True, slots=True)
class Workers:
    """The processes of a training as one of them sees them: each computes its share of every batch.

        accelerate launch --num_processes 2 -m understudy train causal ...

    All have the same data, seed and parameters, so that nothing but gradients is exchanged, and the sum over the shares
    is what one process would have computed. The first one writes files and reports.
    """

    rank: int = 0
    count: int = 1
    device: device | None = None
    state: Any = None

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def add_up(self, parameters: Iterable[Tensor], loss: Tensor) -> Tensor:
        """Replace every gradient by the sum over all processes; the sum of the losses."""
        if self.count == 1:
            return loss
        import torch

        every = list(parameters)
        for parameter in every:
            if parameter.grad is None:  # nothing of this process's share needed it
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([*(parameter.grad.flatten() for parameter in every if parameter.grad is not None), loss[None]])
        torch.distributed.all_reduce(flat.detach_())
        start = 0
        for parameter in every:
            parameter.grad = flat[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel()
        return flat[-1]

    def wait(self) -> None:
        """Until all processes are here."""
        if self.state is not None:
            self.state.wait_for_everyone()


ALONE = Workers()


def launched_workers(device: str) -> Workers:
    """The processes that `accelerate launch` or `torchrun` has started for this training."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return ALONE
    state = import_library("accelerate").PartialState(cpu=device == "cpu")
    return Workers(state.process_index, state.num_processes, state.device, state)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread adds in one order, whatever the machine, and does not wait for others on a busy one."""
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
    optimization: Optimization,
    seed: int,
    on: device,
    checkpoint: Checkpoint,
    progress: Progress,
    every: int,
    stop_early: StopEarly | None = None,
    workers: Workers = ALONE,
) -> dict[str, NDArray[np.float32]]:
    """Minimise the loss over `size` examples, from the checkpoint if there is one.

    The random state is seeded from seed and step before each step, so that a resumed training draws the same.
    With several `workers` the loss is that of a worker's share of the batch: gradients are summed over all of them, and
    the first one saves.
    """
    import torch

    resumed = checkpoint.load()
    done, state = resumed if resumed is not None else (0, start)
    parameters = {name: on_device(state[name], on).requires_grad_() for name in start}
    optimizer = torch.optim.AdamW(
        _groups(parameters, optimization), lr=optimization.rate, betas=optimization.betas, fused=True
    )
    if resumed is not None:
        remembered = [name for name in parameters if f"{name}.{MOMENTS[0]}" in state]
        for name, parameter in ((name, parameters[name]) for name in remembered):
            optimizer.state[parameter] = {
                "step": torch.tensor(float(done), device=on),
                **{kind: on_device(state[f"{name}.{kind}"], on) for kind in MOMENTS},
            }
    total = optimization.steps(size)
    batches = total // optimization.epochs
    order = np.empty(0, np.int64)
    with torch.random.fork_rng([on] if on.type == "cuda" else []):
        for step in range(done, total):
            epoch, batch_index = divmod(step, batches)
            if batch_index == 0 or step == done:
                order = np.random.default_rng((seed, epoch)).permutation(size)
            batch = order[batch_index * size // batches : (batch_index + 1) * size // batches]
            for group in optimizer.param_groups:
                group["lr"] = optimization.rate_at(step, total) * group["times"]
            torch.manual_seed(seed * 1_000_003 + step)
            optimizer.zero_grad()
            value = loss(parameters, batch, step)
            value.backward()  # type: ignore[no-untyped-call]
            value = workers.add_up(parameters.values(), value)
            if optimization.max_grad_norm < math.inf:
                torch.nn.utils.clip_grad_norm_(parameters.values(), optimization.max_grad_norm)
            optimizer.step()
            progress(step + 1, total, float(value.detach()))
            if ((step + 1) % every == 0 or step + 1 == total) and workers.is_first:
                checkpoint.save(step + 1, _state(parameters, optimizer))
            if stop_early is not None and batch_index + 1 == batches and stop_early(parameters, epoch + 1):
                break
    return {name: _off(parameter) for name, parameter in parameters.items()}


def _groups(parameters: Mapping[str, Tensor], optimization: Optimization) -> list[dict[str, Any]]:
    """Parameters with the same decay and rate, as AdamW's groups."""
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in parameters.items():
        is_new = bool(optimization.untrained_prefixes) and name.startswith(optimization.untrained_prefixes)
        is_slow = bool(optimization.slow_prefixes) and name.startswith(optimization.slow_prefixes)
        times = NEW_RATE if is_new else optimization.slow_rate if is_slow else 1.0
        decay = optimization.decay if parameter.ndim > 1 and not is_new else 0.0
        groups.setdefault((decay, times), []).append(parameter)
    return [{"params": some, "weight_decay": decay, "times": times} for (decay, times), some in groups.items()]


def _state(parameters: Mapping[str, Tensor], optimizer: Any) -> Tensors:
    state = {name: _off(parameter) for name, parameter in parameters.items()}
    for name, parameter in parameters.items():
        for kind, moment in optimizer.state[parameter].items():
            if kind in MOMENTS:  # a parameter that no example needs has none
                state[f"{name}.{kind}"] = _off(moment)
    return state


def on_device(array: NDArray[np.float32], device: device) -> Tensor:
    import torch

    return torch.from_numpy(np.array(array, np.float32)).to(device)


def _off(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().numpy()
    return array
