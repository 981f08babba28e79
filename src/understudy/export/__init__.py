"""From a story to files: JSON lines and Parquet, a story folder that reads back the same, a character's card."""

from understudy.export.card import card_at
from understudy.export.positions import export_positions
from understudy.export.story_files import Addressees, export_folder, export_jsonl, export_parquet

__all__ = ["Addressees", "card_at", "export_folder", "export_jsonl", "export_parquet", "export_positions"]
