"""What the tests of every reader need: the events of some text, and whether a reader stands damage."""

from __future__ import annotations

import contextlib
import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.formats import format_named
from understudy.formats.assembly import Assembly
from understudy.formats.evidence import measure
from understudy.sources import CastEntry, Description, Event, Opening, Reader, SceneStart, Speech
from understudy.sources.names import fold
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story, StoryWriter
from understudy.story.types import Character, Source

__all__ = [
    "AwkwardScene",
    "awkward_scenes",
    "damage",
    "docx",
    "epub",
    "events_of",
    "of_kind",
    "paragraph",
    "read_bytes",
    "recognises",
    "speaker_texts",
    "stands",
    "story_of",
    "told",
    "zipped",
]


Kind = TypeVar("Kind")


def recognises(reader: Reader, head: bytes, path: Path) -> bool:
    """Does what the head of a file shows tell the format of a reader, whether or not another is asked first?"""
    return format_named(reader.name).recognises(measure(head, path))


def events_of(reader: Reader, path: Path) -> list[Event]:
    """All events of a file. They must account for every unit, and begin with the opening."""
    source = SourceFile(path)
    events = list(reader.events(source))
    assert isinstance(events[0], Opening)
    assert sum(1 for event in events if isinstance(event, Opening)) == 1
    assert sum(event.units for event in events if not isinstance(event, Opening)) == source.units
    return events


def read_bytes(reader: Reader, content: bytes, name: str = "file") -> list[Event]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return events_of(reader, path)


def of_kind(events: Sequence[Event], kind: type[Kind]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def speaker_texts(events: Sequence[Event]) -> list[tuple[str, str]]:
    """(who, what) of every line; nobody's are descriptions."""
    return [
        (" & ".join(one.speakers) if isinstance(one, Speech) else "", one.text)
        for one in events
        if isinstance(one, Speech | Description)
    ]


def stands(reader: Reader, content: bytes, name: str = "file") -> None:
    """Whatever is in a file, it can be read, or it is an `InputError`; anything else comes through."""
    with contextlib.suppress(InputError):
        read_bytes(reader, content, name)


@st.composite
def damage(draw: st.DrawFn, whole: bytes) -> bytes:
    """The file cut off anywhere, with some bytes changed, or both."""
    content = bytearray(whole)
    places = st.integers(0, len(whole) - 1)
    for place in draw(st.lists(places, max_size=4)):
        content[place] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.one_of(st.just(len(whole)), places))])


# EPUB and DOCX files made for tests: only the parts that matter, the rest as a program would write it.


CONTAINER = (
    '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STYLES = (
    f'<w:styles xmlns:w="{WORD}"><w:style w:type="paragraph" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/>'
    '<w:basedOn w:val="Normal"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/>'
    '<w:basedOn w:val="berschrift1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Titre2"><w:name w:val="Titre 2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>'
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """An archive with always the same bytes; a part named mimetype is stored, as EPUB asks."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return stream.getvalue()


def epub(
    documents: Mapping[str, str],
    *,
    title: str = "The Quarrel",
    language: str = "en",
    nav: str = "",
    ncx: str = "",
    guide: str = "",
    spine: Sequence[str] = (),
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A book of XHTML documents (name -> content of its body, or a whole document) in their order."""
    items = [f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in documents]
    if nav:
        items.append('<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>')
    if ncx:
        items.append('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>')
    refs = "".join(f'<itemref idref="{name}"/>' for name in (*spine,) or (*documents,))
    package = (
        '<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title>'
        f"<dc:language>{language}</dc:language></metadata><manifest>{''.join(items)}</manifest>"
        f"<spine{' toc=' + chr(34) + 'ncx' + chr(34) if ncx else ''}>{refs}</spine>"
        f"{f'<guide>{guide}</guide>' if guide else ''}</package>"
    )
    files: dict[str, str | bytes] = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    files["OEBPS/content.opf"] = package
    for name, body in documents.items():
        files[f"OEBPS/{name}"] = body if "<html" in body else _xhtml(body)
    if nav:
        files["OEBPS/nav.xhtml"] = _xhtml(nav)
    if ncx:
        files["OEBPS/toc.ncx"] = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{ncx}</navMap></ncx>'
    return zipped(files | dict(parts or {}))


def _xhtml(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Not read</title></head>'
        f"<body>{body}</body></html>"
    )


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of WordprocessingML; `<...>` in the text is markup, put in as it is."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    runs = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'
    return f"<w:p>{properties}{runs if text else ''}</w:p>"


def docx(*paragraphs: str, parts: Mapping[str, str | bytes] | None = None, title: str = "") -> bytes:
    """A document of paragraphs, given as text or as markup of their own."""
    body = "".join(item if item.startswith("<w:") else paragraph(item) for item in paragraphs)
    types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    core = f'<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></p>'
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": types,
        "word/document.xml": f'<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": STYLES,
        "docProps/core.xml": core,
    }
    return zipped(files | dict(parts or {}))


# Stories whose names and texts mean something to some format: what is written out has to read back all the same.


HERE = Source("made.txt", 1)
NAMES = ["Odile", "Mr. O'Neil", "System", "human", "GPT", "User", "Assistant", "unused", "tool", "ZITA", "名前",
         "Émile: the elder", "[description]", "1", '"Bo"', "Anna and Bob", "Everyone", "Author"]  # fmt: skip
TEXTS = ["{{user}}, wait.", "<BOT> says", "{{// nothing}} something", "You are Odile, a pianist.", "*He waves.*",
         "你好。",
         '{"mes": 1}', "null", "\\n", "\u200b.", "𝔘nicode 👩‍👧", "<START>", "name: text", "[a", "#1"]  # fmt: skip


class AwkwardScene(NamedTuple):
    setting: str
    lines: tuple[tuple[str | None, str], ...]


def _one_line(text: str) -> str:
    return " ".join(text.split())


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).map(_one_line).filter(bool)
texts = st.sampled_from(TEXTS) | words
names = st.lists(st.sampled_from(NAMES) | words, min_size=1, max_size=5, unique_by=fold)


@st.composite
def awkward_scenes(draw: st.DrawFn) -> list[AwkwardScene]:
    """Scenes in which somebody speaks, for a story where nobody does is refused."""
    people = draw(names)
    lines = st.lists(st.tuples(st.sampled_from([None, *people]), texts), max_size=5).map(tuple)
    scenes = draw(st.lists(st.builds(AwkwardScene, st.just("") | texts, lines), max_size=3))
    spoken = AwkwardScene(draw(st.just("") | texts), ((people[0], draw(texts)),))
    return draw(st.permutations([*scenes, spoken]))


def story_of(scenes: list[AwkwardScene]) -> Story:
    events: list[Event] = [Opening()]
    for setting, lines in scenes:
        events.append(SceneStart(HERE, setting))
        for speaker, text in lines:
            if speaker is None:
                events.append(Description(HERE, text))
            else:
                events += (CastEntry(HERE, Character(speaker)), Speech(HERE, (speaker,), text))
    with tempfile.TemporaryDirectory() as folder, StoryWriter(None) as writer:
        path = Path(folder) / "made.txt"
        path.write_text("made up\n")
        source = SourceFile(path)
        source.units = sum(event.units for event in events if not isinstance(event, Opening))
        assembly = Assembly(writer)
        assembly.add_file(source, "made", iter(events))
        assembly.finish("Made Up")
        return Story(writer.address)


def told(story: Story) -> list[AwkwardScene]:
    """Settings, speakers and texts, in order."""
    return [
        AwkwardScene(scene.setting, tuple((line.speaker, line.text) for line in scene.lines))
        for scene in story.scenes()
    ]
