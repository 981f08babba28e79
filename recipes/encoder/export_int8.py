"""A BERT tower as an int8 ONNX graph whose rows do not know each other.

    python export_int8.py FOLDER OUT.onnx [--weights model.safetensors] [--bits 8|32] [--peaks peaks.npz]

ids, mask -> the mean of the token states, at length 1. Weights of the linear layers are int8, a scale a column (7 bits:
processors without VNNI add up pairs in 16 bits);
activations are quantised row by row, not over the whole batch as dynamic quantisation does, so that a text's vector does
not depend on what it is batched with. Embeddings are int8 with
a scale a row.
"""
import argparse
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from safetensors import safe_open

MS = "com.microsoft"


class Graph:
    def __init__(self, bits, most, peaks):
        self.nodes, self.constants, self.bits, self.most, self.peaks, self.made = [], [], bits, most, peaks, set()

    def constant(self, name, value):
        self.constants.append(nh.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, op, inputs, outputs, domain="", **attributes):
        self.nodes.append(h.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def linear(self, x, name, weight, middle=128):
        """weight: out x in, as torch keeps it. Whatever comes next adds the bias. `middle` is the byte that stands for 0."""
        if self.bits == 32:
            return self.node("MatMul", [x, self.constant(name + ".w", weight.T.astype(np.float32))], [name + ".y"])
        if name in self.peaks and middle == 128:  # channels that peak are scaled down, their weights up
            even = np.sqrt(self.peaks[name] / np.abs(weight).max(0))
            even = (even / np.exp(np.log(even).mean())).astype(np.float32)
            x = self.node("Mul", [x, self.constant(name + ".even", 1 / even)], [name + ".x"])
            weight = weight * even
        scale = np.abs(weight).max(-1) / self.most
        w = np.rint(weight / scale[:, None]).astype(np.int8).T
        self.node("ReduceMax", [x, "axis-1"], [name + ".max"], keepdims=1)
        self.node("ReduceMin", [x, "axis-1"], [name + ".min"], keepdims=1)
        self.node("Mul", [name + ".max", self.shared(f"1/{255 - middle}", np.float32(1 / (255 - middle)))], [name + ".high"])
        self.node("Mul", [name + ".min", self.shared(f"-1/{middle}", np.float32(-1 / middle))], [name + ".low"])
        self.node("Max", [name + ".high", name + ".low", self.shared("least", np.float32(1e-9))], [name + ".scale"])
        self.node("Reshape", [name + ".scale", "flat"], [name + ".scale1"])
        if f"zero{middle}" not in self.made:
            self.made.add(f"zero{middle}")
            self.node("Expand", [self.constant(f"zero{middle}.1", np.array([middle], np.uint8)), "rows"], [f"zero{middle}"])
        self.node("QuantizeLinear", [x, name + ".scale1", f"zero{middle}"], [name + ".q"], axis=0)
        y = self.node("MatMulIntegerToFloat", [name + ".q", self.constant(name + ".w", w), self.shared("one", np.float32(1)),
                                               self.constant(name + ".s", scale.astype(np.float32)), self.shared(f"middle{middle}", np.uint8(middle))], [name + ".f"], MS)
        return self.node("Mul", [y, name + ".scale"], [name + ".y"])

    def shared(self, name, value):
        if name not in self.made:
            self.made.add(name)
            self.constant(name, np.array(value))
        return name

    def normed(self, x, y, name, bias, gain, shift, eps):
        """Add and LayerNormalization: ONNX Runtime's SkipLayerNormalization is many times slower on a CPU."""
        self.node("Add", [x, self.constant(name + ".bias", bias)], [name + ".left"])
        self.node("Add", [name + ".left", y], [name + ".sum"])
        return self.node("LayerNormalization", [name + ".sum", self.constant(name + ".g", gain), self.constant(name + ".b", shift)], [name], epsilon=eps)


def build(weights, config, bits, most, peaks, middle):
    """States lie as rows (texts x tokens) throughout; only attention sees texts."""
    g = Graph(bits, most, peaks)
    heads, eps, width = config["num_attention_heads"], config["layer_norm_eps"], config["hidden_size"]
    g.constant("axis-1", np.array([-1]))
    g.constant("flat", np.array([-1]))
    g.node("Shape", ["ids"], ["texts,tokens"])
    table = weights["embeddings.word_embeddings.weight"]
    if bits == 32:
        g.node("Gather", [g.constant("words", table), "ids"], ["word"])
    else:
        scale = np.abs(table).max(-1, keepdims=True) / 127 + 1e-12
        g.node("Gather", [g.constant("words.q", np.rint(table / scale).astype(np.int8)), "ids"], ["word.q"])
        g.node("Gather", [g.constant("words.s", scale.astype(np.float32)), "ids"], ["word.s"])
        g.node("Cast", ["word.q"], ["word.f"], to=T.FLOAT)
        g.node("Mul", ["word.f", "word.s"], ["word"])
    places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    g.node("Slice", ["texts,tokens", g.constant("1", np.array([1])), g.constant("2", np.array([2]))], ["length"])
    g.node("Slice", [g.constant("places", places), g.constant("0", np.array([0])), "length", "0"], ["place"])
    g.node("Add", ["word", "place"], ["embedded3"])
    g.node("Reshape", ["embedded3", g.constant("matrix", np.array([-1, width]))], ["embedded"])
    g.node("Shape", ["embedded"], ["rows"], start=0, end=1)
    g.node("Concat", ["texts,tokens", g.constant("width", np.array([width]))], ["folded"], axis=0)
    x = g.node("LayerNormalization", ["embedded", g.constant("e.g", weights["embeddings.LayerNorm.weight"]), g.constant("e.b", weights["embeddings.LayerNorm.bias"])], ["x0"], epsilon=eps)
    g.node("Cast", ["mask"], ["mask32"], to=T.INT32)
    for i in range(config["num_hidden_layers"]):
        p = f"encoder.layer.{i}."
        w = lambda name: weights[p + name]  # noqa: E731
        qkv = np.concatenate([w(f"attention.self.{n}.weight") for n in ("query", "key", "value")])
        bias = np.concatenate([w(f"attention.self.{n}.bias") for n in ("query", "key", "value")])
        y = g.linear(x, f"l{i}.qkv", qkv)
        g.node("Split", [y, g.constant(f"l{i}.cut", np.array([width] * 3))], [f"l{i}.{n}2" for n in "qkv"], axis=1)
        for n in "qkv":
            g.node("Reshape", [f"l{i}.{n}2", "folded"], [f"l{i}.{n}"])
        g.node("MultiHeadAttention", [f"l{i}.q", f"l{i}.k", f"l{i}.v", g.constant(f"l{i}.qkv.b", bias), "mask32"], [f"l{i}.att3"], MS, num_heads=heads)
        y = g.node("Reshape", [f"l{i}.att3", "matrix"], [f"l{i}.att"])
        y = g.linear(y, f"l{i}.o", w("attention.output.dense.weight"))
        x = g.normed(x, y, f"l{i}.n1", w("attention.output.dense.bias"), w("attention.output.LayerNorm.weight"), w("attention.output.LayerNorm.bias"), eps)
        y = g.linear(x, f"l{i}.in", w("intermediate.dense.weight"))
        y = g.node("BiasGelu", [y, g.constant(f"l{i}.in.b", w("intermediate.dense.bias"))], [f"l{i}.gelu"], MS)
        y = g.linear(y, f"l{i}.down", w("output.dense.weight"), middle)
        x = g.normed(x, y, f"l{i}.n2", w("output.dense.bias"), w("output.LayerNorm.weight"), w("output.LayerNorm.bias"), eps)
    x = g.node("Reshape", [x, "folded"], ["states"])
    g.node("Cast", ["mask"], ["weight"], to=T.FLOAT)
    g.node("Unsqueeze", ["weight", "1"], ["weights"])
    g.node("MatMul", ["weights", x], ["sum"])  # of the states that count; the mean points the same way
    g.node("Squeeze", ["sum", "1"], ["pooled"])
    g.node("ReduceL2", ["pooled", "axis-1"], ["norm"], keepdims=1)
    g.node("Div", ["pooled", "norm"], ["vector"])
    graph = h.make_graph(g.nodes, "encoder", [h.make_tensor_value_info(n, T.INT64, ["texts", "tokens"]) for n in ("ids", "mask")],
                         [h.make_tensor_value_info("vector", T.FLOAT, ["texts", width])], g.constants)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 19), h.make_opsetid(MS, 1)], ir_version=10)


def load(path):
    with safe_open(path, "np") as file:
        return {k.removeprefix("bert."): file.get_tensor(k).astype(np.float32) for k in file.keys() if "position_ids" not in k}


if __name__ == "__main__":
    a = argparse.ArgumentParser()
    a.add_argument("folder", type=Path)
    a.add_argument("out", type=Path)
    a.add_argument("--weights", type=Path)
    a.add_argument("--bits", type=int, default=8)
    a.add_argument("--most", type=int, default=64)
    a.add_argument("--peaks", type=Path, help="peaks a channel, by calibrate.py: evens them out before quantisation")
    a.add_argument("--middle", type=int, default=32, help="the byte for 0 behind GELU, which has hardly anything below")
    o = a.parse_args()
    model = build(load(o.weights or o.folder / "model.safetensors"), json.loads((o.folder / "config.json").read_text()), o.bits, o.most, dict(np.load(o.peaks)) if o.peaks else {}, o.middle)
    onnx.save(model, o.out)
    print(o.out, o.out.stat().st_size / 1e6, "MB")
