"""A story with many people and as many lines as wanted, the same each time: for layouts, and for how long it takes."""

from __future__ import annotations

import random
from pathlib import Path

FIRST = "Ada Bruno Clara Dario Elsa Fritz Greta Hugo Irma Jonas Klara Leo Mina Nils Olga Paul Rosa Sven Thea Udo"
LAST = "Abendroth Birnbaum Castellani Dvorak Eisenhardt".split()
PLACES = ("The quay", "The mill", "The upper gallery", "A kitchen", "The bridge at night", "The customs shed")
WORDS = "the lamp was still lit when we counted boats and nobody spoke of rain or bread that winter again".split()
KINDS = ("friend", "opponent", "family", "teacher", "enemy", "teammate")


def people(number: int) -> list[str]:
    first = FIRST.split()
    return [f"{first[place % len(first)]} {LAST[(place // len(first) + place) % len(LAST)]}" for place in range(number)]


def big_cast(
    folder: Path, number: int = 40, parts: int = 2, chapters: int = 3, scenes: int = 4, lines: int = 12
) -> Path:
    """Everybody of the `number` speaks; the first has ties with all others, some of which change with each chapter."""
    chance = random.Random(7)
    cast = people(number)
    folder.mkdir()
    toml = ['title = "The Long Winter"', 'language = "en"', 'levels = ["part", "chapter", "scene", "line"]']
    toml += [f'[[character]]\nname = "{name}"\nprofile = ["I am {name}."]' for name in cast]
    for place, name in enumerate(cast[1:]):
        toml.append(_tie(cast[0], name, f"affection = {chance.randint(-10, 10)}", "1.1"))
        toml.append(_tie(cast[0], name, f"familiarity = {chance.randint(0, 10)}", "1.1"))
        if place % 2:
            toml.append(_tie(cast[0], name, f'kind = "{chance.choice(KINDS)}"', "1.1"))
        for part in range(1, parts + 1):
            toml.append(_tie(cast[0], name, f"affection = {chance.randint(-10, 10)}", f"{part}.{chapters}"))
    (folder / "cast.toml").write_text("\n".join(toml), encoding="utf-8")
    turn = 0
    for part in range(1, parts + 1):
        script = [f"# part {part}: Winter {part}"]
        for chapter in range(1, chapters + 1):
            script.append(f"## chapter {chapter}: Week {part}-{chapter}")
            for scene in range(1, scenes + 1):
                company = [cast[0], *(cast[1 + (turn + step) % (number - 1)] for step in range(min(number - 1, 4)))]
                script += [f"### scene {scene}: {chance.choice(PLACES)}", f"Present: {', '.join(company)}"]
                for line in range(lines):
                    said = " ".join(chance.choices(WORDS, k=chance.randint(4, 16)))
                    script.append(
                        f"[{said.capitalize()}.]" if line % 9 == 8 else f"{company[line % 5].upper()}: {said}."
                    )
                turn += 4
        (folder / f"part-{part:02}.txt").write_text("\n".join(script), encoding="utf-8")
    return folder


def _tie(of: str, to: str, what: str, since: str) -> str:
    return f'[[relation]]\nof = "{of}"\nto = "{to}"\n{what}\nfrom = "{since}"'
