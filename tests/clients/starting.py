"""Waiting until a program that was started answers."""

from __future__ import annotations

import subprocess
import time
from urllib.error import URLError
from urllib.request import urlopen

__all__ = ["START_S", "wait_until_it_answers"]

START_S = 240.0


def wait_until_it_answers(address: str, process: subprocess.Popen[bytes], within_s: float = START_S) -> None:
    end = time.monotonic() + within_s
    while process.poll() is None and time.monotonic() < end:
        try:
            with urlopen(address, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"{address} does not answer: exit status {process.poll()}")
