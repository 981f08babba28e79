"""What decides the training of a reader besides scenes, base and seed, and what suits each kind and base."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from understudy.errors import InputError
from understudy.language.backends.transformer import CAUSAL, MASKED
from understudy.training.guessing.finetuning import HELD_BACK, check_share
from understudy.training.guessing.network import HEAD
from understudy.training.guessing.reader_input import InputFormat
from understudy.training.guessing.trunk import LONGFORMER, reading_of
from understudy.training.loop import Optimization
from understudy.training.task import check_positive, check_shares

__all__ = ["ReaderSettings", "default_settings"]


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """What decides a training besides lessons, base and seed.

    `together` is how much whole assignments count. `among_cast` lets everybody of the cast compete and not only those
    in the scene: for `vanilla`, which sees nothing of the scene, that was better; a reader of whole scenes learns from
    it who is in the scene, which is known. Of each story the last scenes are held back, to tell what was learned.
    """

    reading: InputFormat = field(default_factory=InputFormat)
    epochs: int = 2
    batch: int = 16
    rate: float = 1e-4
    dropout: float = 0.1
    together: float = 2.0
    among_cast: bool = False
    held_back: float = HELD_BACK

    def __post_init__(self) -> None:
        check_positive(self, "epochs", "batch", "rate")
        check_shares(self, "dropout")
        if self.together < 0:
            raise InputError(f"together is at least 0, not {self.together}")
        check_share(self.held_back)

    @property
    def optimization(self) -> Optimization:
        return Optimization(
            self.epochs, self.batch, self.rate, (0.9, 0.98), warmup=0.06, decay=0.01, longest=1.0, new=(HEAD,)
        )


READERS: dict[str, ReaderSettings] = {
    "vanilla": ReaderSettings(InputFormat("vanilla"), epochs=5, batch=64, together=0.0, among_cast=True),
    "multi-row": ReaderSettings(InputFormat("multi-row"), epochs=4, batch=32, together=0.5),
    "scene-pooling": ReaderSettings(InputFormat("scene-pooling"), epochs=5, batch=64, together=0.5),
}
"""What suited scenes held back, with MiniLM."""

CAUSAL_READERS: dict[str, ReaderSettings] = {
    **{kind: replace(settings, epochs=2) for kind, settings in READERS.items()},
    "scene-pooling": ReaderSettings(InputFormat("scene-pooling", history=250), epochs=2, batch=16, together=2.0),
}
"""A causal model, which is larger, has learned enough from scenes after two epochs."""

LONG_READERS: dict[str, ReaderSettings] = {
    kind: replace(settings, epochs=20, batch=8, rate=2e-5, reading=replace(settings.reading, longest=2000))
    for kind, settings in READERS.items()
}
"""For a Longformer, as its paper has it: usually nothing more is learned after twenty epochs."""


def default_settings(kind: str, base: str | Path | None = None) -> ReaderSettings:
    """What suits a kind of reader that begins with this base."""
    readers = {CAUSAL: CAUSAL_READERS, LONGFORMER: LONG_READERS, MASKED: READERS}
    return readers[MASKED if base is None else reading_of(base)][kind]
