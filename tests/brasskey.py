"""A little story that tests of several rooms tell: two acts of two scenes."""

from __future__ import annotations

from pathlib import Path

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
