"""Training: one trainer a model. Each writes a model folder whose card has figures on dialogues that were held back.

    model = train("starspace", Path("personachat"), Path("my-model"))

A training that was stopped or killed resumes when it is called again with the same arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from understudy.model_folder import ModelFolder
    from understudy.training.loop import Progress

__all__ = ["TRAINERS", "Trainer", "train"]

PROBES = {"train": "torch"}
"""A module that tells whether an optional part is installed."""


@dataclass(frozen=True, slots=True)
class Trainer:
    """A model's trainer and settings, as 'module:name' in this package; looking at the list imports nothing.

    `learns_from` is the kind of data, `extra` the optional part of the package that it needs.
    """

    function: str
    settings_class: str
    learns_from: str = "dialogues"
    extra: str | None = "train"

    @property
    def settings(self) -> Any:
        """The class of its settings; every one has defaults."""
        return _load(self.settings_class)

    def __call__(self, task: Any, progress: Progress | None = None) -> ModelFolder:
        """Run a task of the trainer's own kind."""
        from understudy.training.loop import no_progress

        self.check_extra()
        model: ModelFolder = _load(self.function)(task, progress or no_progress)
        return model

    def check_extra(self) -> None:
        if self.extra is not None:
            try:
                import_module(PROBES[self.extra])
            except ImportError as error:
                raise MissingExtra("training", self.extra) from error


TRAINERS: dict[str, Trainer] = {
    "starspace": Trainer("bag_rankers:train_starspace", "bag_rankers:BagSettings"),
    "profile-memory": Trainer("bag_rankers:train_profile_memory", "bag_rankers:BagSettings"),
    "kv-memory": Trainer("bag_rankers:train_kv_memory", "bag_rankers:BagSettings", extra=None),
    "encoder": Trainer("encoder:train", "encoder:EncoderSettings"),
    "cross-encoder": Trainer("cross_encoder:train", "cross_encoder:CrossEncoderSettings"),
    "voice": Trainer("voice:train", "voice:VoiceSettings", "novels"),
    "causal": Trainer("persona_lm:train_causal", "persona_lm:LineSettings", "lines"),
    "masked": Trainer("persona_lm:train_masked", "persona_lm:LineSettings", "lines"),
    "guesser": Trainer("guessing.readers:train_reader", "guessing.readers:ReaderSettings", "scenes"),
    "naming-guesser": Trainer("guessing.naming:train_naming", "guessing.naming:NamingSettings", "scenes"),
}
"""Every model that can be trained, by name: the counterpart of `understudy.agents.AGENTS`."""


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), attribute)


def train(
    agent: str,
    data: Path,
    out: Path,
    *,
    settings: Any = None,
    personas: str = "original",
    condition: str = "self",
    seed: int = 0,
    device: str = "auto",
    origin: Path | None = None,
    base: Path | None = None,
    embeddings: Path | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ModelFolder:
    """Train an agent on the PersonaChat files of a folder, or `voice` on novels, and write its model folder.

    `settings` are of the trainer's own settings class; `personas` are those of the training file to show, `condition`
    whose ('none', 'self', 'their', 'both'; the transformers mix them); `origin` is the model that kv-memory takes its
    weights from, or the encoder that the cross-encoder stands beside; `base` the initial weights of a transformer;
    `embeddings` a file of initial word vectors; `fresh` starts over and replaces what is there.
    """
    from understudy.training.dialogues import CONDITIONS, PERSONAS
    from understudy.training.task import TrainingTask

    from_folder = [name for name, trainer in TRAINERS.items() if trainer.learns_from in ("dialogues", "novels")]
    for what, value, known in (
        ("model to train", agent, from_folder),
        ("kind of personas", personas, PERSONAS),
        ("condition", condition, tuple(CONDITIONS)),
    ):
        if value not in known:
            raise InputError(f"there is no {what} '{value}': choose from {', '.join(known)}")
    trainer = TRAINERS[agent]
    chosen = trainer.settings() if settings is None else settings
    if not isinstance(chosen, trainer.settings):
        raise InputError(f"'{agent}' is trained with {trainer.settings.__name__}, not with {type(chosen).__name__}")
    task = TrainingTask(data, out, chosen, personas, condition, seed, device, origin, base, embeddings, fresh)
    return trainer(task, progress)
