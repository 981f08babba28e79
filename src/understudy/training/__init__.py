"""Training: one trainer a model. Each writes a model folder whose card has figures on dialogues that were held back.

    model = train("starspace", Path("personachat"), Path("my-model"))

A training that was stopped or killed resumes when it is called again with the same arguments. The weights that ship are
trained by the scripts in `recipes/`, outside the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError
from understudy.registry import Imported, Need, RegistryEntry
from understudy.text import did_you_mean

if TYPE_CHECKING:
    from understudy.language.model_folder import ModelFolder
    from understudy.training.loop import Progress


@dataclass(frozen=True, kw_only=True)
class Trainer(RegistryEntry["ModelFolder"]):
    """The entry of a trainer: `settings` creates its settings, all with defaults."""

    settings: Imported

    def __call__(self, task: Any, progress: Progress | None = None) -> ModelFolder:
        """TrainingRun a task of the trainer's own kind."""
        from understudy.training.loop import no_progress

        return super().__call__(task, progress or no_progress)


def _trainer(name: str, module: str, function: str, settings: str, needs: Need) -> Trainer:
    module = f"{__name__}.{module}"
    return Trainer(name, Imported(module, function), needs, settings=Imported(module, settings))


LEARNED = Need.FOLDER | Need.TORCH

TRAINERS: dict[str, Trainer] = {
    trainer.name: trainer
    for trainer in (
        _trainer("starspace", "bag_rankers", "train_starspace", "BagSettings", LEARNED),
        _trainer("profile-memory", "bag_rankers", "train_profile_memory", "BagSettings", LEARNED),
        _trainer("kv-memory", "bag_rankers", "train_kv_memory", "BagSettings", Need.FOLDER),
        _trainer("seq2seq", "seq2seq", "train_seq2seq", "Seq2SeqSettings", LEARNED),
        _trainer("generative-memory", "seq2seq", "train_generative_memory", "Seq2SeqSettings", LEARNED),
        _trainer("encoder", "encoder", "train", "EncoderSettings", LEARNED),
        _trainer("cross-encoder", "cross_encoder", "train", "CrossEncoderSettings", LEARNED),
        _trainer("bob", "bob", "train", "BobSettings", LEARNED),
        _trainer("voice", "voice", "train", "VoiceSettings", LEARNED),
        _trainer("quotations", "quotations", "train", "QuotationSettings", Need.FOLDER),
        _trainer("causal", "persona_lm", "train_causal", "LineSettings", Need.TORCH),
        _trainer("causal-dialogues", "causal", "train", "CausalSettings", Need.TORCH),
        _trainer("masked", "persona_lm", "train_masked", "LineSettings", Need.TORCH),
        _trainer("guesser", "guessing.readers", "train_reader", "ReaderSettings", Need.TORCH),
        _trainer("naming-guesser", "guessing.naming", "train_naming", "NamingSettings", Need.TORCH),
    )
}
"""Every model that can be trained, by name: the counterpart of `understudy.agents.AGENTS`."""


def train(
    agent: str, data: Path, out: Path, *, settings: Any = None, progress: Progress | None = None, **options: Any
) -> ModelFolder:
    """Train a model on the files of a folder, and write its model folder.

    `settings` are of the trainer's own settings class; `options` are those of `TrainingTask`. Trainers that learn from
    anything but one folder are called with a task of their own: `TRAINERS[name](task)`.
    """
    from understudy.training.dialogues import CONDITIONS, PERSONAS
    from understudy.training.run import TrainingTask

    from_folder = [name for name, trainer in TRAINERS.items() if Need.FOLDER in trainer.needs]
    for what, value, known in (
        ("model to train", agent, from_folder),
        ("kind of personas", options.get("personas", PERSONAS[0]), PERSONAS),
        ("condition", options.get("condition", "self"), tuple(CONDITIONS)),
    ):
        if value not in known:
            raise InputError(
                f"there is no {what} '{value}'{did_you_mean(value, known)}: choose from {', '.join(known)}"
            )
    trainer = TRAINERS[agent]
    chosen = trainer.settings() if settings is None else settings
    if not isinstance(chosen, trainer.settings.load()):
        raise InputError(f"'{agent}' is trained with {trainer.settings.attribute}, not with {type(chosen).__name__}")
    return trainer(TrainingTask(data, out, chosen, **options), progress)
