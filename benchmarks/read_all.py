"""All raw transcripts of a data folder, read into stories in one process: time and memory.

python benchmarks/read_all.py DIR      DIR has tvshowguess/transcripts
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from understudy.formats import read


def main(data: Path) -> None:
    total_lines, begun = 0, time.process_time()
    for path in sorted((data / "tvshowguess" / "transcripts").iterdir()):
        start = time.process_time()
        story = read(sorted(path.iterdir()) if path.is_dir() else path)
        scenes, lines = story.count()
        units = sum(counts.units for counts in story.files())
        total_lines += units
        seconds = time.process_time() - start
        print(f"{path.stem:22} {units:9,} source lines {scenes:7,} scenes {lines:9,} lines {seconds:6.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'all':22} {total_lines:9,} source lines {time.process_time() - begun:40.1f} s   peak {peak:,.0f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
