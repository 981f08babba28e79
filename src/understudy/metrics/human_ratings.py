"""What people gave the models of two papers, to stand beside what people give ours.

**PersonaChat**, table 4: after a chat, fluency, engagingness and consistency from 1 to 5, and how often the person told
the partner's profile from another one. **HPD**: fluency, and relevance with scene, attributes and relations, 1 to 5.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HPD_CRITERIA", "HPD_RATINGS", "PERSONACHAT_RATED", "hpd_rating", "paper_model", "personachat_rating"]

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

HPD_CRITERIA = ("fluency", "relevance_scene", "relevance_attributes", "relevance_relations")
HPD_RATINGS: Mapping[str, tuple[float, ...]] = {
    "GPT-2": (3.34, 1.68, 1.9, 1.5),
    "Ori-BOB": (4.01, 1.93, 1.78, 1.9),
    "Per-BOB": (4.2, 2.01, 2.16, 2.15),
    "Dialog-GPT": (4.27, 2.38, 2.5, 2.04),
}
"""By the paper's model, in the order of HPD_CRITERIA."""

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


def hpd_rating(model: str, criterion: str) -> float | None:
    figures = HPD_RATINGS.get(model)
    return None if figures is None else figures[HPD_CRITERIA.index(criterion)]
