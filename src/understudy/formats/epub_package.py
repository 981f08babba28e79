"""What an EPUB says about itself: its title and language, the order of its documents, and its table of contents.

META-INF/container.xml -> the package file (OPF) -> manifest (id -> document), spine (the reading order),
guide and landmarks (which documents are cover, imprint, contents), nav document or NCX (titles of chapters)
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from understudy.sources.containers import ArchivePart, End, SourceArchive, Start, Text, Token, xml_tokens

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
MOST_DOCUMENTS = 5_000

FRONT_MATTER: Mapping[str, str] = {
    "cover": "the cover",
    "titlepage": "a title page",
    "title-page": "a title page",
    "halftitlepage": "a title page",
    "copyright-page": "the imprint",
    "imprint": "the imprint",
    "colophon": "the imprint",
    "toc": "a table of contents",
    "landmarks": "a table of contents",
    "page-list": "a table of contents",
    "loi": "a list of illustrations",
    "lot": "a list of tables",
    "index": "an index",
    "bibliography": "a bibliography",
    "footnote": "a note",
    "footnotes": "a note",
    "endnote": "a note",
    "endnotes": "a note",
    "rearnote": "a note",
    "rearnotes": "a note",
}
"""What the types of documents and elements that are no part of the story are called."""


class SpineItem(NamedTuple):
    """A document in reading order; `unread` says why it is no part of the story, if the package knows."""

    path: str
    unread: str


class ContentsEntry(NamedTuple):
    """A line of the table of contents, and where it leads."""

    path: str
    fragment: str
    title: str


@dataclass(frozen=True, slots=True)
class BookPackage:
    title: str | None
    language: str | None
    spine: tuple[SpineItem, ...]
    contents: tuple[ContentsEntry, ...]


class _ManifestItem(NamedTuple):
    path: str
    media_type: str
    properties: frozenset[str]


def read_package(archive: SourceArchive) -> BookPackage:
    """The package of a book; one that is locked, or that is damaged, is an error."""
    _refuse_locked(archive)
    part = archive.read(_package_path(archive))
    items, spine, unread = dict[str, _ManifestItem](), list[tuple[str, bool]](), dict[str, str]()
    metadata = dict[str, str]()
    field, toc_id = "", ""
    for token in xml_tokens(part):
        if isinstance(token, Start):
            attributes = token.attributes
            field = token.name if token.name in ("title", "language") and token.name not in metadata else ""
            if token.name == "item":
                properties = frozenset(attributes.get("properties", "").split())
                path = _resolved(part.name, attributes.get("href", ""))[0]
                items[attributes.get("id", "")] = _ManifestItem(path, attributes.get("media-type", ""), properties)
            elif token.name == "spine":
                toc_id = attributes.get("toc", "")
            elif token.name == "itemref":
                spine.append((attributes.get("idref", ""), attributes.get("linear") != "no"))
            elif token.name == "reference" and attributes.get("type", "") in FRONT_MATTER:
                target = _resolved(part.name, attributes.get("href", ""))[0]
                unread[target] = FRONT_MATTER[attributes["type"]]
        elif isinstance(token, Text) and field:
            metadata[field] = metadata.get(field, "") + token.text
        elif isinstance(token, End):
            field = ""
    if not spine or len(spine) > MOST_DOCUMENTS:
        raise part.error(f"has {len(spine):,} documents in its reading order: this is no book")
    contents = tuple(_contents(archive, items, toc_id, unread))
    title, language = (" ".join(metadata.get(key, "").split()) or None for key in ("title", "language"))
    return BookPackage(title, language, tuple(_spine(part, items, spine, unread)), contents)


def _refuse_locked(archive: SourceArchive) -> None:
    if ENCRYPTION not in archive:
        return
    algorithm = ""
    for token in xml_tokens(archive.read(ENCRYPTION)):
        if isinstance(token, Start) and token.name == "EncryptionMethod":
            algorithm = token.attributes.get("Algorithm", "")
        elif isinstance(token, Start) and token.name == "CipherReference" and algorithm not in FONT_ALGORITHMS:
            raise archive.source.error(
                "is locked by DRM: its text is encrypted and cannot be read; use a copy without copy protection"
            )


def _package_path(archive: SourceArchive) -> str:
    for token in xml_tokens(archive.read(CONTAINER)):
        if isinstance(token, Start) and token.name == "rootfile" and token.attributes.get("full-path"):
            return token.attributes["full-path"]
    raise archive.source.error(f"{CONTAINER} names no package: it is damaged, or no EPUB")


def _spine(
    part: ArchivePart, items: Mapping[str, _ManifestItem], spine: list[tuple[str, bool]], unread: Mapping[str, str]
) -> Iterator[SpineItem]:
    for name, is_linear in spine:
        item = items.get(name)
        if item is None:
            raise part.error(f"its reading order names '{name[:100]}', which it does not have: the file is damaged")
        if "nav" in item.properties:
            yield SpineItem(item.path, FRONT_MATTER["toc"])
        elif not is_linear:
            yield SpineItem(item.path, unread.get(item.path, "outside the reading order"))
        else:
            yield SpineItem(item.path, unread.get(item.path, ""))


def _contents(
    archive: SourceArchive, items: Mapping[str, _ManifestItem], toc_id: str, unread: dict[str, str]
) -> Iterator[ContentsEntry]:
    """The table of contents of the nav document, else of the NCX; landmarks are added to what is `unread`."""
    nav = next((item.path for item in items.values() if "nav" in item.properties), None)
    if nav is not None and nav in archive:
        part = archive.read(nav)
        yield from _nav_entries(part, xml_tokens(part), unread)
        return
    ncx = items.get(toc_id) or next((item for item in items.values() if item.media_type.endswith("ncx+xml")), None)
    if ncx is not None and ncx.path in archive:
        part = archive.read(ncx.path)
        yield from _ncx_entries(part, xml_tokens(part))


def _nav_entries(part: ArchivePart, tokens: Iterator[Token], unread: dict[str, str]) -> Iterator[ContentsEntry]:
    kinds: frozenset[str] = frozenset()
    target, title, kind = "", list[str](), ""
    for token in tokens:
        if isinstance(token, Start) and token.name == "nav":
            kinds = element_types(token.attributes)
        elif isinstance(token, Start) and token.name == "a":
            target, title = token.attributes.get("href", ""), []
            kind = next((name for name in element_types(token.attributes) if name in FRONT_MATTER), "")
        elif isinstance(token, Text) and target:
            title.append(token.text)
        elif isinstance(token, End) and token.name == "a" and target:
            path, fragment = _resolved(part.name, target)
            if "toc" in kinds:
                yield ContentsEntry(path, fragment, " ".join("".join(title).split()))
            elif "landmarks" in kinds and kind and not fragment:
                unread.setdefault(path, FRONT_MATTER[kind])
            target = ""


def _ncx_entries(part: ArchivePart, tokens: Iterator[Token]) -> Iterator[ContentsEntry]:
    in_point, in_text, title = 0, False, list[str]()
    for token in tokens:
        if isinstance(token, Start):
            if token.name == "navPoint":
                in_point, title = in_point + 1, []
            elif token.name == "content" and in_point:
                path, fragment = _resolved(part.name, token.attributes.get("src", ""))
                yield ContentsEntry(path, fragment, " ".join("".join(title).split()))
            in_text = token.name == "text"
        elif isinstance(token, Text) and in_text:
            title.append(token.text)
        elif isinstance(token, End):
            in_text = False
            in_point -= token.name == "navPoint"


def element_types(attributes: Mapping[str, str]) -> frozenset[str]:
    """What an element is, by `epub:type` or ARIA's `role`: 'doc-footnote' is a footnote."""
    role = attributes.get("role", "").split()
    return frozenset((*attributes.get("epub:type", "").split(), *(name.removeprefix("doc-") for name in role)))


def _resolved(base: str, target: str) -> tuple[str, str]:
    """(path inside the archive, fragment) of a link in the document at `base`."""
    path, _, fragment = target.partition("#")
    joined = posixpath.join(posixpath.dirname(base), unquote(path)) if path else base
    return posixpath.normpath(joined), unquote(fragment)
