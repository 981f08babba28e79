"""A story in the figures with which HPD describes its own: dialogues, turns, speakers, words, and what is annotated.

    dialogue   a scene in which somebody speaks; its turns are the lines said in it
    speakers   those who speak in it; `present` counts those who say nothing as well
    word       what the language's tokenizer takes for one, in lower case
    chapter    what the levels above the scenes name; where there are none, a scene
    change     an attribute or tie that begins, ends or is another than at the end of the chapter before; what holds
               in the first chapter has not changed

Annotated is what an author wrote; what `draft` found in the text is counted apart. Scenes are read one by one, so a
large story takes no more memory than a small one, but for its vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from understudy.errors import MissingExtra
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Moment, Relation, holding_at
from understudy.text import tokenizer

STEP = 200  # scenes between two reports of progress
D = TypeVar("D", Fact, Relation)


@dataclass(slots=True)
class Spread:
    """Mean, smallest and largest of numbers that are added one by one."""

    n: int = 0
    total: int = 0
    least: int | None = None
    most: int | None = None

    def add(self, number: int) -> None:
        self.n += 1
        self.total += number
        self.least = number if self.least is None else min(self.least, number)
        self.most = number if self.most is None else max(self.most, number)

    def document(self) -> dict[str, Any]:
        mean = round(self.total / self.n, 2) if self.n else None
        return {"mean": mean, "min": self.least, "max": self.most}


@dataclass(frozen=True, slots=True)
class Annotations:
    """All attributes, or all ties, of one name: how many entries, of how many people, how often they change."""

    entries: int
    people: int
    changes: int


@dataclass(frozen=True, slots=True)
class ChapterAnnotations:
    """What holds at the end of a chapter, and how much of it has changed since the one before."""

    chapter: str
    dialogues: int
    attributes: int
    attribute_changes: int
    relations: int
    relation_changes: int


@dataclass(slots=True)
class CorpusStatistics:
    title: str
    scenes: int = 0
    turns: Spread = field(default_factory=Spread)
    speakers: Spread = field(default_factory=Spread)
    present: Spread = field(default_factory=Spread)
    characters: int = 0
    speaking_characters: int = 0
    words: Spread = field(default_factory=Spread)
    distinct_words: int | None = 0
    no_words: str = ""
    """Why words could not be counted; blank where they were."""
    attributes: dict[str, Annotations] = field(default_factory=dict)
    relations: dict[str, Annotations] = field(default_factory=dict)
    found: tuple[int, int] = (0, 0)
    """Attributes and ties that were found in the text."""
    chapters: list[ChapterAnnotations] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "scenes": self.scenes,
            "dialogues": self.turns.n,
            "turns": self.turns.document(),
            "speakers": self.speakers.document(),
            "present": self.present.document(),
            "characters": self.characters,
            "speaking_characters": self.speaking_characters,
            "utterances": self.turns.total,
            "words": self.words.document() | ({"reason": self.no_words} if self.no_words else {}),
            "distinct_words": self.distinct_words,
            "attributes": {name: asdict(counts) for name, counts in self.attributes.items()},
            "relations": {name: asdict(counts) for name, counts in self.relations.items()},
            "found": {"attributes": self.found[0], "relations": self.found[1]},
            "chapters": [asdict(chapter) for chapter in self.chapters],
        }


def corpus_statistics(story: Story, progress: Progress = ignore_progress) -> CorpusStatistics:
    statistics = CorpusStatistics(story.title)
    dialogues = _count_talk(story, statistics, progress)
    cast = story.cast()
    statistics.characters = len(cast)
    statistics.speaking_characters = sum(member.lines > 0 for member in cast)
    facts, ties = story.annotated_facts(), story.annotated_relations()
    statistics.found = len(story.facts()) - len(facts), len(story.relations()) - len(ties)
    ends = _chapter_ends(story, [*facts, *ties])
    moments = [end for _, end in ends]
    fact_courses, fact_changes = _changes(facts, moments, lambda fact: (fact.attribute, fact.values))
    tie_courses, tie_changes = _changes(ties, moments, lambda tie: (tie.kind, tie.level))
    statistics.chapters = [
        ChapterAnnotations(chapter.dotted, dialogues[chapter.numbers], *of_facts, *of_ties)
        for (chapter, _), of_facts, of_ties in zip(ends, fact_courses, tie_courses)
    ]
    statistics.attributes = {
        name: Annotations(len(own), len({fact.who for fact in own}), fact_changes[name])
        for name, own in _by_name(facts, lambda fact: fact.attribute).items()
    }
    statistics.relations = {
        name: Annotations(len(own), len({tie.of for tie in own}), tie_changes[name])
        for name, own in _by_name(ties, lambda tie: tie.kind).items()
    }
    return statistics


def _count_talk(story: Story, statistics: CorpusStatistics, progress: Progress) -> Counter[tuple[int, ...]]:
    """Count what is said, scene by scene; how many dialogues each chapter has."""
    words = _words(story.language, statistics)
    vocabulary: set[str] = set()
    dialogues: Counter[tuple[int, ...]] = Counter()
    total, _ = story.count()
    for scene in story.scenes():
        statistics.scenes += 1
        if statistics.scenes % STEP == 0:
            progress("Reading scenes", statistics.scenes, total)
        said = [(line.speaker, line.text) for line in scene.lines if line.speaker is not None]
        if not said:
            continue
        dialogues[_chapter_of(scene.moment).numbers] += 1
        statistics.turns.add(len(said))
        statistics.speakers.add(len({speaker for speaker, _ in said}))
        statistics.present.add(len({*scene.present, *(speaker for speaker, _ in said)}))
        if words is not None:
            for _, text in said:
                tokens = words(text)
                statistics.words.add(len(tokens))
                vocabulary.update(tokens)
    statistics.distinct_words = None if words is None else len(vocabulary)
    return dialogues


def _words(language: str, statistics: CorpusStatistics) -> Callable[[str], list[str]] | None:
    try:
        return tokenizer(language)
    except MissingExtra as error:
        statistics.no_words = str(error)
        return None


def _chapter_of(scene: Moment) -> Moment:
    return Moment(scene.numbers[:-1] or scene.numbers, scene.levels)


def _chapter_ends(story: Story, dated: Sequence[Fact | Relation]) -> list[tuple[Moment, Moment]]:
    """Each chapter with the moment of its last line; where there are no scenes, of the last change in it."""
    ends: dict[Moment, Moment] = {}
    for scene, _, lines in story.outline():
        ends[_chapter_of(scene)] = Moment((*scene.numbers, lines), scene.levels) if lines else scene
    if not ends:
        above_scenes = max(len(story.levels) - 2, 1)
        for since in sorted(item.since for item in dated):
            ends[Moment(since.numbers[:above_scenes], story.levels)] = since
    return list(ends.items())


def _changes(
    dated: Sequence[D], ends: Sequence[Moment], name_and_value: Callable[[D], tuple[str, object]]
) -> tuple[list[tuple[int, int]], Counter[str]]:
    """How many hold at the end of each chapter and how many have changed; how often those of each name change."""
    before: dict[tuple[str, ...], tuple[str, object]] | None = None
    courses: list[tuple[int, int]] = []
    by_name: Counter[str] = Counter()
    for end in ends:
        now: dict[tuple[str, ...], tuple[str, object]] = {
            item.key: name_and_value(item) for item in holding_at(dated, end)
        }
        then = now if before is None else before
        changed = [key for key in {**then, **now} if then.get(key) != now.get(key)]
        by_name.update((now.get(key) or then[key])[0] for key in changed)
        courses.append((len(now), len(changed)))
        before = now
    return courses, by_name


def _by_name(dated: Sequence[D], name: Callable[[D], str]) -> dict[str, list[D]]:
    """Entries of one name together, the most frequent first."""
    groups: dict[str, list[D]] = {}
    for item in dated:
        groups.setdefault(name(item), []).append(item)
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))
