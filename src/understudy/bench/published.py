"""Figures from the PersonaChat paper, to stand beside ours.

Theirs are of the test split, by models trained on all 8,939 training dialogues. Ours are of whatever was read, so a
table that shows both says so.
"""

from __future__ import annotations

__all__ = ["CONDITIONS", "PAPER_IS", "PROFILE_ERRORS", "PROFILE_ERRORS_BY_LENGTH", "hits_at_1"]

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

PROFILE_ERRORS = {"profile": 0.057, "sentences": 0.173}
"""A person's own profile from what that person says, talking with a person (the KV Profile model's dialogues)."""

PROFILE_ERRORS_BY_LENGTH = (0.76, 0.47, 0.35, 0.29, 0.23, 0.19, 0.17, 0.17)
"""The same by the number of utterances, 1 to 8."""


def hits_at_1(model: str, trained_on: str | None, condition: str) -> float | None:
    """The paper's figure for a model, or None where it has none."""
    figures = HITS_AT_1.get((model, trained_on))
    return None if figures is None else figures[CONDITIONS.index(condition)]
