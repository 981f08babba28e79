"""Training runs one after the other in one process, until a deadline:  python sweep.py FOLDER RUNS SECONDS jobs.json KEY"""
import json
import sys
import time
import traceback
from pathlib import Path

import torch
from train_tower import train

if __name__ == "__main__":
    folder, runs, seconds, jobs = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), json.load(open(sys.argv[4]))[sys.argv[5]]
    began = time.time()
    for name, cfg in jobs:
        if time.time() - began > seconds:
            print("not run:", name)
            continue
        try:
            train(folder, runs / name, **cfg)
        except Exception:
            print(name, "FAILED", traceback.format_exc()[-800:], flush=True)
        torch.cuda.empty_cache()
