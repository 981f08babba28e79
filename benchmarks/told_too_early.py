"""What `anachronism` and `contradiction` find on the story that ships: the figures of docs/notes/metrics.md.

    python benchmarks/told_too_early.py DATA

DATA has personachat and dnli. The sentences below were written for this: they tell what the story's 'future' probes ask
about in other words, or say the opposite of somebody's profile.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np

from understudy.formats import read
from understudy.metrics import Samples, interval
from understudy.metrics.contradiction import contradiction
from understudy.metrics.knowing import LaterPassages, PassageIndex, find_anachronisms
from understudy.story.chronology import Chronology
from understudy.story.persona import Persona, persona_at

PARAPHRASES = {
    ("Zita Karst", "1.4.1"): (
        "The bill never went to the city: the Prior keeps it locked up in his box.",
        "He crept down without his shoes and unpegged the bill from my string.",
        "Casimir Ould stole the bill of health.",
        "The Prior has it with my father's confession.",
    ),
    ("Zita Karst", "2.2"): (
        "Sparrow is what my father called me.",
        "The Sparrow in the letters was never a guard; it was his own daughter.",
        "I was Sparrow all along.",
    ),
    ("Casimir Ould", "1.3"): (
        "The Commissary is very short and has a terrible cold.",
        "One mistakes the tall cook for the Commissary.",
        "She is a little person who sneezes all day.",
        "She peels oranges while she listens.",
    ),
    ("Pia Lenk", "1.2"): (
        "She's tiny, and that big man beside her is only the cook.",
        "She's got a cold and she sneezes on everything.",
    ),
    ("Ignace Bohm", "1.4"): (
        "I have been mistaken all these years: fever passes from one man to another.",
        "It is carried by the lice in a dead man's shirt.",
        "I must withdraw my book and confess the error.",
        "Fever is catching after all.",
    ),
    ("Danilo Reuss", "2.4"): (
        "They will lock me up until the ninth of December three years from now.",
        "The Doctor shook my bare hand before he died.",
        "I shall copy registers here and have holidays off.",
    ),
    ("Gudrun Haake", "1.4"): (
        "They will burn my ship under the Regulation.",
        "Osk will be captain of her from now on.",
        "I shall stay on this rock and run the wharf.",
    ),
    ("Pia Lenk", "1.4"): (
        "She wrote down in the register that I touched him.",
        "You gave me away to the Prior.",
        "Zita has told them everything and now I am shut up in contumacy.",
    ),
}
OPPOSITES = {
    "Zita Karst": (
        "I have never smoked a letter in my life.",
        "I hate the Prior.",
        "Pia is my worst enemy.",
        "I am an old man.",
        "I have no father.",
        "I live in the city and never saw this rock.",
        "I cannot read.",
    ),
    "Gudrun Haake": (
        "I have never been to sea.",
        "The Prior is my dearest friend.",
        "I forgive everybody at once.",
        "I am a young girl.",
        "I hate my crew.",
        "I never smoke.",
        "I own no ship.",
    ),
    "Casimir Ould": (
        "I swim every morning.",
        "I hate bees.",
        "I never cry.",
        "I am a young woman.",
        "I have never read the Regulation.",
        "I do not know Zita at all.",
        "I have only been here a week.",
    ),
}
BOUNDS = (0.5, 0.8, 0.9, 0.95)
PER_PROBE = 40  # PersonaChat utterances


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    _anachronism(data / "personachat" / "valid_none_original.txt")
    _contradiction(data / "dnli")


def _anachronism(personachat: Path) -> None:
    story = read("demo")
    chronology, index = Chronology.of(story), PassageIndex.of(story)

    def found(persona: Persona, texts: Iterable[str], left_out: int | None = None) -> Iterator[bool]:
        knowledge = chronology.knowledge_of(persona)
        passages = LaterPassages(index, knowledge, persona)
        return (bool(find_anachronisms(knowledge, passages, text, left_out)) for text in texts)

    probes = tomllib.loads((files("understudy") / "stories/demo/probes.toml").read_text())["probe"]
    asked = [(probe, persona_at(story, probe["who"], probe["at"])) for probe in probes]
    future = [(probe, persona) for probe, persona in asked if probe["kind"] == "future"]
    _show("terms of 'future' probes", [hit for probe, persona in future for hit in found(persona, probe["must_not"])])
    lines = [line for scene in story.scenes() for line in scene.lines]
    own = [
        hit
        for number, line in enumerate(lines)
        if line.speaker
        for hit in found(persona_at(story, line.speaker, line.moment), [line.text], number)
    ]
    _show("lines at their own time, each taken out of the story", own)
    replies = [line.split("\t")[1] for line in personachat.read_text().splitlines() if "\t" in line]
    rng = np.random.default_rng(0)
    drawn = [(persona, rng.choice(replies, PER_PROBE)) for _, persona in asked]
    _show("PersonaChat utterances", [hit for persona, texts in drawn for hit in found(persona, texts)])
    _show("terms of 'must'", [hit for probe, persona in asked for hit in found(persona, probe.get("must", []))])
    told = [hit for (who, at), texts in PARAPHRASES.items() for hit in found(persona_at(story, who, at), texts)]
    _show("the same things in other words", told)


def _contradiction(dnli: Path) -> None:
    story = read("demo")
    own, opposite = list[float](), list[float]()
    for who in {line.speaker for scene in story.scenes() for line in scene.lines if line.speaker}:
        persona = persona_at(story, who, "2.4")  # when all who speak are alive
        own += _values(persona, [line.text for line in persona.past.lines()])
    for who, texts in OPPOSITES.items():
        opposite += _values(persona_at(story, who, "1.3"), texts)
    gold, against = list[float](), list[float]()
    for path in sorted(dnli.glob("valid_*.jsonl")):
        for line in path.read_text().splitlines():
            question = json.loads(line)
            persona = Persona("somebody", profile=tuple(question["persona"]))
            gold += _values(persona, question["candidates"]["label"][:1])
            against += _values(persona, question["candidates"]["neg"][:3])
    for bound in BOUNDS:
        for what, values in (
            ("contradicting replies to personas of Dialogue NLI", against),
            ("the right replies", gold),
            ("opposites of profiles of the story", opposite),
            ("lines of the story", own),
        ):
            _show(f"contradiction >= {bound}: {what}", [value >= bound for value in values])


def _values(persona: Persona, texts: Iterable[str]) -> list[float]:
    samples = Samples({persona.name: ["."]})
    return [score.value for score in contradiction(samples, persona)(list(texts)) if score.value is not None]


def _show(what: str, hits: list[bool]) -> None:
    figure = interval(np.array(hits, np.float64))
    print(f"{what}: {sum(hits)} of {len(hits)}, {figure.value:.3f} ({figure.low:.3f}-{figure.high:.3f})", flush=True)


if __name__ == "__main__":
    main()
