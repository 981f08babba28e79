"""Model names as clients write them, `story/character@moment#facing`: the name of a model chooses the moment.

Moment and facing are optional: without them the character knows the whole story, and faces nobody of it. A `/`, `@`,
`#` or `%` that is part of a name is percent-encoded as in a URL (%2F, %40, %23, %25).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from understudy.server.problems import Refused

__all__ = ["ModelName"]

PATTERN = re.compile(r"(?P<story>[^/@#]+)/(?P<character>[^/@#]+)(?:@(?P<moment>[^/@#]+))?(?:#(?P<facing>[^/@#]+))?")
ESCAPES = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "/@#%"})
MAX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class ModelName:
    """A character of a story at a moment, before somebody."""

    story: str
    character: str
    moment: str = "end"
    facing: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelName:
        return _parse(text)

    def __str__(self) -> str:
        parts = [self.story.translate(ESCAPES), "/", self.character.translate(ESCAPES)]
        if self.moment != "end":
            parts += ["@", self.moment.translate(ESCAPES)]
        if self.facing is not None:
            parts += ["#", self.facing.translate(ESCAPES)]
        return "".join(parts)


@lru_cache(1024)  # clients send the same few names with every request
def _parse(text: str) -> ModelName:
    match = PATTERN.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise _not_a_model(text)
    story, character, moment, facing = (None if part is None else unquote(part).strip() for part in match.groups())
    if not story or not character:
        raise _not_a_model(text)
    return ModelName(story, character, moment or "end", facing or None)


def _not_a_model(text: str) -> Refused:
    return Refused(
        f"'{text[:80]}' names no character: write story/character, story/character@moment "
        "or story/character@moment#facing, as in demo/Zita@2.3#Benedek",
        404,
        param="model",
        code="model_not_found",
    )
