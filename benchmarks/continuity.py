"""What `understudy continuity` finds of planted faults, and how often it is wrong: docs/notes/continuity.md.

    python benchmarks/continuity.py [DATA] [--plants 40] [--seed 0] [--json]

Each fault is one line, put into a copy of the story that comes with the package; found is a fault of its kind at that
line. All that is found in the stories as they are counts as a false alarm: in the package's own, and with DATA in
Friends and three plays of Shakespeare, which are measured on and no more.

    unknown     a name or thing that was brought up, said by somebody who was never there and whom no fact or tie tells
    beginning   the same, of what came up in the story's first tenth: there the world is told, which many know already
    early       the same, before anybody has brought it up, by somebody who is not there when they do
    gone        'I have' with a thing of theirs that ended or was replaced
    dead        a line of somebody's own, after their death
    absent      a line of somebody's own, in a scene that they have left
    met         a greeting of a first meeting to the only one there, with whom they have talked before
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from understudy.formats import embedded, read
from understudy.metrics import interval
from understudy.people.continuity import check_continuity
from understudy.people.continuity.scenes import WatchedScene, watched_scenes
from understudy.progress import ignore_progress
from understudy.story.persona import died_at
from understudy.story.storyfile import Story
from understudy.story.types import Line, holding_at

LEAST, BEGINNING = 0.5, 0.1
ASKING = ("And what of {}?", "It all comes back to {}, I think.", "I lay awake thinking of {}.")
HAVING = ("I have the {} here.", "I still have the {}.", "Here is the {}.")
GREETING = ("Pleased to meet you.", "I do not believe we have met. I am {}.", "How do you do? I am {}.", "And you are?")
NEWS = (
    *("Reuss", "Danilo", "Verrano", "Prett", "Sool", "Commissary Sool", "Jory Pell", "Matthias", "Tovey"),
    *(
        "Scarra",
        "Port Amber",
        "Cape Strand",
        "the Good Wife",
        "Ismar",
        "the Magistracy",
        "the Academy",
        "Heron",
    ),
    *("the tin box", "the burnt corner", "the brass whistle", "the registry keys", "the grey hat", "the nameboard"),
)
"""What the story brings up that is its own, as a reader would list it: people, names, things."""
HIDDEN, UNMASKED = "Danilo Reuss", "2.4.3"
END_OF_THING = re.compile(r",| (?:with|from|of|which|that|in|on|pegged)\b")


@dataclass(frozen=True)
class Plant:
    kind: str
    after: Line
    who: str
    text: str


class Planter:
    """Chooses where faults can be planted in a story."""

    def __init__(self, story: Story, rng: random.Random) -> None:
        self.story, self.rng = story, rng
        self.scenes = list(watched_scenes(story, ignore_progress))
        self.places = [(scene, number) for scene in self.scenes for number, _, _ in scene.lines()]
        self.own_lines: dict[str, list[str]] = {}
        for scene, number in self.places:
            line = scene.scene.lines[number - 1]
            if line.speaker:
                self.own_lines.setdefault(line.speaker, []).append(line.text)
        mentions = {
            name: [place for place in self.places if name.removeprefix("the ") in self._text(place)] for name in NEWS
        }
        self.names = {name: where for name, where in mentions.items() if where}

    def _line(self, place: tuple[WatchedScene, int]) -> Line:
        return place[0].scene.lines[place[1] - 1]

    def _text(self, place: tuple[WatchedScene, int]) -> str:
        return self._line(place).text

    def plants(self, kind: str) -> Iterator[Plant]:
        """Faults of a kind, drawn at random, without end."""
        while True:
            if (plant := getattr(self, f"_{kind}")()) is not None:
                yield plant

    def _unknown(self) -> Plant | None:
        return self._heard_elsewhere("unknown")

    def _beginning(self) -> Plant | None:
        return self._heard_elsewhere("beginning")

    def _heard_elsewhere(self, kind: str) -> Plant | None:
        name = self.rng.choice(sorted(self.names))
        if (self.names[name][0][0].number < BEGINNING * len(self.scenes)) != (kind == "beginning"):
            return None
        scene, number = self.rng.choice(self.places)
        mentions = [place for place in self.names[name] if place[0].number < scene.number]
        who = self._somebody(scene, number)
        if not mentions or who is None or any(who in self._there(place) for place in mentions):
            return None
        if any(name in self._text((scene, line)) for line in range(1, number + 1)) or self._is_told(who, name, scene):
            return None
        return Plant(kind, self._line((scene, number)), who, self.rng.choice(ASKING).format(name))

    def _early(self) -> Plant | None:
        name = self.rng.choice(sorted(self.names))
        first = min(place[0].number for place in self.names[name])
        scene, number = self.rng.choice(self.places)
        who = self._somebody(scene, number)
        is_much_later = first - scene.number >= 5 and len({place[0].number for place in self.names[name]}) > 1
        if who is None or not is_much_later or self._is_told(who, name, scene):
            return None
        if any(who in self._there(place) for place in self.names[name] if place[0].number == first):
            return None
        return Plant("early", self._line((scene, number)), who, self.rng.choice(ASKING).format(name))

    def _gone(self) -> Plant | None:
        fact = self.rng.choice([fact for fact in self.story.facts() if fact.attribute == "belongings"])
        value = self.rng.choice(fact.values)
        scene, number = self.rng.choice(self.places)
        at = self._line((scene, number)).moment
        own = [other for other in self.story.facts(fact.who) if other.attribute == "belongings"]
        thing = END_OF_THING.split(re.sub(r"^(?:the|a|an|my|his|her) ", "", value))[0]
        held = " ".join(value for now in holding_at(own, at) for value in now.values)
        if fact.since >= at or thing.split()[-1] in held or fact.who not in scene.present[number - 1]:
            return None
        return Plant("gone", self._line((scene, number)), fact.who, self.rng.choice(HAVING).format(thing))

    def _dead(self) -> Plant | None:
        who = self.rng.choice(sorted({fact.who for fact in self.story.facts() if fact.attribute == "died"}))
        scene, number = self.rng.choice(self.places)
        if who not in self.own_lines or died_at(self.story.facts(who), self._line((scene, number)).moment) is None:
            return None
        return Plant("dead", self._line((scene, number)), who, self.rng.choice(self.own_lines[who]))

    def _absent(self) -> Plant | None:
        scene = self.rng.choice(self.scenes)
        lines = scene.scene.lines
        who, _, last = self.rng.choice(scene.intervals)
        is_back = any(other == who and first > last for other, first, _ in scene.intervals)
        spoken = [number for number in range(last + 1, len(lines) + 1) if lines[number - 1].speaker]
        if is_back or len(spoken) < 3 or who not in self.own_lines:
            return None
        return Plant("absent", lines[self.rng.choice(spoken[2:]) - 1], who, self.rng.choice(self.own_lines[who]))

    def _met(self) -> Plant | None:
        scene, number = self.rng.choice(self.places)
        if len(present := scene.present[number - 1]) != 2:
            return None
        who, other = self.rng.sample(sorted(present), 2)
        talked = [
            earlier
            for earlier in self.scenes[: scene.number]
            if sum(line.speaker == who for line in earlier.scene.lines) > 1
            and sum(line.speaker == other for line in earlier.scene.lines) > 1
        ]
        if not talked:
            return None
        return Plant("met", self._line((scene, number)), who, self.rng.choice(GREETING).format(who.split()[0]))

    def _somebody(self, scene: WatchedScene, number: int) -> str | None:
        present = sorted(scene.present[number - 1])
        return self.rng.choice(present) if present else None

    def _there(self, place: tuple[WatchedScene, int]) -> frozenset[str]:
        return place[0].present[place[1] - 1]

    def _is_told(self, who: str, name: str, scene: WatchedScene) -> bool:
        """Does a fact or tie of somebody name it, are they told by one, or have they met whose name it is?"""
        at, words = scene.scene.moment, name.removeprefix("the ")
        if words in ("Reuss", "Danilo"):
            confided = (tie.to for tie in self.story.relations(of=who) if tie.kind == "confidant" and tie.since <= at)
            return who == HIDDEN or HIDDEN in confided or at >= self.story.moment(UNMASKED)
        owners = [member.character.name for member in self.story.cast() if words.split()[-1] in member.character.name]
        if who in owners or any(owner in scene.scene.present for owner in owners):
            return True
        if any(who in earlier.scene.present and owner in earlier.scene.present
               for owner in owners for earlier in self.scenes[: scene.number]):  # fmt: skip
            return True
        if any(tie.to in owners and tie.since <= at and tie.level != 0 for tie in self.story.relations(of=who)):
            return True
        facts = [fact for fact in self.story.facts() if fact.who == who or who in (fact.known_to or ())]
        told = [value for fact in facts for value in fact.values]
        return words in " ".join((*told, *self.story.character(who).profile))


def planted(folder: Path, plant: Plant) -> Story:
    """A copy of the story folder with the line in it."""
    source = plant.after.source
    assert source is not None
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / "story"
        shutil.copytree(folder, copy)
        path = copy / source.file
        lines = path.read_text(encoding="utf-8").split("\n")
        lines.insert(source.line, f"{plant.who.upper()}: {plant.text}")
        path.write_text("\n".join(lines), encoding="utf-8")
        return read(copy)


def is_found(story: Story, plant: Plant) -> bool:
    kind = "unknown" if plant.kind in ("early", "beginning") else plant.kind
    after = plant.after.moment.numbers
    return any(
        fault.kind == kind and fault.confidence >= LEAST and fault.line.moment.numbers == (*after[:-1], after[-1] + 1)
        for fault in check_continuity(story).faults
    )


def recall(plants: int, seed: int) -> Iterator[dict[str, object]]:
    folder = embedded("demo")
    assert folder is not None
    for kind in ("unknown", "beginning", "early", "gone", "dead", "absent", "met"):
        drawn = Planter(read("demo"), random.Random(seed)).plants(kind)
        chosen: dict[tuple[str, str, str], Plant] = {}
        while len(chosen) < plants:
            plant = next(drawn)
            chosen.setdefault((plant.who, plant.after.moment.dotted, plant.text), plant)
        hits = [is_found(planted(folder, plant), plant) for plant in chosen.values()]
        figure = interval(np.array(hits, np.float64))
        yield {"metric": "recall", "kind": kind, "value": figure.value, "low": figure.low, "high": figure.high,
               "n": len(hits)}  # fmt: skip


def false_alarms(name: str, story: Story) -> dict[str, object]:
    begun = time.perf_counter()
    found = check_continuity(story)
    seconds = time.perf_counter() - begun
    kinds = Counter(fault.kind for fault in found.faults if fault.confidence >= LEAST)
    return {"metric": "false alarms per 1,000 lines", "story": name, "value": 1000 * sum(kinds.values()) / found.lines,
            "n": found.lines, "kinds": dict(kinds), "seconds": round(seconds, 2)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--plants", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    stories = {"demo": Path("demo")}
    if arguments.data is not None:
        stories["friends"] = arguments.data / "tvshowguess" / "transcripts" / "friends"
        stories |= {path.stem: path for path in sorted((arguments.data / "shakespeare").glob("*.xml"))}
    rows = []
    alarms = (false_alarms(name, read(str(path))) for name, path in stories.items())
    for row in chain(alarms, recall(arguments.plants, arguments.seed)):
        rows.append(row)
        if not arguments.json:
            print(", ".join(f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}"
                            for key, value in row.items()), flush=True)  # fmt: skip
    if arguments.json:
        json.dump({"rows": rows, "manifest": {"seed": arguments.seed, "least": LEAST}}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
