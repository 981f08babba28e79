"""Further names of declared people, as far as each means one person only.

A source that declares its cast often says more names than one (`Vernon`, `Vernon Dursley`). One that two people answer
to, or that is somebody else's own name, would make a label ambiguous, so it is nobody's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from understudy.readers.names import fold, is_group

__all__ = ["unambiguous"]


def unambiguous(further: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Name -> its further names that nobody else has, as first written."""
    own = {fold(name) for name in further}
    claimed: dict[str, set[str]] = defaultdict(set)
    for name, others in further.items():
        for other in others:
            claimed[fold(other)].add(name)
    kept: dict[str, dict[str, str]] = {}
    for name, others in further.items():
        found = kept.setdefault(name, {})
        for other in others:
            if _only(other, own, claimed):
                found.setdefault(fold(other), other)
    return {name: tuple(found.values()) for name, found in kept.items()}


def _only(other: str, own: set[str], claimed: Mapping[str, set[str]]) -> bool:
    folded = fold(other)
    return bool(folded) and folded not in own and len(claimed[folded]) == 1 and not is_group(other)
