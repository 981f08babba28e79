"""Speech tags: a verb of speech and its subject beside a quotation, and which of them tells who speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from understudy.quotations.mentions import NOBODY

__all__ = ["NO_TAG", "QuotationTags", "SubjectKind", "Tag", "best_tag", "decisive_tag"]


class SubjectKind:
    """Who a tag's subject is: nothing there, a name, 'he' or 'she', 'I', 'they', or another noun."""

    NONE, NAME, PRONOUN, FIRST, PLURAL, NOUN = range(6)


class Tag(NamedTuple):
    """`who` is an index into the cast or NOBODY; `verb` 0 none, 1 that may be one of speech, 2 one that surely is;
    `gap` words between quotation and subject; `is_inverted` 'said Emma'; `start` the subject's first
    word, `noun` the head of one that is no name; `is_direct` nothing stands between subject and verb."""

    kind: int = SubjectKind.NONE
    who: int = NOBODY
    gender: str = ""
    verb: int = 0
    gap: int = 0
    is_inverted: bool = False
    start: int = -1
    noun: str = ""
    is_direct: bool = False


NO_TAG = Tag()


@dataclass(frozen=True, slots=True)
class QuotationTags:
    """What stands before a quotation in its paragraph, between its parts, after it; `lead` at the end of the paragraph
    before, where the quotation opens its own (`is_led`: that ends with a colon, comma or dash, or a verb of speech).
    `is_introduced`: what stands before ends with a colon, comma or dash."""

    before: Tag
    between: Tag
    after: Tag
    lead: Tag
    beat_before: Tag
    beat_after: Tag
    beat_between: Tag
    beat_lead: Tag
    narration_before: range
    narration_after: range
    is_led: bool = False
    is_introduced: bool = False


def best_tag(tags: QuotationTags) -> Tag:
    """The tag that says most: between the parts; what introduces the quotation; after it, before it, or leading up to
    it in the paragraph before, whichever has the surer verb; else who acts between its parts."""
    if tags.between.verb:
        return tags.between
    if tags.is_introduced and tags.before.verb:
        return tags.before
    best = max((tags.after, tags.before, tags.lead if tags.is_led else NO_TAG), key=lambda tag: tag.verb)
    return best if best.verb else tags.beat_between._replace(verb=1 if tags.beat_between.kind else 0)


def decisive_tag(tags: QuotationTags) -> Tag:
    """The tag that names the speaker beyond doubt, or none: a name beside its verb ('said Emma'), within the
    quotation's own paragraph; what stands before must introduce it."""
    tag = best_tag(tags)
    if tag.kind != SubjectKind.NAME or tag is tags.lead:
        return NO_TAG
    if tag is tags.before:
        return tag if tags.is_introduced and (tag.is_direct or tag.verb > 1) else NO_TAG
    return tag if tag.is_direct else NO_TAG
