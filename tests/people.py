"""People for the agents' tests, with a past that is a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Exchange, Line, Moment, Relation, Scene

NOW = Moment((9,))
LEVELS = ("chapter", "scene", "line")


class ListPast:
    """A past of exchanges, which counts how often it is read."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._exchanges = tuple(exchanges)
        self.readings = 0

    def __len__(self) -> int:
        return len(self._exchanges)

    def lines(self, last: int | None = None) -> Sequence[Line]:
        said = [exchange.said for exchange in self._exchanges]
        return said if last is None else said[len(said) - last :]

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        return iter(())

    def exchanges(self) -> Iterator[Exchange]:
        self.readings += 1
        yield from self._exchanges

    def thoughts(self) -> Sequence[Line]:
        return ()

    def company(self, moment: Moment) -> frozenset[str]:
        return frozenset(name for scene in self.scenes() if moment.within(scene.moment) for name in scene.present)


class ScenePast:
    """A past of whole scenes. Its exchanges are not to be read: a long past would be read through."""

    def __init__(self, scenes: Sequence[Scene], name: str) -> None:
        self._scenes, self._name = tuple(scenes), name

    def __len__(self) -> int:
        return len(self.lines())

    def lines(self, last: int | None = None) -> Sequence[Line]:
        own = [line for scene in self._scenes for line in scene.lines if line.speaker == self._name]
        return own if last is None else own[-last:]

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        return iter(self._scenes if last is None else self._scenes[-last:])

    def exchanges(self) -> Iterator[Exchange]:
        raise AssertionError("a long past is not to be read through")

    def thoughts(self) -> Sequence[Line]:
        return ()

    def company(self, moment: Moment) -> frozenset[str]:
        return frozenset()


def scene(number: int, *lines: tuple[str | None, str]) -> Scene:
    """A scene of chapter 1, in which all who speak are present from the beginning."""
    present = tuple(dict.fromkeys(who for who, _ in lines if who is not None))
    spoken = tuple(Line(Moment((1, number, n), LEVELS), who, text) for n, (who, text) in enumerate(lines, 1))
    return Scene(Moment((1, number), LEVELS), "the lock", present, spoken)


def exchanges(who: str, *told: tuple[str | None, str, str]) -> list[Exchange]:
    """(who spoke, what they said, what was answered), one scene each."""
    return [
        Exchange(
            None if speaker is None else Line(Moment((1, number, 1)), speaker, heard),
            Line(Moment((1, number, 2)), who, said),
            f"Scene {number}",
        )
        for number, (speaker, heard, said) in enumerate(told, 1)
    ]


def tie(to: str, kind: str, level: int | None = None) -> Relation:
    return Relation("Tomas", to, kind, level, Moment((1,)))


def situation(
    *told: tuple[str | None, str, str],
    profile: tuple[str, ...] = (),
    relations: tuple[Relation, ...] = (),
    faced: str | None = None,
    language: str = "en",
) -> Situation:
    past = ListPast(exchanges("Tomas", *told))
    persona = Persona("Tomas", NOW, profile, {}, relations, past, language)
    return Situation(persona, faced=None if faced is None else Other(faced))


def hearing(*messages: str) -> list[Turn]:
    return [Turn("Ines", message) for message in messages]
