"""What a client calls a character: `story/character@moment#facing`, so that a model's name can choose a moment.

Moment and facing may be left out: the character then knows the whole story, and faces nobody of it. A `/`, `@`, `#` or
`%` that is part of a name is written as in a URL (%2F, %40, %23, %25).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from understudy.server.problems import Refused

__all__ = ["ModelName"]

WRITTEN = re.compile(r"(?P<story>[^/@#]+)/(?P<character>[^/@#]+)(?:@(?P<moment>[^/@#]+))?(?:#(?P<facing>[^/@#]+))?")
TAKEN = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "/@#%"})
LONGEST = 500


@dataclass(frozen=True, slots=True)
class ModelName:
    """A character of a story at a moment, before somebody."""

    story: str
    character: str
    moment: str = "end"
    facing: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelName:
        return _parsed(text)

    def __str__(self) -> str:
        parts = [self.story.translate(TAKEN), "/", self.character.translate(TAKEN)]
        if self.moment != "end":
            parts += ["@", self.moment.translate(TAKEN)]
        if self.facing is not None:
            parts += ["#", self.facing.translate(TAKEN)]
        return "".join(parts)


@lru_cache(1024)  # clients ask for the same ones again and again
def _parsed(text: str) -> ModelName:
    match = WRITTEN.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        raise _no_name(text)
    story, character, moment, facing = (None if part is None else unquote(part).strip() for part in match.groups())
    if not story or not character:
        raise _no_name(text)
    return ModelName(story, character, moment or "end", facing or None)


def _no_name(text: str) -> Refused:
    return Refused(
        f"'{text[:80]}' names no character: write story/character, story/character@moment "
        "or story/character@moment#facing, as in demo/Zita@2.3#Benedek",
        404,
        param="model",
        code="model_not_found",
    )
