"""tower.safetensors -> tower.onnx (fp32) and tower.int8.onnx (dynamic quantisation): input_ids, attention_mask -> unit vector.

python export_onnx.py FOLDER WEIGHTS OUT      Weights are 7-bit (reduce_range), so that CPUs without VNNI do not saturate.
"""
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from tower import Tower


class Plain(nn.Module):
    """The tower in plain operations, for the tracer."""

    def __init__(self, bert):
        super().__init__()
        self.bert, self.heads = bert, bert.config.num_attention_heads

    def forward(self, input_ids, attention_mask):
        e = self.bert.embeddings
        positions = torch.arange(input_ids.shape[1])
        x = e.LayerNorm(e.word_embeddings(input_ids) + e.position_embeddings(positions) + e.token_type_embeddings.weight[0])
        weight = attention_mask.to(x.dtype)
        bias = (1 - weight)[:, None, None, :] * -1e4
        for layer in self.bert.encoder.layer:
            a = layer.attention
            split = lambda y: y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)  # noqa: E731
            q, k, v = split(a.self.query(x)), split(a.self.key(x)), split(a.self.value(x))
            y = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias, -1) @ v
            y = y.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)
            x = a.output.LayerNorm(x + a.output.dense(y))
            x = layer.output.LayerNorm(x + layer.output.dense(F.gelu(layer.intermediate.dense(x))))
        mean = (x * weight.unsqueeze(-1)).sum(1) / weight.sum(1, keepdim=True)
        return mean / mean.norm(dim=-1, keepdim=True)


def main():
    folder, weights, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    tower = Tower(folder, weights).eval()
    plain = Plain(tower.bert).eval()
    ids = torch.tensor([[101, 1, 7592, 2088, 102], [101, 6, 3, 102, 0]])
    mask = (ids != 0).long()
    with torch.no_grad():
        print("plain against transformers", (plain(ids, mask) - tower(ids, mask)[0]).abs().max().item())
    axes = {"input_ids": {0: "batch", 1: "tokens"}, "attention_mask": {0: "batch", 1: "tokens"}, "vector": {0: "batch"}}
    torch.onnx.export(plain, (ids, mask), str(out / "tower.onnx"), input_names=["input_ids", "attention_mask"], output_names=["vector"],
                      dynamic_axes=axes, opset_version=17, dynamo=False)
    quantize_dynamic(str(out / "tower.onnx"), str(out / "tower.int8.onnx"), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    print("bytes", {p.name: p.stat().st_size for p in sorted(out.glob("*.onnx"))})


if __name__ == "__main__":
    main()
