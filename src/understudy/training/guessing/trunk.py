"""The transformer under a guesser: any encoder or causal model, as a function of its parameters.

A causal model is taken as an encoder too: each of its tokens has read what stands before it. So that a state has read
the whole scene, a question about every mask stands at the scene's end (see `script`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.metrics.transformer_lm import WANTED, first_line, located
from understudy.training.base import PACKAGE, installed_base
from understudy.training.bert import precision

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["TRUNK", "Trunk", "Words", "alike", "open_trunk", "write_network"]

TRUNK = "trunk."  # the names of its parameters among those that are trained
ROOM = 1 << 14  # tokens that go through the network at once
SHORTEST = 128  # tokens that a model must be able to read at once
UNBOUNDED = 1 << 20  # a tokenizer that knows no limit names a far larger one


class Words:
    """A tokenizer, asked about texts that stand inside others."""

    def __init__(self, tokenizer: Any, config: Any) -> None:
        self.tokenizer = tokenizer
        self.causal = tokenizer.mask_token_id is None
        known = [getattr(config, "max_position_embeddings", None), tokenizer.model_max_length]
        self.longest = min((int(one) for one in known if one and one < UNBOUNDED), default=UNBOUNDED)
        if self.longest < SHORTEST:
            raise InputError(
                f"the model reads {self.longest} tokens, and a scene needs {SHORTEST}: choose another base"
            )
        ends = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
        found = next((one for one in ends if one is not None), None)
        if found is None:
            raise InputError("the model's tokenizer has no token for the beginning of a text: choose another base")
        self.first = int(found)
        self._known: dict[str, list[int]] = {}
        self.split = self.tokens("\n") or [self.first if tokenizer.sep_token_id is None else tokenizer.sep_token_id]

    def tokens(self, text: str) -> list[int]:
        """Texts come again epoch after epoch, so their tokens are kept."""
        found = self._known.get(text)
        if found is None:
            found = list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
            self._known[text] = found
        return found

    def spoken(self, speaker: str, text: str) -> list[int]:
        return [*self.tokens(speaker), *self.tokens(":"), *self.tokens(f" {text}")]

    def line(self, speaker: str | None, text: str) -> list[int]:
        """What is said or described, on a line of its own."""
        return self.aside(text) if speaker is None else [*self.split, *self.spoken(speaker, text)]

    def aside(self, text: str) -> list[int]:
        """A setting or direction, on a line of its own."""
        return [*self.split, *self.tokens("("), *self.tokens(f" {text}"), *self.tokens(")")]


class Trunk(Words):
    """A network without a head, and its tokenizer."""

    def __init__(self, network: Any, tokenizer: Any) -> None:
        super().__init__(tokenizer, network.config)
        self.network, self.width = network, int(network.config.hidden_size)
        self._padding = next((one for one in (tokenizer.pad_token_id, tokenizer.eos_token_id) if one is not None), 0)
        self._typed = getattr(network.config, "type_vocab_size", 0) > 1

    def parameters(self) -> dict[str, Tensor]:
        return {TRUNK + name: tensor for name, tensor in self.network.named_parameters()}

    def states(
        self, parameters: Mapping[str, Tensor], sequences: Sequence[Sequence[int]], seconds: Sequence[int]
    ) -> list[Tensor]:
        """The last layer's state of every token; the last `seconds[i]` tokens of a sequence are a second text."""
        from torch.func import functional_call

        own = {name.removeprefix(TRUNK): tensor for name, tensor in parameters.items() if name.startswith(TRUNK)}
        found: dict[int, Tensor] = {}
        for rows in alike([len(sequence) for sequence in sequences]):
            given = self._batch([sequences[row] for row in rows], [seconds[row] for row in rows])
            with precision(given["input_ids"].device):
                told = functional_call(self.network, own, (), given).last_hidden_state.float()
            real = told[given["attention_mask"] == 1]
            found |= zip(rows, real.split([len(sequences[row]) for row in rows]))
        return [found[row] for row in range(len(sequences))]

    def name_vectors(self, parameters: Mapping[str, Tensor], names: Sequence[str]) -> Tensor:
        """What the network takes each name's first token for."""
        own = self.network.get_input_embeddings().weight
        table = next(parameters[name] for name, tensor in self.parameters().items() if tensor is own)
        return table[[self.tokens(f" {name}")[0] for name in names]]

    def _batch(self, sequences: Sequence[Sequence[int]], seconds: Sequence[int]) -> dict[str, Tensor]:
        import torch

        size = (len(sequences), max(map(len, sequences)))
        ids = torch.full(size, self._padding)
        real, types = torch.zeros(size, dtype=torch.long), torch.zeros(size, dtype=torch.long)
        for row, (sequence, second) in enumerate(zip(sequences, seconds)):
            ids[row, : len(sequence)] = torch.tensor(sequence)
            real[row, : len(sequence)] = 1
            types[row, len(sequence) - second : len(sequence)] = 1
        given = {"input_ids": ids, "attention_mask": real}
        if self._typed:
            given["token_type_ids"] = types
        return {name: tensor.to(self.network.device) for name, tensor in given.items()}


def alike(lengths: Sequence[int], room: int = ROOM) -> Iterator[list[int]]:
    """Rows of about one length, as many as there is room for."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if rows and (len(rows) + 1) * lengths[row] > room:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def open_trunk(place: str | Path | None, device: str = "cpu") -> Trunk:
    """The network in a folder or .gguf file, or by its name at Hugging Face; without a place the installed MiniLM."""
    try:
        import transformers
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra("training a guesser", "train") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    where, options = located(installed_base() if place is None else place)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, **options)
        network = transformers.AutoModel.from_pretrained(where, use_safetensors=True, **options)
        if "gguf_file" in options:  # its numbers have been unpacked: it can be trained and written like any other
            packed, network = network, transformers.AutoModel.from_config(network.config)
            network.load_state_dict(packed.state_dict())
    except ImportError as error:
        raise MissingExtra(f"this model ({str(error).splitlines()[0]})", "train") from error
    except Exception as error:  # whatever a file that is not what it seems makes the library raise
        raise InputError(f"cannot be opened ({first_line(error)}): {WANTED}", place or PACKAGE) from error
    if getattr(network, "pooler", None) is not None:
        network.pooler = None  # it is never asked, and where a folder has none it would be a new one each time
    return Trunk(network.float().to(device), tokenizer)


def write_network(folder: Path, network: Any, tokenizer: Any, learnt: Mapping[str, NDArray[np.float32]]) -> None:
    """The network with what it learnt, as Hugging Face lays it out."""
    import torch

    own = dict(network.named_parameters())
    with torch.no_grad():
        for name, array in learnt.items():
            own[name].copy_(torch.from_numpy(array))
    network.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
