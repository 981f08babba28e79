"""Novels and stories: running text, in which people speak between quotation marks."""

from understudy.readers.prose.reading import READER, prose_events

__all__ = ["READER", "prose_events"]
