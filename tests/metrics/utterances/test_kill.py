"""`kill -9` at any moment while lines are decided about: what was acknowledged stays, and nothing is half there."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from understudy.metrics.utterances import open_store
from understudy.metrics.utterances.record import APPROVED, FILTER, REJECTED, UNDONE, Utterance, standing_decisions

LINES = 40
DECIDING = f"""
import sys
from understudy.errors import InputError
from understudy.metrics.utterances.record import APPROVED, REJECTED
from understudy.metrics.utterances import open_store

store = open_store(sys.argv[1])
for round in range(100_000):
    for number in range(1, {LINES} + 1):
        if round % 3 != 2:
            store.decide(number, REJECTED if round % 2 else APPROVED, sys.argv[2], f"round {{round}}")
        else:
            try:
                store.undo(number, sys.argv[2])
            except InputError:  # somebody else has taken it back
                continue
        print(number, flush=True)  # acknowledged
"""


@pytest.mark.parametrize("after", [1, 57, 131])
def test_decisions_survive_a_kill(location: str, after: int) -> None:
    with closing(open_store(location)) as store:
        store.add([Utterance(f"Line {number}.", "Ines") for number in range(1, LINES + 1)], APPROVED, FILTER)
    processes = [
        subprocess.Popen([sys.executable, "-c", DECIDING, location, by], stdout=subprocess.PIPE, text=True)
        for by in ("ann", "ben")
    ]
    acknowledged = {"ann": list[int](), "ben": list[int]()}
    for process, by in zip(processes, acknowledged):
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged[by].append(int(line))
            if len(acknowledged[by]) >= after:
                break
    for process in processes:
        os.kill(process.pid, signal.SIGKILL)
    for process, by in zip(processes, acknowledged):
        rest, _ = process.communicate()
        acknowledged[by] += map(int, rest.rpartition("\n")[0].splitlines())
    with closing(open_store(location)) as store:
        stored = dict.fromkeys(acknowledged, 0)
        for number in range(1, LINES + 1):
            history = store.history(number)
            utterance, standing = store.get(number), standing_decisions(history)
            assert (utterance.decision, utterance.by) == (history[-1].decision, history[-1].by)
            assert history[0].by == FILTER and standing and utterance.decision in (APPROVED, REJECTED)
            assert all(entry.why in ("", UNDONE) or entry.why.startswith("round") for entry in history)
            for by in stored:
                stored[by] += sum(entry.by == by for entry in history)
        for by, numbers in acknowledged.items():
            assert len(numbers) <= stored[by] <= len(numbers) + 1, "all that was acknowledged, and one more at most"
        again = store.decide(1, REJECTED, "cleo")
        assert (again.decision, again.by) == (REJECTED, "cleo")
    if "://" not in location:
        with closing(sqlite3.connect(location)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
