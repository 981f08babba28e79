"""Transformer language models from Hugging Face folders or GGUF files, and the log-probabilities they give to texts.

    causal    ln P(w_i | w_1 .. w_i-1)           of each token of the line, and of its end
    masked    ln P(w_i | all the other tokens)   of each token, masked in turn: the pseudo-log-probability

It looks at the line alone, of which it reads as much as its window holds. Weights are safetensors or GGUF: nothing is
unpickled, and no code that comes with a model is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.errors import InputError, MissingExtra
from understudy.language import import_library
from understudy.story.dialogue import Situation, Turn

if TYPE_CHECKING:
    from torch import Tensor


CAUSAL, MASKED = "causal", "masked"
LONGEST = 512  # tokens of a line that are read
ROOM = 1 << 26  # logits of a batch at most: tokens times vocabulary
HUB_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?")

WANTED = (
    "name a folder with config.json, model.safetensors and tokenizer.json of a causal or masked language model, "
    "a .gguf file, or a model at Hugging Face"
)


class Transformer:
    """A `LanguageModel`: its network, its tokenizer, and whether it is causal or masked (`kind`)."""

    def __init__(self, network: Any, tokenizer: Any, kind: str) -> None:
        self.network, self.tokenizer, self.kind = network, tokenizer, kind
        config = network.config
        windows = (LONGEST, getattr(config, "max_position_embeddings", None), tokenizer.model_max_length)
        self.window = int(min(window for window in windows if window))
        self.pad = next(
            (token_id for token_id in (tokenizer.pad_token_id, tokenizer.eos_token_id) if token_id is not None), 0
        )
        self._words = int(config.vocab_size)

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:  # noqa: ARG002
        return self.many([text])[0]

    def many(self, texts: Sequence[str]) -> list[list[float]]:
        """The log-probabilities of many texts, in batches of bounded size."""
        return self._masked(texts) if self.kind == MASKED else self._causal(texts)

    def sequence(self, text: str, window: int | None = None) -> tuple[list[int], list[int]]:
        """A text as token ids, and the positions whose tokens are scored."""
        window = min(window or self.window, self.window)
        if self.kind == MASKED:
            encoded = self.tokenizer(text, truncation=True, max_length=window, return_special_tokens_mask=True)
            positions = [position for position, added in enumerate(encoded["special_tokens_mask"]) if not added]
            return list(encoded["input_ids"]), positions
        first, last = self._ends()
        ids = [first, *self.tokenizer(text, add_special_tokens=False)["input_ids"], last][:window]
        return ids, list(range(1, len(ids)))

    def tokens(self, text: str) -> list[str]:
        """The tokens that `many` scores, as text."""
        ids, positions = self.sequence(text)
        return [self.tokenizer.decode([ids[position]]).strip() or "end of line" for position in positions]

    def batch(self, sequences: Sequence[Sequence[int]], pads_left: bool = False) -> dict[str, Tensor]:
        """Sequences as network inputs, padded to one length at their ends, or before their beginnings."""
        import torch

        longest = max(map(len, sequences))
        ids = torch.full((len(sequences), longest), self.pad)
        real = torch.zeros((len(sequences), longest), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            start = longest - len(sequence) if pads_left else 0
            ids[row, start : start + len(sequence)] = torch.tensor(sequence)
            real[row, start : start + len(sequence)] = 1
        on = self.network.device
        return {"input_ids": ids.to(on), "attention_mask": real.to(on)}

    def _ends(self) -> tuple[int, int]:
        """The tokens that stand for the beginning and the end of a text."""
        known = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        first, last = (own if own is not None else fallback for own, fallback in (known, known[::-1]))
        if first is None or last is None:
            raise InputError("the model's tokenizer has no token for the beginning or the end: choose another model")
        return first, last

    def _causal(self, texts: Sequence[str]) -> list[list[float]]:
        import torch

        sequences = [self.sequence(text)[0] for text in texts]
        results: list[list[float]] = [[] for _ in texts]
        for rows in length_batches([len(sequence) for sequence in sequences], self._fits):
            inputs = self.batch([sequences[row] for row in rows])
            with torch.inference_mode():
                logs = self.network(**inputs).logits[:, :-1].float().log_softmax(-1)
            log_probs = logs.gather(-1, inputs["input_ids"][:, 1:, None])[..., 0].tolist()
            for row, values in zip(rows, log_probs):
                results[row] = values[: len(sequences[row]) - 1]
        return results

    def _masked(self, texts: Sequence[str]) -> list[list[float]]:
        import torch

        sequences = [(number, *self.sequence(text)) for number, text in enumerate(texts)]
        questions = [(number, ids, position) for number, ids, positions in sequences for position in positions]
        results: list[list[float]] = [[] for _ in texts]
        values = np.zeros(len(questions))
        for rows in length_batches([len(ids) for _, ids, _ in questions], self._fits):
            inputs = self.batch([questions[row][1] for row in rows])
            positions = torch.tensor([questions[row][2] for row in rows], device=self.network.device)
            every = torch.arange(len(rows), device=self.network.device)
            hidden = inputs["input_ids"][every, positions]
            inputs["input_ids"][every, positions] = self.tokenizer.mask_token_id
            with torch.inference_mode():
                logs = self.network(**inputs).logits[every, positions].float().log_softmax(-1)
            values[rows] = logs[every, hidden].cpu().numpy()
        for (number, _, _), value in zip(questions, values.tolist()):
            results[number].append(value)
        return results

    def _fits(self, rows: int, longest: int) -> bool:
        return rows * longest * self._words <= ROOM


def open_transformer(source: str | Path, device: str = "auto", tokenizer: Path | None = None) -> Transformer:
    """A model from a folder as Hugging Face lays it out, a .gguf file, or by its name there.

    Whether it is causal or masked follows from its configuration. `tokenizer` is a folder with one to use instead of
    the model's own.
    """
    try:
        import torch

        transformers = import_library("transformers")
        hub_logging = import_library("huggingface_hub.utils.logging")
        logging = import_library("transformers.utils.logging")
    except ImportError as error:
        raise MissingExtra("a transformer as language model", "train") from error
    logging.set_verbosity_error()
    hub_logging.set_verbosity_error()
    logging.disable_progress_bar()
    where, options = located(source)
    try:
        config = transformers.AutoConfig.from_pretrained(where, **options)
        if tokenizer is None:
            words = transformers.AutoTokenizer.from_pretrained(where, **options)
        else:
            words = transformers.AutoTokenizer.from_pretrained(str(tokenizer), local_files_only=True)
        kind = _kind(config, words)
        factory = transformers.AutoModelForMaskedLM if kind == MASKED else transformers.AutoModelForCausalLM
        network, info = factory.from_pretrained(where, use_safetensors=True, output_loading_info=True, **options)
        if "gguf_file" in options:  # dequantised: it can be trained and saved like any other
            packed, network = network, factory.from_config(config).float()
            network.load_state_dict(packed.state_dict())
        network = network.float().eval()
    except ImportError as error:
        raise MissingExtra(f"this model ({str(error).splitlines()[0]})", "train") from error
    except Exception as error:  # the library raises anything for a damaged file
        raise InputError(f"cannot be opened as a language model ({first_line(error)}): {WANTED}", source) from error
    if info["missing_keys"]:
        raise InputError(
            f"has nothing to predict words with ({min(info['missing_keys'])} is missing): {WANTED}", source
        )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return Transformer(network.to(device), words, kind)


def located(source: str | Path) -> tuple[str, dict[str, Any]]:
    path = Path(source)
    if path.is_file() and path.suffix.lower() == ".gguf":
        return str(path.parent), {"gguf_file": path.name, "local_files_only": True}
    if path.is_dir():
        return str(path), {"local_files_only": True}
    if path.exists() or not HUB_NAME.fullmatch(str(source)):
        raise InputError(f"is no model folder: {WANTED}", source)
    return str(source), {}


def _kind(config: Any, tokenizer: Any) -> str:
    built = " ".join(config.architectures or ())
    if "CausalLM" in built or "LMHead" in built or tokenizer.mask_token_id is None:
        return CAUSAL
    return MASKED


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


# Batches of sequences of similar length, so that little is computed for padding.


def length_batches(lengths: Sequence[int], fits: Callable[[int, int], bool]) -> Iterator[list[int]]:
    """Indices of sequences, shortest first, as many in a batch as fit; a sequence that does not fit is one alone.

    `fits` is asked with the number of rows and the length of the longest.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batch and not fits(len(batch) + 1, lengths[index]):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
