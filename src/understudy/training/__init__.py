"""Training: one trainer a model. Each writes a model folder whose card has figures on dialogues that were held back.

    model = train("starspace", Path("personachat"), Path("my-model"))

A training that was stopped or killed resumes when it is called again with the same arguments.
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

__all__ = ["TRAINERS", "Trainer", "train"]

LEARNED_FROM_FOLDERS = Need.DIALOGUES | Need.NOVELS | Need.PAIRS


@dataclass(frozen=True, kw_only=True)
class Trainer(RegistryEntry["ModelFolder"]):
    """The entry of a trainer: its needs say what it learns from, `settings` creates its settings, all with defaults."""

    settings: Imported

    def __call__(self, task: Any, progress: Progress | None = None) -> ModelFolder:
        """Run a task of the trainer's own kind."""
        from understudy.training.loop import no_progress

        return super().__call__(task, progress or no_progress)


def _trainer(name: str, module: str, function: str, settings: str, needs: Need) -> Trainer:
    module = f"{__name__}.{module}"
    return Trainer(name, Imported(module, function), needs, settings=Imported(module, settings))


TRAINERS: dict[str, Trainer] = {
    trainer.name: trainer
    for trainer in (
        _trainer("starspace", "bag_rankers", "train_starspace", "BagSettings", Need.DIALOGUES | Need.TORCH),
        _trainer("profile-memory", "bag_rankers", "train_profile_memory", "BagSettings", Need.DIALOGUES | Need.TORCH),
        _trainer("kv-memory", "bag_rankers", "train_kv_memory", "BagSettings", Need.DIALOGUES),
        _trainer("seq2seq", "seq2seq", "train_seq2seq", "Seq2SeqSettings", Need.DIALOGUES | Need.TORCH),
        _trainer(
            "generative-memory", "seq2seq", "train_generative_memory", "Seq2SeqSettings", Need.DIALOGUES | Need.TORCH
        ),
        _trainer("encoder", "encoder", "train", "EncoderSettings", Need.DIALOGUES | Need.TORCH),
        _trainer("cross-encoder", "cross_encoder", "train", "CrossEncoderSettings", Need.DIALOGUES | Need.TORCH),
        _trainer("bob", "bob.trainer", "train", "BobSettings", Need.DIALOGUES | Need.PAIRS | Need.TORCH),
        _trainer("voice", "voice", "train", "VoiceSettings", Need.NOVELS | Need.TORCH),
        _trainer("contradiction", "contradiction", "train", "ContradictionSettings", Need.PAIRS | Need.TORCH),
        _trainer("addressee", "addressee", "train", "AddresseeSettings", Need.NOVELS),
        _trainer("quotations", "quotations.trainer", "train", "QuotationSettings", Need.NOVELS),
        _trainer("writer", "writer.trainer", "train", "WriterSettings", Need.DIALOGUES | Need.NOVELS | Need.TORCH),
        _trainer(
            "reranker", "reranker.trainer", "train", "RerankerSettings", Need.DIALOGUES | Need.NOVELS | Need.TORCH
        ),
        _trainer("causal", "persona_lm", "train_causal", "LineSettings", Need.LINES | Need.TORCH),
        _trainer("causal-dialogues", "causal.trainer", "train", "CausalSettings", Need.DIALOGUES | Need.TORCH),
        _trainer("masked", "persona_lm", "train_masked", "LineSettings", Need.LINES | Need.TORCH),
        _trainer("guesser", "guessing.readers", "train_reader", "ReaderSettings", Need.SCENES | Need.TORCH),
        _trainer("naming-guesser", "guessing.naming", "train_naming", "NamingSettings", Need.SCENES | Need.TORCH),
    )
}
"""Every model that can be trained, by name: the counterpart of `understudy.agents.AGENTS`."""


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
    novels: Path | None = None,
    pairs: Path | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ModelFolder:
    """Train a model on the files of a folder: PersonaChat's for agents, novels for `voice`, `addressee` and
    `quotations`, both for `writer` and `reranker`, pairs of sentences for `contradiction`; write its model folder.

    `settings` are of the trainer's own settings class; `personas` are those of the training file to show, `condition`
    whose ('none', 'self', 'their', 'both'; the transformers mix them); `origin` is the model that kv-memory takes its
    weights from, or the encoder that the cross-encoder stands beside; `base` the initial weights of a transformer;
    `embeddings` a file of initial word vectors; `novels` the folder of those that writer and reranker learn from;
    `pairs` that of the pairs of sentences that bob learns from; `fresh` starts over and replaces what is there.
    """
    from understudy.training.dialogues import CONDITIONS, PERSONAS
    from understudy.training.task import TrainingTask

    from_folder = [name for name, trainer in TRAINERS.items() if trainer.needs & LEARNED_FROM_FOLDERS]
    for what, value, known in (
        ("model to train", agent, from_folder),
        ("kind of personas", personas, PERSONAS),
        ("condition", condition, tuple(CONDITIONS)),
    ):
        if value not in known:
            raise InputError(
                f"there is no {what} '{value}'{did_you_mean(value, known)}: choose from {', '.join(known)}"
            )
    trainer = TRAINERS[agent]
    chosen = trainer.settings() if settings is None else settings
    if not isinstance(chosen, trainer.settings.load()):
        raise InputError(f"'{agent}' is trained with {trainer.settings.attribute}, not with {type(chosen).__name__}")
    task = TrainingTask(
        data,
        out,
        chosen,
        personas,
        condition,
        seed,
        device,
        origin,
        base,
        embeddings,
        fresh,
        novels=novels,
        pairs=pairs,
    )
    return trainer(task, progress)
