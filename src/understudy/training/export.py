"""Writes a trained transformer as a model folder: an ONNX graph to run, and weights to continue training from.

    encoder.int8.onnx    what is run                       config.json          what `--base` reads, so that another
    tokenizer.json       the tokenizer                     model.safetensors    training can start from these weights
    model.json           the card

A cross-encoder has `cross-encoder.onnx` and `head.safetensors` instead, and the encoder it stands beside in a folder of
its own, `encoder`.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.agents.cross_encoder import ENCODER, HEAD, HEAD_FILE
from understudy.agents.cross_encoder import GRAPH as PAIR_GRAPH
from understudy.errors import MissingExtra
from understudy.language.encoding import Context
from understudy.language.encoding.encoder import BACKGROUND, CARD, SentenceEncoder, read_encoder_card
from understudy.language.encoding.encoder import WEIGHTS as GRAPH
from understudy.language.model_folder import write_card, write_tensors
from understudy.training.bert import PackedSequences, states
from understudy.training.corpus import SHARPNESS, WEIGHTS
from understudy.training.pretrained import CONFIG, TOKENIZER, WEIGHTS_FILE, WORDS, Base, Shape, Weights

if TYPE_CHECKING:
    from torch import Tensor


WORD_WEIGHTS, COMMONNESS = {"own": 0.25, "said": 0.25, "heard": 0.15}, 0.1  # chosen on held-back dialogues
QUANTISED = "weights 7 bits a column, activations 8 bits a row, embeddings 8 bits a row"


def write_encoder(folder: Path, weights: Weights, base: Base, card: Mapping[str, Any], peaks: Peaks) -> dict[str, Any]:
    """Fill a folder that the agent `encoder` opens, and give its whole card.

    `base` is what the weights were trained from. `write_background` adds what the model knows of its texts.
    """
    (folder / GRAPH).write_bytes(encoder_graph(weights, base.shape, peaks))
    shutil.copyfile(base.tokenizer, folder / TOKENIZER)
    shutil.copyfile(base.folder / CONFIG, folder / CONFIG)
    write_tensors(folder / WEIGHTS_FILE, {name: weights[name].astype(np.float16) for name in base.shape.tensors()})
    full_card = {
        **card,
        "quantised": QUANTISED,
        "width": base.shape.width,
        "sequences": _sequences(base, dict(base.form.longest)),
        "weights": WEIGHTS,
        "sharpness": SHARPNESS,
    }
    write_card(folder, full_card)
    return full_card


def write_background(folder: Path, rarity: NDArray[np.float32], contexts: Sequence[Context]) -> dict[str, Any]:
    """Add to an encoder's folder how rare each token was and what some contexts are like, and give its whole card."""
    card = {**read_encoder_card(folder), "words": WORD_WEIGHTS, "commonness": COMMONNESS}
    encoder = SentenceEncoder(folder, cache=False)
    turns = [Context(turns=context.turns) for context in contexts]
    added = WEIGHTS["query"] * encoder.encode_contexts(contexts) + WEIGHTS["history"] * encoder.encode_contexts(turns)
    tensors = {"rarity": rarity.astype(np.float16), "contexts": added.astype(np.float16)}
    write_tensors(folder / BACKGROUND, tensors)
    write_card(folder, card)
    return card


def write_cross_encoder(
    folder: Path,
    weights: Weights,
    base: Base,
    encoder: Path,
    card: Mapping[str, Any],
    longest: Mapping[str, int],
    peaks: Peaks,
    bits: int = 8,
) -> dict[str, Any]:
    """Fill a folder that the agent `cross-encoder` opens, and give its whole card.

    The card must say the encoder's `weight`; `encoder` is the model folder of the encoder it stands beside, and
    `longest` how many tokens of a context and a reply are read.
    """
    (folder / PAIR_GRAPH).write_bytes(pair_graph(weights, base.shape, peaks, bits))
    head = {name: weights[name].astype(np.float32) for name in HEAD}
    write_tensors(folder / HEAD_FILE, head)
    shutil.copyfile(base.tokenizer, folder / TOKENIZER)
    read_encoder_card(encoder)
    (folder / ENCODER).mkdir(exist_ok=True)
    for name in (CARD, GRAPH, TOKENIZER, BACKGROUND):
        if (encoder / name).is_file():  # a model may do without words
            shutil.copyfile(encoder / name, folder / ENCODER / name)
    full_card = {
        **card,
        "bits": bits,
        "quantised": QUANTISED if bits == 8 else "no: in 8 bits it chose worse",
        "width": base.shape.width,
        "sequences": _sequences(base, longest),
        "weights": {},
    }
    write_card(folder, full_card)
    return full_card


def _sequences(base: Base, longest: Mapping[str, int]) -> dict[str, Any]:
    """How a model's sequences are made, as its card tells it."""
    form = base.form
    return {
        "first": form.first,
        "last": form.last,
        "markers": dict(form.markers),
        "longest": dict(longest),
        "theirs": False,
    }


def peaks_of(weights: Weights, base: Base, stream: PackedSequences) -> Peaks:
    """How large the inputs of the linear layers get over some sequences, channel by channel."""
    import torch

    peaks: dict[str, NDArray[np.float32]] = {}
    real = stream.real[:, None]

    def watch(name: str, rows: Tensor) -> None:
        peaks[name] = (rows.abs() * real).amax(dim=0).numpy()

    with torch.no_grad():
        states({name: torch.from_numpy(tensor) for name, tensor in weights.items()}, stream, base.shape, watch=watch)
    return peaks


# A BERT as an 8-bit ONNX graph in which a text's vector does not depend on its batch.
#
# Weights are 8-bit integers with a scale a column, held to 7 bits, since processors without VNNI add up pairs in 16.
# Activations are quantised token by token, not over the whole batch as dynamic quantisation does, so that a vector does
# not depend on what it is batched with. Channels that peak are scaled down and their weights up (SmoothQuant). The word
# embeddings have a scale each.
#
# Token states lie as rows (texts x tokens) throughout; only attention sees texts.

MICROSOFT = "com.microsoft"
OPSET, IR = 19, 10
MOST = 64  # of a weight: 7 bits
MIDDLE, AFTER_GELU = 128, 32  # the byte for 0; behind GELU there is hardly anything below

Peaks = Mapping[str, NDArray[np.float32]]
"""The largest input of each channel of a linear layer; layers that are not listed are not rescaled."""


def encoder_graph(weights: Weights, shape: Shape, peaks: Peaks | None = None, bits: int = 8) -> bytes:
    """ids, mask -> the mean of the token states, at length 1."""
    graph = _Graph(weights, shape, bits, peaks or {})
    total = graph.summed(_states(graph, types=False), "mask")  # the mean points the same way
    graph.node("Div", [total, graph.length(total)], "vector")
    return graph.serialize(("ids", "mask"), "vector", shape.width)


def pair_graph(weights: Weights, shape: Shape, peaks: Peaks | None = None, bits: int = 8) -> bytes:
    """ids, mask, types -> what the head is given of each pair: f(c) in `understudy.training.cross_encoder`."""
    graph = _Graph(weights, shape, bits, peaks or {})
    states = _states(graph, types=True)
    first = graph.node("Gather", [states, graph.constant("zero", np.array(0))], "first", axis=1)
    reply = graph.node("Add", [graph.summed(states, "types"), first], "reply")
    context = graph.summed(states, graph.node("Sub", ["mask", "types"], "context"))
    root, units = graph.constant("root", np.array(shape.width**0.5, np.float32)), list[str]()
    for part in (first, reply, context):
        scale = graph.node("Div", [graph.length(part), root], f"{part} scale")
        units.append(graph.node("Div", [part, scale], f"{part} unit"))
    graph.node("Concat", [*units[:2], graph.node("Mul", units[1:], "both")], "features", axis=1)
    return graph.serialize(("ids", "mask", "types"), "features", 3 * shape.width)


def _states(graph: _Graph, types: bool) -> str:
    """The token states: texts x tokens x width."""
    weights, width = graph.weights, graph.shape.width
    rows = graph.embedded(types)
    graph.node("Shape", [rows], "rows", start=0, end=1)
    mask = graph.node("Cast", ["mask"], "mask32", to=graph.int32)
    state = graph.norm(rows, "embeddings")
    for layer in range(graph.shape.layers):
        prefix, short = f"encoder.layer.{layer}", f"l{layer}"
        names = [f"{prefix}.attention.self.{name}" for name in ("query", "key", "value")]
        joined = graph.linear(state, f"{short}.qkv", np.concatenate([weights[f"{name}.weight"] for name in names]))
        bias = graph.constant(f"{short}.qkv.b", np.concatenate([weights[f"{name}.bias"] for name in names]))
        parts = [f"{short}.{part}" for part in ("asked", "keys", "values")]
        graph.nodes("Split", [joined, graph.constant("thirds", np.array([width] * 3))], parts, axis=1)
        folded = [graph.node("Reshape", [part, "folded"], f"{part}3") for part in parts]
        attended = graph.node(
            "MultiHeadAttention", [*folded, bias, mask], f"{short}.heard3", MICROSOFT, num_heads=graph.shape.heads
        )
        attended = graph.node("Reshape", [attended, "matrix"], f"{short}.heard")
        attended = graph.linear(attended, f"{short}.o", weights[f"{prefix}.attention.output.dense.weight"])
        state = graph.added(state, attended, f"{prefix}.attention.output")
        inner = graph.linear(state, f"{short}.in", weights[f"{prefix}.intermediate.dense.weight"])
        bias = graph.constant(f"{short}.in.b", weights[f"{prefix}.intermediate.dense.bias"])
        inner = graph.node("BiasGelu", [inner, bias], f"{short}.gelu", MICROSOFT)
        inner = graph.linear(inner, f"{short}.down", weights[f"{prefix}.output.dense.weight"], AFTER_GELU)
        state = graph.added(state, inner, f"{prefix}.output")
    return graph.node("Reshape", [state, "folded"], "states")


class _Graph:
    """Nodes and constants as they are added; a node is named for what it gives."""

    def __init__(self, weights: Weights, shape: Shape, bits: int, peaks: Peaks) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingExtra(
                "writing the model as ONNX (training is kept, and goes on from there)", "train"
            ) from error
        self.weights, self.shape = weights, shape
        self._onnx: Any = onnx
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._bits, self._peaks = bits, peaks
        self.float, self.int32 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT32
        self.constant("last", np.array([-1]))
        for number in (0, 1, 2):
            self.constant(str(number), np.array([number]))

    def constant(self, name: str, value: NDArray[Any]) -> str:
        if name not in self._constants:
            self._constants[name] = self._onnx.numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def nodes(self, kind: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: Any) -> None:
        node = self._onnx.helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes)
        self._nodes.append(node)

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes(kind, inputs, [output], domain, **attributes)
        return output

    def embedded(self, types: bool) -> str:
        """The embeddings of the tokens as rows; 'matrix' is their shape, 'folded' that of texts of tokens."""
        matrix, width = self.constant("matrix", np.array([-1, self.shape.width])), np.array([self.shape.width])
        texts = self.node("Shape", ["ids"], "texts,tokens")
        self.node("Concat", [texts, self.constant("width", width)], "folded", axis=0)
        positions = self.weights["embeddings.position_embeddings.weight"]
        kinds, word = self.weights["embeddings.token_type_embeddings.weight"], self._words()
        if types:
            kind = self.node("Gather", [self.constant("kinds", kinds), "types"], "kind")
            word = self.node("Add", [word, kind], "word and kind")
        else:
            positions = positions + kinds[0]
        length = self.node("Slice", [texts, "1", "2"], "length")
        position = self.node("Slice", [self.constant("places", positions), "0", length, "0"], "place")
        return self.node("Reshape", [self.node("Add", [word, position], "embedded"), matrix], "embedded rows")

    def _words(self) -> str:
        table = self.weights[WORDS]
        if self._bits == 32:
            return self.node("Gather", [self.constant("words", table), "ids"], "word")
        scale = np.abs(table).max(axis=-1, keepdims=True) / 127 + np.float32(1e-12)
        small = self.constant("words.q", np.rint(table / scale).astype(np.int8))
        whole = self.node("Cast", [self.node("Gather", [small, "ids"], "word.q")], "word.f", to=self.float)
        scales = self.node("Gather", [self.constant("words.s", scale.astype(np.float32)), "ids"], "word.s")
        return self.node("Mul", [whole, scales], "word")

    def linear(self, rows: str, name: str, weight: NDArray[np.float32], middle: int = MIDDLE) -> str:
        """rows x weight (out x in, as torch keeps it); whatever comes next adds the bias."""
        if self._bits == 32:
            return self.node("MatMul", [rows, self.constant(f"{name}.w", weight.T)], f"{name}.y")
        if name in self._peaks and middle == MIDDLE:
            even = np.sqrt(np.maximum(self._peaks[name], 1e-6) / np.maximum(np.abs(weight).max(axis=0), 1e-6))
            even = (even / np.exp(np.log(even).mean())).astype(np.float32)
            rows = self.node("Mul", [rows, self.constant(f"{name}.even", 1 / even)], f"{name}.x")
            weight = weight * even
        scale = np.maximum(np.abs(weight).max(axis=-1) / MOST, 1e-12).astype(np.float32)
        small = self.constant(f"{name}.w", np.rint(weight / scale[:, None]).astype(np.int8).T)
        self.node("ReduceMax", [rows, "last"], f"{name}.max", keepdims=1)
        self.node("ReduceMin", [rows, "last"], f"{name}.min", keepdims=1)
        above = self.constant(f"1/{255 - middle}", np.array(1 / (255 - middle), np.float32))
        below = self.constant(f"-1/{middle}", np.array(-1 / middle, np.float32))
        high = self.node("Mul", [f"{name}.max", above], f"{name}.high")
        low = self.node("Mul", [f"{name}.min", below], f"{name}.low")
        own = self.node("Max", [high, low, self.constant("least", np.array(1e-9, np.float32))], f"{name}.scale")
        flat = self.node("Reshape", [own, "last"], f"{name}.scale1")
        if f"zero{middle}.1" not in self._constants:
            byte = self.constant(f"zero{middle}.1", np.array([middle], np.uint8))
            self.node("Expand", [byte, "rows"], f"zero{middle}")
        whole = self.node("QuantizeLinear", [rows, flat, f"zero{middle}"], f"{name}.q", axis=0)
        unit_scale = self.constant("one", np.array(1, np.float32))
        scales = self.constant(f"{name}.s", scale)
        zero = self.constant(f"middle{middle}", np.array(middle, np.uint8))
        product = self.node("MatMulIntegerToFloat", [whole, small, unit_scale, scales, zero], f"{name}.f", MICROSOFT)
        return self.node("Mul", [product, own], f"{name}.y")

    def norm(self, rows: str, name: str) -> str:
        parts = [self.constant(f"{name}.{end}", self.weights[f"{name}.LayerNorm.{end}"]) for end in ("weight", "bias")]
        return self.node("LayerNormalization", [rows, *parts], f"{name}.normed", epsilon=self.shape.epsilon)

    def added(self, rows: str, change: str, name: str) -> str:
        """The norm of the sum. ONNX Runtime's one operator for both is many times slower on a CPU."""
        bias = self.constant(f"{name}.dense", self.weights[f"{name}.dense.bias"])
        left = self.node("Add", [rows, bias], f"{name}.left")
        return self.norm(self.node("Add", [left, change], f"{name}.sum"), name)

    def length(self, rows: str) -> str:
        return self.node("ReduceL2", [rows, "last"], f"{rows} length", keepdims=1)

    def summed(self, states: str, counted: str) -> str:
        """The sum of the states of the tokens that count."""
        weight = self.node("Cast", [counted], f"{counted} f", to=self.float)
        row = self.node("Unsqueeze", [weight, "1"], f"{counted} row")
        return self.node("Squeeze", [self.node("MatMul", [row, states], f"{counted} sum"), "1"], f"{counted} total")

    def serialize(self, inputs: tuple[str, ...], output: str, width: int) -> bytes:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info(name, kinds.INT64, ["texts", "tokens"]) for name in inputs],
            [helper.make_tensor_value_info(output, kinds.FLOAT, ["texts", width])],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
        serialized: bytes = model.SerializeToString(deterministic=True)
        return serialized
