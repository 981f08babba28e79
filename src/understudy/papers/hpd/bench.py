"""HPD's tables: agents in Harry's place, given the dialogue with or without scene, attributes and relations.

    rows            map, mrr, p@1, r10@1, r10@5 of every agent for everything it is given, beside the paper's figures;
                    the same with `adds`: by how much a part of the question makes an agent better (`measures`)
    mistakes        for each agent the ten sessions it got most wrong, given all there is
    items           the marks session by session, for `compare`

`fitted` and `fitted+repeats` learn from sessions (`choice_model`): from those of another file (`train`), or from the
judged file itself by cross-validation, every session being judged by rankers that have not seen it. They have a row
that is given the candidates alone: no figure means anything that is not above it. Where no agent is named, the reranker
that is one of their features has rows of its own. With `generation` agents are also judged by what they say and how
probable they find replies.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from understudy.agents.encoder import READ
from understudy.agents.reranker import NAME as RERANKER
from understudy.bench.answers import JudgedAgent, MissingAnswers, judged_agent, scores_of
from understudy.bench.run import Items, Row, document_of, manifest_of, progress_on
from understudy.errors import InputError, MissingExtra
from understudy.metrics.statistics import RESAMPLES, SWAPS
from understudy.papers.hpd.choice_model import (
    FEWEST_SCENES,
    FITTED_AGENTS,
    FOLDS,
    REPEATS,
    TOO_FEW,
    FittingSessions,
    feature_groups,
    scenes_of,
)
from understudy.papers.hpd.features import FeatureGroup, feature_rows
from understudy.papers.hpd.measures import (
    COMPARED,
    PAIRED,
    HpdGeneration,
    Reranked,
    judge_generation,
    open_reranked,
    ranking_marks,
    ranking_rows,
    unranked_rows,
    worst_sessions,
)
from understudy.papers.hpd.published import PAPER_HPD, hpd_paper_rows, hpd_ranking_rows
from understudy.papers.hpd.sessions import (
    ALL_PARTS,
    CANDIDATES,
    GIVEN,
    judged_files,
    load_questions,
    training_questions,
    what_parts_add,
    withhold,
)
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example

AGENTS = ("tfidf", "encoder", *FITTED_AGENTS)
RERANKED = ("dialogue", "dialogue+scene")  # what the reranker is given as a feature
HELD_OUT = f"cross-validation: {FOLDS} folds of sessions, {REPEATS} times"

Scores = list[list[float]]


@dataclass(frozen=True, slots=True)
class _Setting:
    """What all files are judged with."""

    agents: Sequence[str]
    given: Sequence[str]
    training: Sequence[Example]
    """Sessions of another file to fit rankers on; none where they are cross-validated."""
    fitted_on: str
    seed: int
    progress: Progress
    cache: Path | None
    groups: Sequence[FeatureGroup]
    reranked: Reranked | str
    """The shipped reranker, or why it cannot be had."""
    judged: Mapping[str, JudgedAgent | str]
    """Agents that were not fitted here by name; a reason where one cannot be had."""


@dataclass(slots=True)
class _Results:
    rows: list[Row] = field(default_factory=list)
    items: list[Items] = field(default_factory=list)
    mistakes: list[Row] = field(default_factory=list)
    files: dict[str, Row] = field(default_factory=dict)
    missing: MissingAnswers = field(default_factory=MissingAnswers)

    def add(self, what: Row, examples: Sequence[Example], scores: list[Scores] | str, seed: int) -> None:
        """The ranking of one agent, or why there is none."""
        if isinstance(scores, str):
            self.rows += unranked_rows(what, scores)
            return
        judged = {key: str(what[key]) for key in ("file", "agent", "given")}
        names = [example.name for example in examples]
        self.items.append(Items(judged, names, [], ranking_marks(examples, scores)))
        self.rows += ranking_rows(what, self.items[-1], seed)


class _Fitting:
    """The sessions of a file with what is `given`; rankers learn from those to learn from, or from the file itself."""

    def __init__(self, setting: _Setting, examples: Sequence[Example], given: str) -> None:
        self._setting, self._examples, self._given = setting, examples, given
        self._scenes = scenes_of(examples)  # sessions of one scene, whether it is shown or not
        self.weights: dict[str, dict[str, float]] = {}
        """What the features count, by agent; of one fitted on all sessions where rankers are cross-validated."""

    def scores(self, agent: str) -> list[Scores] | str:
        """Of each repeat where rankers are cross-validated, else of the one ranker; or why there are none."""
        others = self._setting.training
        if not others and len(set(self._scenes)) < FEWEST_SCENES:
            return TOO_FEW
        remembers, learned = FITTED_AGENTS[agent], self._training if others else self._judged
        ranker = learned.fit(range(len(learned.examples)), remembers)
        self.weights[agent] = {name: weight for name, weight in ranker.weights().items() if weight}
        if not others:
            return self._judged.held_out_scores(self._scenes, remembers, self._setting.seed)
        return [[self._judged.scores(ranker, index) for index in range(len(self._examples))]]

    @cached_property
    def _judged(self) -> FittingSessions:
        return self._prepared(self._examples)

    @cached_property
    def _training(self) -> FittingSessions:
        return self._prepared(self._setting.training)

    def _prepared(self, examples: Sequence[Example]) -> FittingSessions:
        shown, groups = [withhold(example, self._given) for example in examples], self._setting.groups
        progress = progress_on(self._setting.progress, self._given)
        return FittingSessions(shown, groups, feature_rows(groups, shown, progress))


def bench_hpd(
    data: Path,
    agents: Sequence[str] = AGENTS,
    given: Sequence[str] = GIVEN,
    train: Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
    cache: Path | None = None,
    generation: bool = False,
    replies: int | None = None,
) -> dict[str, Any]:
    """Rows, mistakes, items and manifest of all test sets of a folder; `save_items` writes the items too.

    `generation` judges agents by their replies and likelihoods as well, and `replies` says how many sessions an agent
    answers (see `judge_generation`).
    """
    if not agents:
        raise InputError("name at least one agent to judge")
    named = list(dict.fromkeys(agents))
    others = {spec: _opened(spec) for spec in named if spec not in FITTED_AGENTS}
    wanted = [*dict.fromkeys(text for text in given if text != CANDIDATES)]
    training = [] if train is None else training_questions(train, seed)
    fitted_on = HELD_OUT if train is None else f"fitted on {train.name}"
    learns = any(spec in FITTED_AGENTS for spec in named)
    reranked = open_reranked(cache) if learns else "nothing is fitted"
    groups = [*feature_groups(), *([] if isinstance(reranked, str) else [reranked])] if learns else []
    setting = _Setting(named, wanted, training, fitted_on, seed, progress, cache, groups, reranked, others)
    results = _Results()
    written: list[HpdGeneration] = []
    files = judged_files(data)
    for path in files:
        examples = load_questions(path, limit, seed)
        _judge_file(setting, path, examples, results)
        if generation:
            questions = {text: [withhold(example, text) for example in examples] for text in wanted}
            agents_asked = [agent for agent in others.values() if isinstance(agent, JudgedAgent)]
            with results.missing:
                written.append(judge_writing(path, agents_asked, questions, seed, progress, cache, replies))
                results.rows += written[-1].rows
    results.missing.check()
    items = _joined([*results.items, *(item for each in written for item in each.items)])
    results.rows += what_parts_add(items, (*COMPARED, *PAIRED), seed)
    paper = hpd_ranking_rows() + (hpd_paper_rows() if generation else [])
    settings = {"paper": PAPER_HPD, "resamples": RESAMPLES, "swaps": SWAPS, "given": [CANDIDATES, *wanted]}
    settings |= {"train": None if train is None else train.name, "files": results.files}
    manifest = manifest_of("hpd", [*files, *([train] if train else [])], seed, limit, settings)
    manifest["agents"] = _about_agents(setting, written)
    samples = [row for each in written for row in each.samples]
    parts = {"mistakes": results.mistakes, "reply_samples": samples}
    return document_of([*results.rows, *paper], items, manifest, save_items, **parts)


def _joined(items: Sequence[Items]) -> list[Items]:
    """The marks of ranking and of writing together, where both are of the same agent, file and given parts."""
    joined: dict[tuple[tuple[str, str], ...], Items] = {}
    for item in items:
        key = tuple(sorted(item.judged.items()))
        joined[key] = replace(item, marks={**joined[key].marks, **item.marks}) if key in joined else item
    return list(joined.values())


def _about_agents(setting: _Setting, written: Sequence[HpdGeneration]) -> dict[str, Any]:
    """The card of each agent that has one, and the prompt of each that writes from one."""
    prompts = {name: {"prompt": prompt} for each in written for name, prompt in each.prompts.items()}
    cards = {spec: getattr(getattr(opened, "agent", None), "card", None) for spec, opened in setting.judged.items()}
    return {spec: {**(card or {}), **prompts.get(spec, {})} or None for spec, card in cards.items()}


def _opened(spec: str) -> JudgedAgent | str:
    """The agent, or what it lacks."""
    try:
        return judged_agent(spec)
    except MissingExtra as error:
        return str(error)


def _judge_file(setting: _Setting, path: Path, examples: Sequence[Example], results: _Results) -> None:
    language = examples[0].situation.persona.language
    sizes = sorted({len(example.candidates) for example in examples})
    about: Row = {"n": len(examples), "language": language, "candidates": sizes, "seconds": {}}
    results.files[path.name] = about
    file = {"file": path.name, "language": language}
    learners = [agent for agent in setting.agents if agent in FITTED_AGENTS]
    for given in (CANDIDATES, *setting.given):
        shown = [withhold(example, given) for example in examples]
        fitting = _Fitting(setting, examples, given)
        for agent in setting.agents if given != CANDIDATES else learners:
            what: Row = {**file, "agent": agent, "given": given}
            begun = time.perf_counter()
            if agent in FITTED_AGENTS:
                what["judged_by"] = setting.fitted_on
            scores: list[Scores] | str | None = None
            with results.missing:
                scores = fitting.scores(agent) if agent in FITTED_AGENTS else _scores(setting, agent, given, shown)
            if scores is None:
                continue
            results.add(what, examples, scores, setting.seed)
            if isinstance(scores, str):
                continue
            about["seconds"][f"{agent}, {given}"] = round(time.perf_counter() - begun, 2)
            if given == (ALL_PARTS if ALL_PARTS in setting.given else given):
                results.mistakes += worst_sessions(what, shown, scores[0])
        if given in RERANKED and tuple(setting.agents) == AGENTS and language == READ:
            # the ranking by the one feature that was learned elsewhere, where it has been worked out anyway
            reranked = setting.reranked
            rankings = reranked if isinstance(reranked, str) else [[reranked.scores(example) for example in shown]]
            results.add({**file, "agent": RERANKER, "given": given}, examples, rankings, setting.seed)
        if fitting.weights:
            about.setdefault("weights", {})[given] = fitting.weights


def _scores(setting: _Setting, agent: str, given: str, shown: Sequence[Example]) -> list[Scores] | str:
    """The agent's scores, or why there are none."""
    opened = setting.judged[agent]
    if isinstance(opened, str):
        return opened
    try:
        return [scores_of(opened, shown, progress_on(setting.progress, given), setting.cache)]
    except MissingExtra as error:
        return str(error)


# The generation half of one file: rows, samples and items that say which file and language they are of.


def judge_writing(
    path: Path,
    agents: Sequence[JudgedAgent],
    questions: Mapping[str, Sequence[Example]],
    seed: int,
    progress: Progress,
    cache: Path | None,
    replies: int | None,
) -> HpdGeneration:
    """`judge_generation` of the sessions of a file, by what of them is given."""
    written = judge_generation(agents, questions, seed, progress, cache, replies)
    persona = next(iter(questions.values()))[0].situation.persona
    file: Row = {"file": path.name, "language": persona.language}
    f1 = {
        (item.judged["agent"], item.judged["given"], name): value
        for item in written.items
        for name, value in zip(item.names, item.marks.get("f1", ()))
    }
    written.rows = [{**file, **row} for row in written.rows]
    written.samples = [
        {**file, "speaker": persona.name, "condition": row["given"]}
        | {"f1": f1[row["agent"], row["given"], row["item"]]}
        | row
        for row in written.samples
        if row["reply"] is not None
    ]
    written.items = [replace(item, judged={"file": path.name, **item.judged}) for item in written.items]
    return written
