"""Figures from the papers, to stand beside ours.

**PersonaChat.** Theirs are of the test split, by models trained on all 8,939 training dialogues. Ours are of whatever
was read, so a table that shows both says so.

**TVShowGuess.** Figures of guessing speakers on the development and the test scenes of five shows; another split has
none. Tables by number of speakers and by character are of the development scenes and of the scene-pooling model
(Longformer-P): taken together they give that model's accuracy on both shows, and no other's. As printed, Monica's 64.2
does not fit: with 67.2 the six would. Figures for evidence, history and reasoning are only drawn in the paper, and not
repeated here.

**Persona metrics.** By character, and of other characters than those judged here: r_s of the metric with how many of
five people said 'likely', and AUPR of finding what at most one of them did. A small uPPL is close, so its r_s is
negated, as ours is. P-F1 and P-Cover are those of its appendix, against descriptions from Wikipedia.

**HPD.** How large it is, and its tables of generation and retrieval: of the Chinese version, on all 178 sessions of
its test set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from understudy.metrics.correlation import HPD_CRITERIA, HPD_RATINGS

__all__ = [
    "CONDITIONS",
    "HPD_SIZE",
    "PAPER_HPD",
    "PAPER_IS",
    "PAPER_RECALL",
    "PAPER_SCORERS",
    "PEOPLE",
    "add_paper",
    "hpd_generation_figure",
    "hpd_paper_rows",
    "hpd_ranking_figure",
    "hpd_ranking_rows",
    "paper_accuracy",
    "paper_character",
    "paper_figure",
    "paper_mean",
    "paper_overall",
    "paper_scene",
    "personachat_figure",
    "profile_error",
]

CONDITIONS = (
    "none",
    "self_original",
    "self_revised",
    "other_original",
    "other_revised",
    "both_original",
    "both_revised",
)
"""Whose persona the agent is shown, and in which wording."""

PAPER_IS = "test split, full training data"

HITS_AT_1 = {
    ("tfidf", None): (0.214, 0.410, 0.207, 0.181, 0.181, 0.382, 0.188),
    ("starspace", "original"): (0.318, 0.481, 0.295, 0.245, 0.235, 0.429, 0.258),
    ("starspace", "revised"): (0.318, 0.491, 0.322, 0.271, 0.261, 0.432, 0.288),
    ("profile-memory", "original"): (0.318, 0.473, 0.302, 0.283, 0.267, 0.438, 0.266),
    ("profile-memory", "revised"): (0.318, 0.509, 0.354, 0.299, 0.294, 0.467, 0.331),
    ("kv-memory", "revised"): (0.349, 0.511, 0.351, 0.291, 0.289, 0.467, 0.330),
}
"""By model and the wording of the personas it was trained on, in the order of CONDITIONS."""

GENERATIVE: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "seq2seq": {
        "perplexity": (38.08, 40.53, 40.65, 41.48, 41.95, 40.14, 40.53),
        "hits@1": (0.092, 0.084, 0.082, 0.075, 0.074, 0.084, 0.082),
        "f1": (0.168, 0.172, 0.171, 0.168, 0.168, 0.169, 0.166),
    },
    "generative-memory": {
        "perplexity": (38.08, 34.54, 38.21, 36.42, 37.75, 35.27, 38.48),
        "hits@1": (0.092, 0.125, 0.108, 0.105, 0.103, 0.115, 0.106),
        "f1": (0.168, 0.172, 0.170, 0.167, 0.167, 0.171, 0.168),
    },
}
"""By model and metric, in the order of CONDITIONS; the paper does not say which wording these were trained on."""

PROFILE_ERRORS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "human -> human": {"profile": (0.057, 0.017), "sentences": (0.173, 0.141)},
    "human -> model": {"profile": (0.234, 0.491), "sentences": (0.431, 0.518)},
    "model -> human": {"profile": (0.254, 0.112), "sentences": (0.431, 0.349)},
    "model -> model": {"profile": (0.011, 0.512), "sentences": (0.246, 0.530)},
}
"""By 'whose words -> whose profile', all in chats of people with a model: the Key-Value Profile Memory, and the same
model without profiles."""

PROFILE_ERRORS_BY_LENGTH = {
    "human -> human": (0.76, 0.47, 0.35, 0.29, 0.23, 0.19, 0.17, 0.17),
    "human -> model": (0.51, 0.39, 0.32, 0.29, 0.27, 0.27, 0.25, 0.25),
    "model -> human": (0.57, 0.52, 0.48, 0.46, 0.45, 0.43, 0.43, 0.43),
    "model -> model": (0.81, 0.58, 0.48, 0.47, 0.45, 0.44, 0.43, 0.43),
}
"""Of the Key-Value Profile Memory's chats, by the number of utterances heard, 1 to 8."""


def profile_error(direction: str, unit: str, length: int | None = None, with_profile: bool = True) -> float | None:
    """The paper's error rate of telling a profile ('profile') or its sentences; `length` utterances, or all."""
    if length is not None:
        known = PROFILE_ERRORS_BY_LENGTH.get(direction, ()) if unit == "profile" and with_profile else ()
        return known[length - 1] if 0 < length <= len(known) else None
    figures = PROFILE_ERRORS.get(direction, {}).get(unit)
    return None if figures is None else figures[not with_profile]


def personachat_figure(model: str, trained_on: str | None, condition: str, metric: str) -> float | None:
    """The paper's figure for a model, or None where it has none."""
    ranking = HITS_AT_1.get((model, trained_on)) if metric == "hits@1" else None
    figures = ranking or GENERATIVE.get(model, {}).get(metric)
    return None if figures is None else figures[CONDITIONS.index(condition)]


Row = dict[str, Any]
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
        case "accuracy_by_speakers":  # with the same number of speakers in all, scenes fit_weights the same
            return paper_scene(model, show, splits.get(show), row["speakers"])
        case "accuracy_by_character":
            return paper_character(model, show, splits.get(show), row["character"])
        case _:
            return None


def _people(shows: Iterable[str], splits: Mapping[str, str | None]) -> list[Row]:
    """How well people did, where the paper tells: nobody was asked here."""
    return [
        {"model": PEOPLE, "show": show, "metric": "accuracy", "value": None, "low": None, "high": None, "n": 0,
         "paper": paper, "reason": "told by the paper; nobody was asked here"}
        for show in shows
        if (paper := paper_accuracy(PEOPLE, show, splits.get(show))) is not None
    ]  # fmt: skip


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


PAPER_SCORERS = ("psprob", "ptsal", "uppl", "maxbleu")

SPEARMAN = {
    "kirito": (0.53, 0.39, 0.20, 0.17),
    "asuna": (0.28, 0.33, 0.06, 0.32),
    "sinon": (0.21, 0.16, 0.03, 0.37),
    "leafa": (0.35, 0.16, 0.02, 0.27),
    "lizbeth": (0.32, 0.11, 0.01, 0.03),
    "ran": (0.44, 0.39, 0.08, 0.07),
    "sonoko": (0.67, 0.48, 0.18, 0.02),
    "shinichi": (0.20, 0.17, 0.11, -0.01),
    "heiji": (0.52, 0.48, 0.45, 0.14),
    "kazuha": (0.56, 0.27, 0.09, 0.10),
}
AUPR = {
    "kirito": (0.83, 0.72, 0.65, 0.68),
    "asuna": (0.40, 0.42, 0.34, 0.43),
    "sinon": (0.52, 0.53, 0.46, 0.63),
    "leafa": (0.45, 0.34, 0.28, 0.38),
    "lizbeth": (0.33, 0.29, 0.16, 0.19),
    "ran": (0.79, 0.68, 0.53, 0.65),
    "sonoko": (0.87, 0.66, 0.48, 0.59),
    "shinichi": (0.76, 0.69, 0.61, 0.75),
    "heiji": (0.89, 0.88, 0.86, 0.82),
    "kazuha": (0.78, 0.68, 0.55, 0.64),
}


OVERLAP_SPEARMAN = {  # P-F1 and P-Cover, against descriptions of 20 sentences on average
    "kirito": (0.13, 0.09),
    "asuna": (0.00, 0.05),
    "sinon": (-0.06, -0.08),
    "leafa": (0.00, -0.04),
    "lizbeth": (-0.05, -0.01),
    "ran": (0.04, -0.02),
    "sonoko": (0.08, 0.01),
    "shinichi": (-0.10, -0.11),
    "heiji": (0.01, 0.00),
    "kazuha": (-0.03, -0.02),
}
OVERLAP_SCORERS = ("p_f1", "p_cover")
FINE_TUNED = {"uppl-masked": "uppl"}  # the paper's uPPL is of masked models that were fine-tuned


def paper_figure(metric: str, scorer: str, character: str) -> float | None:
    """None where the paper has no such character or scorer."""
    columns, figures = _voice_figures(metric, scorer)
    by_scorer = figures.get(character.casefold())
    return None if by_scorer is None else by_scorer[columns.index(FINE_TUNED.get(scorer, scorer))]


def paper_mean(metric: str, scorer: str) -> float | None:
    """The mean of a scorer over the paper's ten characters; None where it has no such scorer."""
    columns, figures = _voice_figures(metric, scorer)
    if not figures:
        return None
    column = columns.index(FINE_TUNED.get(scorer, scorer))
    return round(sum(by_scorer[column] for by_scorer in figures.values()) / len(figures), 4)


def _voice_figures(metric: str, scorer: str) -> tuple[Sequence[str], Mapping[str, tuple[float, ...]]]:
    """The columns and the rows of the table that has a scorer; no rows where none has."""
    if scorer in OVERLAP_SCORERS:
        return OVERLAP_SCORERS, OVERLAP_SPEARMAN if metric == "spearman" else {}
    known = FINE_TUNED.get(scorer, scorer) in PAPER_SCORERS
    return PAPER_SCORERS, {"spearman": SPEARMAN, "aupr": AUPR}[metric] if known else {}


HPD_SIZE: Mapping[str, Mapping[str, float]] = {
    "train": {"dialogues": 1042, "turns": 13.8, "least_speakers": 2, "most_speakers": 20, "characters": 113},
    "test": {"dialogues": 178, "turns": 8.6, "least_speakers": 2, "most_speakers": 8, "characters": 113},
}
"""By split; the characters are those of the whole set."""

HPD_GENERATION: Mapping[str, Mapping[str, float]] = {
    "GPT-2": {"dist-1": 0.0986, "perplexity": 18.3, "delta-p": 0.12, "mauve": 0.809, "delta-m": -0.164},
    "Ori-BOB": {"dist-1": 0.1287, "perplexity": 3.03, "delta-p": 0.21, "mauve": 0.940, "delta-m": -0.011},
    "Per-BOB": {"dist-1": 0.1325, "perplexity": 2.41, "delta-p": 0.08, "mauve": 0.948, "delta-m": 0.003},
    "Dialog-GPT": {"dist-1": 0.2301, "perplexity": 37.8, "delta-p": 0.54, "mauve": 0.968, "delta-m": 0.192},
}
"""By the paper's model. Perplexity is that of each model's own tokens, of Chinese; the paper has none per word."""
HPD_GIVEN = {"GPT-2": "scene", "Ori-BOB": "dialogue", "Per-BOB": "dialogue+relations", "Dialog-GPT": "dialogue"}
"""What the paper's models read; GPT-2 the scene and 'Harry says:'."""

CHATGPT = (0.98, 0.86, 0.80, 0.62)
"""The share of 50 replies that people found fluent, and consistent with scene, attributes and relations."""


PAPER_HPD = "HPD in Chinese, all 178 sessions of its test set; retrieval by BERT-FP"

HPD_RANKING: Mapping[str, float] = {"map": 0.468, "mrr": 0.468, "p@1": 0.259, "r10@1": 0.259, "r10@5": 0.788}
"""BERT-FP, the one retrieval model of the paper: post-trained on the novels, it reads the dialogue."""


def hpd_ranking_figure(metric: str) -> float | None:
    return HPD_RANKING.get(metric)


def hpd_generation_figure(model: str, given: Iterable[str], metric: str) -> float | None:
    """The paper's figure for the same kind of model given the same parts; None where it has none.

    `given` are those of scene, attributes and relations that the model was shown beside the dialogue. BOB is Per-BOB
    where it is given relations, and Ori-BOB where it is given nothing; a causal model given the scene alone is GPT-2.
    """
    parts = frozenset(given)
    match model:
        case "bob" if "relations" in parts and "scene" not in parts:
            figures = HPD_GENERATION["Per-BOB"]
        case "bob" if not parts:
            figures = HPD_GENERATION["Ori-BOB"]
        case "causal" if parts == {"scene"}:
            figures = HPD_GENERATION["GPT-2"]
        case _:
            return None
    return figures.get(metric.removesuffix("_per_token"))


def hpd_paper_rows() -> list[Row]:
    """The paper's own rows: its models were not run here, and nobody was asked."""
    printed = [
        (model, HPD_GIVEN[model], metric, value)
        for model, figures in HPD_GENERATION.items()
        for metric, value in figures.items()
    ]
    printed += [
        (model, HPD_GIVEN[model], metric, value)
        for model, values in HPD_RATINGS.items()
        for metric, value in zip(HPD_CRITERIA, values)
    ]
    printed += [("ChatGPT", "dialogue+scene+attributes+relations", f"consistent_{name}", value)
             for name, value in zip(("fluency", "scene", "attributes", "relations"), CHATGPT)]  # fmt: skip
    return [
        {"agent": model, "given": given, "metric": metric, "value": None, "low": None, "high": None, "n": 0,
         "paper": value, "reason": "told by the paper; not run here"}
        for model, given, metric, value in printed
    ]  # fmt: skip


def hpd_ranking_rows() -> list[Row]:
    """The paper's own row of retrieval."""
    return [
        {"agent": "BERT-FP", "given": "dialogue", "metric": metric, "value": None, "low": None, "high": None, "n": 0,
         "paper": value, "reason": "told by the paper; not run here"}
        for metric, value in HPD_RANKING.items()
    ]  # fmt: skip
