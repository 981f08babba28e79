from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.encoding.cache import EncodingCache, key_of

WIDTH = 4
WRITER = """
import sys
import numpy as np
from pathlib import Path
from understudy.encoding.cache import EncodingCache, key_of
cache = EncodingCache("m", 4, Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    name = f"{sys.argv[2]}-{number}"
    cache.add([key_of(name)], np.full((1, 4), number % 7, np.float32))
    print(name, flush=True)
"""


def vectors(*values: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.array([[value] * WIDTH for value in values], np.float32)


def test_what_was_added_is_found_by_whoever_opens_it(tmp_path: Path) -> None:
    cache, other = EncodingCache("m", WIDTH, tmp_path), EncodingCache("m", WIDTH, tmp_path)
    keys = [key_of("a"), key_of("b"), key_of("a", "b")]
    assert not other.get(keys)[1].any()
    cache.add(keys[:2], vectors(1, 2))
    for reader in (cache, other):
        found, there = reader.get([keys[2], keys[1], keys[0], keys[1]])
        assert there.tolist() == [False, True, True, True]
        assert found[:, 0].tolist() == [0, 2, 1, 2]
    assert not EncodingCache("another", WIDTH, tmp_path).get(keys)[1].any()
    assert cache.get([])[1].tolist() == []


def test_keys_tell_parts_apart() -> None:
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("abc", "")}) == 4


def test_a_piece_of_a_record_at_the_end_is_cut_off(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path)
    cache.add([key_of("a")], vectors(1))
    with (tmp_path / "m.f16").open("ab") as file:
        file.write(b"half a reco")
    assert EncodingCache("m", WIDTH, tmp_path).get([key_of("a")])[1].all()
    cache.add([key_of("b")], vectors(2))
    found, there = EncodingCache("m", WIDTH, tmp_path).get([key_of("a"), key_of("b")])
    assert there.all()
    assert found[:, 0].tolist() == [1, 2]


def test_a_damaged_record_counts_as_missing(tmp_path: Path) -> None:
    EncodingCache("m", WIDTH, tmp_path).add([key_of("a"), key_of("b")], vectors(1, 2))
    content = bytearray((tmp_path / "m.f16").read_bytes())
    content[18] ^= 0xFF
    (tmp_path / "m.f16").write_bytes(content)
    assert EncodingCache("m", WIDTH, tmp_path).get([key_of("a"), key_of("b")])[1].tolist() == [False, True]


def test_a_damaged_record_is_dropped_and_made_again(tmp_path: Path) -> None:
    EncodingCache("m", WIDTH, tmp_path).add([key_of("a"), key_of("b")], vectors(1, 2))
    content = bytearray((tmp_path / "m.f16").read_bytes())
    content[18] ^= 0xFF
    (tmp_path / "m.f16").write_bytes(content)
    cache = EncodingCache("m", WIDTH, tmp_path)
    assert not cache.get([key_of("a")])[1].any()
    cache.add([key_of("a")], vectors(1))
    for reader in (cache, EncodingCache("m", WIDTH, tmp_path)):
        found, there = reader.get([key_of("a"), key_of("b")])
        assert there.all()
        assert found[:, 0].tolist() == [1, 2]
        assert len(reader) == 2


@given(damage=st.dictionaries(st.integers(0, 5 * 28 - 1), st.integers(1, 255), max_size=6), cut=st.integers(0, 27))
def test_whatever_is_damaged_heals(tmp_path_factory: pytest.TempPathFactory, damage: dict[int, int], cut: int) -> None:
    folder = tmp_path_factory.mktemp("cache")
    keys = [key_of(str(number)) for number in range(5)]
    EncodingCache("m", WIDTH, folder).add(keys, vectors(*range(5)))
    content = bytearray((folder / "m.f16").read_bytes())
    for place, change in damage.items():
        content[place] ^= change
    (folder / "m.f16").write_bytes(content[: len(content) - cut])
    for _ in range(2):
        cache = EncodingCache("m", WIDTH, folder)
        found, there = cache.get(keys)
        assert (found[there, 0] == np.arange(5)[there]).all()
        cache.add([key for key, had in zip(keys, there) if not had], vectors(*np.flatnonzero(~there).tolist()))
    found, there = EncodingCache("m", WIDTH, folder).get(keys)
    assert there.all()
    assert found[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_threads_may_look_while_others_add(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path, limit=20 * 28)

    def work(thread: int) -> None:
        for number in range(60):
            key = key_of(f"{thread}-{number}")
            cache.add([key], vectors(number))
            found, there = cache.get([key])
            assert not there[0] or found[0, 0] == number

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_it_stays_within_its_limit_and_keeps_the_newest(tmp_path: Path) -> None:
    cache = EncodingCache("m", WIDTH, tmp_path, limit=20 * 28)
    for number in range(100):
        cache.add([key_of(str(number))], vectors(number))
        assert (tmp_path / "m.f16").stat().st_size <= 20 * 28
    assert cache.get([key_of("99"), key_of("95"), key_of("1")])[1].tolist() == [True, True, False]


def test_where_it_cannot_write_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = EncodingCache("m", WIDTH, tmp_path / "file")
    cache.add([key_of("a")], vectors(1))
    assert not cache.get([key_of("a")])[1].any()


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
    for one in steady:
        finished += one.communicate(timeout=120)[0].split()
    found, there = EncodingCache("m", WIDTH, tmp_path).get([key_of(name) for name in finished])
    assert there.all()
    assert found[:, 0].tolist() == [int(name.rpartition("-")[2]) % 7 for name in finished]
