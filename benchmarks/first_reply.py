"""The first reply of somebody with a long past, from an open story file to the reply, each time in a fresh process.

    python benchmarks/first_reply.py DATA [--who Rachel] [--times 3]

DATA has tvshowguess/. Cold is with an empty cache of encodings, warm with everything in it. The obvious way encodes the
character's whole past before it answers; ours answers from what shares words with the message, and encodes the rest in
the background. 'whole' is how long until the whole past is used, while a message comes every second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from understudy.formats import read

ONE = """
import json, resource, sys, time
from contextlib import nullcontext
from pathlib import Path
from understudy.agents import agent_named
from understudy.story.dialogue import Turn, situation_at
from understudy.language.encoding.cache import encoding_at_once
from understudy.story.storyfile import Story

path, who, way, until = sys.argv[1:]
start = time.perf_counter()
with encoding_at_once() if way == "obvious" else nullcontext():
    situation = situation_at(Story.open(Path(path)), who, "end")
    agent = agent_named("encoder")
    reply = agent.reply(situation, [Turn("User", "Do you remember when we first met?")])
first = time.perf_counter() - start
while until == "whole" and any(item.kind == "notice" for item in reply.evidence):
    time.sleep(1)
    reply = agent.reply(situation, [Turn("User", "Do you remember when we first met?")])
whole = time.perf_counter() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
lines = len(situation.persona.past)
print(json.dumps({"first": first, "whole": whole, "memory": memory, "reply": reply.text, "lines": lines}))
"""


def one(story: Path, who: str, way: str, cache: str, until: str = "first") -> dict[str, float]:
    env = os.environ | {"UNDERSTUDY_CACHE": cache}
    command = [sys.executable, "-c", ONE, str(story), who, way, until]
    document: dict[str, float] = json.loads(subprocess.run(command, env=env, capture_output=True, check=True).stdout)
    return document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--who", default="Rachel")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        story = Path(folder) / "friends.story"
        read(sorted((options.data / "tvshowguess" / "transcripts" / "friends").glob("*.html")), story)
        rows = list[tuple[str, list[dict[str, float]]]]()
        for way in ("obvious", "ours"):
            cold = [one(story, options.who, way, f"{folder}/{way}-{number}") for number in range(options.times)]
            rows.append((f"{way}, cold", cold))
        behind = one(story, options.who, "ours", f"{folder}/behind", "whole")
        for way in ("obvious", "ours"):
            rows.append(
                (f"{way}, warm", [one(story, options.who, way, f"{folder}/obvious-0") for _ in range(options.times)])
            )
    lines = rows[0][1][0]["lines"]
    print(f"{options.who} at the end of Friends, {lines:,} lines of their own; medians of {options.times}\n")
    for name, runs in rows:
        seconds, memory = (statistics.median(run[key] for run in runs) for key in ("first", "memory"))
        print(f"{name:16} {seconds:6.2f} s   {memory:5.0f} MB   {runs[0]['reply']}")
    medians = {name: statistics.median(run["first"] for run in runs) for name, runs in rows}
    print(
        f"\nours takes {medians['ours, cold'] / medians['obvious, cold']:.3f} of the obvious way's time, cold; goal 2 s"
    )
    print(f"the whole past is used after {behind['whole']:.0f} s, {behind['memory']:.0f} MB: {behind['reply']}")


if __name__ == "__main__":
    main()
