"""Regular expressions as lorebooks write them (JavaScript's), matched by RE2 in time proportional to the text.

A card may come from anybody, and an engine that backtracks can be kept busy for years by one line of it. RE2 follows
all ways through a pattern at once, within a limit of memory; it has neither looking ahead or behind nor back
references. Of what only JavaScript writes, `\\u0041`, `\\u{1F511}` and `[^]` are translated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_PATTERN", "Regex", "Unsupported", "compile_regex", "pattern_of"]

MAX_PATTERN = 500  # characters
MAX_MEMORY = 64 * 1024  # bytes of a compiled pattern and its caches; holds programs of some 2,700 instructions
FLAGS = frozenset("gimsuy")
LITERAL = re.compile(r"/(?P<pattern>(?:\\.|[^/\\])+)/(?P<flags>[a-z]*)", re.DOTALL)
JAVASCRIPT = re.compile(
    r"\\u\{(?P<braced>[0-9a-fA-F]{1,6})\}|\\u(?P<four>[0-9a-fA-F]{4})|(?P<any>\[\^\])|\\.", re.DOTALL
)
LOOKAROUND = re.compile(r"\(\?<?[=!]")
BACK_REFERENCE = re.compile(r"\\(?:[1-9]|k<)")


class Unsupported(ValueError):
    """A pattern that is invalid, or that RE2 does not take; the message says why."""


@dataclass(frozen=True, slots=True)
class Regex:
    _compiled: Any
    size: int
    """Instructions: a search takes at most so many steps for each byte of the text."""

    def is_in(self, text: bytes) -> bool:
        """Is it anywhere in a text in UTF-8?"""
        return self._compiled.search(text) is not None


def pattern_of(key: str) -> tuple[str, str] | None:
    """The pattern and the flags of a key that is written as /pattern/flags; None for any other key."""
    literal = LITERAL.fullmatch(key.strip())
    return None if literal is None else (literal["pattern"].replace("\\/", "/"), literal["flags"])


def compile_regex(pattern: str, flags: str = "") -> Regex:
    if len(pattern) > MAX_PATTERN:
        raise Unsupported(f"it has over {MAX_PATTERN} characters")
    if len(set(flags)) < len(flags) or not FLAGS.issuperset(flags):
        raise Unsupported(f"'{flags}' are no flags")
    import re2  # takes a while to load, and few stories have patterns

    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = "i" not in flags
    own_flags = "".join(flag for flag in "ms" if flag in flags)
    try:
        compiled = re2.compile((f"(?{own_flags})" if own_flags else "") + JAVASCRIPT.sub(_translated, pattern), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise Unsupported(_reason(pattern, error)) from error
    return Regex(compiled, compiled.programsize)


def _translated(match: re.Match[str]) -> str:
    if match["any"]:
        return r"[\x{0}-\x{10ffff}]"
    digits = match["braced"] or match["four"]
    return rf"\x{{{digits}}}" if digits else match[0]


def _reason(pattern: str, error: Exception) -> str:
    if LOOKAROUND.search(pattern):
        return "looking ahead or behind is not supported"
    if BACK_REFERENCE.search(pattern):
        return "references to groups are not supported"
    if isinstance(error, UnicodeEncodeError):
        return str(error.reason)
    message = error.args[0]
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
