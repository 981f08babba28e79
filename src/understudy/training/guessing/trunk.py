"""The transformer of a reader: any encoder, Longformer or causal model in Hugging Face's layout, and its tokenizer.

Of a Longformer every token reads a window around itself and the first token, which reads all and is read by all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.language.backends.transformer import CAUSAL, MASKED, WANTED, first_line, length_batches, located
from understudy.language.libraries import import_library
from understudy.training.guessing.prompt_format import SceneTokenizer
from understudy.training.pretrained import PACKAGE, installed_base

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "LONGFORMER",
    "TRUNK",
    "Trunk",
    "fits",
    "half_precision",
    "open_trunk",
    "reading_of",
    "write_network",
]

LONGFORMER = "longformer"
ATTENTION_WINDOW = 256  # tokens that a Longformer's token reads around itself, as in the paper
TRUNK = "trunk."  # the names of its parameters among those that are trained
ROOM = 1 << 14  # tokens that go through the network at once


class Trunk(SceneTokenizer):
    """A network without a head, and its tokenizer."""

    def __init__(self, network: Any, tokenizer: Any) -> None:
        super().__init__(tokenizer, network.config)
        self.network, self.width = network, int(network.config.hidden_size)
        self._padding = next(
            (token_id for token_id in (tokenizer.pad_token_id, tokenizer.eos_token_id) if token_id is not None), 0
        )
        self._typed = getattr(network.config, "type_vocab_size", 0) > 1
        self._global = network.config.model_type == LONGFORMER

    def parameters(self) -> dict[str, Tensor]:
        return {TRUNK + name: tensor for name, tensor in self.network.named_parameters()}

    def states(
        self, parameters: Mapping[str, Tensor], sequences: Sequence[Sequence[int]], seconds: Sequence[int]
    ) -> list[Tensor]:
        """The last layer's state of every token; the last `seconds[i]` tokens of a sequence are a second text."""
        from torch.func import functional_call

        own = half_precision(
            {name.removeprefix(TRUNK): tensor for name, tensor in parameters.items() if name.startswith(TRUNK)}
        )
        by_row: dict[int, Tensor] = {}
        for rows in length_batches([len(sequence) for sequence in sequences], fits):
            inputs = self._batch([sequences[row] for row in rows], [seconds[row] for row in rows])
            hidden = functional_call(self.network, own, (), inputs).last_hidden_state.float()
            by_row |= {row: states[: len(sequences[row])] for row, states in zip(rows, hidden)}
        return [by_row[row] for row in range(len(sequences))]

    def name_vectors(self, parameters: Mapping[str, Tensor], names: Sequence[str]) -> Tensor:
        """The input embedding of each name's first token."""
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
        # padding stands at the end, where a causal model has nothing more to read: it needs no attention mask
        inputs = {"input_ids": ids} if self.causal else {"input_ids": ids, "attention_mask": real}
        if self._typed:
            inputs["token_type_ids"] = types
        if self._global:  # every token reads the first one and is read by it, however far away
            inputs["global_attention_mask"] = torch.zeros_like(real)
            inputs["global_attention_mask"][:, 0] = 1
        return {name: tensor.to(self.network.device) for name, tensor in inputs.items()}


def half_precision(parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The parameters in bfloat16 where they are on a GPU, as they are on a CPU; gradients reach them as they are."""
    import torch

    return {
        name: tensor.to(torch.bfloat16) if tensor.device.type == "cuda" else tensor
        for name, tensor in parameters.items()
    }


def fits(rows: int, longest: int) -> bool:
    """Whether so many sequences can go through the network at once."""
    return rows * longest <= ROOM


def open_trunk(source: str | Path | None, device: str = "cpu") -> Trunk:
    """The network in a folder or .gguf file, or by its name at Hugging Face; without a place the installed MiniLM."""
    where, options = located(installed_base() if source is None else source)
    with _reading(source or PACKAGE) as transformers:
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, **options)
        config = transformers.AutoConfig.from_pretrained(where, **options)
        if config.model_type == LONGFORMER:
            config.attention_window = _narrowed(config.attention_window, config.num_hidden_layers)
        network = transformers.AutoModel.from_pretrained(where, config=config, use_safetensors=True, **options)
        if "gguf_file" in options:  # dequantised: it can be trained and saved like any other
            packed, network = network, transformers.AutoModel.from_config(network.config)
            network.load_state_dict(packed.state_dict())
    if getattr(network, "pooler", None) is not None:
        network.pooler = None  # unused, and randomly initialised where a folder has none
    return Trunk(network.float().to(device), tokenizer)


def reading_of(source: str | Path) -> str:
    """How a model reads: CAUSAL from left to right, MASKED all at once, LONGFORMER in windows around each token."""
    where, options = located(source)
    with _reading(source) as transformers:
        if transformers.AutoConfig.from_pretrained(where, **options).model_type == LONGFORMER:
            return LONGFORMER
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, **options)
    return CAUSAL if tokenizer.mask_token_id is None else MASKED


def _narrowed(windows: int | Sequence[int], layers: int) -> list[int]:
    """The attention window of every layer of a Longformer, no wider than the paper's."""
    of_layers = [windows] * layers if isinstance(windows, int) else windows
    return [min(window, ATTENTION_WINDOW) for window in of_layers]


@contextmanager
def _reading(source: str | Path) -> Iterator[Any]:
    """The library that reads models; whatever it says of a damaged one is the user's to know."""
    try:
        transformers = import_library("transformers")
        logging = import_library("transformers.utils.logging")
    except ImportError as error:
        raise MissingExtra("training a guesser", "train") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield transformers
    except ImportError as error:
        raise MissingExtra(f"this model ({str(error).splitlines()[0]})", "train") from error
    except Exception as error:  # the library raises anything for a damaged file
        raise InputError(f"cannot be opened ({first_line(error)}): {WANTED}", source) from error


def write_network(folder: Path, network: Any, tokenizer: Any, learnt: Mapping[str, NDArray[np.float32]]) -> None:
    """The network with what it learnt, as Hugging Face lays it out."""
    import torch

    own = dict(network.named_parameters())
    with torch.no_grad():
        for name, array in learnt.items():
            own[name].copy_(torch.from_numpy(array))
    network.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
