"""From a story to files: tables, folders, scripts and chats that read back, annotations by position, cards."""

from understudy.formats.export.card import card_at
from understudy.formats.export.convokit import export_convokit
from understudy.formats.export.fountain import export_fountain
from understudy.formats.export.markdown import export_markdown
from understudy.formats.export.positions import export_positions
from understudy.formats.export.sharegpt import export_messages, export_sharegpt
from understudy.formats.export.sillytavern import export_sillytavern
from understudy.formats.export.story_files import Addressees, export_folder, export_jsonl, export_parquet

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
