"""PersonaChat's figures, to stand beside ours.

Theirs are of the test split, by models trained on all 8,939 training dialogues. Ours are of whatever was read, so a
table that shows both says so. People scored chats for fluency, engagingness and consistency from 1 to 5, and told the
partner's profile from another one (table 4).
"""

from __future__ import annotations

from collections.abc import Mapping

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


PERSONACHAT_RATED = ("fluency", "engagingness", "consistency", "persona_detection")
PERSONACHAT_RATINGS: Mapping[str, tuple[float, ...]] = {
    "human": (4.31, 4.25, 4.36, 0.95),
    "Seq2Seq": (3.17, 3.18, 2.98, 0.51),
    "Profile Memory": (3.08, 3.13, 3.14, 0.72),
    "KV Memory": (3.81, 3.88, 3.36, 0.59),
    "KV Profile Memory": (3.97, 3.50, 3.44, 0.81),
    "Twitter LM": (3.21, 1.75, 1.95, 0.57),
    "OpenSubtitles 2018 LM": (2.85, 2.13, 2.15, 0.35),
    "OpenSubtitles 2009 LM": (2.25, 2.12, 1.96, 0.38),
    "OpenSubtitles 2009 KV Memory": (2.14, 2.22, 2.06, 0.42),
}
"""By the paper's model, in the order of PERSONACHAT_RATED."""

WITH_PROFILE = {"generative-memory": "Profile Memory", "kv-memory": "KV Profile Memory"}
WITHOUT_PROFILE = {"seq2seq": "Seq2Seq", "kv-memory": "KV Memory"}


def paper_model(agent: str, given: str) -> str:
    """What PersonaChat's paper calls an agent, given its own profile ('self') or 'none'; other names stay as they are.

    People judged Seq2Seq and KV Memory without profiles, the two Profile Memories with their own.
    """
    return {"self": WITH_PROFILE, "none": WITHOUT_PROFILE}.get(given, {}).get(agent, agent)


def personachat_rating(model: str, rated: str) -> float | None:
    """None where the paper has no such model."""
    figures = PERSONACHAT_RATINGS.get(model)
    return None if figures is None else figures[PERSONACHAT_RATED.index(rated)]
