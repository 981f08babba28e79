"""Which automatic measures of a chat agree with the people who had it?

    spearman    r_s of a measure with the score, 1 to 5, that the person gave the whole chat; `measure`, `of` whose
                messages, `chats` 'all' or 'both talk' (each side said at least four things). p values by shuffling the
                scores, adjusted after Holm over all measures of the same chats
    accuracy, auc   which of two profiles was the bot's: see `matching`

`measure` 'combination' is all measures of the bot, of the person, or of both weighed together (see `combination`).
Intervals are bootstraps over people: all chats of one person are drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents import AGENTS, agent_named
from understudy.backends.transformer import open_transformer
from understudy.bench.chats.combination import FOLDS, out_of_fold
from understudy.bench.chats.matching import match_rows, profile_wins
from understudy.bench.chats.measures import Measures, chat_measures
from understudy.bench.items import Items, manifest_of, write_items
from understudy.bench.personachat.chairs import training_of
from understudy.bench.personachat.scorers import scorers_for
from understudy.dialogue import LanguageModel
from understudy.errors import AgentError, InputError
from understudy.metrics.correlation import correlations
from understudy.metrics.statistics import RESAMPLES
from understudy.model_folder import CARD, read_agent_name
from understudy.progress import Progress, ignore_progress
from understudy.readers.volunteers import BOT_SIDE, HUMAN_SIDE, JudgedChat, read_judged_chats, volunteers_file

__all__ = ["COMBINATION", "LEAST_TURNS", "bench_judged_chats", "open_language_model"]

Row = dict[str, Any]
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
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {"rows": rows, "items": [item.document() for item in items], "manifest": manifest}


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
    if limit is None or limit >= len(judged):
        return judged
    chosen = np.sort(np.random.default_rng(seed).choice(len(judged), limit, replace=False))
    return [judged[index] for index in chosen]


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
