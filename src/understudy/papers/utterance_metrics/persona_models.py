"""uPPL by a transformer fine-tuned on each judged character's lines, as the paper has it.

    uPPL(u, p) = exp(- mean over tokens w of u of ln P_p(w | ...))

P_p is a masked language model (each token covered in turn: pseudo-perplexity) or a causal one, fine-tuned on the lines
of p that are not held back. It needs tokens of its own only: no words are cut, and no other character's lines are used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from understudy.language.backends.transformer import CAUSAL, MASKED, Transformer, open_transformer
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import CARD
from understudy.metrics.uppl import perplexity
from understudy.text import guess_language
from understudy.training.loop import Progress, no_progress
from understudy.training.persona_lm import LineSettings, SpokenLines, train_causal, train_masked, weights_digest
from understudy.training.pretrained import own_weights
from understudy.training.run import TrainingTask

__all__ = ["PersonaTuning", "fine_tune", "fine_tuned_scorer", "line_perplexities"]

TRAINERS = {CAUSAL: train_causal, MASKED: train_masked}


@dataclass(frozen=True, slots=True)
class PersonaTuning:
    """From which language model, how, and in which folder its fine-tuned copies are kept for another run."""

    base: str
    models: Path
    settings: LineSettings
    seed: int = 0
    device: str = "auto"


def fine_tuned_scorer(tuning: PersonaTuning) -> str:
    """The name of the scorer that a base gives: uppl-masked or uppl-causal."""
    return f"uppl-{open_transformer(tuning.base, 'cpu').kind}"


def fine_tune(
    tuning: PersonaTuning, name: str, texts: Sequence[str], source: str, progress: Progress = no_progress
) -> Transformer:
    """The model of one character; one that is in the folder already is opened and not trained again."""
    base = open_transformer(tuning.base, "cpu")
    plan = [weights_digest(own_weights(base.network)), asdict(tuning.settings), tuning.seed, list(texts)]
    key = hashlib.sha256(json.dumps(plan).encode()).hexdigest()[:16]
    folder = tuning.models / f"{base.kind}-{key}"
    if not (folder / CARD).is_file():
        lines = SpokenLines(name, texts, guess_language(" ".join(texts)), source)
        task = TrainingTask(lines, folder, tuning.settings, tuning.base, seed=tuning.seed, device=tuning.device)
        TRAINERS[base.kind](task, progress)
    return open_transformer(folder, tuning.device)


def line_perplexities(model: Transformer, texts: Sequence[str]) -> Reals:
    """Of each line; NaN where it has no token."""
    log_probs = model.many(texts)
    return np.array([perplexity(float(np.mean(values))) if values else np.nan for values in log_probs])
