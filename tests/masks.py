"""A small story of somebody under a false name, somebody who is in on it, and namesakes who come later."""

from __future__ import annotations

from pathlib import Path

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
