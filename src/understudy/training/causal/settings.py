"""Settings of a training of a causal language model on dialogues, beside its data, base model and seed."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import InputError
from understudy.training.loop import Optimization

__all__ = ["CausalSettings"]

RATE, RATE_OF_ALL = 1e-3, 5e-5


@dataclass(frozen=True, slots=True)
class CausalSettings:
    """How it is trained, then what it is shown.

    `tokens` are those of a step, padding included: dialogues of about one length together. `lora` is the rank of the
    adapters, and 0 trains all weights, by default at a smaller `rate`; `scale` is their alpha / rank. Of
    PersonaChat's dialogues a share is shown with no profile (`none`), another with both (`both`), the rest with the
    profile of whoever answers; its sentences are in random order, a share (`paraphrase`) of them replaced by an
    utterance that says the same. With `monologues`, such utterances are learnt as well, as their sayer's.
    """

    epochs: int = 4
    tokens: int = 8_192
    rate: float | None = None
    lora: int = 32
    scale: float = 1.0
    window: int = 512
    held_back: float = 0.05
    none: float = 0.15
    both: float = 0.1
    paraphrase: float = 0.1
    monologues: bool = True

    def __post_init__(self) -> None:
        for name in ("epochs", "tokens", "rate", "scale", "window"):
            if getattr(self, name) is not None and not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name)}")
        if self.lora < 0:
            raise InputError(f"lora is the rank of the adapters, 0 or more, not {self.lora}")
        for name in ("held_back", "none", "both", "paraphrase"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is a share from 0 to 1, not {getattr(self, name)}")
        if self.none + self.both > 1:
            raise InputError(f"none and both are shares of all dialogues: {self.none} and {self.both} are too much")

    @property
    def optimization(self) -> Optimization:
        """Of batches that are put together before."""
        rate = self.rate or (RATE if self.lora else RATE_OF_ALL)
        return Optimization(self.epochs, 1, rate, (0.9, 0.98), warmup=0.05, decay=0.01, longest=1.0)
