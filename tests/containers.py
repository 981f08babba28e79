"""EPUB and DOCX files made for tests: only the parts that matter, the rest as a program would write it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["docx", "epub", "paragraph", "zipped"]

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
