"""SmolLM2's tokenizer, made from its GGUF file; and the chat template as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

GGUF = Path("SmolLM2-135M-Instruct.Q4_1.gguf")
END = "<|im_end|>"


def make(path: Path, to: Path) -> None:
    from gguf import GGUFReader
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    fields = GGUFReader(str(path)).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({token: place for place, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t, kind in zip(tokens, kinds) if kind == 3])
    tokenizer.save(str(to))


def chat_text(messages: Sequence[dict[str, str]]) -> str:
    """Messages as the model reads them, up to where its reply begins."""
    told = "".join(f"<|im_start|>{m['role']}\n{m['content']}{END}\n" for m in messages)
    return told + "<|im_start|>assistant\n"
