"""TEI drama, as DraCor has it: acts, scenes, speeches with `who`, stage directions, a list of persons.

Time is (act, scene, line); a play without acts counts by scenes. A prologue before the first act or scene is number 0,
an epilogue the one after the last. A speech's text is its words, joined over verse lines; a direction within it parts
it in two, so that who comes in the middle hears the second half only.

A unit is an element that holds words of its own and is one of <l>, <p>, <ab>, <speaker>, <stage>, <head>, <label>,
<castItem>, <note>, <person> and their like (`tei.play.UNITS`), or else a run of words outside all of these; it is
counted when its first word is met. The header's sections and each person in it are a unit each: the edition's credits
come out as headings, persons as the cast. Of an editor's <choice> the corrected form is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from understudy.readers.events import Event, Opening
from understudy.readers.reader import Reader
from understudy.readers.source import SourceFile
from understudy.readers.tei.metadata import read_metadata
from understudy.readers.tei.play import Play
from understudy.readers.tei.xmlstream import End, Start, xml_tokens

__all__ = ["READER", "events", "recognises"]

ROOT = re.compile(r"<(?:\w+:)?(?:TEI|TEI\.2|teiCorpus)[\s>]")


def recognises(head: bytes, _path: Path) -> bool:
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = head.decode("utf-16" if wide else "utf-8", "ignore").lstrip("\ufeff \t\r\n")
    return text.startswith("<") and ROOT.search(text) is not None


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file, after a first pass over it."""
    metadata = read_metadata(SourceFile(source.path))
    if not metadata.speeches:
        raise source.error("holds no speech (<sp>): of TEI texts only plays can be read")
    yield Opening(("act", "scene", "line") if metadata.acts else ("scene", "line"), metadata.title, metadata.language)
    play = Play(source, metadata)
    for token in xml_tokens(source):
        if isinstance(token, Start):
            play.start(token)
        elif isinstance(token, End):
            play.end(token)
        else:
            play.words(token.text)
        yield from play.out
        play.out.clear()
    play.divisions.finish()
    yield from play.out


READER = Reader("TEI drama", recognises, events)
