"""Harry Potter Dialogue: sessions in JSON, and the relations of its characters in XLSX."""

from understudy.readers.hpd.reading import READER, dialogue_examples, sessions
from understudy.readers.hpd.relations import READER as RELATIONS

__all__ = ["READER", "RELATIONS", "dialogue_examples", "sessions"]
