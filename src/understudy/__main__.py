"""The `understudy` program, and `python -m understudy`.

What a program needs is imported first, which takes a moment. Nothing has been begun by then, so that Ctrl-C ends it
there and then, as quietly as it does later on.
"""

from __future__ import annotations

import os
import signal

__all__ = ["main"]

STOPPED = 130


def main() -> None:
    """Import the command line, and do what it is told."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else whoever started us wants it unheard
    if heard:
        signal.signal(signal.SIGINT, _stop)
    # Our products of numpy arrays are small. Shared out between threads that wait for each other they take up to three
    # times as long, more so on a machine that is busy. Whoever wants threads says so.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from understudy.cli import main as run

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _stop(*_: object) -> None:
    os.write(2, b"\nStopped.\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    main()
