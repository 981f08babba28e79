"""From a story to files: JSON lines and Parquet, a story folder that reads back the same, chats, a character's card."""

from understudy.export.card import card_at
from understudy.export.convokit import export_convokit
from understudy.export.sharegpt import export_messages, export_sharegpt
from understudy.export.sillytavern import export_sillytavern
from understudy.export.story_files import Addressees, export_folder, export_jsonl, export_parquet

__all__ = [
    "Addressees",
    "card_at",
    "export_convokit",
    "export_folder",
    "export_jsonl",
    "export_messages",
    "export_parquet",
    "export_sharegpt",
    "export_sillytavern",
]
