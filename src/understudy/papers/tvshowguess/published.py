"""TVShowGuess's figures of guessing speakers, on the development and the test scenes of five shows.

Another split has none. Tables by number of speakers and by character are of the development scenes and of the
scene-pooling model (Longformer-P): taken together they give that model's accuracy on both shows, and no other's. As
printed, Monica's 64.2 does not fit: with 67.2 the six would. Figures for evidence, history and reasoning are only drawn
in the paper, and not repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from understudy.bench.run import Row, figure_row

ALL = "all"
PEOPLE = "people"
SHOWS = ("friends", "the big bang theory", "frasier", "gilmore girls", "the office")

ACCURACY: Mapping[str, Mapping[str, tuple[float | None, ...]]] = {
    "dev": {
        "random": (0.3523, 0.3308, 0.3474, 0.3643, 0.4430),
        "vanilla": (0.6779, 0.6158, 0.8511, 0.7984, 0.7092),
        "multi-row": (0.7701, 0.6260, 0.9007, 0.8398, 0.7092),
        "multi-row without context": (0.6292, 0.5954, 0.8164, 0.7442, 0.6600),
        "multi-row without reverse": (0.7081, 0.5242, 0.7940, 0.7804, 0.6622),
        "multi-row without fill-empty": (0.7433, 0.5827, 0.8610, 0.7287, 0.6890),
        "scene-pooling": (0.7701, 0.6387, 0.9032, 0.8217, 0.7181),
        "scene-pooling maxlen 1000": (0.7416, 0.6336, 0.8610, 0.7933, 0.7383),
        "people": (0.9868, 0.8982, None, None, None),
    },
    "test": {
        "random": (0.3159, 0.3779, 0.3161, 0.3890, 0.4671),
        "vanilla": (0.6063, 0.6395, 0.8206, 0.7452, 0.7160),
        "multi-row": (0.7320, 0.6250, 0.8251, 0.7863, 0.7441),
        "multi-row without context": (0.5719, 0.6395, 0.7623, 0.6712, 0.6737),
        "multi-row without reverse": (0.6871, 0.5901, 0.8139, 0.7397, 0.6831),
        "multi-row without fill-empty": (0.6856, 0.6337, 0.7848, 0.6986, 0.7371),
        "scene-pooling": (0.6991, 0.6657, 0.8767, 0.7507, 0.7629),
        "scene-pooling maxlen 1000": (0.6677, 0.6424, 0.8565, 0.7205, 0.7606),
    },
}
"""By the split of the scenes (`tvsg_split`), then by model, in the order of SHOWS."""

DETAILED = ("scene-pooling", "dev")  # the one model and split of which the paper tells more
SCENES = {  # all scenes, then by number of speakers from 2 to 6
    "friends": (0.806, 0.865, 0.808, 0.663, 0.750, 0.567),
    "the big bang theory": (0.677, 0.770, 0.667, 0.570, 0.550, 0.479),
}
CHARACTERS = {
    "friends": {"rachel": 0.883, "joey": 0.845, "phoebe": 0.831, "chandler": 0.712, "ross": 0.708, "monica": 0.642},
    "the big bang theory": {
        "sheldon": 0.870, "penny": 0.758, "leonard": 0.753, "raj": 0.525, "amy": 0.421, "howard": 0.364,
    },
}  # fmt: skip
PAPER_RECALL = {3: 0.355}


def add_paper(rows: Sequence[Row], splits: Mapping[str, str | None]) -> list[Row]:
    """The rows with the paper's figure for the same model, show and split, and what it says of people.

    A trained model goes by its `kind`. `splits` says which of the paper's splits each show's judged scenes are; other
    shows have no figures.
    """
    shows = dict.fromkeys(row["show"] for row in rows if row["show"] != ALL)
    not_asked = [show for show in shows if not any(row["model"] == PEOPLE and row["show"] == show for row in rows)]
    return [*({**row, "paper": _paper(row, rows, splits)} for row in rows), *_people(not_asked, splits)]


def _paper(row: Row, rows: Sequence[Row], splits: Mapping[str, str | None]) -> float | None:
    model, show = str(row.get("kind", row["model"])), row["show"]
    match row["metric"]:
        case "accuracy" if show == ALL:
            counts = {
                show_row["show"]: show_row["n"]
                for show_row in rows
                if (show_row["model"], show_row["metric"]) == (row["model"], "accuracy") and show_row["show"] != ALL
            }
            return paper_overall(model, counts, splits)
        case "accuracy":
            return paper_accuracy(model, show, splits.get(show))
        case "scene_accuracy":
            return paper_scene(model, show, splits.get(show))
        case "accuracy_by_speakers":  # with the same number of speakers in all, scenes count alike
            return paper_scene(model, show, splits.get(show), row["speakers"])
        case "accuracy_by_character":
            return paper_character(model, show, splits.get(show), row["character"])
        case _:
            return None


def _people(shows: Iterable[str], splits: Mapping[str, str | None]) -> list[Row]:
    """How well people did, where the paper tells: nobody was asked here."""
    return [
        figure_row({"model": PEOPLE, "show": show}, "accuracy", "told by the paper; nobody was asked here", paper)
        for show in shows
        if (paper := paper_accuracy(PEOPLE, show, splits.get(show))) is not None
    ]


def paper_accuracy(model: str, show: str, split: str | None) -> float | None:
    """None where the paper has no such model, show or split."""
    figures = ACCURACY.get(split or "", {}).get(model)
    named = _show(show)
    return None if figures is None or named not in SHOWS else figures[SHOWS.index(named)]


def paper_overall(model: str, counts: Mapping[str, int], splits: Mapping[str, str | None]) -> float | None:
    """The paper's accuracy over just these shows, each counted as often as it has speakers here."""
    figures = [(paper_accuracy(model, show, splits.get(show)), count) for show, count in counts.items()]
    known = [(figure, count) for figure, count in figures if figure is not None]
    if not known or len(known) < len(figures):
        return None
    return round(sum(figure * count for figure, count in known) / sum(count for _, count in known), 4)


def paper_scene(model: str, show: str, split: str | None, speakers: int | None = None) -> float | None:
    """The mean of scenes' accuracy: of all, or of those with so many speakers."""
    figures = SCENES.get(_show(show)) if (model, split) == DETAILED else None
    index = 0 if speakers is None else speakers - 1
    return None if figures is None or index >= len(figures) else figures[index]


def paper_character(model: str, show: str, split: str | None, name: str) -> float | None:
    figures = CHARACTERS.get(_show(show), {}) if (model, split) == DETAILED else {}
    return next((figures[part] for part in name.casefold().split() if part in figures), None)


def _show(name: str) -> str:
    return name.replace("_", " ").casefold()
