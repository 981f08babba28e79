"""uPPL by a masked language model, as the metrics paper has it, where no Japanese BERT can be had: one is made first.

    python benchmarks/japanese_bert.py DATA OUT [--epochs 30] [--width 256] [--layers 4]

DATA is the folder of PersonaCLR, with NaroU/ and evaluation/. A tokenizer (byte pairs within runs of one script)
and a small BERT are learned from the training novels alone. Which rate to fine-tune at is chosen on characters of the
validation novels, by the perplexity of their held-back lines; then `bench voice` judges the characters of the test
novels, and its rows are written to OUT/voice.json. The base is OUT/base. A stopped run resumes.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from understudy.metrics.line_metric import load_lines
from understudy.papers.utterance_metrics.bench import bench_voice
from understudy.training.persona_lm import LineSettings, PersonaTuning, SpokenLines, train_masked
from understudy.training.run import TrainingTask

SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
WORDS = 8000
POSITIONS = 96
RATES = (1e-4, 3e-4, 1e-3)
ENOUGH = 120  # lines that such a character has


def lines_of(folder: Path) -> dict[str, list[str]]:
    """Everybody's lines, by file and name."""
    return {
        f"{path.stem}/{name}": said for path in sorted(folder.glob("*.json")) for name, said in load_lines(path).items()
    }


def fresh_bert(folder: Path, texts: list[str], width: int, layers: int) -> Path:
    """A BERT of random weights with a tokenizer learned from texts."""
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.Punctuation()])
    tokenizer.decoder = decoders.Fuse()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=WORDS, special_tokens=list(SPECIAL.values())))
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=width, num_hidden_layers=layers,
        num_attention_heads=width // 64, intermediate_size=4 * width, max_position_embeddings=POSITIONS,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=POSITIONS, **SPECIAL).save_pretrained(folder)
    return folder


def best_rate(base: Path, characters: dict[str, list[str]], out: Path, tried_on: int) -> float:
    """The rate that makes held-back lines of other characters least surprising."""
    chosen = sorted(
        (name for name in characters if len(characters[name]) >= ENOUGH), key=lambda name: len(characters[name])
    )
    means = {}
    for rate in RATES:
        after = []
        for number, name in enumerate(chosen[:tried_on]):
            lines = SpokenLines(name, characters[name], "ja", "validation novels")
            task = TrainingTask(lines, out / f"{rate}-{number}", LineSettings(rate=rate), str(base), fresh=True)
            after.append(train_masked(task).card["figures"]["perplexity"]["after"])
        means[rate] = sum(after) / len(after)
        print(f"rate {rate}: perplexity {means[rate]:.1f} on {len(after)} characters", flush=True)
    return min(means, key=means.__getitem__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--tried-on", type=int, default=4, help="characters that the rate is chosen on")
    parser.add_argument("--limit", type=int, help="learn the base from so many lines only")
    arguments = parser.parse_args()
    began = time.perf_counter()
    out: Path = arguments.out
    texts = [line for said in lines_of(arguments.data / "NaroU" / "train").values() for line in said]
    texts = texts[: arguments.limit]
    if not (out / "base").is_dir():
        start = fresh_bert(out / "random", texts, arguments.width, arguments.layers)
        settings = LineSettings(arguments.epochs, 256, 1e-3, patience=5, held_back=0.02, window=POSITIONS)
        lines = SpokenLines("everybody", texts, "ja", "training novels")
        card = train_masked(TrainingTask(lines, out / "base", settings, str(start), every=2000)).card
        print(f"base: {card['data']}, {card['figures']}, {time.perf_counter() - began:.0f} s", flush=True)
    rate = best_rate(out / "base", lines_of(arguments.data / "NaroU" / "valid"), out / "rates", arguments.tried_on)
    print(f"{time.perf_counter() - began:.0f} s", flush=True)
    tuning = PersonaTuning(str(out / "base"), out / "tuned", LineSettings(rate=rate))
    document = bench_voice(arguments.data, scorers=["uppl-masked"], tuning=tuning)
    (out / "voice.json").write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    for row in document["rows"]:
        if row["metric"] in ("spearman", "aupr") and row["character"] == "mean of all":
            print(f"{row['metric']} {row['value']:.3f} ({row['low']:.3f}..{row['high']:.3f})")
    print(f"{time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
