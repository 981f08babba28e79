"""Guards: each says of a draft whether it may be said, and why not.

A guard is a function of (situation, history, draft) to a `Verdict`. Some look at the situation alone; others are made
from `StoryViews` and close over the story, later chapters included, which no agent can reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from understudy.dialogue import Draft, Situation, Turn
from understudy.judging.guards.address import address
from understudy.judging.guards.claims import unsupported_claim
from understudy.judging.guards.contradiction import against_age, against_profile, against_ties, wrong_gender
from understudy.judging.guards.form import form
from understudy.judging.guards.identity import made_up_words, speaks_as_another
from understudy.judging.guards.knowledge import invented, not_yet_known
from understudy.judging.guards.outdated import outdated
from understudy.judging.guards.quotations import repeated_line
from understudy.judging.guards.secrets import behind_their_back, confided, kept_secret
from understudy.judging.guards.story_view import Stories, StoryView, StoryViews
from understudy.judging.guards.verdict import Guard, Verdict

__all__ = [
    "Guard",
    "Stories",
    "StoryView",
    "StoryViews",
    "Verdict",
    "all_guards",
    "objection",
]


def all_guards(views: StoryViews) -> tuple[Guard, ...]:
    """Every guard, the cheapest first."""
    return (
        form,
        address,
        behind_their_back,
        kept_secret(views),
        confided(views),
        outdated(views),
        against_ties,
        against_age,
        wrong_gender(views),
        invented,
        unsupported_claim,
        speaks_as_another,
        made_up_words,
        not_yet_known(views),
        against_profile(views),
    )


def objection(guards: Sequence[Guard], situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict | None:
    """Why a draft may not be said; None where all guards let it pass.

    Where several object, one that must not be explained comes first: its text must not be shown for another's reason.
    """
    first: Verdict | None = None
    for version in _versions(situation, draft):
        for guard in guards:
            verdict = guard(situation, history, version)
            if verdict.is_spoiler:
                return verdict
            if not verdict.passed and first is None:
                first = verdict
    return first


def _versions(situation: Situation, draft: Draft) -> Iterator[Draft]:
    """The draft and, where a writer repeats an own old line, the same text as that line."""
    yield draft
    if draft.source == "writer" and (said := repeated_line(situation.persona, draft.text)) is not None:
        yield replace(draft, source="exchange", moment=said)
