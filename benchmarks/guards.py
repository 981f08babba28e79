"""How often each guard stops what a character really said: its false alarms.

    python benchmarks/guards.py STORY [--who NAME ...] [--limit N] [--capable]

Each line is judged as a writer's draft right after it was said, before whoever had spoken to the character.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter

from understudy.errors import UnderstudyError
from understudy.formats import read
from understudy.judging.guards import StoryViews, all_guards, stopping_guards
from understudy.story.dialogue import Draft, Turn, situation_at
from understudy.story.types import Moment


def _after(moment: Moment) -> Moment:
    return Moment((*moment.numbers[:-1], moment.numbers[-1] + 1), moment.levels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("story")
    parser.add_argument("--who", action="append")
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--main", type=int, default=6, help="how many of those who speak most")
    parser.add_argument("--capable", action="store_true", help="only the guards that stop a capable writer")
    parser.add_argument("--show", help="print what this guard stops")
    options = parser.parse_args()
    story = read(options.story)
    views = StoryViews(lambda _: [story])
    guards = stopping_guards(views) if options.capable else all_guards(views)
    people = options.who or [member.character.name for member in story.cast()[: options.main]]
    stopped, judged, any_stopped = Counter[str](), 0, 0
    for name in people:
        who = story.character(name).name
        exchanges = list(story.past(who, story.moment("end"), {}).exchanges())
        for exchange in random.Random(0).sample(exchanges, min(options.limit, len(exchanges))):
            heard = exchange.heard
            facing = None if heard is None else heard.speaker
            try:
                situation = situation_at(story, who, _after(exchange.said.moment), facing)
            except UnderstudyError:
                continue
            history = () if heard is None else (Turn(heard.speaker or "", heard.text),)
            draft = Draft(exchange.said.text.strip(), "writer")
            judged += 1
            names = set()
            for guard in guards:
                verdict = guard(situation, history, draft)
                if not verdict.passed:
                    names.add(verdict.guard)
                    if options.show == verdict.guard:
                        print(f"{who}@{exchange.said.moment.dotted} -> {facing}: {verdict.reason}: {draft.text[:200]}")
            stopped.update(names)
            any_stopped += bool(names)
    rates = {name: round(count / judged, 4) for name, count in stopped.most_common()}
    print(json.dumps({"story": story.title, "lines": judged, "any": round(any_stopped / judged, 4), "guards": rates}))


if __name__ == "__main__":
    main()
