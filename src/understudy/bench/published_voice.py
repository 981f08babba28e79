"""The paper's figures for persona metrics, by character: they are of other characters than those judged here.

r_s of the metric with how many of five people said 'likely', and AUPR of finding what at most one of them did. A small
uPPL is close, so its r_s is turned round, as ours is.
"""

from __future__ import annotations

__all__ = ["PAPER_SCORERS", "paper_figure"]

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


def paper_figure(metric: str, scorer: str, character: str) -> float | None:
    """None where the paper has no such character or scorer."""
    figures = {"spearman": SPEARMAN, "aupr": AUPR}[metric].get(character.casefold())
    return None if figures is None or scorer not in PAPER_SCORERS else figures[PAPER_SCORERS.index(scorer)]
