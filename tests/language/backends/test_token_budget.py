from __future__ import annotations

import threading
import time

from understudy.language.backends.llamacpp import TokenBudget
from understudy.progress import Cancellation


def test_what_is_reserved_is_given_back() -> None:
    budget = TokenBudget(10)
    for _ in range(3):
        with budget.reserve(7, Cancellation()) as is_granted:
            assert is_granted


def test_more_than_there_is_means_all_of_it() -> None:
    with TokenBudget(10).reserve(99, Cancellation()) as is_granted:
        assert is_granted


def test_a_small_request_does_not_overtake_a_large_one() -> None:
    budget, order = TokenBudget(10), list[str]()

    def take(name: str, tokens: int) -> None:
        with budget.reserve(tokens, Cancellation()):
            order.append(name)

    with budget.reserve(6, Cancellation()):
        large = threading.Thread(target=take, args=("large", 10))
        large.start()
        while not budget._queue:
            time.sleep(0.001)
        small = threading.Thread(target=take, args=("small", 1))
        small.start()
        while len(budget._queue) < 2:
            time.sleep(0.001)
        assert order == []
    large.join()
    small.join()
    assert order == ["large", "small"]


def test_cancelled_while_waiting_it_leaves_the_queue() -> None:
    budget, cancellation, granted = TokenBudget(10), Cancellation(), list[bool]()

    def wait() -> None:
        with budget.reserve(10, cancellation) as is_granted:
            granted.append(is_granted)

    with budget.reserve(5, Cancellation()):
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not budget._queue:
            time.sleep(0.001)
        cancellation.cancel()
        waiting.join()
        assert granted == [False]
        with budget.reserve(5, Cancellation()) as is_granted:
            assert is_granted
