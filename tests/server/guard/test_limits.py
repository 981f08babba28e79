"""Allowances and places, without a server around them."""

from __future__ import annotations

from understudy.server.guard.limits import Allowances, Places


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_allowance_comes_back_with_time_and_never_grows_beyond_a_burst() -> None:
    clock = Clock()
    allowances = Allowances(per_second=2, burst=3, clock=clock)
    assert [allowances.take("a") for _ in range(4)] == [0, 0, 0, 1]
    assert allowances.take("b") == 0
    clock.now += 0.5
    assert [allowances.take("a") for _ in range(2)] == [0, 1]
    clock.now += 3600
    assert [allowances.take("a") for _ in range(4)] == [0, 0, 0, 1]


def test_how_long_to_wait_is_told_in_whole_seconds() -> None:
    clock = Clock()
    allowances = Allowances(per_second=0.1, burst=1, clock=clock)
    assert [allowances.take("a"), allowances.take("a")] == [0, 10]
    clock.now += 9.5
    assert allowances.take("a") == 1
    clock.now += 0.6
    assert allowances.take("a") == 0


def test_a_place_is_free_again_when_somebody_leaves() -> None:
    places = Places(2)
    assert [places.take("a"), places.take("a"), places.take("a"), places.take("b")] == [True, True, False, True]
    places.leave("a")
    assert places.take("a") and not places.take("a")
