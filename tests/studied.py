"""Studies for tests: items with every type of question, in a study database of their own."""

from __future__ import annotations

from pathlib import Path

from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.store import StudyStore, open_study_store
from understudy.studies.study import Study


def options(*labels: str) -> tuple[Option, ...]:
    return tuple(Option(label.lower(), label) for label in labels)


FIVE = tuple(Option(str(step), {1: "not at all", 5: "very"}.get(step, "")) for step in range(1, 6))
SCENE = Block(
    "At the harbour",
    (
        ShownLine(None, "Fog. A bell, far out."),
        ShownLine("Ines Vale", "You kept the key all these years, and never once thought to ask what it opens?"),
        ShownLine("Mara Quill", "I was afraid it would open something.", is_asked=True),
    ),
)
LONG_REPLIES = (
    Option(
        "a", "I was afraid that it would open something, and that I would have to look inside, and then go on living."
    ),
    Option("b", "A key is only a promise, Ines. I have carried enough of those to know how little any of them weighs."),
)
EARLIER = tuple(
    Block(
        f"Scene {number}",
        (ShownLine("Mara Quill", f"I counted {number} steps to the lamp."), ShownLine(None, "The tide turns.")),
        is_folded=True,
        name=f"scene {number}",
    )
    for number in range(1, 13)
)
RATED = StudyItem(
    "scene1.rated",
    (SCENE,),
    (
        Question("fluency", "scale", "How fluent is the line?", FIVE),
        Question("fits", "choice", "Does it fit her?", options("Yes", "No", "Both")),
    ),
    hidden={"agent": "the secret agent"},
)
PREFERRED = StudyItem(
    "scene1.preferred", (SCENE,), (Question("better", "choice", "Which reply would she give?", LONG_REPLIES),)
)
WRITTEN = StudyItem(
    "scene2.written",
    (Block("The person", (ShownLine(None, "A lighthouse keeper who collects keys."),)),),
    (
        Question("persona", "texts", "Describe her", least=2, most=6, most_words=15, help="As she would herself."),
        Question("why", "text", "Why so?", is_required=False, most_words=15),
    ),
)
LOOKED_UP = StudyItem(
    "scene3.guessed",
    (SCENE, *EARLIER),
    (
        Question("speaker", "choice", "Who speaks?", options("Ines Vale", "Mara Quill", "Old Tom, who mends the nets")),
        Question(
            "history", "choices", "Which earlier scenes were needed?",
            tuple(Option(block.name, block.title) for block in EARLIER), is_required=False,
        ),
    ),
)  # fmt: skip
TABLED = StudyItem(
    "scene4.annotated",
    (SCENE,),
    (
        Question("ties", "table", "Who stands how to whom?", options("Who", "To whom", "How"), least=1),
        Question("moods", "choices", "What moods are there?", options("Calm", "Fear", "Anger")),
    ),
)  # fmt: skip
ITEMS = (RATED, PREFERRED, WRITTEN, LOOKED_UP, TABLED)
CONSENT = "I am at least 18 and take part of my own will."


def study_of(**changes: object) -> Study:
    settings: dict[str, object] = {
        "kind": "likely",
        "title": "Would Mara say this?",
        "instructions": "You read a scene and then judge a line of it.\n\nThere is no right answer.",
        "example": "A line in her voice: fluency 5.",
        "consent": CONSENT,
        "people_per_item": 2,
    }
    return Study(**{**settings, **changes})  # type: ignore[arg-type]


def study_store(folder: Path, *items: StudyItem, name: str = "mara", **changes: object) -> StudyStore:
    """A database with one study of these items, or one of every sort."""
    store = open_study_store(folder / "studies.db")
    store.add_study(name, study_of(**changes), items or ITEMS)
    return store
