from __future__ import annotations

from threading import Event, Thread

from understudy.progress import Cancellation


def test_a_waiting_thread_is_woken_from_another_one() -> None:
    cancellation, woken, done = Cancellation(), Event(), Event()

    def work() -> None:
        with cancellation.callback(woken.set):
            woken.wait()
        done.set()

    Thread(target=work, daemon=True).start()
    cancellation.cancel()
    assert done.wait(60) and cancellation.is_cancelled


def test_a_callback_registered_too_late_runs_at_once() -> None:
    cancellation, calls = Cancellation(), list[str]()
    cancellation.cancel()
    with cancellation.callback(lambda: calls.append("late")):
        assert calls == ["late"]


def test_a_callback_is_forgotten_when_its_block_ends_and_none_runs_twice() -> None:
    cancellation, calls = Cancellation(), list[str]()
    with cancellation.callback(lambda: calls.append("ended")):
        pass
    with cancellation.callback(lambda: calls.append("open")):
        cancellation.cancel()
        cancellation.cancel()
    assert calls == ["open"]
