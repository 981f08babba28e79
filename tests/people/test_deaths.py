from __future__ import annotations

from understudy.people.deaths import DeathWatch
from understudy.story import Line, Moment

PEOPLE = {"Ada": "Ada", "Bela": "Bela", "Cas": "Cas"}


def died(*lines: tuple[str | None, str]) -> list[tuple[str, int]]:
    watch = DeathWatch(PEOPLE)
    for number, (speaker, text) in enumerate(lines, 1):
        watch.read(Line(Moment((1, number)), speaker, text))
    return [(death.who, death.sources[-1].numbers[-1]) for death in watch.deaths()]


def test_two_who_say_it_are_needed() -> None:
    hello = ("Ada", "Good night.")
    assert died(hello, ("Bela", "Ada is dead.")) == []
    assert died(hello, ("Bela", "Ada is dead."), ("Cas", "Ada died!")) == [("Ada", 3)]


def test_a_direction_is_enough() -> None:
    assert died(("Ada", "Farewell."), (None, "Ada dies.")) == [("Ada", 2)]


def test_nobody_is_dead_who_speaks_again_or_of_whom_it_is_only_thought() -> None:
    assert died(("Bela", "Ada is dead."), ("Cas", "Ada died."), ("Ada", "Not at all.")) == []
    assert died(("Ada", "Bye."), ("Bela", "I thought Ada was dead."), ("Cas", "Ada is not dead.")) == []
