"""The metrics of single lines by name, each made for a persona: what `understudy score` can be asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from understudy.metrics.copying import copying
from understudy.metrics.description import p_cover, p_f1
from understudy.metrics.maxbleu import maxbleu
from understudy.metrics.measure import LineMetric
from understudy.metrics.psprob import psprob
from understudy.metrics.ptsal import ptsal
from understudy.metrics.samples import Samples
from understudy.metrics.uppl import uppl
from understudy.metrics.voice import voice
from understudy.persona import Persona

__all__ = ["LINE_METRICS", "USUAL"]

LINE_METRICS: Mapping[str, Callable[[Samples, Persona], LineMetric]] = {
    "psprob": lambda samples, persona: psprob(samples, persona.name),
    "ptsal": lambda samples, persona: ptsal(samples, persona.name),
    "uppl": lambda samples, persona: uppl(samples, persona.name),
    "maxbleu": lambda samples, persona: maxbleu(samples, persona.name),
    **{f"maxbleu-{order}": partial(lambda order, samples, persona: maxbleu(samples, persona.name, order), order)
       for order in (1, 2, 4)},
    "p_f1": lambda samples, persona: p_f1(samples, persona.profile),
    "p_cover": lambda samples, persona: p_cover(samples, persona.profile),
    "copying": lambda samples, persona: copying(samples, persona.profile),
    "voice": lambda samples, persona: voice(samples, persona.name),
}  # fmt: skip

USUAL = ("psprob", "ptsal", "uppl", "maxbleu", "p_f1", "p_cover", "copying")
"""What is scored where no metrics are named."""
