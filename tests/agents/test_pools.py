from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

from understudy.agents.pools import KeyedCache


def test_made_once_for_each_key_and_the_least_used_is_given_up() -> None:
    cache, created = KeyedCache[str](2), list[str]()

    def make(key: str) -> str:
        created.append(key)
        return key.upper()

    def ask(key: str) -> str:
        return cache.get_or_create(key, None, lambda: make(key))

    assert [ask(key) for key in "abab"] == ["A", "B", "A", "B"] and created == ["a", "b"]
    ask("a")
    ask("c")  # b was used least recently
    ask("a")
    ask("b")
    assert created == ["a", "b", "c", "b"]


def test_who_asks_for_something_else_does_not_wait_and_who_asks_for_the_same_does() -> None:
    cache, begun, go = KeyedCache[int](4), Event(), Event()

    def slowly() -> int:
        begun.set()
        assert go.wait(10)
        return 1

    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(cache.get_or_create, "slow", None, slowly)
        assert begun.wait(10)
        assert cache.get_or_create("quick", None, lambda: 2) == 2
        same = threads.submit(cache.get_or_create, "slow", None, lambda: 3)
        go.set()
        assert (slow.result(10), same.result(10)) == (1, 1)


def test_what_could_not_be_made_is_tried_again() -> None:
    cache = KeyedCache[int](2)

    def fails() -> int:
        raise ValueError

    try:
        cache.get_or_create("key", None, fails)
    except ValueError:
        assert cache.get_or_create("key", None, lambda: 7) == 7
    else:
        raise AssertionError
