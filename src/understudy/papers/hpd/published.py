"""HPD's figures: how large it is, and its tables of generation and retrieval.

They are of the Chinese version, on all 178 sessions of its test set. People gave fluency, and relevance with scene,
attributes and relations, 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from understudy.bench.run import Row, figure_row

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

HPD_CRITERIA = ("fluency", "relevance_scene", "relevance_attributes", "relevance_relations")
HPD_RATINGS: Mapping[str, tuple[float, ...]] = {
    "GPT-2": (3.34, 1.68, 1.9, 1.5),
    "Ori-BOB": (4.01, 1.93, 1.78, 1.9),
    "Per-BOB": (4.2, 2.01, 2.16, 2.15),
    "Dialog-GPT": (4.27, 2.38, 2.5, 2.04),
}
"""By the paper's model, in the order of HPD_CRITERIA."""

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
    return [_row(model, given, metric, value) for model, given, metric, value in printed]


def hpd_ranking_rows() -> list[Row]:
    """The paper's own row of retrieval."""
    return [_row("BERT-FP", "dialogue", metric, value) for metric, value in HPD_RANKING.items()]


def _row(model: str, given: str, metric: str, value: float) -> Row:
    return figure_row({"agent": model, "given": given}, metric, "told by the paper; not run here", value)


def hpd_rating(model: str, criterion: str) -> float | None:
    figures = HPD_RATINGS.get(model)
    return None if figures is None else figures[HPD_CRITERIA.index(criterion)]
