"""Settings of a training of the writer, beside its data, base model and seed."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import InputError
from understudy.training.run import check_positive

__all__ = ["WriterSettings"]


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """Shares of chats and novels, numbers of the other examples, and rounds of the seeds; then how it is trained.

    `batch` are tokens a step, padding included; `scale` is alpha / rank. The last five are of `preferences`: `pairs`
    a step, and 0 epochs leave it out.
    """

    epochs: int = 2
    rounds: int = 7
    chats: float = 0.42
    asked: int = 4_000
    novels: float = 0.75
    copied: float = 0.2
    ties: int = 1_500
    rank: int = 64
    scale: float = 2.0
    rate: float = 4e-4
    batch: int = 24_000
    longest: int = 900
    preference_epochs: int = 1
    preference_rate: float = 2e-5
    pairs: int = 32
    beta: float = 0.3
    imitation: float = 1.0

    def __post_init__(self) -> None:
        check_positive(
            self, "epochs", "rounds", "rate", "batch", "longest", "scale", "preference_rate", "pairs", "beta"
        )
        if self.preference_epochs < 0:
            raise InputError(f"preference_epochs must be 0 or more, not {self.preference_epochs}")
        if self.rank < 32 or self.rank % 32:
            raise InputError(f"rank must be a multiple of 32, the block of Q8_0, not {self.rank}")
