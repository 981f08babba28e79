"""What people needed to tell who a masked speaker is: tables of tab-separated values, one masked speaker a line.

    Episode <tab> need history <tab> Facts abstracted from memory <tab> Character Code <tab> Guessed Character Name
            <tab> Evidence-a1 .. a3 <tab> Reasoning Type <tab> Evidence-b1 ..

'Episode' holds the episode and the scene ('09x01 2500'). Each letter of evidence is a way to tell by itself: `a` is the
way taken, the others would have done as well. History is needed directly (an event of an earlier scene), indirectly
(only what can be abstracted from earlier scenes), or not at all. Where several kinds of evidence are joined and no
kind of reasoning is named, it is their conjunction. The name that was guessed may be left out; a remark in brackets
after it is no part of it.

Codes count the speakers of a scene in the order of their first lines, but not always. The scenes as they were shown may
lie beside the table, by the same name with the ending .raw: from their texts the order is taken where they are there.

Which earlier scenes were needed may stand in a file of its own, as JSON Lines, one masked speaker a line:

    {"show": "FRIENDS", "episode": "09x01", "scene": 2510, "place": 0, "needed": [2501, 2504]}

`place` counts the masked speakers of a scene in the order of their first lines, from 0. Scenes go by numbers that
no other scene of the show has; a study writes their whole `moments` as well, which are not read. Where the show is left
out, it is any that has such a scene.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from understudy.errors import InputError
from understudy.formats.tvshowguess import EPISODE
from understudy.sources.jsonstream import json_lines
from understudy.sources.source import SourceFile

EVIDENCE: Mapping[str, Sequence[str]] = {
    "linguistic style": ("linguisticstyle", "lingstyle"),
    "personality": ("personality",),
    "fact (attribute)": ("factattribute", "factattributes"),
    "fact (relation)": ("factrelation", "factrelations", "factrelationship"),
    "fact (status)": ("factstatus",),
    "memory": ("memory", "historyevent", "historyevents"),
    "inside-scene (background)": ("insidescenebackground",),
    "inside-scene (mention)": ("insidescenemention",),
    "exclusion": ("exclusion", "exclusive", "insidesceneexclusive", "insidesceneexclusion"),
}
"""Kinds of evidence, and how they are spelt when everything but letters is left out."""

COARSE = tuple(dict.fromkeys(kind.partition(" (")[0] for kind in EVIDENCE))
"""Exclusion stays a kind of its own: it tells nothing by itself, other than what is said inside the scene."""

HISTORY = ("none", "direct", "indirect")

REASONING: Mapping[str, Sequence[str]] = {
    "none": ("no", "none"),
    "default conjunction": ("default", "defaultconjunction"),
    "multihop-character": ("multihopcharacter", "multihoponcharacters"),
    "multihop-textual": ("multihoptextual", "multihoptext"),
    "commonsense": ("commonsense",),
}
ANSWERS: Mapping[str, Sequence[str]] = {"yes": ("yes", "y"), "no": ("no", "n")}

NEEDED = {
    "Episode": ("episode",),
    "need history": ("needhistory", "needhistoryevent", "needshistory"),
    "Facts abstracted from memory": ("factsabstractedfrommemory",),
    "Character Code": ("charactercode",),
}
GUESS = ("guessedcharactername", "guessedcharacter")
REMARK = re.compile(r"\s*\([^)]*\)\s*$")
EVIDENCE_HEAD = re.compile(r"evidence\W*([a-z])\W*\d*", re.IGNORECASE)
SCENE = re.compile(rf"\s*{EPISODE.pattern}\s+(\d{{1,9}})(?!\d)", re.IGNORECASE)
CODE = re.compile(r"p(\d{1,3})", re.IGNORECASE)
SAYS = re.compile(r"\bP(\d{1,3}) *:")


class Instance(NamedTuple):
    """One masked speaker of one scene; `place` counts them by their first lines, from 0."""

    episode: tuple[int, ...]
    scene: int
    place: int


ShowInstance = tuple[str, Instance]
"""A masked speaker among those of several shows; the show is blank where it is not said."""


class Rationale(NamedTuple):
    """One way to tell who it is: kinds of evidence, each once, and how they are put together."""

    evidence: tuple[str, ...]
    reasoning: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """What telling one masked speaker took; `source` is the name of the table."""

    source: str
    instance: Instance
    needs_history: str
    rationales: tuple[Rationale, ...]
    """The way that was taken, then others that would have done."""
    guess: str = ""
    """Whom the annotator took the speaker for, where the table says."""

    @property
    def evidence(self) -> tuple[str, ...]:
        return self.rationales[0].evidence

    @property
    def coarse_evidence(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(kind.partition(" (")[0] for kind in self.evidence))

    @property
    def reasoning(self) -> str:
        return self.rationales[0].reasoning


def read_annotations(path: Path) -> list[Annotation]:
    """The annotations of a table, or of all tables (*.tsv) of a folder."""
    if not path.is_dir():
        return list(_read(path))
    tables = sorted(path.glob("*.tsv"))
    if not tables:
        raise InputError("holds no tables of annotations (*.tsv)", path)
    return [annotation for table in tables for annotation in _read(table)]


def _read(path: Path) -> Iterator[Annotation]:
    source = SourceFile(path)
    rows = _rows(source, "\t")
    number, heads = next(rows, (1, []))
    columns = _columns(source, number, heads)
    shown = _shown(path.with_suffix(".raw"))
    seen: set[Instance] = set()
    for number, row in rows:
        cells = _Cells(source, number, [*row, *[""] * (len(heads) - len(row))])
        instance = _placed(cells.instance(columns.needed["Episode"], columns.needed["Character Code"]), shown)
        if instance in seen:
            cells.refuse("says the same speaker of the same scene twice")
        seen.add(instance)
        direct = cells.choice(ANSWERS, columns.needed["need history"]) == "yes"
        abstracted = cells.choice(ANSWERS, columns.needed["Facts abstracted from memory"]) == "yes"
        candidates = [cells.rationale(*columns_of) for columns_of in columns.rationales]
        rationales = tuple(rationale for rationale in candidates if rationale.evidence)
        if not candidates[0].evidence:
            cells.refuse("names no evidence under 'Evidence-a1': say what kind it was")
        needs = "direct" if direct else "indirect" if abstracted else "none"
        guess = "" if columns.guess is None else REMARK.sub("", cells.cells[columns.guess]).strip()
        yield Annotation(path.stem, instance, needs, rationales, guess)


class _TableColumns(NamedTuple):
    needed: Mapping[str, int]
    rationales: Sequence[tuple[Sequence[int], int | None]]
    """For each letter, the columns of its evidence and of its reasoning."""
    guess: int | None


def _columns(source: SourceFile, line: int, heads: Sequence[str]) -> _TableColumns:
    """Columns by their heads; a 'Reasoning Type' belongs to the evidence before it."""
    headings = [_letters(head) for head in heads]
    needed = {
        head: next((index for index, letters in enumerate(headings) if letters in spellings), -1)
        for head, spellings in NEEDED.items()
    }
    evidence: dict[str, list[int]] = {}
    reasoning: dict[str, int] = {}
    for index, head in enumerate(heads):
        if match := EVIDENCE_HEAD.fullmatch(head.strip()):
            evidence.setdefault(match[1].lower(), []).append(index)
        elif headings[index].startswith("reasoning") and evidence:
            reasoning[list(evidence)[-1]] = index
    missing = [head for head, index in needed.items() if index < 0] + ([] if evidence else ["Evidence-a1"])
    if missing:
        raise source.error(f"has no column {', '.join(map(repr, missing))}: the first line should name them", line)
    guess = next((index for index, letters in enumerate(headings) if letters in GUESS), None)
    rationales = [(indexes, reasoning.get(letter)) for letter, indexes in evidence.items()]
    return _TableColumns(needed, rationales, guess)


class _Cells(NamedTuple):
    """A line of the table, with where it stands."""

    source: SourceFile
    line: int
    cells: Sequence[str]

    def refuse(self, message: str) -> NoReturn:
        raise self.source.error(message, self.line)

    def instance(self, scene: int, code: int) -> Instance:
        at, who = SCENE.fullmatch(self.cells[scene].rstrip()), CODE.fullmatch(self.cells[code].strip())
        if at is None:
            self.refuse(f"'Episode' is {self.cells[scene]!r:.40}: it should name episode and scene, as '09x01 2500'")
        if who is None:
            self.refuse(f"'Character Code' is {self.cells[code]!r:.40}: it should be P0, P1, ...")
        return Instance((int(at[1]), int(at[2])), int(at[3]), int(who[1]))

    def choice(self, allowed: Mapping[str, Sequence[str]], column: int) -> str:
        spelling = _letters(self.cells[column])
        choice = next((name for name, spellings in allowed.items() if spelling in spellings), None)
        if choice is None:
            self.refuse(f"{self.cells[column]!r:.60} is none of {', '.join(allowed)}")
        return choice

    def rationale(self, evidence: Iterable[int], reasoning: int | None) -> Rationale:
        kinds = tuple(dict.fromkeys(self.choice(EVIDENCE, column) for column in evidence if self.cells[column].strip()))
        if reasoning is not None and self.cells[reasoning].strip():
            return Rationale(kinds, self.choice(REASONING, reasoning))
        return Rationale(kinds, "default conjunction" if len(kinds) > 1 else "none")


def _shown(path: Path) -> dict[tuple[tuple[int, ...], int], list[int]]:
    """The codes of each scene that was shown, in the order of their first lines; nothing without such a file."""
    if not path.is_file():
        return {}
    source = SourceFile(path)
    rows = _rows(source, ",")
    number, heads = next(rows, (1, []))
    if "Scene" not in heads:
        raise source.error("has no column 'Scene': the first line should name it", number)
    codes: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for number, row in rows:
        text = row[heads.index("Scene")] if len(row) > heads.index("Scene") else ""
        at = SCENE.match(text)
        if at is None:
            raise source.error("'Scene' should begin with episode and scene, as '09x01 2500'", number)
        codes[(int(at[1]), int(at[2])), int(at[3])] = list(dict.fromkeys(map(int, SAYS.findall(text))))
    return codes


def _placed(coded: Instance, shown: Mapping[tuple[tuple[int, ...], int], Sequence[int]]) -> Instance:
    """By first lines; whoever has no line in the scene that was shown comes after all who have."""
    codes = shown.get((coded.episode, coded.scene))
    if codes is None:
        return coded
    return coded._replace(place=codes.index(coded.place) if coded.place in codes else len(codes) + coded.place)


def _rows(source: SourceFile, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Lines with their numbers, without those that are blank."""
    reader = csv.reader((f"{text}\n" for _, text in source.lines()), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise source.error(f"is no table of values: {error}", reader.line_num) from error


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).casefold()


def read_needed_scenes(path: Path) -> dict[ShowInstance, frozenset[int]]:
    """The numbers of the scenes that each speaker took; empty where history was not needed."""
    source = SourceFile(path)
    needed_scenes: dict[ShowInstance, frozenset[int]] = {}
    for location, record in json_lines(source):
        match record:
            case {"episode": str(episode), "scene": scene, "place": place, "needed": list(needed)}:
                at = EPISODE.fullmatch(episode.strip())
            case _:
                raise source.error("should be an object with 'episode', 'scene', 'place' and 'needed'", location.line)
        if at is None:
            raise source.error(f"'episode' is {episode!r:.40}: it should look like '09x01'", location.line)
        if not all(_is_count(number) for number in (scene, place, *needed)):
            raise source.error(
                "'scene', 'place' and all that is 'needed' should be whole numbers from 0", location.line
            )
        show = record.get("show", "")
        if not isinstance(show, str):
            raise source.error("'show' should be the name of a show", location.line)
        speaker = show, Instance((int(at[1]), int(at[2])), scene, place)
        if speaker in needed_scenes:
            raise source.error("says the same speaker of the same scene twice", location.line)
        needed_scenes[speaker] = frozenset(needed)
    return needed_scenes


def _is_count(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


# Whom people took masked speakers for: JSON lines, one person's guess of one speaker a line.
#
#     {"show": "friends", "episode": [9, 1], "scene": 2500, "place": 0, "who": "Joey", "guess": "Ross", "person": "p1"}
#
# `place` counts as above. Names are those that the person was shown; `who` is the right one of them.


@dataclass(frozen=True, slots=True)
class SpeakerGuess:
    show: str
    episode: tuple[int, ...]
    scene: int
    place: int
    who: str
    guess: str
    person: str


def guess_documents(guesses: Iterable[SpeakerGuess]) -> list[dict[str, object]]:
    """What `read_speaker_guesses` reads, an object a line."""
    return [{**asdict(guess), "episode": list(guess.episode)} for guess in guesses]


def read_speaker_guesses(path: Path) -> list[SpeakerGuess]:
    source = SourceFile(path)
    guesses = []
    seen: set[tuple[object, ...]] = set()
    for location, record in json_lines(source):
        match record:
            case {
                "show": str(show), "episode": [*episode], "scene": int(scene), "place": int(place), "who": str(who),
                "guess": str(guess), "person": str(person),
            } if all(isinstance(number, int) for number in episode) and who and guess:  # fmt: skip
                read = SpeakerGuess(show, tuple(episode), scene, place, who, guess, person)
            case _:
                message = "should be an object with show, episode, scene, place, who, guess and person"
                raise source.error(f"{message}: `study results --format answers` writes them", location.line)
        key = (read.show, read.episode, read.scene, read.place, read.person)
        if key in seen:
            raise source.error(f"has a second guess of {person} about the same speaker", location.line)
        seen.add(key)
        guesses.append(read)
    if not guesses:
        raise source.error("holds no guess")
    return guesses
