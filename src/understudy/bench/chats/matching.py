"""Whose profile was it? What profile scorers and people choose between the bot's profile and another one.

A person was shown two profiles after the chat and chose one. The other one is not in the published file. So a scorer
chooses between the bot's profile and each profile of somebody else in the file in turn, one of each persona:

    p(chat) = share of the other profiles that score lower than the bot's, an equal score counting half

    accuracy, 'true profile'     mean of p: how often the scorer would choose the bot's profile
    accuracy, 'person's choice'  mean of p where the person chose the bot's profile, of 1 - p where not: how often both
                                 would have chosen alike
    auc, 'person's choice'       is p larger where the person chose the bot's profile than where not?

The scores are of what the bot said, of what the person said, or of both. `combined` weighs the scorers by logistic
regression of their differences (bot's profile less the other one), learnt from other people's chats.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from understudy.bench.chats.combination import FOLDS, folds_of
from understudy.bench.chats.measures import SIDES
from understudy.bench.personachat.chairs import linked_profiles
from understudy.bench.personachat.scorers import Matrix, Training, scorer_named
from understudy.lexical.logistic import fit_binary
from understudy.lexical.rows import Reals
from understudy.metrics.human_ratings import personachat_rating
from understudy.metrics.statistics import Interval, auc_interval, interval
from understudy.progress import Progress, ignore_progress
from understudy.readers.volunteers import BOT_SIDE, JudgedChat

__all__ = ["CHOICE", "COMBINED", "PEOPLE", "TRUE", "Wins", "match_rows", "profile_wins"]

Row = dict[str, Any]
Wins = dict[tuple[str, str], Reals]
"""By scorer and whose words it heard: for each chat the share of other profiles that the bot's profile beats."""

TRUE, CHOICE = "true profile", "person's choice"
PEOPLE, COMBINED = "people", "combined"
PAIRS = 40  # other profiles of a chat that the combination learns from


def profile_wins(
    chats: Sequence[JudgedChat], scorers: Sequence[str], training: Training, seed: int = 0,
    progress: Progress = ignore_progress,
) -> Wins:  # fmt: skip
    """What each scorer, and all of them combined, make of each chat."""
    profiles, rivals = _fields(chats)
    own = [profiles.index(chat.record.profiles[BOT_SIDE]) for chat in chats]
    wins: Wins = {}
    apart: dict[str, list[list[Reals]]] = {of: [] for of in SIDES}
    for name in scorers:
        scorer = scorer_named(name, profiles, training)
        differences: dict[str, list[Reals]] = {of: [] for of in SIDES}
        for done, (chat, true) in enumerate(zip(chats, own), 1):
            for of, sides in SIDES.items():
                said = [text for side in sides for text in chat.record.said(side)]
                scores = _last(scorer.scores, said, len(profiles))
                differences[of].append(scores[true] - scores[rivals[true]])
            progress(name, done, len(chats))
        for of in SIDES:
            wins[name, of] = np.array([_share(some) for some in differences[of]])
            apart[of].append(differences[of])
    if len(scorers) > 1:
        groups = [chat.person for chat in chats]
        for of in SIDES:
            wins[COMBINED, of] = _combined(apart[of], groups, seed)
    return wins


def _fields(chats: Sequence[JudgedChat]) -> tuple[list[tuple[str, ...]], list[np.ndarray[Any, np.dtype[np.int64]]]]:
    """All profiles of the chats, and for each the numbers of one profile of every other persona."""
    profiles = list(dict.fromkeys(profile for chat in chats for profile in chat.record.profiles))
    persona = linked_profiles(profiles)
    first: dict[int, int] = {}
    for number, root in enumerate(persona):
        first.setdefault(root, number)
    everybody = np.array(list(first.values()), dtype=np.int64)
    roots = np.array(list(first))
    return profiles, [everybody[roots != persona[number]] for number in range(len(profiles))]


def _last(scores: Callable[[Sequence[str]], tuple[Matrix, Matrix]], said: Sequence[str], profiles: int) -> Reals:
    """The scores of all profiles after everything that was said; all alike after nothing."""
    if not said:
        return np.zeros(profiles)
    by_profile: Reals = scores(said)[0][-1].astype(np.float64)
    return by_profile


def _share(differences: Reals) -> float:
    return float(np.mean((differences > 0) + 0.5 * (differences == 0))) if len(differences) else 0.5


def _combined(apart: Sequence[Sequence[Reals]], groups: Sequence[Hashable], seed: int) -> Reals:
    """Shares by the scorers weighed together, with weights from other people's chats."""
    chats = [np.stack([scorer[chat] for scorer in apart], axis=1) for chat in range(len(groups))]
    spread = np.concatenate(chats).std(axis=0)
    chats = [chat / np.where(spread > 0, spread, 1.0) for chat in chats]
    rng = np.random.default_rng(seed)
    pairs = [chat[rng.permutation(len(chat))[:PAIRS]] for chat in chats]
    shares = np.full(len(chats), 0.5)
    for learnt, judged in folds_of(groups, FOLDS, seed):
        if not len(learnt):
            continue
        rows = np.concatenate([pairs[index] for index in learnt])
        both = np.concatenate([rows, -rows])  # a pair the other way round is lost: so no side is favoured
        labels = np.repeat([1.0, 0.0], len(rows))
        weights = fit_binary(both, labels, np.ones(len(both)))[:-1]
        for index in judged:
            shares[index] = _share(chats[index] @ weights)
    return shares


def match_rows(
    chats: Sequence[JudgedChat], wins: Wins, which: str, selected: Sequence[int], seed: int = 0
) -> list[Row]:
    """The rows of some of the chats: what people chose, what scorers choose, how far both agree."""
    people = np.array([chats[index].matched is True for index in selected], dtype=np.float64)
    groups = [chats[index].person for index in selected]
    what = {"chats": which, "told_from": "both"}
    rows = [_row({"scorer": PEOPLE, **what, "target": TRUE}, "accuracy", interval(people, groups, seed), len(selected))]
    rows[0]["paper"] = personachat_rating("KV Profile Memory", "persona_detection")
    for (scorer, of), every in wins.items():
        shares = every[list(selected)]
        what = {"scorer": scorer, "chats": which, "told_from": of}
        alike = np.where(people > 0, shares, 1 - shares)
        for target, values in ((TRUE, shares), (CHOICE, alike)):
            rows.append(_row({**what, "target": target}, "accuracy", interval(values, groups, seed), len(selected)))
        if 0 < people.sum() < len(people):
            figure = auc_interval(shares, people > 0, groups, seed)
        else:
            figure = Interval(np.nan, np.nan, np.nan)
        rows.append(_row({**what, "target": CHOICE}, "auc", figure, len(selected)))
    return rows


def _row(what: Row, metric: str, figure: Interval, n: int) -> Row:
    if np.isnan(figure.value):
        missing = {"value": None, "low": None, "high": None, "n": n, "paper": None, "chance": 0.5}
        return {**what, "metric": metric, **missing, "reason": "everybody chose alike"}
    low_high = {"value": figure.value, "low": figure.low, "high": figure.high}
    return {**what, "metric": metric, **low_high, "n": n, "paper": None, "chance": 0.5}
