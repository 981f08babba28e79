"""Little stories that tests of several rooms tell."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from understudy.people.draft import carry_decisions, entries_of
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FoundFile, line_after
from understudy.story.types import Fact, Finding, Moment, Relation

# A little story that tests of several rooms tell: two acts of two scenes.


CAST = """
title = "The Brass Key"
language = "en"

[[character]]
name = "Ines Vale"
aliases = ["Ines"]
profile = ["I keep the keys of the harbour."]

[[character]]
name = "Tobias Rook"
aliases = ["Tobias"]

[[character]]
name = "Mara Quill"
aliases = ["Mara"]

[[fact]]
who = "Ines Vale"
attribute = "belongings"
value = ["the brass key"]
from = "1.1"
until = "1.2"

[[relation]]
of = "Ines Vale"
to = "Tobias Rook"
affection = 7
from = "1.1"

[[relation]]
of = "Ines Vale"
to = "Tobias Rook"
affection = -6
from = "2.1"

[[relation]]
of = "Ines Vale"
to = "Tobias Rook"
affection = 3
from = "2.2"

[[relation]]
of = "Tobias Rook"
to = "Ines Vale"
affection = 9
from = "1.1"
"""

ACT_1 = """# act 1: Low Water
## scene 1: The chandlery, noon
Present: Ines Vale, Tobias Rook
[Rain on the roof.]
INES: The brass key was on its hook at noon, Tobias.
TOBIAS: Was it? I never look at hooks.
INES: You look at nothing else.

## scene 2: The quay, the same night
Present: Tobias Rook, Mara Quill
TOBIAS: I sold her key to the lighthouse, Mara.
MARA: Then you are a thief, and a cheap one.
% Should Mara be kinder here?
"""

ACT_2 = """# act 2: High Water
## scene 1: The chandlery, morning
Present: Ines Vale, Tobias Rook
TOBIAS: I am sorry about the key. I took it.
INES: I know a thief by his shoes. Get out.

## scene 2: The lighthouse, a week later
Present: Ines Vale, Tobias Rook
INES: So it was the lighthouse that had my key.
TOBIAS: I bought it back with my coat.
INES: You must be cold, Tobias.
"""


def brass_key(folder: Path) -> Path:
    """The story folder. Ines hears of the lighthouse only in 2.2; Mara she never meets."""
    folder.mkdir()
    for name, text in (("cast.toml", CAST), ("act-1.txt", ACT_1), ("act-2.txt", ACT_2)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


# A small story of somebody under a false name, somebody who is in on it, and namesakes who come later.


TRUE, FALSE = "Roderick Vane", "Silas Lodger"
HIDDEN = (TRUE, "Roderick", "Vane", "the Duke", "RODERICK VANE")
"""What nobody but an author may call him as long as the false name holds."""
KNOWN = (FALSE, "Silas", "Lodger", "Mr Lodger", "silas lodger")
MASKED = ("start", "1.1", "1.1.2", "1.2", "2.1", "2.1.3", "2.2")
UNMASKED = "3.1"

MASKED_CAST = """
title = "The Lodger"
language = "en"

[[character]]
name = "Ann Archer"
aliases = ["Ann"]
profile = ["I keep the harbour."]

[[character]]
name = "Roderick Vane"
aliases = ["Roderick", "Vane", "the Duke", "Silas Lodger", "Mr Lodger"]
profile = ["I am Roderick Vane, and the harbour is mine."]

[[character]]
name = "Bea Moor"
aliases = ["Bea", "Countess Halm"]

[[character]]
name = "Ann Zephyr"
aliases = ["Ann"]

[[character]]
name = "Silas Marsh"

[[fact]]
who = "Roderick Vane"
attribute = "goes by"
value = "Silas Lodger"
from = "1"
until = "3.1"
known_to = ["Ann Archer"]

[[fact]]
who = "Roderick Vane"
attribute = "lineage"
value = "the Duke of Vane"
from = "1"
known_to = ["Ann Archer"]

[[fact]]
who = "Bea Moor"
attribute = "goes by"
value = "Countess Halm"
from = "2.2"

[[relation]]
of = "Ann Archer"
to = "Roderick Vane"
kind = "confidant"
from = "1.1"

[[relation]]
of = "Ann Archer"
to = "Roderick Vane"
affection = 3
from = "1.1"

[[relation]]
of = "Ann Archer"
to = "Roderick Vane"
affection = 6
from = "2.1"

[[relation]]
of = "Bea Moor"
to = "Roderick Vane"
affection = -4
from = "1.1"
"""


def masks(folder: Path) -> Path:
    """Three acts of two scenes. Everybody knows the lodger; the other Ann and the other Silas come in 3.2."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cast.toml").write_text(MASKED_CAST, encoding="utf-8")
    for act in (1, 2, 3):
        text = f"# act {act}: The water\n"
        for scene in (1, 2):
            text += f"## scene {scene}: The quay\nPresent: Ann Archer, Silas Lodger, Bea Moor\n"
            text += (
                f"ANN ARCHER: The harbour is grey, number {act}{scene}.\nSILAS LODGER: So the harbour is, for once.\n"
            )
            text += "BEA: What of the harbour, lodger?\nSILAS LODGER: It is a fine harbour for a stranger.\n"
            if (act, scene) == (3, 2):
                text += "[Ann Zephyr enters.]\nANN ZEPHYR: And I am here.\n[Silas Marsh enters.]\nSILAS MARSH: I too.\n"
            text += "\n"
        (folder / f"act-{act}.txt").write_text(text, encoding="utf-8")
    return folder


# Found facts and ties for tests: written beside a story as a draft would write them.


def found_fact(
    who: str, attribute: str, value: str, *sources: Moment, confidence: float = 0.95, until: Moment | None = None
) -> Fact:
    """A fact as a finder gives it: it holds from the line after the first that says it."""
    return Fact(who, attribute, (value,), line_after(min(sources)), until, found=Finding(confidence, sources))


def found_tie(
    of: str, to: str, kind: str, *sources: Moment, confidence: float = 0.95, level: int | None = None, term: str = ""
) -> Relation:
    finding = Finding(confidence, sources)
    return Relation(of, to, kind, level, line_after(min(sources)), term=term, found=finding)


def write_claims(story: Story, path: Path, claims: Sequence[Fact | Relation]) -> FoundFile:
    file = carry_decisions(None, path, entries_of(story, "test", claims))
    file.write()
    return file


# A story with many people and as many lines as wanted, the same each time: for layouts, and for how long it takes.


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
