"""What to score lines with, as a JSON document from which any worker process makes the metrics itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from understudy.dialogue import situation_at
from understudy.metrics.line_metric import LineMetric
from understudy.metrics.overlap import glove_ranks, p_cover
from understudy.metrics.registry import MetricContext
from understudy.readers import EMBEDDED, read
from understudy.storyfile import Story

__all__ = ["ScoringRequest", "anywhere", "line_metrics", "story_digest"]


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """A story by name or path, a character and a moment of it, and the metrics; `why` asks for all reasons."""

    story: str
    name: str
    at: str
    facing: str | None
    metrics: tuple[str, ...]
    glove: str | None = None
    why: bool = False
    model: str | None = None

    @classmethod
    def read(cls, text: str) -> ScoringRequest:
        document = json.loads(text)
        return cls(**{**document, "metrics": tuple(document["metrics"])})

    def __str__(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    def build_metrics(self) -> list[LineMetric]:
        """The metrics; the story is read for it."""
        story = read(self.story)
        context = MetricContext(story, situation_at(story, self.name, self.at, self.facing), author=True)
        return line_metrics(context, self.metrics, None if self.glove is None else Path(self.glove), self.model)


def line_metrics(
    context: MetricContext, names: Iterable[str], glove: Path | None = None, model: str | None = None
) -> list[LineMetric]:
    """Metrics by name. With a GloVe file, p_cover ranks words by it; with a model, uppl uses it."""

    def metric(name: str) -> LineMetric:
        if name == "p_cover" and glove is not None:
            return p_cover(context.samples, context.situation.persona.profile, glove_ranks(glove))
        if name == "uppl" and model is not None:
            from understudy.backends.transformer import open_transformer
            from understudy.metrics.transformer_lm import TransformerPerplexity

            return TransformerPerplexity(context.samples, open_transformer(model))
        return context.metric(name)

    return [metric(name) for name in names]


def anywhere(name: str) -> str:
    """A story or file as other processes find it, wherever they run: an absolute path, or a built-in story's name."""
    return name if name in EMBEDDED else str(Path(name).resolve())


def story_digest(story: Story) -> str:
    """A hash of everything that metrics are made from, so that scores of two stories are never mixed."""
    digest = blake2b(digest_size=16)
    for record in (story.language, *story.cast(), *story.facts(), *story.relations()):
        digest.update(repr(record).encode())
    for scene in story.scenes():
        said = [(line.speaker, line.text) for line in scene.lines]
        digest.update(repr((scene.moment, scene.setting, sorted(scene.present), said)).encode())
    return digest.hexdigest()
