"""What lines are to be scored with, as plain words: a worker anywhere makes the metrics from it by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from understudy.dialogue import situation_at
from understudy.metrics.description import glove_ranks, p_cover
from understudy.metrics.grounds import Grounds
from understudy.metrics.measure import LineMetric
from understudy.readers import EMBEDDED, read
from understudy.storyfile import Story

__all__ = ["Asked", "anywhere", "line_metrics", "story_digest"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A story by its name or place, a character and a moment of it, and the metrics; `why` asks for all reasons."""

    story: str
    name: str
    at: str
    facing: str | None
    metrics: tuple[str, ...]
    glove: str | None = None
    why: bool = False
    model: str | None = None

    @classmethod
    def read(cls, text: str) -> Asked:
        document = json.loads(text)
        return cls(**{**document, "metrics": tuple(document["metrics"])})

    def __str__(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def made(self) -> list[LineMetric]:
        """The metrics; the story is read for it."""
        story = read(self.story)
        grounds = Grounds(story, situation_at(story, self.name, self.at, self.facing), author=True)
        return line_metrics(grounds, self.metrics, None if self.glove is None else Path(self.glove), self.model)


def line_metrics(
    grounds: Grounds, names: Iterable[str], glove: Path | None = None, model: str | None = None
) -> list[LineMetric]:
    """Metrics by name. Where there is a GloVe file, p_cover ranks words by it; where there is a model, uppl asks it."""

    def made(name: str) -> LineMetric:
        if name == "p_cover" and glove is not None:
            return p_cover(grounds.samples, grounds.situation.persona.profile, glove_ranks(glove))
        if name == "uppl" and model is not None:
            from understudy.metrics.neural import TransformerPerplexity, open_transformer

            return TransformerPerplexity(grounds.samples, open_transformer(model))
        return grounds.metric(name)

    return [made(name) for name in names]


def anywhere(place: str) -> str:
    """A story's or file's place as other processes find it, wherever they run: an absolute path, or a story's name."""
    return place if place in EMBEDDED else str(Path(place).resolve())


def story_digest(story: Story) -> str:
    """Changes when anything does that metrics are made from, so that scores of two stories are never mixed."""
    digest = blake2b(digest_size=16)
    for told in (story.language, *story.cast(), *story.facts(), *story.relations()):
        digest.update(repr(told).encode())
    for scene in story.scenes():
        said = [(line.speaker, line.text) for line in scene.lines]
        digest.update(repr((scene.moment, scene.setting, sorted(scene.present), said)).encode())
    return digest.hexdigest()
