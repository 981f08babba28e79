"""Whom each line of a scene is said to: a probability for everybody present.

    z_c     = w . x_c                              evidence for each person c present other than the speaker
    P(c)    = exp(z_c) / sum over d of exp(z_d)    that it is c whom the line is said to, first of all

A line that is said to several divides its probability among them. The evidence x is what scripts have
(`addressee_features`); words for people are learned from the whole story first (`vocatives`), by who speaks next to
whom. The weights were learned from novels in English; in other languages the order of speakers and names still tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np

from understudy.lexical.rows import Reals
from understudy.model_folder import ModelFolder, Tensors, read_model
from understudy.people.addressee_features import FEATURES, Dialogue, dialogue_of, feature_rows
from understudy.people.names import CharacterNames
from understudy.people.vocatives import EpithetUse, LineCues
from understudy.story import Scene
from understudy.storyfile import Story

__all__ = ["MODEL", "AddresseeModel", "AddresseeReader", "addressees", "shipped_addressee_model", "story_addressees"]

MODEL = "addressee"


@dataclass(frozen=True, slots=True)
class AddresseeModel:
    """The weights w of the evidence."""

    weights: Reals

    @classmethod
    def load(cls, folder: ModelFolder) -> AddresseeModel:
        if list(folder.card.get("features", ())) != list(FEATURES):
            raise folder.error("it reads other evidence than this version has")
        return cls(folder.tensor("weights", len(FEATURES)).astype(np.float64))

    def tensors(self) -> Tensors:
        return {"weights": self.weights.astype(np.float32)}

    def probabilities(self, rows: Reals) -> Reals:
        """For each row, of one line."""
        scores = rows @ self.weights
        scores -= scores.max()
        powers: Reals = np.exp(scores)
        powers /= powers.sum()
        return powers


@cache
def shipped_addressee_model() -> AddresseeModel:
    with as_file(files("understudy") / "models" / MODEL) as folder:
        return AddresseeModel.load(read_model(folder, MODEL))


class AddresseeReader:
    """What is known of a story before its lines are read: names, and the words that its people use for each other."""

    def __init__(self, names: CharacterNames, scenes: Iterable[Scene], model: AddresseeModel | None = None) -> None:
        self._names = names
        self._model = model or shipped_addressee_model()
        self._use = EpithetUse()
        for scene in scenes:
            dialogue = self._dialogue(scene)
            for cues, neighbours in zip(dialogue.cues, dialogue.neighbours):
                self._use.add(cues, neighbours)

    @classmethod
    def of_story(cls, story: Story, model: AddresseeModel | None = None) -> AddresseeReader:
        people = [member.character for member in story.cast()]
        forms = {person.name: (person.name, *person.aliases) for person in people}
        return cls(CharacterNames(forms, story.language), story.scenes(), model)

    def read(self, scene: Scene) -> list[dict[str, float]]:
        """For each line the probability that it is said to each person present, the likeliest first."""
        return [{} if found is None else found[1] for found in self.read_with_cues(scene)]

    def read_with_cues(self, scene: Scene) -> list[tuple[LineCues, dict[str, float]] | None]:
        """For each line what it shows, and whom it is said to; None for a description."""
        dialogue = self._dialogue(scene)
        spoken = enumerate(feature_rows(dialogue, self._use))
        found: list[tuple[LineCues, dict[str, float]] | None] = []
        for line in scene.lines:
            if line.speaker is None:
                found.append(None)
                continue
            index, evidence = next(spoken)
            found.append((dialogue.cues[index], self._by_person(dialogue.others(index), evidence)))
        return found

    def _by_person(self, others: Sequence[str], evidence: Reals) -> dict[str, float]:
        if not others:
            return {}
        probabilities = self._model.probabilities(evidence)
        order = np.argsort(-probabilities, kind="stable")
        return {others[index]: float(probabilities[index]) for index in order}

    def _dialogue(self, scene: Scene) -> Dialogue:
        spoken = ((line.speaker, line.text) for line in scene.lines if line.speaker is not None)
        return dialogue_of(scene.present, spoken, self._names)


def addressees(scene: Scene, reader: AddresseeReader) -> list[dict[str, float]]:
    """For each line of a scene the probability that it is said to each person present, the likeliest first.

    They add up to 1; a description, and what one says alone, is said to nobody.
    """
    return reader.read(scene)


def story_addressees(
    story: Story, model: AddresseeModel | None = None
) -> Iterator[tuple[Scene, list[dict[str, float]]]]:
    """Every scene of a story with whom its lines are said to."""
    reader = AddresseeReader.of_story(story, model)
    for scene in story.scenes():
        yield scene, reader.read(scene)
