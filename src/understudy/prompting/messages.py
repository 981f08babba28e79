"""A message of a prompt that still knows which section each part of it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PromptMessage"]


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """`parts` are (section, text), joined by `separator`."""

    role: str
    parts: list[tuple[str, str]]
    separator: str = "\n\n"

    @property
    def content(self) -> str:
        return self.separator.join(text for _, text in self.parts)
