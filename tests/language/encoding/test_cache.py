from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.encoding import Floats, cache
from understudy.language.encoding.cache import (
    AT_ONCE,
    BATCH,
    BackgroundQueue,
    EncodingCache,
    TextVectors,
    cache_key,
    encoding_at_once,
)
from understudy.language.encoding.encoder import SentenceEncoder

WIDTH = 4
MAX_BYTES = 8 * 4096
WRITER = """
import sys
import numpy as np
from pathlib import Path
from understudy.language.encoding.cache import EncodingCache, cache_key
cache = EncodingCache("m", 4, Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}-{number}"
    cache.add([cache_key(name)], np.full((1, 4), number % 7, np.float32))
    print(name, flush=True)
"""


def vectors(*values: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array([[value] * WIDTH for value in values], np.float32)


def change_row(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "m.sqlite")) as connection, connection:
        assert connection.execute(statement, values).rowcount == 1


def test_what_was_added_is_read_by_every_cache_of_the_model(tmp_path: Path) -> None:
    cache, second = EncodingCache("m", WIDTH, tmp_path), EncodingCache("m", WIDTH, tmp_path)
    keys = [cache_key("a"), cache_key("b"), cache_key("a", "b")]
    assert not second.get(keys)[1].any()
    cache.add(keys[:2], vectors(1, 2))
    for reader in (cache, second):
        read, present = reader.get([keys[2], keys[1], keys[0], keys[1]])
        assert present.tolist() == [False, True, True, True]
        assert read[:, 0].tolist() == [0, 2, 1, 2]
    assert not EncodingCache("another", WIDTH, tmp_path).get(keys)[1].any()
    assert cache.get([])[1].tolist() == []


def test_many_keys_are_read_at_once(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path)
    keys = [cache_key(str(number)) for number in range(1_700)]
    cache.add(keys, vectors(*range(1_700)))
    read, present = cache.get(keys[::-1])
    assert present.all()
    assert read[:, 0].tolist() == list(range(1_700))[::-1]


def test_a_vector_added_again_replaces_the_former_one(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path)
    cache.add([cache_key("a")], vectors(1))
    cache.add([cache_key("a")], vectors(2))
    assert cache.get([cache_key("a")])[0][:, 0].tolist() == [2]
    assert len(cache) == 1


def test_keys_depend_on_where_parts_end() -> None:
    assert len({cache_key("ab", "c"), cache_key("a", "bc"), cache_key("abc"), cache_key("abc", "")}) == 4


@pytest.mark.parametrize("damage", [b"\1" * 8, b"", b"\0" * 9, "text", 7])
def test_a_damaged_vector_counts_as_missing_and_is_replaced(tmp_path: Path, damage: object) -> None:
    EncodingCache("m", WIDTH, tmp_path).add([cache_key("a"), cache_key("b")], vectors(1, 2))
    change_row(tmp_path, "UPDATE vectors SET vector = ? WHERE key = ?", damage, cache_key("a"))
    cache = EncodingCache("m", WIDTH, tmp_path)
    assert cache.get([cache_key("a"), cache_key("b")])[1].tolist() == [False, True]
    cache.add([cache_key("a")], vectors(1))
    for reader in (cache, EncodingCache("m", WIDTH, tmp_path)):
        read, present = reader.get([cache_key("a"), cache_key("b")])
        assert present.all()
        assert read[:, 0].tolist() == [1, 2]
        assert len(reader) == 2


def test_a_vector_under_the_key_of_another_text_counts_as_missing(tmp_path: Path) -> None:
    EncodingCache("m", WIDTH, tmp_path).add([cache_key("a")], vectors(1))
    change_row(tmp_path, "UPDATE vectors SET key = ?", cache_key("b"))
    assert not EncodingCache("m", WIDTH, tmp_path).get([cache_key("a"), cache_key("b")])[1].any()


@pytest.mark.parametrize("content", [b"", b"not a database " * 1_000], ids=["empty", "text"])
def test_what_is_not_a_database_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.sqlite").write_bytes(content)
    cache = EncodingCache("m", WIDTH, tmp_path)
    assert not cache.get([cache_key("a")])[1].any()
    cache.add([cache_key("a")], vectors(1))
    assert cache.get([cache_key("a")])[1].all()


def test_a_database_of_another_layout_is_replaced(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "m.sqlite")) as connection:
        connection.execute("CREATE TABLE vectors (text TEXT)")
    cache = EncodingCache("m", WIDTH, tmp_path)
    assert not cache.get([cache_key("a")])[1].any()
    cache.add([cache_key("a")], vectors(1))
    assert cache.get([cache_key("a")])[1].all()


@given(
    damage=st.dictionaries(st.integers(0, 3 * 4096 - 1) | st.integers(0, 200), st.integers(1, 255), max_size=6),
    cut=st.just(0) | st.integers(0, 3 * 4096),
)
def test_whatever_is_damaged_heals(tmp_path_factory: pytest.TempPathFactory, damage: dict[int, int], cut: int) -> None:
    folder = tmp_path_factory.mktemp("cache")
    keys = [cache_key(str(number)) for number in range(5)]
    EncodingCache("m", WIDTH, folder).add(keys, vectors(*range(5)))
    content = bytearray((folder / "m.sqlite").read_bytes())
    assert len(content) == 3 * 4096
    for offset, change in damage.items():
        content[offset] ^= change
    (folder / "m.sqlite").write_bytes(content[: len(content) - cut])
    for _ in range(4):  # creating the database anew loses other vectors, which are added the next time
        cache = EncodingCache("m", WIDTH, folder)
        read, present = cache.get(keys)
        assert (read[present, 0] == np.arange(5)[present]).all()
        cache.add([key for key, had in zip(keys, present) if not had], vectors(*np.flatnonzero(~present).tolist()))
    read, present = EncodingCache("m", WIDTH, folder).get(keys)
    assert present.all()
    assert read[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_threads_may_read_while_others_add(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path, max_bytes=MAX_BYTES)

    def work(thread: int) -> None:
        for number in range(60):
            key = cache_key(f"{thread}-{number}")
            cache.add([key], vectors(number))
            read, present = cache.get([key])
            assert not present[0] or read[0, 0] == number

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_it_stays_within_its_limit_and_keeps_the_newest(tmp_path: Path, batch: int) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path, max_bytes=MAX_BYTES)
    keys = [cache_key(str(number)) for number in range(1_000)]
    for start in range(0, 1_000, batch):
        numbers = range(start, min(start + batch, 1_000))
        cache.add([keys[number] for number in numbers], vectors(*numbers))
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= MAX_BYTES
    present = cache.get(keys)[1]
    assert present[-64:].all()
    assert not present[: np.flatnonzero(present)[0]].any()
    assert not present[0]


def test_more_than_the_limit_at_once_keeps_the_last(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path, max_bytes=MAX_BYTES)
    keys = [cache_key(str(number)) for number in range(5_000)]
    cache.add(keys, vectors(*range(5_000)))
    assert (tmp_path / "m.sqlite").stat().st_size <= MAX_BYTES
    assert cache.get([keys[-1], keys[0]])[1].tolist() == [True, False]


def test_in_a_folder_that_cannot_be_created_nothing_is_cached(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = EncodingCache("m", WIDTH, tmp_path / "file")
    cache.add([cache_key("a")], vectors(1))
    assert not cache.get([cache_key("a")])[1].any()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="every folder can be written to")
def test_a_folder_that_cannot_be_written_to_is_still_read(tmp_path: Path) -> None:
    EncodingCache("m", WIDTH, tmp_path).add([cache_key("a")], vectors(1))
    (tmp_path / "m.sqlite").chmod(0o400)
    tmp_path.chmod(0o500)
    cache = EncodingCache("m", WIDTH, tmp_path)
    cache.add([cache_key("b")], vectors(2))
    assert cache.get([cache_key("a"), cache_key("b")])[1].tolist() == [True, False]
    tmp_path.chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_writers_at_once_one_of_them_killed_lose_nothing_they_finished(tmp_path: Path) -> None:
    start = [sys.executable, "-c", WRITER, str(tmp_path)]
    steady = [subprocess.Popen([*start, name, "300"], stdout=subprocess.PIPE, text=True) for name in "ab"]
    finished: list[str] = []
    for number in range(3):
        doomed = subprocess.Popen([*start, f"doomed{number}", "1000000"], stdout=subprocess.PIPE, text=True)
        assert doomed.stdout is not None
        finished.append(doomed.stdout.readline().strip())
        time.sleep(0.05)
        doomed.send_signal(signal.SIGKILL)
        finished += [line.strip() for line in doomed.communicate()[0].splitlines(keepends=True) if line.endswith("\n")]
    for process in steady:
        finished += process.communicate(timeout=120)[0].split()
    read, present = EncodingCache("m", WIDTH, tmp_path).get([cache_key(name) for name in finished])
    assert present.all()
    assert read[:, 0].tolist() == [int(name.rpartition("-")[2]) % 7 for name in finished]


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
    monkeypatch.setattr(cache, "BACKGROUND", own)
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
        from understudy.language.encoding.encoder import SentenceEncoder
        from understudy.language.encoding.cache import TextVectors
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
