"""Training: one trainer a model. Each gives a model folder; what was learnt is judged on dialogues held back.

    model = train("starspace", Path("personachat"), Path("my-model"))

A training that is stopped, or killed, goes on where it was when it is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.model_folder import ModelFolder
    from understudy.training.cross_encoder import CrossEncoderSettings
    from understudy.training.encoder import EncoderSettings
    from understudy.training.loop import Progress, Settings
    from understudy.training.speaker_vectors import VoiceSettings

__all__ = ["BAGS", "GUESSER", "LINE_MODELS", "TRAINERS", "TRANSFORMERS", "train"]

BAGS = ("starspace", "profile-memory", "kv-memory")
TRANSFORMERS = ("encoder", "cross-encoder")
TRAINERS = (*BAGS, *TRANSFORMERS, "voice")
LINE_MODELS = ("causal", "masked")
"""What learns the lines of one character: see `persona_lines`."""

GUESSER = "guesser"
"""What learns who is speaking: see `guessing`."""


def train(
    agent: str,
    data: Path,
    out: Path,
    *,
    settings: Settings | EncoderSettings | CrossEncoderSettings | VoiceSettings | None = None,
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

    `personas` are those of the training file to show, `condition` whose ('none', 'self', 'their', 'both'; the
    transformers mix them); `origin` is the model that kv-memory takes its weights from, or the encoder that the
    cross-encoder stands beside; `base` the weights a transformer begins with; `embeddings` a file of word vectors to
    begin with; `fresh` starts over and replaces what is there.
    """
    from understudy.training import cross_encoder, encoder, kv_memory, profile_memory, starspace, voice
    from understudy.training.course import Task
    from understudy.training.data import CONDITIONS, PERSONAS
    from understudy.training.loop import Settings, unwatched

    kinds: dict[str, Any] = {
        "encoder": encoder.EncoderSettings,
        "cross-encoder": cross_encoder.CrossEncoderSettings,
        "voice": voice.VoiceSettings,
    }
    bags = (starspace.train, profile_memory.train, kv_memory.train)
    functions = (*bags, encoder.train, cross_encoder.train, voice.train)
    trainers: dict[str, Callable[[Task[Any], Progress], ModelFolder]] = dict(zip(TRAINERS, functions))
    for what, told, known in (
        ("model to train", agent, TRAINERS),
        ("kind of personas", personas, PERSONAS),
        ("condition", condition, tuple(CONDITIONS)),
    ):
        if told not in known:
            raise InputError(f"there is no {what} '{told}': choose from {', '.join(known)}")
    kind = kinds.get(agent, Settings)
    chosen = kind() if settings is None else settings
    if not isinstance(chosen, kind):
        raise InputError(f"'{agent}' is trained with {kind.__name__}, not with {type(chosen).__name__}")
    task = Task(data, out, chosen, personas, condition, seed, device, origin, base, embeddings, fresh)
    return trainers[agent](task, progress or unwatched)
