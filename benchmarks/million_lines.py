"""A story of a million lines: reading it, opening it, and a first look at one character at one moment.

    python benchmarks/million_lines.py [LINES]

The obvious way, in the same run: a program that loads all lines into a list and filters it.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from understudy.formats import read
from understudy.story.persona import persona_at
from understudy.story.storyfile import Story

CAST = ["Ann Archer", "Bob Baker", "Cyril Cope", "Dora Dunn", "Edie East", "Fred Fuller", "Gil Gray", "Hana Hill"]
WORDS = "the tide was out and nobody came down to the quay but Ann who had lost her key again last night".split()


def write_script(path: Path, lines: int) -> None:
    chance = random.Random(0)
    with path.open("w") as file:
        written = part = chapter = scene = 0
        while written < lines:
            if written % 100_000 == 0:
                part, chapter = part + 1, 0
                file.write(f"# part {part}: Part {part}\n")
            if written % 2_000 == 0:
                chapter, scene = chapter + 1, 0
                file.write(f"## chapter {chapter}: Chapter {chapter}\n")
            scene += 1
            present = chance.sample(CAST, 4)
            file.write(f"### scene {scene}: The quay\nPresent: {', '.join(present)}\n")
            for _ in range(20):
                file.write(f"{chance.choice(present)}: {' '.join(chance.choices(WORDS, k=12))} {written}.\n")
                written += 1


def timed(times: int, work: object) -> float:
    """Median milliseconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()  # type: ignore[operator]
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def look(path: Path) -> None:
    """What a command does: open, one persona in the middle, a first look at its memory."""
    story = Story.open(path)
    persona = persona_at(story, "Ann Archer", "5.20")
    persona.past.lines(last=20)
    list(persona.past.scenes(last=3))


def obvious(path: Path) -> int:
    lines = [line for scene in Story.open(path).scenes() for line in scene.lines]
    at = Story.open(path).moment("5.20")
    return len([line for line in lines if line.moment < at and line.speaker == "Ann Archer"])


def main(lines: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        script, path = Path(folder) / "long.txt", Path(folder) / "long.story"
        write_script(script, lines)
        start = time.perf_counter()
        read(script, path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"read {lines:,} lines     {time.perf_counter() - start:8.1f} s   peak {peak:,.0f} MB")
        print(f"file                     {path.stat().st_size / 1e6:8.1f} MB")
        print(f"open                     {timed(9, lambda: Story.open(path)):8.1f} ms")
        story = Story.open(path)
        print(f"persona_at               {timed(9, lambda: persona_at(story, 'Ann Archer', '5.20')):8.1f} ms")
        both = timed(9, lambda: look(path))
        print(f"open, persona_at, look   {both:8.1f} ms")
        run = subprocess.run([sys.executable, __file__, str(path)], capture_output=True, text=True, check=True)
        print(f"memory of such a look    {int(run.stdout):8d} MB   in a process of its own")
        slow = timed(1, lambda: obvious(path))
        print(f"load all and filter      {slow:8.1f} ms   {slow / both:,.0f} times as long")


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].endswith(".story"):
        look(Path(sys.argv[1]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
