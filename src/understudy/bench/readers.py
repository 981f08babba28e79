"""How faithfully the readers read: against lines that others prepared from the same transcripts.

`line_speaker_match`: share of the prepared dialogue lines that our reading of the raw file has too, with the same
speaker and the same words (a fuzzy ratio of at least 90), aligned in order within the episode so that no line of ours
is used twice.

`scene_start_f1`: F1 of the positions at which scenes begin, a position being a scene's first line of dialogue.

For both, the two readings of an episode are first aligned line by line.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from understudy.bench.run import Row, figure_row, manifest_of, sampled
from understudy.errors import InputError
from understudy.formats import reader_of, table
from understudy.formats.transcript import reading as transcript
from understudy.formats.tvshowguess import folder_of
from understudy.metrics.statistics import RESAMPLES, totals_interval
from understudy.sources import Event, Heading, Reader, SceneStart, Speech, Unread
from understudy.sources.directions import BRACKETED
from understudy.sources.source import SourceFile, sha256_of

FUZZY = 90.0
JOINING = frozenset(("and", "together", "simultaneously"))
Said = tuple[str, str]
"""Who and what, as compared."""

SEED = 0
SAME_WORDING = 0.75  # an episode with fewer lines in common was prepared from another transcript of it
MANY_SCENES = 5  # scenes we find in an episode that was prepared as one: its marks were passed over
PREPARED = "dev.jsonl"
SHOWS = {
    "FRIENDS": ("friends", transcript.READER),
    "The_Big_Bang_Theory": ("the_big_bang_theory", transcript.READER),
    "Gilmore_Girls": ("gilmore_girls", transcript.READER),
    "The_Office": ("the_office", transcript.READER),
    "Frasier": ("frasier.jsonl", table.SPEECHES),
}
OTHER_FILES = ("shakespeare/*.xml", "personachat/*_*.txt", "hpd/*.json", "hpd/*.xlsx")
NO_SCENES = {"Frasier": "its source has no scene marks", "The_Office": "its source has no scene marks"}
Table = np.ndarray[Any, Any]


@dataclass(slots=True)
class Episode:
    """Dialogue, and at which of its lines scenes begin."""

    lines: list[Said] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)

    def begin_scene(self) -> None:
        self.starts.add(len(self.lines))

    @property
    def scene_starts(self) -> set[int]:
        """A scene without dialogue begins where the next one does; one at the very end, nowhere."""
        return {start for start in self.starts if start < len(self.lines)}


def who(label: str) -> str:
    """A label as it is compared: `Monica and Rachel`, `RACHEL & MONICA (off)` and `Rachel/Monica` are the same."""
    parts = re.findall(r"\w+", BRACKETED.sub(" ", label).casefold())
    return " ".join(sorted(part for part in parts if part not in JOINING))


def words(text: str) -> str:
    plain = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("…", "...")
    return " ".join(plain.casefold().split())


def spoken(text: str) -> str:
    """The words without directions, unless there are no others: sources differ in which directions they keep."""
    return " ".join(BRACKETED.sub(" ", text).split()) or text


def aligned(theirs: Sequence[Said], ours: Sequence[Said], same_speaker: bool = True) -> dict[int, int]:
    """The longest in-order matching: their line -> our line with the same words (and speaker).

    Words are the same if their fuzzy ratio is at least 90, with or without the directions in them.
    """
    if not theirs or not ours:
        return {}
    fits = np.zeros((len(theirs), len(ours)), dtype=bool)
    for form in (str, spoken):
        ratios = process.cdist(
            [form(said) for _, said in theirs],
            [form(said) for _, said in ours],
            scorer=fuzz.ratio,
            score_cutoff=FUZZY,
        )
        fits |= ratios >= FUZZY
    if same_speaker:
        fits &= (
            np.array([speaker for speaker, _ in theirs])[:, None] == np.array([speaker for speaker, _ in ours])[None, :]
        )
    best = np.zeros((len(theirs) + 1, len(ours) + 1), dtype=np.int32)
    for row in range(len(theirs)):
        matched = np.where(fits[row], best[row, :-1] + 1, best[row, 1:])
        best[row + 1, 1:] = np.maximum.accumulate(np.maximum(matched, best[row, 1:]))
    pairs: dict[int, int] = {}
    row, column = len(theirs), len(ours)
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs[row] = column
    return pairs


def common_starts(theirs: Episode, ours: Episode) -> int:
    """How many scenes begin at the same place in both; each of ours is used once."""
    pairs = aligned(theirs.lines, ours.lines, same_speaker=False)
    unused = ours.scene_starts
    common = 0
    for start in sorted(theirs.scene_starts):
        # where the first line itself differs in wording, the line before it tells the place
        for index in (pairs.get(start), pairs.get(start - 1, -2) + 1):
            if index in unused:
                unused.remove(index)
                common += 1
                break
    return common


@dataclass(slots=True)
class ShowReading:
    """What came of one show's raw files."""

    episodes: dict[tuple[int, ...], Episode] = field(default_factory=dict)
    files: int = 0
    units: int = 0
    unread: int = 0
    taken: int = 0
    seconds: float = 0.0


def read_show(path: Path, reader: Reader) -> ShowReading:
    """Read a show's folder or file as it lies there; of two files for one episode the first is judged."""
    reading = ShowReading()
    begun = time.process_time()
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        source = SourceFile(file)
        _take(reading, reader.events(source))
        reading.files += 1
        reading.units += source.units
    reading.seconds = time.process_time() - begun
    return reading


def _take(reading: ShowReading, events: Iterable[Event]) -> None:
    episode = Episode()
    for event in events:
        match event:
            case Heading(numbers=numbers) if numbers is not None:
                episode = Episode()
                reading.episodes.setdefault(numbers, episode)
                episode.begin_scene()
            case SceneStart():
                episode.begin_scene()
            case Speech(speakers=speakers, text=text):
                episode.lines.append((who(" and ".join(speakers)), words(text)))
            case Unread(units=units):
                reading.unread += units
        reading.taken += getattr(event, "units", 0)


def prepared_episodes(path: Path) -> dict[str, dict[tuple[int, ...], Episode]]:
    """The episodes of the prepared file, by show."""
    shows: dict[str, dict[tuple[int, ...], Episode]] = defaultdict(dict)
    with path.open(encoding="utf-8") as file:
        for line in file:
            scene = json.loads(line)
            season, number = (int(part) for part in scene["episode_id"].split("x"))
            episode = shows[scene["show"]].setdefault((season, number), Episode())
            episode.begin_scene()
            for speaker, text in scene["lines"]:
                if speaker != "background":
                    label, _, said = text.partition(":")
                    episode.lines.append((who(label), words(said)))
    return shows


def bench_readers(data: Path, limit: int | None = None, seed: int = SEED) -> dict[str, Any]:
    """Rows and manifest for every reader that has something to be judged against in `data`."""
    prepared = folder_of(data) / PREPARED
    if not prepared.is_file():
        raise InputError(f"holds no {PREPARED}: name the folder that has it, or the one that has tvshowguess/", data)
    rows = [*_transcript_rows(data, limit, seed), *_accounted_rows(data)]
    manifest = manifest_of("readers", [], seed, limit, {"fuzzy": FUZZY, "resamples": RESAMPLES})
    return {"rows": rows, "manifest": manifest | {"data": {f"tvshowguess/{PREPARED}": sha256_of(prepared)}}}


def _transcript_rows(data: Path, limit: int | None, seed: int) -> list[Row]:
    prepared = prepared_episodes(folder_of(data) / PREPARED)
    rows: list[Row] = []
    for show, (where, reader) in SHOWS.items():
        reading = read_show(folder_of(data) / "transcripts" / where, reader)
        what = {"reader": reader.name, "show": show}
        rows += _judged(what, prepared.get(show, {}), reading, limit, seed)
        for metric, value in (
            ("unread_share", reading.unread / reading.units if reading.units else math.nan),
            ("lines_accounted_for", reading.taken / reading.units if reading.units else math.nan),
            ("files", reading.files),
            ("source_lines", reading.units),
            ("seconds", round(reading.seconds, 3)),
        ):
            rows.append(figure_row(what, metric, (value, reading.units)))
    return rows


def _accounted_rows(data: Path) -> list[Row]:
    """For files that are not judged against another reading: what share of them is accounted for, and unread."""
    rows: list[Row] = []
    others = [path for pattern in OTHER_FILES for path in sorted(data.glob(pattern))]
    for path in [folder_of(data) / PREPARED, *others]:
        file = f"{path.parent.name}/{path.name}"
        source = SourceFile(path)
        begun = time.process_time()
        counted = Counter[str]()
        try:
            reader = reader_of(source)
            for event in reader.events(source):
                counted[type(event).__name__] += getattr(event, "units", 0)
        except InputError as error:
            rows.append(figure_row({"reader": None, "file": file}, "lines_accounted_for", error.message))
            continue
        what = {"reader": reader.name, "file": file}
        seconds = round(time.process_time() - begun, 3)
        rows.append(figure_row(what, "unread_share", (counted["Unread"] / source.units, source.units)))
        rows.append(figure_row(what, "lines_accounted_for", (counted.total() / source.units, source.units)))
        rows.append(figure_row(what, "seconds", (seconds, source.units)))
    return rows


def _judged(
    what: Row, theirs: dict[tuple[int, ...], Episode], reading: ShowReading, limit: int | None, seed: int
) -> list[Row]:
    both = sorted(numbers for numbers in theirs if numbers in reading.episodes)
    both = sampled(both, limit, seed)
    missing = sorted(set(theirs) - set(reading.episodes))
    if not both:
        reason = "none of the prepared episodes is among the raw transcripts"
        return [figure_row(what, metric, reason) for metric in ("line_speaker_match", "scene_start_f1")]
    table = np.array([_counts(theirs[numbers], reading.episodes[numbers]) for numbers in both], dtype=float)
    rows = [_match(what, table, seed)]
    worded_alike = table[:, 5] >= SAME_WORDING * table[:, 1]
    if not worded_alike.all() and worded_alike.any():
        rows.append(
            _match({**what, "condition": "without episodes prepared from another wording"}, table[worded_alike], seed)
        )
    if what["show"] in NO_SCENES:
        rows.append(figure_row(what, "scene_start_f1", NO_SCENES[what["show"]]))
    else:
        rows.append(_starts(what, table, seed))
        parted = (table[:, 3] > 1) | (table[:, 4] < MANY_SCENES)
        if not parted.all() and parted.any():
            rows.append(_starts({**what, "condition": "without episodes prepared as one scene"}, table[parted], seed))
    for (season, number), line in zip(both, table):
        keys = {**what, "episode": f"{season:02}x{number:02}"}
        rows.append(figure_row(keys, "line_speaker_match", (float(line[0] / line[1]), int(line[1]))))
    rows += [
        figure_row({**what, "episode": f"{a:02}x{b:02}"}, "line_speaker_match", "no raw transcript of this episode")
        for a, b in missing
    ]
    return rows


def _counts(theirs: Episode, ours: Episode) -> tuple[int, ...]:
    """Lines matched, lines there are, scene starts in common, theirs, ours, and lines matched whoever says them."""
    return (
        len(aligned(theirs.lines, ours.lines)),
        len(theirs.lines),
        common_starts(theirs, ours),
        len(theirs.scene_starts),
        len(ours.scene_starts),
        len(aligned(theirs.lines, ours.lines, same_speaker=False)),
    )


def _match(what: Row, table: Table, seed: int) -> Row:
    figure = totals_interval(table[:, :2], lambda totals: totals[..., 0] / totals[..., 1], seed=seed)
    return figure_row(what, "line_speaker_match", (figure, int(table[:, 1].sum())))


def _starts(what: Row, table: Table, seed: int) -> Row:
    """F1 over the episodes: those in common against ours and theirs together."""
    starts = table[:, 2:5]
    figure = totals_interval(starts, lambda totals: 2 * totals[..., 0] / (totals[..., 1] + totals[..., 2]), seed=seed)
    return figure_row(what, "scene_start_f1", (figure, int(table[:, 3].sum())))
