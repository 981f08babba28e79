"""XML as a stream of tags and text, each with its line; what could harm is refused.

Entity declarations (by which a small file becomes a huge one) and external entities (by which a file reads others)
are errors, and depth and the size of a single tag are bounded. Names come without their namespace prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeAlias
from xml.parsers import expat

from understudy.errors import InputError

__all__ = ["DEEPEST", "End", "Start", "Text", "Token", "xml_tokens"]

DEEPEST = 200
LARGEST_TAG = 4 * 1024 * 1024
CHUNK = 64 * 1024
BREAKS_OFF = frozenset(("no element found", "unclosed token", "partial character", "unclosed CDATA section"))


class Start(NamedTuple):
    line: int
    name: str
    attributes: Mapping[str, str]


class End(NamedTuple):
    line: int
    name: str


class Text(NamedTuple):
    line: int
    text: str


Token: TypeAlias = Start | End | Text


class XmlSource(Protocol):
    """A file, or a part of one, and how what is wrong with it is said."""

    def chunks(self, size: int) -> Iterator[bytes]: ...

    def error(self, message: str, line: int | None = None) -> InputError: ...


def xml_tokens(source: XmlSource, entities: Mapping[str, str] = MappingProxyType({})) -> Iterator[Token]:
    """The tags and the text of an XML file, in order; `entities` are names that its kind of file has a meaning for."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    tokens: list[Token] = []
    depth = fed = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            message = f"is nested more than {DEEPEST} deep: this is no text that somebody wrote"
            raise source.error(message, parser.CurrentLineNumber)
        tokens.append(Start(parser.CurrentLineNumber, _local(name), attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        tokens.append(End(parser.CurrentLineNumber, _local(name)))

    def text(data: str) -> None:
        tokens.append(Text(parser.CurrentLineNumber, data))

    def refuse_entity(name: str, *_: object) -> None:
        message = f"declares the entity '{name[:60]}': write the text out, entities are not read"
        raise source.error(message, parser.CurrentLineNumber)

    def refuse_external(*_: object) -> int:
        raise source.error("refers to another file: put everything into this one", parser.CurrentLineNumber)

    def known_entity(name: str, *_: object) -> None:
        if name in entities:
            tokens.append(Text(parser.CurrentLineNumber, entities[name]))
            return
        message = f"uses the entity '&{name[:60]};', which nothing explains: write the character itself"
        raise source.error(message, parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.EntityDeclHandler, parser.ExternalEntityRefHandler = refuse_entity, refuse_external
    parser.SkippedEntityHandler = known_entity
    try:
        for chunk in source.chunks(CHUNK):
            parser.Parse(chunk, False)
            fed += len(chunk)
            yield from tokens
            tokens.clear()
            if fed - max(parser.CurrentByteIndex, 0) > LARGEST_TAG:
                message = f"a tag or comment of over {LARGEST_TAG:,} bytes: this is no text that somebody wrote"
                raise source.error(message, parser.CurrentLineNumber)
        parser.Parse(b"", True)
        yield from tokens
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code) or "an error"
        cut = what in BREAKS_OFF
        message = f"breaks off ({what}): the file is cut off" if cut else f"is not well-formed XML here ({what})"
        raise source.error(message, error.lineno) from error
    except (LookupError, ValueError) as error:
        raise source.error(f"names an encoding that cannot be read ({error}): convert it to UTF-8", 1) from error


def _local(name: str) -> str:
    return name.rpartition(":")[2]
