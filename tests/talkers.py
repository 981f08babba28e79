"""Scenes of people whose words differ, for tests of guessing who speaks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from understudy.formats.annotations import Annotation, Instance, Rationale
from understudy.guessing.analysis import GuessedSpeaker
from understudy.guessing.scenes import Masked, Masking, TrainingScenes
from understudy.people.names import CharacterNames
from understudy.story.persona import Persona
from understudy.story.types import Line, Moment, Scene

__all__ = [
    "NAMES",
    "PEOPLE",
    "WORDS",
    "annotation",
    "guessed_scene",
    "masked",
    "passing",
    "personas",
    "scene",
    "scenes",
    "script_of",
    "shows_folder",
    "talk",
    "training_scenes",
]


WORDS = {
    "Ann": "tide boat oar net fish harbour gull anchor".split(),
    "Ben": "bread oven flour crust yeast dough butter salt".split(),
    "Cleo": "piano song note choir tune organ hymn chord".split(),
}
PEOPLE = tuple(WORDS)
NAMES = CharacterNames({who: (who,) for who in PEOPLE})
COMMON = "the a so then we you it is was here there today".split()


def scene(*lines: tuple[str | None, str], at: tuple[int, ...] = (1, 1), setting: str = "") -> Scene:
    story_scenes = tuple(Line(Moment((*at, index)), who, text) for index, (who, text) in enumerate(lines, 1))
    return Scene(Moment(at), setting, tuple(dict.fromkeys(who for who, _ in lines if who)), story_scenes)


def talk(
    rng: np.random.Generator, company: Sequence[str], at: tuple[int, ...], called: float = 0.0, own: float = 2
) -> Scene:
    """Everybody speaks: about `own` words of theirs in each line, and at times the next to speak is called."""
    order = [*rng.permutation(list(company)), *rng.choice(list(company), 3)]
    lines: list[tuple[str | None, str]] = []
    for index, who in enumerate(map(str, order)):
        said = [*rng.choice(WORDS[who], int(own + rng.random())), *rng.choice(COMMON, 4)]
        text = " ".join(map(str, rng.permutation(said))) + "."
        following = str(order[index + 1]) if index + 1 < len(order) else who
        lines.append((who, f"{following}, {text}" if following != who and rng.random() < called else text))
    return scene(*lines, at=at)


def scenes(
    count: int, seed: int = 0, called: float = 0.0, own: float = 2, company: Sequence[str] = PEOPLE
) -> list[Scene]:
    rng = np.random.default_rng(seed)
    return [talk(rng, company, (1 + seed, number), called, own) for number in range(1, count + 1)]


def passing(count: int, seed: int = 0) -> list[Scene]:
    """For ten scenes each goes on about a thing, then they take each other's: only the last scenes tell."""
    rng, results = np.random.default_rng(seed), list[Scene]()
    topics = list(WORDS.values())
    for number in range(1, count + 1):
        if number % 10 == 1:
            topic = dict(zip(PEOPLE, rng.permutation(3).tolist()))
        order = map(str, rng.permutation(PEOPLE))
        lines = [(who, " ".join(map(str, rng.choice(topics[topic[who]], 3)))) for who in order]
        results.append(scene(*lines, at=(seed, number)))
    return results


def training_scenes(story_scenes: Sequence[Scene]) -> TrainingScenes:
    return TrainingScenes(story_scenes, PEOPLE, NAMES)


def masked(item: Scene, seed: int = 0) -> Masked:
    return Masking(PEOPLE, NAMES, seed=seed).masked(item)


def personas(names: Sequence[str]) -> list[Persona]:
    return [Persona(name) for name in names]


def script_of(folder: Path, acts: Sequence[Sequence[Sequence[tuple[str, str]]]]) -> Path:
    """A story folder: a file for each act, with its scenes; a scene is who says what."""
    folder.mkdir()
    people = dict.fromkeys(who for act in acts for scene in act for who, _ in scene if " and " not in who)
    cast = "".join(f'[[character]]\nname = "{who}"\n' for who in people)
    (folder / "cast.toml").write_text(f'title = "{folder.name}"\nlanguage = "en"\n{cast}', encoding="utf-8")
    for number, act in enumerate(acts, 1):
        page = [f"# act {number}: Act"]
        for index, scene in enumerate(act, 1):
            page += [f"## scene {index}: The quay", *(f"{who.upper()}: {text}" for who, text in scene)]
        (folder / f"act-{number}.txt").write_text("\n".join(page) + "\n", encoding="utf-8")
    return folder


def shows_folder(folder: Path, show: str = "The_Harbour", episodes: int = 6, judged: int = 2) -> Path:
    """A folder of the form of TVShowGuess: one show of three people, its last episodes judged.

    The transcripts have all episodes; the file calls Ben 'bob', as only the labels it prints tell.
    """
    (folder / "transcripts" / show.lower()).mkdir(parents=True)
    ids = {"Ann": "ann", "Ben": "bob", "Cleo": "cleo"}
    rows = []
    for episode in range(1, episodes + 1):
        story_scenes = scenes(4, seed=episode, called=0.3)
        page = "\n\n".join(
            f"[Scene: The quay, part {number}]\n" + "\n".join(f"{line.speaker}: {line.text}" for line in item.lines)
            for number, item in enumerate(story_scenes, 1)
        )
        (folder / "transcripts" / show.lower() / f"01x{episode:02d}.txt").write_text(page + "\n", encoding="utf-8")
        if episode > episodes - judged:
            rows += [
                {
                    "show": show, "season": 1, "episode_id": f"01x{episode:02d}", "scene_id": 100 * episode + number,
                    "title": f"[Scene: The quay, part {number}]",
                    "lines": [[ids[str(line.speaker)], f"{line.speaker}: {line.text}"] for line in item.lines],
                    "main_characters": list(ids.values()),
                }
                for number, item in enumerate(story_scenes, 1)
            ]  # fmt: skip
    (folder / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


# Guesses with known answers, for tests of what is made from them.


def guessed_scene(
    model: str,
    show: str,
    number: int,
    speakers: Sequence[str],
    guesses: Sequence[str],
    episode: tuple[int, ...] = (1, 1),
) -> list[GuessedSpeaker]:
    """The speakers of one scene in the order of their first lines, and whom each was taken for."""
    even = {name: 1 / len(speakers) for name in speakers}
    return [
        GuessedSpeaker(model, show, episode, number, index, who, guess, even)
        for index, (who, guess) in enumerate(zip(speakers, guesses, strict=True))
    ]


def annotation(
    number: int,
    index: int,
    evidence: Sequence[str] = ("memory",),
    history: str = "none",
    reasoning: str = "none",
    source: str = "table",
) -> Annotation:
    return Annotation(source, Instance((1, 1), number, index), history, (Rationale(tuple(evidence), reasoning),))
