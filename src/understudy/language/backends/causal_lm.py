"""A causal network at work: log-probabilities and hidden states of replies to prompts, and replies written.

Replies to one prompt are read behind one copy of it. A mask keeps them from seeing each other, and each has the
positions that it would have alone, so that it gets the values that it would get alone.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language import import_library
from understudy.language.backends.catalog import local_models
from understudy.language.backends.transformer import Transformer, length_batches, located

if TYPE_CHECKING:
    from torch import Tensor


SCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")
"""Settings of networks that do more with logits than their output layer does."""

BATCH_TOKENS = 1 << 14
MASK_CELLS = 1 << 25
SHARED_TOKENS = 1024  # of replies behind one prompt
LOGITS = 1 << 26  # tokens times vocabulary, at a time

Ids = list[int]
Value = TypeVar("Value")


class PromptedReplies(NamedTuple):
    """A prompt and replies to it, as token ids; neither is empty."""

    prompt: Ids
    replies: list[Ids]


def chosen_logits(network: Any, rows: Tensor, columns: Tensor, **inputs: Tensor) -> Tensor:
    """The logits of a network at some positions only: a vocabulary is long, and most of them are not needed."""
    hidden, head = _hidden(network, **inputs)
    logits: Tensor = head(hidden[rows, columns]).float()
    return logits


def reply_log_probs(model: Transformer, questions: Sequence[PromptedReplies]) -> list[list[list[float]]]:
    """For each question, for each of its replies, the log-probability of each token."""

    def read(batch: Sequence[PackedReplies], parts: Sequence[PromptedReplies]) -> Iterator[list[list[float]]]:
        log_probs = iter(_batch_log_probs(model, batch))
        return ([[next(log_probs) for _ in reply] for reply in part.replies] for part in parts)

    return _in_batches(model, questions, pack, read)


def reply_states(model: Transformer, questions: Sequence[PromptedReplies]) -> list[list[NDArray[np.float32]]]:
    """For each question, for each of its replies, the last hidden state of its last token."""

    def packed(part: PromptedReplies) -> PackedReplies:
        """With one more token, which nothing reads: the state that would predict it is that of the last one."""
        return pack(PromptedReplies(part.prompt, [[*reply, 0] for reply in part.replies]))

    def read(batch: Sequence[PackedReplies], parts: Sequence[PromptedReplies]) -> Iterator[list[NDArray[np.float32]]]:
        inputs = batch_inputs(model, batch)
        hidden = model.network.base_model(**inputs, use_cache=False).last_hidden_state.float().cpu().numpy()
        for states, item, part in zip(hidden, batch, parts):
            ends = np.cumsum([len(reply) + 1 for reply in part.replies]) - 1
            yield [states[item.columns[end]] for end in ends]

    return _in_batches(model, questions, packed, read)


def _in_batches(
    model: Transformer,
    questions: Sequence[PromptedReplies],
    pack_part: Callable[[PromptedReplies], PackedReplies],
    read: Callable[[Sequence[PackedReplies], Sequence[PromptedReplies]], Iterable[list[Value]]],
) -> list[list[Value]]:
    """For each question what `read` gives of its replies, some of them at a time, in batches of like length."""
    import torch

    longest = SHARED_TOKENS if _takes(model.network.base_model, "position_ids") else 0
    portions = [(number, part) for number, question in enumerate(questions) for part in _portions(question, longest)]
    packed = [pack_part(part) for _, part in portions]
    values: dict[int, list[Value]] = {}
    for rows in length_batches([len(item.ids) for item in packed], _fits):
        with torch.inference_mode():
            values |= zip(rows, read([packed[row] for row in rows], [portions[row][1] for row in rows]))
    results: list[list[Value]] = [[] for _ in questions]
    for index, (number, _) in enumerate(portions):
        results[number] += values[index]
    return results


def write_greedily(model: Transformer, prompts: Sequence[Ids], end: int, most: int) -> list[tuple[Ids, list[float]]]:
    """For each prompt the most probable token after the other, at most so many, with their log-probabilities.

    The end is among them if it was reached. A reply never begins with it.
    """
    import torch

    network, batch = model.network, model.batch(prompts, pads_left=True)
    ids, mask = batch["input_ids"], batch["attention_mask"]
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    written: list[tuple[Ids, list[float]]] = [([], []) for _ in prompts]
    open_rows, cache = set(range(len(prompts))), None
    with torch.inference_mode():
        for step in range(most):
            positioned = {"position_ids": positions} if _takes(network, "position_ids") else {}
            shortened = {"logits_to_keep": 1} if _takes(network, "logits_to_keep") else {}
            output = network(
                input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True, **positioned, **shortened
            )
            cache, logits = output.past_key_values, output.logits[:, -1].float()
            if step == 0:
                logits[:, end] = -torch.inf
            values, tokens = logits.log_softmax(-1).max(-1)
            for row, value, token in zip(range(len(prompts)), values.tolist(), tokens.tolist()):
                if row in open_rows:
                    written[row][0].append(token)
                    written[row][1].append(value)
                    if token == end:
                        open_rows.discard(row)
            if not open_rows:
                break
            ids, positions = tokens[:, None], positions[:, -1:] + 1
            mask = torch.cat([mask, mask.new_ones((len(prompts), 1))], dim=1)
    return written


class PackedReplies(NamedTuple):
    """A prompt with its replies behind it, each without its last token, which nothing follows."""

    ids: Ids
    positions: Ids
    owners: Ids  # 0 for the prompt, then the number of the reply
    columns: Ids  # where each token of the replies is predicted
    targets: Ids


def _portions(question: PromptedReplies, longest: int) -> Iterator[PromptedReplies]:
    """The question with some of its replies at a time: so many tokens together, or one reply."""
    some: list[Ids] = []
    for reply in question.replies:
        if some and sum(map(len, some)) + len(reply) > longest:
            yield PromptedReplies(question.prompt, some)
            some = []
        some.append(reply)
    if some:
        yield PromptedReplies(question.prompt, some)


def pack(question: PromptedReplies) -> PackedReplies:
    prompt = question.prompt
    packed = PackedReplies(list(prompt), list(range(len(prompt))), [0] * len(prompt), [], [])
    for number, reply in enumerate(question.replies, 1):
        start = len(packed.ids)
        packed.columns.extend([len(prompt) - 1, *range(start, start + len(reply) - 1)])
        packed.targets.extend(reply)
        packed.ids.extend(reply[:-1])
        packed.positions.extend(range(len(prompt), len(prompt) + len(reply) - 1))
        packed.owners.extend([number] * (len(reply) - 1))
    return packed


def batch_inputs(model: Transformer, batch: Sequence[PackedReplies]) -> dict[str, Tensor]:
    """A batch as the network reads it; padding stands at the end, where nothing looks at it."""
    import torch

    network, device = model.network, model.network.device
    longest = max(len(item.ids) for item in batch)

    def padded(lists: Sequence[Ids], filler: int) -> Tensor:
        return torch.tensor([[*values, *[filler] * (longest - len(values))] for values in lists], device=device)

    inputs: dict[str, Tensor] = {"input_ids": padded([item.ids for item in batch], model.pad)}
    if any(max(item.owners) > 1 for item in batch):
        owners = padded([item.owners for item in batch], -1)
        sees = (owners[:, None, :] == 0) | (owners[:, None, :] == owners[:, :, None])
        sees &= torch.ones(longest, longest, dtype=torch.bool, device=device).tril()
        mask = torch.zeros(sees.shape, dtype=network.dtype, device=device)
        inputs["attention_mask"] = mask.masked_fill_(~sees, torch.finfo(network.dtype).min)[:, None]
        inputs["position_ids"] = padded([item.positions for item in batch], 0)
    return inputs


def _batch_log_probs(model: Transformer, batch: Sequence[PackedReplies]) -> list[float]:
    import torch

    network, device = model.network, model.network.device
    rows = torch.tensor([row for row, item in enumerate(batch) for _ in item.columns], device=device)
    columns = torch.tensor([column for item in batch for column in item.columns], device=device)
    targets = torch.tensor([target for item in batch for target in item.targets], device=device)
    hidden, head = _hidden(network, **batch_inputs(model, batch))
    chosen = hidden[rows, columns]
    at_a_time = max(LOGITS // int(network.config.vocab_size), 1)
    log_probs: list[float] = []
    for some, wanted in zip(chosen.split(at_a_time), targets.split(at_a_time)):  # type: ignore[no-untyped-call]
        log_probs += head(some).float().log_softmax(-1).gather(-1, wanted[:, None])[:, 0].tolist()
    return log_probs


def _hidden(network: Any, **inputs: Tensor) -> tuple[Tensor, Any]:
    """Hidden states and what makes logits of them; the logits themselves where the network does more to them."""
    if any(getattr(network.config, name, None) not in (None, 1.0) for name in SCALED):
        return network(**inputs, use_cache=False).logits, lambda logits: logits
    return network.base_model(**inputs, use_cache=False).last_hidden_state, network.get_output_embeddings()


def _takes(module: Any, argument: str) -> bool:
    return argument in inspect.signature(module.forward).parameters


def _fits(rows: int, longest: int) -> bool:
    return rows * longest <= BATCH_TOKENS and rows * longest * longest <= MASK_CELLS


# The base model of an adapter: what identifies it, and where it is found again, here or on another machine.
#
# A base is known by the SHA-256 of its weights: of the .gguf file, or of all safetensors files of a folder in the order
# of their names. A model of the Hugging Face hub is the folder that it was downloaded to.


BASE = "base"
"""Where the base may lie in a model folder: a file or a link `base.gguf`, or a folder `base`."""

CHUNK = 1 << 20


def base_card(source: str | Path) -> dict[str, str]:
    """What a card says of its base: where it was, and the digest of its weights."""
    where, options = located(source)
    is_local = "local_files_only" in options
    return {"source": str(Path(source).resolve()) if is_local else str(source), "sha256": _digest(source, where)}


def find_base(card: Mapping[str, Any], folder: Path) -> str:
    """The base of an adapter: beside it, where it was when it was trained, or a model of this machine like it."""
    wanted = card.get("sha256")
    for source in _candidates(str(card.get("source", "")), folder):
        try:
            where, _ = located(source)
            if _digest(source, where) == wanted:
                return str(source)
        except (InputError, OSError):
            continue
    raise InputError(
        f"is an adapter, and its base model is not on this machine ({card.get('source')}, SHA-256 {wanted}): put it, "
        f"or a link to it, into the folder as {BASE}.gguf, or as {BASE} where it is a folder",
        folder,
    )


def _candidates(source: str, folder: Path) -> Iterator[str | Path]:
    yield from (path for path in (folder / f"{BASE}.gguf", folder / BASE) if path.exists())
    if source:
        yield source
    yield from (model.path for model in local_models() if model.path is not None)


def _digest(source: str | Path, where: str) -> str:
    path = Path(source)
    if path.is_file():
        files = [path]
    else:
        folder = path if path.is_dir() else Path(_downloaded(where))
        files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise InputError("has no safetensors files", source)
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while chunk := opened.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _downloaded(name: str) -> str:
    """The folder of a hub model that has been opened before, so that it is in the cache."""
    hub = import_library("huggingface_hub")
    try:
        folder: str = hub.snapshot_download(name, local_files_only=True)
    except Exception as error:  # the library raises anything for what it does not have
        raise InputError("has not been downloaded", name) from error
    return folder
