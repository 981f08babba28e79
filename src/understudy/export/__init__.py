"""From a story to files: JSON lines, Parquet, folders, screenplays and Markdown that read back, a character's card."""

from understudy.export.card import card_at
from understudy.export.fountain import export_fountain
from understudy.export.markdown import export_markdown
from understudy.export.positions import export_positions
from understudy.export.story_files import Addressees, export_folder, export_jsonl, export_parquet

__all__ = [
    "Addressees",
    "card_at",
    "export_folder",
    "export_fountain",
    "export_jsonl",
    "export_markdown",
    "export_parquet",
    "export_positions",
]
