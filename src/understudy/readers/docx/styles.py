"""Which paragraph styles of a word processor are headings: by outline level, or by name, in the language of the file.

Word keeps the English name of a style it comes with ('heading 1') whatever language it speaks; other programs write
their own. A style has what the style it is based on has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from understudy.readers.archive import ArchivePart
from understudy.readers.tei.xmlstream import Start, xml_tokens

__all__ = ["BODY_LEVEL", "ParagraphStyle", "paragraph_styles"]

BODY_LEVEL = 9
"""The outline level of text; headings have lower ones, the highest has 0."""

HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|encabezado|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|"
    r"заголовок|cabeçalho|başlık|見出し|标题|標題|제목)\s*(\d)",
    re.IGNORECASE,
)
CONTENTS = re.compile(r"(?:toc|verzeichnis|tm|tdc|sommario|inhopg|目次|目录)\s*(?:\d|heading)", re.IGNORECASE)
DEEPEST_BASE = 20


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """`level` is 0 to 8 for a heading; `is_title`: the title of the whole, `is_contents`: its table of contents."""

    level: int = BODY_LEVEL
    is_title: bool = False
    is_contents: bool = False
    is_hidden: bool = False


@dataclass(slots=True)
class _DeclaredStyle:
    name: str = ""
    base: str = ""
    level: int | None = None
    is_hidden: bool = False


def paragraph_styles(part: ArchivePart | None) -> Mapping[str, ParagraphStyle]:
    """Style id -> what it means for a paragraph."""
    if part is None:
        return MappingProxyType({})
    declared, current = dict[str, _DeclaredStyle](), _DeclaredStyle()
    for token in xml_tokens(part):
        if not isinstance(token, Start):
            continue
        value = token.attributes.get("w:val", "")
        if token.name == "style":
            current = declared.setdefault(token.attributes.get("w:styleId", ""), _DeclaredStyle())
        elif token.name == "name":
            current.name = value
        elif token.name == "basedOn":
            current.base = value
        elif token.name == "outlineLvl" and value.isascii() and value.isdigit():
            current.level = min(int(value[:3]), BODY_LEVEL)
        elif token.name == "vanish":
            current.is_hidden = value not in ("0", "false")
    return {style_id: _resolved(style_id, declared) for style_id in declared}


def _resolved(style_id: str, declared: Mapping[str, _DeclaredStyle]) -> ParagraphStyle:
    level: int | None = None
    is_title = is_contents = is_hidden = False
    for _ in range(DEEPEST_BASE):
        style = declared.get(style_id)
        if style is None:
            break
        heading = HEADING.fullmatch(style.name.strip())
        named = int(heading[1]) - 1 if heading and int(heading[1]) else None
        level = next((known for known in (level, style.level, named) if known is not None), None)
        is_title |= style.name.strip().casefold() == "title"
        is_contents |= CONTENTS.match(style.name.strip()) is not None
        is_hidden |= style.is_hidden
        style_id = style.base
    return ParagraphStyle(BODY_LEVEL if level is None else level, is_title, is_contents, is_hidden)
