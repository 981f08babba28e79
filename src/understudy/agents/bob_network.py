"""The network of BERT over BERT (Song et al., 2021): an encoder and two decoders, each a BERT.

    H  = E(context)                                                       the encoder reads persona and history
    R1 = D1(y | H)     a layer: x = A(x, x<=t);  x = A(x, H);  x = F(x)
    R2 = D2(y | P, R1) a layer: x = A(x, x<=t);  x = A(x, P);  x = A(x, R1<=t);  x = F(x)
    p(y_t+1 | y<=t)    = softmax(norm(gelu(W r_t + b)) V' + c)            for r_t of R1 or R2; V are the word embeddings

A is attention with the rest of its sublayer (A(x, m) = norm(x + W attention(x, m))), F the feed-forward sublayer, P the
embeddings of the persona. D1, the response decoder, answers the context; D2, the consistency decoder, reads D1's states
against the persona. Where there is no D1 to read (a pair of sentences, one of which is P), A(x, R1) is left out.

R1<=t: a token attends to D1's states up to its own position only. The published code lets it attend to all of them, but
D1's state at t + 1 is computed from y_t+1, the token that D2 is to predict at t: the perplexity of D2 there is that of
a text that it is shown. Here no probability depends on what follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor, device


ENCODER, RESPONSE, CONSISTENCY = "encoder", "response", "consistency"
DECODERS = (RESPONSE, CONSISTENCY)
CROSS = {RESPONSE: ("context",), CONSISTENCY: ("persona", "draft")}
"""What each decoder attends to besides its own tokens; `draft` is R1."""
HEAD = "head"
WORDS = "embeddings.word_embeddings.weight"


class PaddedBatch(NamedTuple):
    """Sequences as rows of one tensor, filled up at the end; `real` is false for what was filled up."""

    ids: Tensor
    real: Tensor
    lengths: tuple[int, ...]

    def predictions(self) -> tuple[Tensor, Tensor, Tensor]:
        """What a decoder reads, the tokens it is to predict, and from which of its states, counted row after row.

        The last is computed from the lengths, since a GPU would have to be waited for to count what is real.
        """
        import torch

        width = self.ids.shape[1] - 1
        index = torch.tensor([row * width + at for row, length in enumerate(self.lengths) for at in range(length - 1)])
        index = index.to(self.ids.device)
        return self.ids[:, :-1], self.ids[:, 1:].flatten()[index], index


class AttentionMemory(NamedTuple):
    """The keys and values that a decoder's layers attend to, and which of them each query may see."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    visible: Tensor

    def rows(self, index: Tensor) -> AttentionMemory:
        """The memory of these rows of the batch, in this order."""
        return AttentionMemory(
            tuple(key[index] for key in self.keys), tuple(value[index] for value in self.values), self.visible[index]
        )


def padded(sequences: Sequence[Sequence[int]], on: device) -> PaddedBatch:
    import torch

    longest = max(map(len, sequences))
    ids = torch.tensor([[*sequence, *[0] * (longest - len(sequence))] for sequence in sequences], dtype=torch.long)
    lengths = tuple(map(len, sequences))
    return PaddedBatch(ids.to(on), (torch.arange(longest) < torch.tensor(lengths)[:, None]).to(on), lengths)


@dataclass(frozen=True, slots=True)
class BertOverBert:
    """The network over a set of parameters, by name; `dropout` is of a training step."""

    parameters: Mapping[str, Tensor]
    layers: int
    heads: int
    epsilon: float
    dropout: float = 0.0

    def with_parameters(self, parameters: Mapping[str, Tensor], dropout: float) -> BertOverBert:
        """The same network over other parameters."""
        return replace(self, parameters=parameters, dropout=dropout)

    def encode(self, contexts: PaddedBatch) -> AttentionMemory:
        """H, as what the response decoder attends to."""
        visible = contexts.real[:, None, None, :]
        state = self._embed(ENCODER, contexts.ids)
        for layer in range(self.layers):
            state = self._attend_to_itself(ENCODER, layer, state, visible)
            state = self._feed_forward(ENCODER, layer, state)
        return self._memory(RESPONSE, "context", state, visible)

    def persona(self, personas: PaddedBatch) -> AttentionMemory:
        """P, as what the consistency decoder attends to."""
        return self._memory(
            CONSISTENCY, "persona", self._embed(CONSISTENCY, personas.ids), personas.real[:, None, None]
        )

    def response(self, replies: Tensor, context: AttentionMemory) -> Tensor:
        """R1: the response decoder's last state of every token."""
        return self._decode(RESPONSE, replies, {"context": context})

    def consistency(self, replies: Tensor, persona: AttentionMemory, response: Tensor | None) -> Tensor:
        """R2: the consistency decoder's last state of every token; `response` is R1, None for a pair of sentences."""
        memories = {"persona": persona}
        if response is not None:
            memories["draft"] = self._memory(CONSISTENCY, "draft", response, _causal(replies))
        return self._decode(CONSISTENCY, replies, memories)

    def logits(self, decoder: str, states: Tensor) -> Tensor:
        """Of every word of the vocabulary, to come next."""
        from torch.nn.functional import gelu, linear

        prefix = f"{HEAD}.{decoder}"
        transformed = self._norm(f"{prefix}.transform", gelu(self._linear(f"{prefix}.transform", states)))
        return linear(transformed, self.parameters[f"{decoder}.{WORDS}"], self.parameters[f"{prefix}.bias"])

    def _decode(self, decoder: str, replies: Tensor, memories: Mapping[str, AttentionMemory]) -> Tensor:
        visible, state = _causal(replies), self._embed(decoder, replies)
        for layer in range(self.layers):
            state = self._attend_to_itself(decoder, layer, state, visible)
            for name, memory in memories.items():
                prefix = f"cross.{decoder}.{name}.{layer}"
                attended = self._attention(
                    self._linear(f"{prefix}.query", state), memory.keys[layer], memory.values[layer], memory.visible
                )
                state = self._norm(prefix, state + self._dropped(self._linear(f"{prefix}.output", attended)))
            state = self._feed_forward(decoder, layer, state)
        return state

    def _memory(self, decoder: str, name: str, states: Tensor, visible: Tensor) -> AttentionMemory:
        prefixes = [f"cross.{decoder}.{name}.{layer}" for layer in range(self.layers)]
        keys, values = (
            tuple(self._split_heads(self._linear(f"{prefix}.{part}", states)) for prefix in prefixes)
            for part in ("key", "value")
        )
        return AttentionMemory(keys, values, visible)

    def _embed(self, bert: str, ids: Tensor) -> Tensor:
        from torch.nn.functional import embedding

        positions = self.parameters[f"{bert}.embeddings.position_embeddings.weight"][: ids.shape[1]]
        types = self.parameters[f"{bert}.embeddings.token_type_embeddings.weight"][0]
        words = embedding(ids, self.parameters[f"{bert}.{WORDS}"])
        return self._dropped(self._norm(f"{bert}.embeddings", words + positions + types))

    def _attend_to_itself(self, bert: str, layer: int, state: Tensor, visible: Tensor) -> Tensor:
        prefix = f"{bert}.encoder.layer.{layer}.attention"
        query, key, value = (self._linear(f"{prefix}.self.{part}", state) for part in ("query", "key", "value"))
        attended = self._attention(query, self._split_heads(key), self._split_heads(value), visible)
        output = self._dropped(self._linear(f"{prefix}.output.dense", attended))
        return self._norm(f"{prefix}.output", state + output)

    def _feed_forward(self, bert: str, layer: int, state: Tensor) -> Tensor:
        from torch.nn.functional import gelu

        prefix = f"{bert}.encoder.layer.{layer}"
        inner = gelu(self._linear(f"{prefix}.intermediate.dense", state))
        return self._norm(f"{prefix}.output", state + self._dropped(self._linear(f"{prefix}.output.dense", inner)))

    def _attention(self, query: Tensor, keys: Tensor, values: Tensor, visible: Tensor) -> Tensor:
        from torch.nn.functional import scaled_dot_product_attention

        attended = scaled_dot_product_attention(self._split_heads(query), keys, values, attn_mask=visible)
        return attended.transpose(1, 2).reshape(query.shape)

    def _split_heads(self, value: Tensor) -> Tensor:
        return value.view(*value.shape[:-1], self.heads, -1).transpose(1, 2)

    def _linear(self, name: str, value: Tensor) -> Tensor:
        from torch.nn.functional import linear

        return linear(value, self.parameters[f"{name}.weight"], self.parameters[f"{name}.bias"])

    def _norm(self, name: str, value: Tensor) -> Tensor:
        from torch.nn.functional import layer_norm

        weight, bias = self.parameters[f"{name}.LayerNorm.weight"], self.parameters[f"{name}.LayerNorm.bias"]
        return layer_norm(value, weight.shape, weight, bias, self.epsilon)

    def _dropped(self, value: Tensor) -> Tensor:
        from torch.nn.functional import dropout

        return dropout(value, self.dropout) if self.dropout else value


def _causal(replies: Tensor) -> Tensor:
    """Every token sees itself and those before it; what a sequence is filled up with comes after all its tokens."""
    import torch

    length = replies.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=replies.device).tril()[None, None]


def cross_attention_tensors(layers: int, width: int) -> dict[str, tuple[int, ...]]:
    """The tensors that a decoder has and a BERT has not, by name, with their shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for decoder, names in CROSS.items():
        for prefix in (f"cross.{decoder}.{name}.{layer}" for name in names for layer in range(layers)):
            for part in ("query", "key", "value", "output"):
                shapes[f"{prefix}.{part}.weight"], shapes[f"{prefix}.{part}.bias"] = (width, width), (width,)
            shapes[f"{prefix}.LayerNorm.weight"] = shapes[f"{prefix}.LayerNorm.bias"] = (width,)
    return shapes


def head_tensors(width: int, words: int) -> dict[str, tuple[int, ...]]:
    """The tensors that predict a word from a state, by name, with their shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for prefix in (f"{HEAD}.{decoder}" for decoder in DECODERS):
        shapes[f"{prefix}.transform.weight"], shapes[f"{prefix}.transform.bias"] = (width, width), (width,)
        shapes[f"{prefix}.transform.LayerNorm.weight"] = shapes[f"{prefix}.transform.LayerNorm.bias"] = (width,)
        shapes[f"{prefix}.bias"] = (words,)
    return shapes
