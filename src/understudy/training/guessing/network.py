"""The network of a reader: a transformer trunk, attentive pooling, a classifier head.

    p(m, j)   = sum over m's tokens t of sequence j of a_t h_t        a = softmax over them of v . tanh(V h_t)
    q(m, j)   = the state at the end of the question about m          of a causal model only
    x(m)      = sum over sequences j of b_j [p(m, j); q(m, j)]        b = softmax over them of u . tanh(U [p; q])
    s(m, c)   = w_c . x(m) + b_c  (+ k q(m) . e_c)                    e_c: the embedding of c's name in the model itself

    loss      = - mean ln P(m is its c), P a softmax of s over the scene's candidates or the whole cast
                - weight * mean over masks of ln P(the right assignment), P a softmax over all assignments

The trunk is any encoder, Longformer or causal model in Hugging Face's layout. Of a Longformer every token reads a
window around itself and the first token, which reads all and is read by all.
A cast has classes of its own: those of one show never compete with another's. In a causal model a token's state depends
only on what stands before it, so a question about every mask is appended to the scene (see `scene_tokens`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.guessing.assignment import all_assignments, can_list
from understudy.language import import_library
from understudy.language.backends.transformer import CAUSAL, MASKED, WANTED, first_line, length_batches, located
from understudy.training.guessing.scene_tokens import NOBODY, ReaderInput, SceneTokenizer
from understudy.training.pretrained import PACKAGE, installed_base

if TYPE_CHECKING:
    from torch import Tensor


HEAD = "head."  # the names of its parameters among those that are trained
HIDDEN = 128
NAME = 0.5  # what a name's own vector counts at the start
Parameters = Mapping[str, "Tensor"]


@dataclass(frozen=True, slots=True)
class LabelledInput:
    """An encoded scene; the class of each candidate; in training, the class of each mask and those of its cast."""

    encoded: ReaderInput
    candidates: tuple[int, ...]
    answers: tuple[int, ...] = ()
    cast: tuple[int, ...] = ()


def head_start(trunk: Trunk, classes: int, seed: int) -> dict[str, NDArray[np.float32]]:
    """Initial weights of the head: uniform attention, a random classifier."""
    rng = np.random.default_rng(seed)
    width = trunk.width * (2 if trunk.causal else 1)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * 0.02).astype(np.float32)

    start: dict[str, NDArray[np.float32]] = {
        "tokens.hide": drawn(HIDDEN, trunk.width),
        "tokens.attend": np.zeros(HIDDEN, np.float32),
        "sequences.hide": drawn(HIDDEN, width),
        "sequences.attend": np.zeros(HIDDEN, np.float32),
        "cast.weight": drawn(classes, width),
        "cast.bias": np.zeros(classes, np.float32),
    }
    if trunk.causal:
        start["name"] = np.array([NAME], np.float32)
    return {HEAD + name: tensor for name, tensor in start.items()}


def scores_of(
    parameters: Parameters, batch: Sequence[ReaderInput], trunk: Trunk, names: Sequence[str], dropout: float = 0.0
) -> Tensor:
    """A row for each mask of each encoded scene, a column for each class; `names` are the classes'."""
    import torch
    from torch.nn.functional import dropout as dropped

    states = trunk.states(
        parameters,
        [sequence for encoded in batch for sequence in encoded.sequences],
        [second for encoded in batch for second in encoded.seconds],
    )
    tokens: list[int] = []  # their indices in the concatenation of all sequences
    question_ends: list[int] = []
    piece_of: list[int] = []
    mask_of: list[int] = []
    start, mask = 0, 0
    for encoded in batch:
        for sequence_index, owners in enumerate(encoded.owners):
            owner_ids = np.array(owners)
            for number in sorted({*owners} - {NOBODY}):
                own = np.flatnonzero(owner_ids == number).tolist()
                tokens += [start + at for at in own]
                piece_of += [len(mask_of)] * len(own)
                # a mask without a question is represented by its own last token
                question_ends.append(start + encoded.question_ends.get((sequence_index, number), own[-1]))
                mask_of.append(mask + number)
            start += len(owners)
        mask += len(encoded.masks)
    every = torch.cat(states)
    pooled = _pooled(parameters, "tokens", every[_index(tokens, every)], _index(piece_of, every), len(mask_of))
    features = torch.cat([pooled, every[_index(question_ends, every)]], dim=1) if trunk.causal else pooled
    features_of_masks = _pooled(parameters, "sequences", features, _index(mask_of, every), mask)
    scores = dropped(features_of_masks, dropout) @ parameters[f"{HEAD}cast.weight"].T + parameters[f"{HEAD}cast.bias"]
    if trunk.causal:
        called = features_of_masks[:, trunk.width :] @ trunk.name_vectors(parameters, names).T
        scores = scores + parameters[f"{HEAD}name"] * called
    return scores


def loss_of(scores: Tensor, examples: Sequence[LabelledInput], among_cast: bool, together: float) -> Tensor:
    """The loss of the module's docstring; `together` is the weight of whole assignments."""
    from torch.nn.functional import cross_entropy

    classes = [example.cast if among_cast else example.candidates for example in examples]
    most = max(map(len, classes))
    among: list[list[int]] = []
    wanted: list[int] = []
    same_size: dict[int, list[list[list[int]]]] = {}
    for example, own in zip(examples, classes):
        masks, row = len(example.encoded.masks), len(among)
        among += [[*own, *[NOBODY] * (most - len(own))]] * masks
        wanted += [own.index(answer) for answer in example.answers]
        if together and 1 < masks == len(example.candidates) and can_list(masks):
            # the right assignment is 0, 1, 2, ..., which is listed first
            pairs = [
                [(row + number) * scores.shape[1] + answer for answer in example.answers] for number in range(masks)
            ]
            same_size.setdefault(masks, []).append(pairs)
    columns = _index(among, scores)
    competing = scores.gather(1, columns.clamp(min=0)).masked_fill(columns == NOBODY, float("-inf"))
    loss = cross_entropy(competing, _index(wanted, scores))
    counted = sum(masks * len(tables) for masks, tables in same_size.items())
    for tables in same_size.values():
        totals = _assignment_totals(scores.flatten()[_index(tables, scores)])
        loss = loss + together * (totals.logsumexp(dim=1) - totals[:, 0]).sum() / counted
    return loss


def _assignment_totals(tables: Tensor) -> Tensor:
    """From `[scene, mask, candidate]` to the sum of each assignment, `[scene, assignment]`."""
    masks = tables.shape[1]
    assignments = _index(all_assignments(masks, masks), tables)
    return tables[:, _index(range(masks), tables), assignments].sum(dim=2)


def _pooled(parameters: Parameters, what: str, values: Tensor, owners: Tensor, count: int) -> Tensor:
    """The attentive mean of the values of each owner."""
    import torch

    hidden = torch.tanh(values @ parameters[f"{HEAD}{what}.hide"].T)
    scores = hidden @ parameters[f"{HEAD}{what}.attend"]
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, owners, scores.detach(), "amax")
    raised = torch.exp(scores - largest[owners])
    shares = raised / scores.new_zeros(count).index_add(0, owners, raised)[owners]
    return values.new_zeros(count, values.shape[1]).index_add(0, owners, values * shares[:, None])


def _index(numbers: Any, beside: Tensor) -> Tensor:
    """Whole numbers, in lists of any depth, on the device of another tensor."""
    import torch

    return torch.from_numpy(np.asarray(numbers, dtype=np.int64)).to(beside.device)


# The trunk.

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
