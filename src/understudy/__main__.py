"""The `understudy` program, and `python -m understudy`.

Importing the command line takes a moment, in which Ctrl-C ends the program at once and without a traceback.
"""

from __future__ import annotations

import os
import signal
import sys

STOPPED = 130


def main() -> None:
    """Import the command line and run it."""
    is_default = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # else the parent process has Ctrl-C ignored
    if is_default:
        signal.signal(signal.SIGINT, _stop)
    _open_closed_streams()
    _drop_invalid_sizes()
    # Our matrix products are small: with several threads they take up to three times as long, more on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from understudy.cli import main as run

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _open_closed_streams() -> None:
    """Open the null device for standard streams that are closed (`>&-`): else the next file opened would get their
    number and be written into. `sys.stdin` stays None, so that a command can say that there is nothing to read."""
    for number, mode in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # gets the lowest free number: this one
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="replace", closefd=False))


def _drop_invalid_sizes() -> None:
    """Some pseudo-terminals have 0 columns, on which nothing would be shown."""
    for name in ("COLUMNS", "LINES"):
        size = os.environ.get(name, "1")
        if not size.isdecimal() or int(size) == 0:
            del os.environ[name]


def _stop(*_: object) -> None:
    os.write(2, b"\nStopped.\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    main()
