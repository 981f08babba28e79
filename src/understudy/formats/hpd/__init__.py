"""Harry Potter Dialogue: sessions in JSON, and the relations of its characters in XLSX."""

from understudy.formats.hpd.reading import READER, Session, dialogue_examples, question_of, sessions, situation_of
from understudy.formats.hpd.relations import READER as RELATIONS

__all__ = ["READER", "RELATIONS", "Session", "dialogue_examples", "question_of", "sessions", "situation_of"]
