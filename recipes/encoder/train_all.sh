#!/bin/sh
# The shipped tower from nothing: MINILM (a folder with model.safetensors, tokenizer.json, vocab.txt, config.json), the
# data, and a CUDA GPU with torch >= 2.11 (varlen_attn). About eight minutes of one H200. Run in this folder.
set -e
MINILM=$1 DATA=$2 WORK=$3
mkdir -p "$WORK" && cp "$MINILM/tokenizer.json" "$MINILM/vocab.txt" "$MINILM/config.json" "$WORK"
python3 prepare.py "$DATA" "$WORK" --valid
python3 convert.py "$MINILM" "$WORK"
# first stage: three towers that never see the held-back dialogues, and their mean
python3 sweep.py "$WORK" "$WORK/runs" 100000 jobs3.json P2
python3 soup.py "$WORK" "$WORK/runs/abc" "$WORK"/runs/a/tower.safetensors "$WORK"/runs/b/tower.safetensors "$WORK"/runs/c/tower.safetensors
cp "$WORK/runs/abc/tower.safetensors" "$WORK/soup.safetensors"
# second stage: cross-encoder, its labels, two towers taught by it on all dialogues, their mean (runs/final)
mkdir -p "$WORK/results" && python3 stage2.py "$WORK" "$WORK/runs" "$WORK/results"
# one more tower from the start on all dialogues
python3 train_tower.py "$WORK" "$WORK/runs/f2" '{"parts": true, "pairs": 256, "paraphrase": 0.25, "synonym": 0.06, "both_ways": 0.5,
  "own_negatives": 128, "scale": 25, "everything": true, "pseudo": 0.3, "pseudo_no_history": 1.0, "epochs": 7, "seed": 22}'
python3 soup.py "$WORK" "$WORK/shipped" --no-figures "$WORK"/runs/abc/tower.safetensors "$WORK"/runs/final/tower.safetensors "$WORK"/runs/f2/tower.safetensors
python3 export_int8.py "$WORK" "$WORK/shipped/encoder.int8.onnx" --weights "$WORK/shipped/tower.safetensors"  # --peaks from calibrate.py
python3 eval_valid.py "$WORK" "$WORK/shipped/tower.safetensors" '{"query": 1, "history": 0.4, "persona": 0.4}'
