"""From a story to files: tables, folders, scripts and chats that read back, annotations by position, cards."""

from understudy.export.card import card_at
from understudy.export.convokit import export_convokit
from understudy.export.fountain import export_fountain
from understudy.export.markdown import export_markdown
from understudy.export.positions import export_positions
from understudy.export.sharegpt import export_messages, export_sharegpt
from understudy.export.sillytavern import export_sillytavern
from understudy.export.story_files import Addressees, export_folder, export_jsonl, export_parquet

__all__ = [
    "Addressees",
    "card_at",
    "export_convokit",
    "export_folder",
    "export_fountain",
    "export_jsonl",
    "export_markdown",
    "export_messages",
    "export_parquet",
    "export_positions",
    "export_sharegpt",
    "export_sillytavern",
]
