"""How much an upload may take: of the disk, of time, of memory."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are in bytes, times in seconds."""

    seconds: int = 60
    """For one reading."""
    memory: int = 1024 * MIB
    """Address space of the process that reads."""
    upload: int = 64 * MIB
    """All files of one upload together."""
    files: int = 300
    unpacked: int = 256 * MIB
    """What a zip may hold once it is unpacked."""
    entries: int = 2000
    story: int = 512 * MIB
    """The story file that comes of it."""
    uploads: int = 100
    total: int = 2048 * MIB
    """All uploads together, deleted ones that are still kept included."""
    at_once: int = 2
    """Readings under way at a time; others wait."""
    kept: int = 24 * 3600
    """How long a deleted upload can be brought back."""
