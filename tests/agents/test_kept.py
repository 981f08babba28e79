from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from understudy.agents.kept import Kept


def test_made_once_for_each_key_and_the_least_used_is_given_up() -> None:
    kept, made = Kept[str](2), list[str]()

    def make(key: str) -> str:
        made.append(key)
        return key.upper()

    def ask(key: str) -> str:
        return kept.of(key, None, lambda: make(key))

    assert [ask(key) for key in "abab"] == ["A", "B", "A", "B"] and made == ["a", "b"]
    ask("a")
    ask("c")  # b was used least recently
    ask("a")
    ask("b")
    assert made == ["a", "b", "c", "b"]


def test_who_asks_for_something_else_does_not_wait_and_who_asks_for_the_same_does() -> None:
    kept, begun, go = Kept[int](4), Event(), Event()

    def slowly() -> int:
        begun.set()
        assert go.wait(10)
        return 1

    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(kept.of, "slow", None, slowly)
        assert begun.wait(10)
        assert kept.of("quick", None, lambda: 2) == 2
        same = threads.submit(kept.of, "slow", None, lambda: 3)
        go.set()
        assert (slow.result(10), same.result(10)) == (1, 1)


def test_what_could_not_be_made_is_tried_again() -> None:
    kept = Kept[int](2)

    def fails() -> int:
        raise ValueError

    try:
        kept.of("key", None, fails)
    except ValueError:
        assert kept.of("key", None, lambda: 7) == 7
    else:
        raise AssertionError
