"""The `understudy` program, and `python -m understudy`.

What a program needs is imported first, which takes a moment. Nothing has been begun by then, so that Ctrl-C ends it
there and then, as quietly as it does later on.
"""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]

STOPPED = 130


def main() -> None:
    """Import the command line, and do what it is told."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else whoever started us wants it unheard
    if heard:
        signal.signal(signal.SIGINT, _stop)
    _open_what_was_closed()
    _forget_impossible_sizes()
    # Our products of numpy arrays are small. Shared out between threads that wait for each other they take up to three
    # times as long, more so on a machine that is busy. Whoever wants threads says so.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from understudy.cli import main as run

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _open_what_was_closed() -> None:
    """Streams that whoever started us has closed (`>&-`) lead nowhere: else the next file opened would take their
    place, and be written into. `sys.stdin` stays None, so that a command can say that it has nothing to read."""
    for number, mode in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest number that is free: this one
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="replace", closefd=False))


def _forget_impossible_sizes() -> None:
    """A terminal of no columns, as some that are not drawn say they have, would be shown nothing at all."""
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "1")
        if not told.isdecimal() or int(told) == 0:
            del os.environ[name]


def _stop(*_: object) -> None:
    os.write(2, b"\nStopped.\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    main()
