"""Guards: each says of a draft whether it may be said, and why not.

A guard is a function of (situation, history, draft) to a `Verdict`. Some look at the situation alone; others are made
from `StoryViews` and close over the story, later chapters included, which no agent can reach.

They have two strengths. What a *stopping* guard objects to is never said: what is only known later, secrets, words of
another, a bot's phrases. A *doubting* one finds what a small writer makes up and a good one says for a reason (a name
that nobody told, a number, a tone): it stops a small writer's draft, and is shown beside a capable one's.
"""

from __future__ import annotations

from understudy.judging.guards.address import address
from understudy.judging.guards.claims import (
    made_up_words,
    others_deed,
    poses_as_another,
    speaks_as_another,
    unsupported_claim,
)
from understudy.judging.guards.contradiction import against_age, against_profile, against_ties, outdated, wrong_gender
from understudy.judging.guards.foretold import foretold
from understudy.judging.guards.form import form, not_a_reply
from understudy.judging.guards.knowledge import invented, known_later, not_yet_known
from understudy.judging.guards.secrets import behind_their_back, confided, kept_secret, retold_confidence
from understudy.judging.guards.story_view import Guard, Stories, StoryView, StoryViews, Verdict, objection, objections

__all__ = [
    "Guard",
    "Stories",
    "StoryView",
    "StoryViews",
    "Verdict",
    "all_guards",
    "doubting_guards",
    "objection",
    "objections",
    "stopping_guards",
]


def stopping_guards(views: StoryViews) -> tuple[Guard, ...]:
    """Those that hold for every writer, the cheapest first."""
    return (
        not_a_reply,
        poses_as_another(views),
        behind_their_back,
        kept_secret(views),
        confided(views),
        known_later(views),
        foretold(views),
    )


def doubting_guards(views: StoryViews) -> tuple[Guard, ...]:
    """Those that stop a small writer and old lines."""
    return (
        retold_confidence(views),
        form,
        address,
        outdated(views),
        against_ties,
        against_age,
        wrong_gender(views),
        invented,
        unsupported_claim,
        others_deed,
        speaks_as_another,
        made_up_words,
        not_yet_known(views),
        against_profile(views),
    )


def all_guards(views: StoryViews) -> tuple[Guard, ...]:
    return (*stopping_guards(views), *doubting_guards(views))
