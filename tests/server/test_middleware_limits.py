"""Token buckets and the concurrency limiter, without a server around them."""

from __future__ import annotations

from understudy.server.middleware import ConcurrencyLimiter, TokenBuckets


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tokens_come_back_with_time_and_never_exceed_the_burst() -> None:
    clock = Clock()
    buckets = TokenBuckets(per_second=2, burst=3, clock=clock)
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 1]
    assert buckets.take("b") == 0
    clock.now += 0.5
    assert [buckets.take("a") for _ in range(2)] == [0, 1]
    clock.now += 3600
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 1]


def test_how_long_to_wait_is_told_in_whole_seconds() -> None:
    clock = Clock()
    buckets = TokenBuckets(per_second=0.1, burst=1, clock=clock)
    assert [buckets.take("a"), buckets.take("a")] == [0, 10]
    clock.now += 9.5
    assert buckets.take("a") == 1
    clock.now += 0.6
    assert buckets.take("a") == 0


def test_a_request_that_ends_makes_room_for_another() -> None:
    limiter = ConcurrencyLimiter(2)
    assert [limiter.acquire("a"), limiter.acquire("a"), limiter.acquire("a"), limiter.acquire("b")] == [
        True,
        True,
        False,
        True,
    ]
    limiter.release("a")
    assert limiter.acquire("a") and not limiter.acquire("a")
