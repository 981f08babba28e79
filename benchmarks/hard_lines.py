"""Shows a seeded sample of hard transcript lines and what the reader made of them, to be read by a person.

    python benchmarks/hard_lines.py DATA/tvshowguess/transcripts [--count 200] [--seed 0]

A line is hard if it is not simply a frequent name, a colon and words, a direction in closed brackets, a marked scene
or a credit. The sample takes the same number from each kind of hardness, over all shows.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from understudy.formats.transcript import reading as transcript
from understudy.formats.transcript.headings import is_boilerplate, is_scene_mark, split_page_text
from understudy.formats.transcript.labels import (
    FREQUENT,
    KNOWN,
    TextLine,
    TranscriptStatistics,
    collect_statistics,
    read_label,
)
from understudy.sources import Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.directions import OPENERS, WHOLE, ends_open
from understudy.sources.source import SourceFile


def kind_of(line: TextLine, stats: TranscriptStatistics) -> str | None:
    """What makes the line hard, or None."""
    text = line.text
    if len(split_page_text(text)) > 1:
        return "glued"
    if is_boilerplate(text) or is_scene_mark(text) or WHOLE.fullmatch(text.rstrip(" .")):
        return None
    if ends_open(text):
        return "bracket left open"
    if stats.plain_speech(text):
        return None
    label = read_label(text)
    if label is None:
        if text[0] in OPENERS:
            return "direction and more"
        return "no label, wrapped text" if stats.full_length else "no label"
    if len(stats.speakers(label.name)) > 1:
        return "joint label"
    if label.head != label.name:
        return "label with a note"
    if stats.count(label.name) < KNOWN:
        return "label seen once"
    return "rare label" if stats.count(label.name) < FREQUENT else "several colons"


def hard_lines(file: Path) -> Iterator[tuple[str, TextLine, list[str]]]:
    lines = list(transcript.text_lines(SourceFile(file)))
    stats = collect_statistics(iter(lines))
    made: dict[int, list[str]] = defaultdict(list)
    for event in transcript.events(SourceFile(file)):
        if not isinstance(event, Opening):
            made[event.source.line].append(told(event))
    numbers = sorted(made)
    for line in lines:
        if kind := kind_of(line, stats):
            start = max((number for number in numbers if number <= line.number), default=0)
            yield kind, line, made[start]


def told(event: Event) -> str:
    match event:
        case Speech(speakers=speakers, text=text):
            return f"SPEECH {' + '.join(speakers)}: {text}"
        case Description(text=text):
            return f"DIRECTION {text}"
        case SceneStart(setting=setting, present=present):
            return f"SCENE {setting} | {', '.join(present)}"
        case Heading(title=title):
            return f"HEADING {title}"
        case Unread(text=text, reason=reason):
            return f"UNREAD ({reason}) {text}"
    return type(event).__name__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds: dict[str, list[tuple[str, TextLine, list[str]]]] = defaultdict(list)
    for folder in sorted(path for path in options.transcripts.iterdir() if path.is_dir()):
        for file in sorted(folder.iterdir()):
            for kind, line, made in hard_lines(file):
                kinds[kind].append((f"{folder.name}/{file.name}", line, made))
    chance = random.Random(options.seed)
    left, number = options.count, 0
    for rank, kind in enumerate(sorted(kinds, key=lambda kind: len(kinds[kind]))):
        share = min(len(kinds[kind]), left // (len(kinds) - rank))
        left -= share
        print(f"\n## {kind}: {share} of {len(kinds[kind])}")
        for name, line, made in chance.sample(kinds[kind], share):
            number += 1
            print(f"\n{number}. {name}:{line.number}  {line.text[:300]}")
            for one in made:
                print(f"    -> {one[:400]}")


if __name__ == "__main__":
    main()
