"""HPD's sessions as questions: the files of a folder, what of a question is given, and questions to learn from.

    given = 'candidates'                            nothing but the replies to choose from
            'dialogue'                              what was said, and who said it
            'dialogue+scene+attributes+relations'   and these parts; any of them may be left out

A test set has a right reply and wrong ones in each session. A training set has neither: there the last line of whoever
is asked is the right reply, and ten of their lines from other sessions are the wrong ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np

from understudy.bench.run import Items, Row, figure_row, groups_of, sampled
from understudy.errors import InputError
from understudy.formats.hpd import dialogue_examples, examples
from understudy.formats.recognition import hpd_files
from understudy.metrics.statistics import adjust_p_values, interval, paired_p
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example, Situation
from understudy.story.persona import Other, Persona

DIALOGUE = "dialogue"
ALL_PARTS = "dialogue+scene+attributes+relations"
GIVEN = (
    "dialogue",
    "dialogue+scene",
    "dialogue+attributes",
    "dialogue+relations",
    "dialogue+attributes+relations",
    ALL_PARTS,
)
"""What is given by default, one after the other."""

POSITIVE = b'"positive_response"'
BLOCK = 1 << 20
WRONG = 10
FEWEST_CANDIDATES = 2


def judged_files(data: Path) -> list[Path]:
    """The test sets of a folder, or one by itself: HPD's files that have right replies."""
    files = [path for path in hpd_files(data) if _has_replies(path)]
    if not files and data.is_file():
        raise InputError("is no test set of HPD: a JSON file of sessions with a positive_response", data)
    if not files:
        raise InputError(
            "holds no test set of HPD: JSON files of sessions with a positive_response, such as en_test_set.json", data
        )
    return files


def _has_replies(path: Path) -> bool:
    rest = b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if POSITIVE in rest + block:
                return True
            rest = block[-len(POSITIVE) :]
    return False


def load_questions(path: Path, limit: int | None = None, seed: int = 0) -> list[Example]:
    """The sessions of a file that have something to choose from, or a seeded sample of them."""
    every = [example for example in examples(SourceFile(path)) if len(example.candidates) >= FEWEST_CANDIDATES]
    if not every:
        raise InputError("has nothing to choose from: no session has a negative_response", path)
    return sampled(every, limit, seed)


def training_questions(path: Path, seed: int = 0) -> list[Example]:
    """Questions to learn from: those of a test set, or made from the sessions of a training set."""
    if _has_replies(path):
        return load_questions(path)
    by_session: dict[str, Example] = {}
    for example in dialogue_examples(SourceFile(path)):
        by_session[example.name.rpartition(".")[0]] = example  # the last line of each session stays
    lines = [example.candidates[0] for example in by_session.values()]
    if len(set(lines)) <= WRONG:
        raise InputError(f"is too small to learn from: it needs more than {WRONG} sessions with a reply", path)
    return [
        replace(example, candidates=(*example.candidates, *_others(lines, index, seed)))
        for index, example in enumerate(by_session.values())
    ]


def _others(lines: Sequence[str], index: int, seed: int) -> tuple[str, ...]:
    chosen: dict[str, None] = {}
    for other in np.random.default_rng((seed, index)).permutation(len(lines)).tolist():
        if lines[other] != lines[index]:
            chosen[lines[other]] = None
        if len(chosen) == WRONG:
            break
    return tuple(chosen)


def withhold(example: Example, given: str) -> Example:
    """The question with only what is given of it."""
    if given == CANDIDATES:
        nobody = Persona("", language=example.situation.persona.language)
        return replace(example, situation=Situation(nobody), history=())
    words = given.split("+")
    parts = parts_of(given)
    if words[0] != DIALOGUE or set(words) != {DIALOGUE, *parts}:
        raise InputError(f"'{given}' cannot be given: write {ALL_PARTS}, with or without its parts, or {CANDIDATES}")
    situation = example.situation
    persona = situation.persona
    if "attributes" not in parts:
        persona = replace(persona, profile=(), attributes={}, found={})
    if "relations" not in parts:
        persona = replace(persona, relations=())
    shown = replace(
        situation,
        persona=persona,
        setting=situation.setting if "scene" in parts else "",
        faced=None if situation.faced is None else _shown(situation.faced, parts),
        present=tuple(_shown(other, parts) for other in _present(situation, example, parts)),
    )
    return replace(example, situation=shown)


def _shown(other: Other, parts: frozenset[str]) -> Other:
    return replace(
        other,
        profile=other.profile if "attributes" in parts else (),
        relations=other.relations if "relations" in parts else (),
    )


def _present(situation: Situation, example: Example, parts: frozenset[str]) -> Iterator[Other]:
    """Who is there without having spoken is told by attributes and relations alone."""
    spoke = {turn.speaker for turn in example.history}
    return (other for other in situation.present if parts & {"attributes", "relations"} or other.name in spoke)


# What a part of a session adds, given to an agent beside the dialogue or withheld: the mean over sessions of its mark
# with the part less that without it, with its 95% interval and paired p value, sessions of one group together,
# Holm-adjusted over all such differences of an agent, file and metric. A part is added to the dialogue, or to all but
# it; and all of it to the candidates alone.


CANDIDATES = "candidates"
PARTS = frozenset({"scene", "attributes", "relations"})


def parts_of(given: str) -> frozenset[str]:
    """Those of scene, attributes and relations that are given."""
    return frozenset(given.split("+")) & PARTS


def what_parts_add(items: Sequence[Items], metrics: Sequence[str], seed: int) -> list[Row]:
    """For two of one agent and file, one given more than the other: how much better it does, and how sure that is."""
    rows: list[Row] = []
    for metric in metrics:
        having = [item for item in items if metric in item.marks]
        for kind in dict.fromkeys(_file_and_agent(item) for item in having):
            own = [item for item in having if _file_and_agent(item) == kind]
            fullest = max((item.judged["given"] for item in own), key=_amount)
            family = [
                row
                for barer, fuller in permutations(own, 2)
                if (added := _added(fuller.judged["given"], barer.judged["given"], fullest))
                and (row := _difference(fuller, barer, added, metric, seed)) is not None
            ]
            adjust_p_values(family, "p_value")
            rows += family
    return rows


def _file_and_agent(item: Items) -> tuple[str, str]:
    return item.judged.get("file", ""), item.judged["agent"]


def _amount(given: str) -> int:
    """How much is given: nothing, the dialogue, and so many parts beside it."""
    return 0 if given == CANDIDATES else 1 + len(parts_of(given))


def _added(fuller: str, barer: str, fullest: str) -> str:
    """What of the one the other lacks; blank where the two are not to be compared."""
    if CANDIDATES in (fuller, barer):
        return fuller if barer == CANDIDATES and fuller == fullest else ""
    parts, fewer = parts_of(fuller), parts_of(barer)
    added = parts - fewer
    is_told = len(added) == 1 or added == {"attributes", "relations"}
    if not fewer < parts or not is_told or (fewer and fuller != fullest):
        return ""
    return "+".join(part for part in fuller.split("+") if part in added)


def _difference(fuller: Items, barer: Items, added: str, metric: str, seed: int) -> Row | None:
    """None where no session has a mark in both."""
    with_part, without = fuller.values()[metric], barer.values()[metric]
    known = ~np.isnan(with_part) & ~np.isnan(without)
    if not known.any():
        return None
    groups = [group for group, both in zip(groups_of(fuller.names), known) if both]
    with_part, without = with_part[known], without[known]
    what = {**fuller.judged, "adds": added, "to": barer.judged["given"]}
    row = figure_row(what, metric, (interval(with_part - without, groups, seed), len(groups)))
    return row | {"p_value": paired_p(with_part, without, groups, seed)}
