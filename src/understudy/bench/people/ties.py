"""Are the ties found in shows true? Judged against lists of who is what to whom, each show by what the others chose.

    precision   of the ties found between people of the list, the share that is in it
    recall      of the ties in the list, the share that is found
    dated       of ties found that begin within the show, the share that is not found before the season they begin in
    ece         sum over tenths of (share of ties) * |mean confidence - share that is true|

Kin, family, lovers and friends are judged; a tie counts once, not once each way. Patterns and their weights are fixed,
written by hand; how much evidence a group of kinds needs is chosen on the other shows (leave one show out): as much
recall as there is at the precision aimed at. A tie that the list calls unsure is neither right nor wrong; `strict`
counts it as wrong. Intervals are Wilson's.

DIR/tvshowguess/transcripts/SHOW      scripts, a folder or SHOW.jsonl
DIR/ties_gold.toml                    a list of one's own for shows of one's own; else the one that ships
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from understudy.bench.run import Row, figure_row, share_figure
from understudy.formats import read
from understudy.formats.tvshowguess import folder_of
from understudy.metrics.statistics import Interval, calibration_error, wilson
from understudy.people.tie_evidence import Gathered, gather, weighed
from understudy.people.ties import BOUNDS, Bounds, dated_ties, ties
from understudy.progress import Progress, ignore_progress
from understudy.story.types import KIN

FILES = ("tvshowguess/transcripts/*",)
GOLD = "ties_gold.toml"
JUDGED = (*(kind for kind in KIN if kind not in ("child", "grandchild")), "family", "lover", "friend")
GROUPS = {
    "all": JUDGED,
    "kin": tuple(kind for kind in JUDGED if kind not in ("lover", "friend")),
    "lover": ("lover",),
    "friend": ("friend",),
}
ONE_WAY = ("parent", "grandparent")
RECURRING = 100  # lines in which somebody speaks
BOUND = 0.5
CHOICES = {
    "kin": ((0.4, 0.5, 0.6, 0.7, 0.8), (0.0, 0.1, 0.2), 0.95),
    "lover": ((0.4, 0.5, 0.6, 0.8, 1.0), (0.1, 0.15, 0.2, 0.3), 0.8),
    "spouse": ((0.4, 0.5, 0.6, 0.8), (0.0, 0.1, 0.2), 0.95),
    "friend": ((0.4, 0.6, 0.8, 1.0), (-0.2, -0.1, 0.0, 0.1), 0.75),
}
"""For each group of kinds: bounds, further bounds per talk, and the precision aimed at."""

Name = tuple[str, str, str]
"""(kind, of, to), as a list has it."""


@dataclass(frozen=True, slots=True)
class GoldShow:
    """Who is what to whom in a show."""

    cast: frozenset[str]
    same: Mapping[str, str]
    ties: Mapping[Name, int | None]
    """With the season a tie begins in, where it does within the show."""
    unsure: frozenset[Name]


@dataclass(frozen=True, slots=True)
class FoundTie:
    name: Name
    confidence: float
    season: int


@dataclass(frozen=True, slots=True)
class JudgedShow:
    """A show that was read, with its list."""

    name: str
    gold: GoldShow
    evidence: Gathered
    recurring: frozenset[str]

    def found(self, bounds: Mapping[str, Bounds]) -> list[FoundTie]:
        """Ties between people of the list, each once."""
        best: dict[Name, FoundTie] = {}
        for tie, since, _ in dated_ties(self.evidence, JUDGED, bounds, BOUND):
            of, to = (self.gold.same.get(name, name) for name in tie.key[:2])
            found = FoundTie(_name(tie.key[2], of, to), tie.confidence, since.numbers[0])
            if of != to and {of, to} <= self.gold.cast and found.confidence > _confidence(best.get(found.name)):
                best[found.name] = found
        return list(best.values())


@dataclass(slots=True)
class Counts:
    """Ties found and listed, of some kinds between some people."""

    right: int = 0
    wrong: int = 0
    unsure: int = 0
    listed: int = 0
    dated: int = 0
    begins_within: int = 0

    def add(self, show: JudgedShow, found: Sequence[FoundTie], kinds: Sequence[str], people: frozenset[str]) -> None:
        gold = {
            name: season for name, season in show.gold.ties.items() if name[0] in kinds and people.issuperset(name[1:])
        }
        self.listed += len(gold)
        for tie in found:
            if tie.name[0] not in kinds or not people.issuperset(tie.name[1:]):
                continue
            if tie.name not in gold:
                self.unsure += tie.name in show.gold.unsure
                self.wrong += tie.name not in show.gold.unsure
                continue
            self.right += 1
            if (season := gold[tie.name]) is not None:
                self.begins_within += 1
                self.dated += tie.season >= season


def rows(data: Path, judge: Path | None = None, progress: Progress = ignore_progress) -> list[Row]:
    """Rows over all shows and by show, for people who recur and for all on the list; and of the story that ships."""
    shows = list(_shows(data if judge is None else judge, progress))
    tried = _tried(shows)
    found = {show.name: show.found(_chosen(tried, left_out=show.name)) for show in shows}
    result: list[Row] = []
    for people in ("recurring", "all listed"):
        for group, kinds in GROUPS.items():
            for names in ([show.name for show in shows], *([show.name] for show in shows)):
                counts = Counts()
                for show in shows:
                    if show.name in names:
                        counts.add(show, found[show.name], kinds, _people(show, people))
                judged = {"kinds": group, "people": people, "show": "all" if len(names) > 1 else names[0]}
                result += _figures(counts, judged)
    pairs = [
        (tie.confidence, tie.name in show.gold.ties)
        for show in shows
        for tie in found[show.name]
        if tie.name not in show.gold.unsure
    ]
    if pairs:
        error = calibration_error([confidence for confidence, _ in pairs], [right for _, right in pairs])
        judged = {"kinds": "all", "people": "all listed", "show": "all"}
        result.append(_row("ece", error, len(pairs), judged))
    return [*result, *_embedded_rows("demo")]


def _shows(folder: Path, progress: Progress) -> Iterator[JudgedShow]:
    own = folder / GOLD
    text = (own if own.is_file() else files("understudy").joinpath("bench", "people", GOLD)).read_text(encoding="utf-8")
    for name, table in tomllib.loads(text).items():
        scripts = folder_of(folder) / "transcripts" / name
        path = scripts if scripts.is_dir() else scripts.with_suffix(".jsonl")
        if not path.exists():
            continue
        story = read(path)
        gold = _gold(table)
        lines: Counter[str] = Counter()
        for member in story.cast():
            lines[gold.same.get(member.character.name, member.character.name)] += member.lines
        recurring = frozenset(who for who in gold.cast if lines[who] >= RECURRING)
        yield JudgedShow(name, gold, weighed(gather(story, progress)), recurring)


def _gold(table: Mapping[str, Any]) -> GoldShow:
    same = {name: names[0] for names in table.get("same", ()) for name in names}
    listed = {
        _name(kind, *entry[:2]): entry[2] if len(entry) > 2 else None
        for kind, entries in table["ties"].items()
        for entry in entries
    }
    unsure = {_name(kind, *entry[:2]) for kind, entries in table.get("unsure", {}).items() for entry in entries}
    return GoldShow(frozenset(table["cast"]), same, listed, frozenset(unsure))


def _name(kind: str, of: str, to: str) -> Name:
    return (kind, of, to) if kind in ONE_WAY or of < to else (kind, to, of)


def _confidence(tie: FoundTie | None) -> float:
    return 0.0 if tie is None else tie.confidence


def _people(show: JudgedShow, people: str) -> frozenset[str]:
    return show.recurring if people == "recurring" else show.gold.cast


def _tried(shows: Sequence[JudgedShow]) -> dict[tuple[str, Bounds], dict[str, Counts]]:
    """What each choice of bounds for one group finds in each show, the other groups as shipped."""
    tried: dict[tuple[str, Bounds], dict[str, Counts]] = {}
    for group, (bounds, per_talk, _) in CHOICES.items():
        for bound, talk in product(bounds, per_talk):
            choice = Bounds(bound, talk, BOUNDS[group].slope)
            by_show = tried.setdefault((group, choice), {})
            for show in shows:
                found = show.found(BOUNDS | {group: choice})
                by_show[show.name] = Counts()
                by_show[show.name].add(show, found, GROUPS.get(group, (group,)), show.recurring)
    return tried


def _chosen(tried: Mapping[tuple[str, Bounds], Mapping[str, Counts]], left_out: str) -> dict[str, Bounds]:
    """For each group of kinds the bounds with most ties right, on the other shows, at the precision aimed at."""
    best: dict[str, tuple[float, Bounds]] = {}
    for (group, choice), by_show in tried.items():
        right = sum(counts.right for name, counts in by_show.items() if name != left_out)
        wrong = sum(counts.wrong for name, counts in by_show.items() if name != left_out)
        share = right / max(1, right + wrong)
        height = right if share >= CHOICES[group][2] else share - 1
        if group not in best or height > best[group][0]:
            best[group] = (height, choice)
    return {group: choice for group, (_, choice) in best.items()}


def _figures(counts: Counts, judged: Mapping[str, str]) -> Iterator[Row]:
    found = counts.right + counts.wrong
    for metric, hits, n in (
        ("precision", counts.right, found),
        ("precision strict", counts.right, found + counts.unsure),
        ("recall", counts.right, counts.listed),
        ("dated", counts.dated, counts.begins_within),
    ):
        if n:
            yield _row(metric, wilson(hits / n, n), n, judged)


def _row(metric: str, figure: Interval | float, n: int, judged: Mapping[str, str]) -> Row:
    return figure_row({"task": "ties", **judged}, metric, (figure, n))


def _embedded_rows(name: str) -> Iterator[Row]:
    """The story that ships, its author's kinds against what is found; family is not told apart there."""
    story = read(name)
    annotated = {_coarse(tie.kind, tie.of, tie.to) for tie in story.relations() if tie.level is None}
    kinds = {kind for kind, *_ in annotated}
    found = {_coarse(tie.kind, tie.of, tie.to) for tie in ties(story)}
    found = {entry for entry in found if entry[0] in kinds}
    judged = {"kinds": "all", "people": "all", "show": name}
    for metric, ties_of, others in (("precision", found, annotated), ("recall", annotated, found)):
        if ties_of:
            hits = share_figure([tie in others for tie in ties_of])
            yield figure_row({"task": "ties", **judged}, metric, hits)


def _coarse(kind: str, of: str, to: str) -> Name:
    kind = "family" if kind in KIN else kind
    return (kind, of, to) if kind == "teacher" else (kind, *sorted((of, to)))  # type: ignore[return-value]
