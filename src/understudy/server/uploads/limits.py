"""How much disk, time and memory an upload may take."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MIB", "UploadLimits"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class UploadLimits:
    timeout_s: int = 60
    """For reading one upload, wall-clock and processor time alike."""
    memory_bytes: int = 1024 * MIB
    """Address space of the process that reads."""
    upload_bytes: int = 64 * MIB
    """All files of one upload together."""
    files: int = 300
    unpacked_bytes: int = 256 * MIB
    """What a zip may hold once it is unpacked."""
    zip_entries: int = 2000
    story_bytes: int = 512 * MIB
    """The story file made from the upload."""
    uploads: int = 100
    total_bytes: int = 2048 * MIB
    """All uploads together, including deleted ones that can still be restored."""
    concurrency: int = 2
    """Uploads read at a time; others wait."""
    restore_s: int = 24 * 3600
    """How long a deleted upload can be restored."""
