"""The figures of the paper on persona metrics, by character: of other characters than those judged here.

r_s of the metric with how many of five people said 'likely', and AUPR of finding what at most one of them did. A small
uPPL is close, so its r_s is negated, as ours is. P-F1 and P-Cover are those of its appendix, against descriptions from
Wikipedia.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
