"""PNG files as chunks, strictly and within bounds: enough to find a card in a picture and to put one there.

Every chunk keeps its bytes, so what is taken apart and put together again is the same file. A length is believed
only if the file is that long, and packed text is unpacked only up to a limit.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from understudy.errors import InputError

__all__ = ["SIGNATURE", "Png", "PngChunk", "bytes_of", "keyword_of", "parse_png", "text_chunk", "text_of"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_CHUNKS = 100_000
FRAME = 12  # bytes around a chunk's body: its length, kind and checksum
LONGEST_KEYWORD = 79
TEXTS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
AGAIN = "get the file again, or save the picture anew with an image editor"


class PngChunk(NamedTuple):
    kind: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Png:
    """The chunks of a picture, and whatever some program left behind the last of them."""

    chunks: tuple[PngChunk, ...]
    trailing: bytes = b""


def parse_png(content: bytes, path: Path | None = None) -> Png:
    """Take a PNG apart; what is not one, or is damaged, is an `InputError`."""
    if not content.startswith(SIGNATURE):
        raise InputError("is not a PNG picture", path)
    chunks: list[PngChunk] = []
    size = len(SIGNATURE)
    for chunk in _chunks(content, path):
        if not chunks:
            _check_header(chunk, path)
        chunks.append(chunk)
        size += FRAME + len(chunk.body)
        if len(chunks) > MOST_CHUNKS:
            raise InputError(f"has over {MOST_CHUNKS:,} chunks: save the picture anew with an image editor", path)
    if not any(chunk.kind == b"IDAT" for chunk in chunks):
        raise InputError(f"holds no picture: {AGAIN}", path)
    return Png(tuple(chunks), content[size:])


def _chunks(content: bytes, path: Path | None) -> Iterator[PngChunk]:
    """Each chunk, up to the one that closes the picture."""
    view = memoryview(content)
    position = len(SIGNATURE)
    while True:
        if position + FRAME > len(view):
            raise InputError(f"breaks off after {len(view):,} bytes: {AGAIN}", path)
        length, kind = struct.unpack_from(">I4s", view, position)
        if not (kind.isalpha() and kind.isascii()):
            raise InputError(f"is damaged at byte {position:,}, where a chunk should begin: {AGAIN}", path)
        end = position + FRAME + length
        if end > len(view):
            raise InputError(
                f"breaks off: its {kind.decode()} chunk should have {length:,} bytes, "
                f"but only {len(view) - position - 8:,} follow: {AGAIN}",
                path,
            )
        if zlib.crc32(view[position + 4 : end - 4]) != int.from_bytes(view[end - 4 : end], "big"):
            raise InputError(f"is damaged: its {kind.decode()} chunk does not match its checksum: {AGAIN}", path)
        yield PngChunk(kind, bytes(view[position + 8 : end - 4]))
        if kind == b"IEND":
            return
        position = end


def _check_header(chunk: PngChunk, path: Path | None) -> None:
    if chunk.kind != b"IHDR" or len(chunk.body) != 13 or 0 in struct.unpack_from(">II", chunk.body):
        raise InputError(f"does not begin as a PNG picture must, with its size: {AGAIN}", path)


def bytes_of(chunks: Iterable[PngChunk], trailing: bytes = b"") -> bytes:
    """Put chunks together into a file."""
    parts = [SIGNATURE]
    for kind, body in chunks:
        checksum = zlib.crc32(body, zlib.crc32(kind))
        parts += (len(body).to_bytes(4, "big"), kind, body, checksum.to_bytes(4, "big"))
    return b"".join((*parts, trailing))


def keyword_of(chunk: PngChunk) -> str | None:
    """What a text chunk is about; None for other chunks."""
    if chunk.kind not in TEXTS:
        return None
    end = chunk.body.find(b"\0", 0, LONGEST_KEYWORD + 1)
    return chunk.body[:end].decode("latin-1") if end > 0 else None


def text_chunk(keyword: str, text: bytes) -> PngChunk:
    return PngChunk(b"tEXt", keyword.encode("latin-1") + b"\0" + text)


def text_of(chunk: PngChunk, max_bytes: int, path: Path | None = None) -> bytes:
    """The text of a text chunk, unpacked; one of over `max_bytes` bytes is refused as soon as that shows."""
    name = keyword_of(chunk)
    text = _text(chunk, max_bytes)
    if text is None:
        raise InputError(f"its '{name}' text is damaged: export the card again from where it came", path)
    if len(text) > max_bytes:
        raise InputError(f"its '{name}' text is over {max_bytes:,} bytes, too much for a card: make it smaller", path)
    return text


def _text(chunk: PngChunk, max_bytes: int) -> bytes | None:
    payload = chunk.body.partition(b"\0")[2]
    if chunk.kind == b"tEXt":
        return payload
    if chunk.kind == b"zTXt":
        return _unpacked(payload[1:], max_bytes) if payload[:1] == b"\0" else None
    flags, languages = payload[:2], payload[2:].split(b"\0", 2)  # iTXt: its language, its keyword translated, the text
    if len(languages) < 3 or flags not in (b"\0\0", b"\1\0"):
        return None
    return _unpacked(languages[2], max_bytes) if flags[0] else languages[2]


def _unpacked(packed: bytes, max_bytes: int) -> bytes | None:
    """What a zlib stream holds, up to one byte over the limit; None if it is damaged or breaks off."""
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(packed, max_bytes + 1)
    except zlib.error:
        return None
    return text if stream.eof or len(text) > max_bytes else None
