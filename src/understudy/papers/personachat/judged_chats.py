"""Which automatic measures of a chat agree with the people who had it?

    spearman    r_s of a measure with the score, 1 to 5, that the person gave the whole chat; `measure`, `of` whose
                messages, `chats` 'all' or 'both talk' (each side said at least four things). p values by shuffling the
                scores, adjusted after Holm over all measures of the same chats
    accuracy, auc   which of two profiles was the bot's, see below

`measure` 'combination' is all measures of the bot, of the person, or of both weighed together (see `out_of_fold`).
Intervals are bootstraps over people: all chats of one person are drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents import AGENTS, agent_named
from understudy.bench.run import Items, Row, document_of, figure_row, manifest_of, sampled
from understudy.errors import AgentError, InputError
from understudy.formats.chat_records import BOT_SIDE, HUMAN_SIDE, JudgedChat, read_judged_chats, volunteers_file
from understudy.language.backends.transformer import open_transformer
from understudy.language.lexical.logistic import fit_binary
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import CARD, read_agent_name
from understudy.metrics.ratings import correlations
from understudy.metrics.statistics import RESAMPLES, Interval, auc_interval, interval
from understudy.papers.personachat.chat_measures import FOLDS, SIDES, Measures, chat_measures, folds_of, out_of_fold
from understudy.papers.personachat.profiles import training_of
from understudy.papers.personachat.published import personachat_rating
from understudy.papers.personachat.scorers import Matrix, Training, scorer_named, scorers_for
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import LanguageModel
from understudy.training.dialogues import linked_groups

# Whose profile was it? What profile scorers and people choose between the bot's profile and another one.
#
# A person was shown two profiles after the chat and chose one. The other one is not in the published file. So a
# scorer chooses between the bot's profile and each profile of somebody else in the file in turn, one of each persona:
#
#   p(chat) = share of the other profiles that score lower than the bot's, an equal score counting half
#
#   accuracy, 'true profile'     mean of p: how often the scorer would choose the bot's profile
#   accuracy, 'person's choice'  mean of p where the person chose the bot's profile, of 1 - p where not: how often both
#                                would have chosen alike
#   auc, 'person's choice'       is p larger where the person chose the bot's profile than where not?
#
# The scores are of what the bot said, of what the person said, or of both. `combined` weighs the scorers by logistic
# regression of their differences (bot's profile less the other one), learnt from other people's chats.

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
    persona = linked_groups(profiles)
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
        return figure_row(what, metric, "everybody chose alike") | {"n": n, "chance": 0.5}
    return figure_row(what, metric, (figure, n)) | {"chance": 0.5}


ALL, BOTH_TALK = "all", "both talk"
LEAST_TURNS = 4  # of each side, where both talk
COMBINATION = "combination"
SHUFFLES = 100_000


def bench_judged_chats(
    data: Path,
    scorers: Sequence[str] | None = None,
    model: LanguageModel | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
) -> dict[str, Any]:
    """Rows, items and manifest; without a wish every profile scorer that the folder has the data for."""
    path = volunteers_file(data)
    chats = _sample(read_judged_chats(path), limit, seed)
    training, used = training_of(path.parent)
    rows, items = list[Row](), list[Items]()
    rated = [chat for chat in chats if chat.score is not None]
    if rated:
        measures = chat_measures([chat.record for chat in rated], training.utterances, model, progress)
        rows += _score_rows(rated, measures, seed)
        items += _score_items(rated, measures)
    matched = [chat for chat in chats if chat.matched is not None]
    if matched:
        names = list(scorers) if scorers else scorers_for(training)
        wins = profile_wins(matched, names, training, seed, progress)
        for which, selected in _sets(matched):
            rows += match_rows(matched, wins, which, selected, seed)
        for (scorer, of), shares in wins.items():
            judged = {"scorer": scorer, "told_from": of}
            items.append(Items(judged, [chat.name for chat in matched], [], {"accuracy": shares.tolist()}))
    if not rows:
        raise InputError("holds no chat that somebody scored or chose a profile for", path)
    settings = {
        "rated": len(rated), "matched": len(matched), "least_turns": LEAST_TURNS, "folds": FOLDS,
        "resamples": RESAMPLES, "shuffles": SHUFFLES, "paper": "people who were paid, with the KV Profile Memory model",
    }  # fmt: skip
    manifest = manifest_of("judged-chats", [path, *used], seed, limit, settings)
    return document_of(rows, items, manifest, save_items)


def open_language_model(spec: str) -> LanguageModel:
    """A generative agent's folder or `module:factory`, or a transformer: a folder, a .gguf file, a name."""
    folder = Path(spec)
    is_agent = (folder / CARD).is_file() and read_agent_name(folder) in AGENTS
    if not is_agent and (folder.exists() or ":" not in spec):
        return open_transformer(spec)
    agent = agent_named(spec)
    if not isinstance(agent, LanguageModel):
        raise AgentError(f"'{spec}' gives no log-probabilities: choose a generative agent, or a language model")
    return agent


def _sample(chats: Sequence[JudgedChat], limit: int | None, seed: int) -> list[JudgedChat]:
    """The chats that somebody judged, or some of them."""
    judged = [chat for chat in chats if chat.score is not None or chat.matched is not None]
    return sampled(judged, limit, seed)


def _sets(chats: Sequence[JudgedChat]) -> list[tuple[str, list[int]]]:
    """All chats, and those in which both sides talk, by their indices."""
    talked = [
        index
        for index, chat in enumerate(chats)
        if min(len(chat.record.said(side)) for side in (HUMAN_SIDE, BOT_SIDE)) >= LEAST_TURNS
    ]
    return [(ALL, list(range(len(chats)))), *([(BOTH_TALK, talked)] if talked else [])]


def _score_rows(chats: Sequence[JudgedChat], measures: Measures, seed: int) -> list[Row]:
    rows: list[Row] = []
    for which, selected in _sets(chats):
        indices = np.array(selected)
        scores = np.array([float(chats[index].score or 0) for index in selected])
        people = [chats[index].person for index in selected]
        of_set = {key: column[indices] for key, column in measures.items()}
        combined: Measures = {}
        for of in ("bot", "human", "both"):
            columns = [column for (_, whose), column in of_set.items() if of in (whose, "both")]
            if columns and len(set(people)) > FOLDS:
                combined[COMBINATION, of] = out_of_fold(np.stack(columns, axis=1), scores, people, seed)
        by_measure = correlations(of_set | combined, scores, people, seed, SHUFFLES)
        rows += [
            {"measure": name, "of": of, "chats": which, **correlation.row()}
            for (name, of), correlation in by_measure.items()
        ]
    return rows


def _score_items(chats: Sequence[JudgedChat], measures: Measures) -> list[Items]:
    """The value of each chat that has one, and the people's scores."""
    names = [chat.name for chat in chats]
    items = [Items({"measure": "people"}, names, [], {"score": [float(chat.score or 0) for chat in chats]})]
    for (measure, of), column in measures.items():
        there = np.flatnonzero(~np.isnan(column))
        marks = {"value": column[there].tolist()}
        items.append(Items({"measure": measure, "of": of}, [names[index] for index in there], [], marks))
    return items
