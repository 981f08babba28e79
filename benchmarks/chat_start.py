"""From the command to the first reply: `understudy chat demo`, each time in a process of its own, on one core.

    python benchmarks/chat_start.py [--agent encoder] [--times 7]

Cold is with an empty cache of encodings, as after installing; warm is every time after that. No message at all shows
what starting alone takes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

CHAT = [sys.executable, "-m", "understudy", "chat", "demo", "Zita", "--at", "2.3", "--facing", "Benedek"]


def taken(command: list[str], cache: str) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    subprocess.run(
        command, env=os.environ | {"UNDERSTUDY_CACHE": cache}, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="encoder")
    parser.add_argument("--times", type=int, default=7)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    start = [*CHAT, "--agent", options.agent]
    asking = [*start, "--say", "Who wrote it?"]
    with tempfile.TemporaryDirectory() as warm:
        rows = {
            "start": [taken(start, warm) for _ in range(options.times)],
            "start and a reply, cold": [_cold(asking) for _ in range(options.times)],
            "start and a reply, warm": [taken(asking, warm) for _ in range(options.times + 1)][1:],
        }
    print(f"`chat demo` with {options.agent}, one core, medians of {options.times}; goal 1.5 s\n")
    for name, seconds in rows.items():
        print(f"{name:26} {statistics.median(seconds):6.2f} s")


def _cold(command: list[str]) -> float:
    with tempfile.TemporaryDirectory() as empty:
        return taken(command, empty)


if __name__ == "__main__":
    main()
