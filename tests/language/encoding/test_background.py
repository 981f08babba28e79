from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from understudy.language.encoding import Floats, SentenceEncoder, TextVectors, background, encoding_at_once
from understudy.language.encoding.background import AT_ONCE, BATCH, BackgroundQueue

WAIT_S = 60


class Counting:
    """An encoder whose vector of a text is its length; it remembers what it was asked for."""

    width = 2
    weights: ClassVar[dict[str, float]] = {}
    sharpness = 1.0

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known, self.asked = set(known), list[str]()

    def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:
        self.asked += texts
        return np.array([[len(text), 1] for text in texts], np.float32)

    def cached(self, texts: Sequence[str]) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        present = np.array([text in self.known for text in texts], np.bool_)
        return np.where(present[:, None], [[len(text), 1] for text in texts], 0).astype(np.float32), present

    def encode_contexts(self, contexts: Sequence[object], keep: bool = False) -> Floats:
        return np.zeros((len(contexts), 2), np.float32)


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> BackgroundQueue:
    """One of the test's own, which does nothing while paused."""
    own = BackgroundQueue()
    monkeypatch.setattr(background, "BACKGROUND", own)
    return own


def texts(count: int) -> list[str]:
    return ["x" * number for number in range(count)]


def test_few_texts_are_encoded_at_once(queue: BackgroundQueue) -> None:
    with queue.paused():
        vectors = TextVectors(["b", "aa", "b"], Counting())
        assert vectors.is_complete
        assert vectors.of(np.array([0, 1, 2]))[:, 0].tolist() == [1, 2, 1]


def test_what_is_in_the_cache_is_not_encoded_again(queue: BackgroundQueue) -> None:
    many = texts(3 * AT_ONCE)
    encoder = Counting(known=many[1:])
    with queue.paused():
        assert TextVectors(many, encoder).is_complete
    assert encoder.asked == [""]


def test_many_are_encoded_in_the_background_and_those_needed_at_once(queue: BackgroundQueue) -> None:
    many = texts(3 * AT_ONCE)
    encoder = Counting()
    with queue.paused():
        vectors = TextVectors(many, encoder)
        assert not vectors.is_complete
        assert vectors.of(np.array([7, 3]))[:, 0].tolist() == [7, 3]
        assert sorted(encoder.asked) == ["xxx", "xxxxxxx"]
    wait_for(queue)
    assert vectors.is_complete
    assert vectors.of(np.arange(len(many)))[:, 0].tolist() == list(range(len(many)))
    assert len(encoder.asked) == len(many)


def test_a_bench_leaves_nothing_to_the_background(queue: BackgroundQueue) -> None:
    with queue.paused(), encoding_at_once():
        assert TextVectors(texts(3 * AT_ONCE), Counting()).is_complete


def test_nothing_is_encoded_for_nobody(queue: BackgroundQueue) -> None:
    encoder = Counting()
    with queue.paused():
        vectors = TextVectors(texts(3 * AT_ONCE), encoder)
        del vectors
        gc.collect()
    wait_for(queue)
    assert encoder.asked == []


def test_stopped_it_finishes_its_step_and_no_other() -> None:
    queue, begun, go_on = BackgroundQueue(), threading.Event(), threading.Event()
    steps = list[int]()

    def step() -> bool:
        begun.set()
        assert go_on.wait(WAIT_S)
        steps.append(len(steps))
        return True

    queue.submit(step)
    assert begun.wait(WAIT_S)
    thread = next(thread for thread in threading.enumerate() if thread.name == "understudy-background")
    stopping = threading.Thread(target=queue.stop)
    stopping.start()
    while not queue.is_stopped:
        time.sleep(0.001)
    go_on.set()
    stopping.join(WAIT_S)
    assert steps == [0]
    assert not thread.is_alive()


def test_a_job_that_fails_holds_up_no_other() -> None:
    queue, done = BackgroundQueue(), threading.Event()

    def failing() -> bool:
        raise ValueError("no")

    def working() -> bool:
        done.set()
        return False

    queue.submit(failing)
    queue.submit(working)
    assert done.wait(WAIT_S)


def test_a_program_ends_while_much_is_still_to_be_encoded(tmp_path: Path) -> None:
    """In time, with status 0, silent, and what was encoded by then is in the cache whole."""
    program = f"""
        import time
        from pathlib import Path
        import numpy as np
        from understudy.language.encoding import SentenceEncoder, TextVectors
        encoder = SentenceEncoder(cache=Path({str(tmp_path)!r}))
        vectors = TextVectors([f"This is the line of number {{n}}." for n in range(100_000)], encoder)
        while np.count_nonzero(vectors._present) < {BATCH}:
            time.sleep(0.01)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    encoder = SentenceEncoder(cache=tmp_path)
    newest = [f"This is the line of number {n}." for n in range(100_000 - BATCH, 100_000)]
    vectors, present = encoder.cached(newest)
    assert present.all()
    assert np.array_equal(vectors, encoder.encode(newest, keep=False))


def wait_for(queue: BackgroundQueue) -> None:
    """Until the queue has done everything that was submitted so far."""
    done = threading.Event()

    def last() -> bool:
        done.set()
        return False

    queue.submit(last)
    assert done.wait(WAIT_S)
