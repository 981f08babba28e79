"""What one line claims of ties: who is what to whom, in the speaker's words, before anybody asks whether it is so.

A claim is about `of` and `to`: somebody's name, or SPEAKER, or ADDRESSEE. It has the pattern that found it, whose
weight is in `tie_patterns.toml`, and a factor below 1 where the sentence asks, denies or supposes.

    possessor + term + name    'my sister Monica', 'your brother Ross', "Ross's son Ben"
    name + is + possessor + term; 'you are my brother', 'I am your father', 'she is my wife'
    vocative                   'Mom', 'Grandpa'
    verb                       'I am dating Ross', 'Ross broke up with Julie', 'we are married'
    ceremony                   'I, Ross, take thee, Emily'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.people.marked_names import MarkedText, NameIndex
from understudy.people.tie_grammar import grammar, tables
from understudy.tie_terms import TieTerm, terms

__all__ = ["ADDRESSEE", "SPEAKER", "TieClaim", "claims", "label_claim", "may_claim"]

SPEAKER, ADDRESSEE = "@speaker", "@addressee"
ASKS = re.compile(r"[^.!?]*\?")
DENIES = re.compile(
    r"(?:\bnot|n't|\bif|\blike|\bas|\bpretend\w*|\bwish\w*|\bwould be|\bcould be|\bthan|\bnever|\bfake|\bno longer)"
    r"\b[^.,;!?]{0,14}$"
)
SUPPOSES = re.compile(r" not| never| would|'d")
NOT_YET = re.compile(r"getting|gonna|going to|will|want|'ll")
PROPOSES = re.compile(r"(?:will|would) you $")
PRESENTS = re.compile(r"(?:this is|meet|these are|that's|introduce|you know|remember|here's|here is)[^.!?]{0,12}$")
ASKED, DENIED = 0.5, 0.2
ENDS = ("breakup", "divorce", "broke up", "split up", "got divorced", "broken up")
NAMES_AFTER = re.compile(r"(?P<comma>,?) @\d+(?:(?:,? and|,) @\d+)*(?!\w)")
IS_AFTER = re.compile(r"(?: is|'s name is| was|'s named|, his name is|, her name is) (@\d+)(?![\w'])")
IS_BEFORE = re.compile(r"(@\d+)(?:'s| is| was) (?:\w+ )?$")
NAME_BEFORE = re.compile(r"(@\d+),? $")
YOU_BEFORE = re.compile(r"\byou(?:'re| are| were| art)(?: still| really| like| also)? $")
I_BEFORE = re.compile(r"\bi(?:'m| am| was)(?: still| also)? $")
PRONOUN_BEFORE = re.compile(r"\b(?:she|he)(?:'s| is| was) $")
LABEL = re.compile(r"(.+)'s ([\w-]+)")


@dataclass(frozen=True, slots=True)
class TieClaim:
    """`to` is to `of` what `kind` says. `to` None: it is not said who."""

    kind: str
    of: str
    to: str | None
    term: str
    pattern: str
    factor: float = 1.0
    has_ended: bool = False


def may_claim(text: str) -> bool:
    """A cheap test that most lines fail."""
    return grammar().any.search(text.lower()) is not None


def claims(marked: MarkedText, is_direction: bool, last_named: str | None = None) -> Iterator[TieClaim]:
    """Everything a line, or a direction, claims of ties. `last_named` is whom 'she' may be."""
    yield from _of_noun_phrases(marked, last_named)
    if is_direction:
        yield from _of_kisses(marked)
        return
    for match in grammar().vocative.finditer(marked.text):
        kind = grammar().vocatives[match["term"]]
        yield TieClaim(
            kind, SPEAKER, ADDRESSEE, match["term"], "vocative" if kind in tables()["vocative"] else "called"
        )
    yield from _of_verbs(marked)
    yield from _of_pairs(marked)
    yield from _of_nouns_of_two(marked)
    yield from _of_vows(marked)


def label_claim(name: str, names: NameIndex) -> TieClaim | None:
    """What a script's own name for somebody says: 'Pam's Mom'."""
    if (match := LABEL.fullmatch(name.replace("’", "'"))) is None or (term := terms().get(match[2].lower())) is None:
        return None
    owner = names.owner(match[1])
    return None if owner is None or owner == name else TieClaim(term.kind, owner, name, match[2].lower(), "label")


def _of_noun_phrases(marked: MarkedText, last_named: str | None) -> Iterator[TieClaim]:
    text = marked.text
    for match in grammar().noun_phrase.finditer(text):
        term = terms()[match["term"]]
        before, after = text[: match.start()], text[match.end() :]
        of = _owner(match["owner"], before, marked)
        if of is None:
            continue
        factor = (ASKED if ASKS.match(after) else 1.0) * (DENIED if DENIES.search(before) else 1.0)
        word = ("ex-" if match["ex"] else "") + match["term"]
        has_ended = bool(match["ex"]) or "former " in match["adjectives"]
        found = list(_named(marked, before, after, term, last_named))
        for to, pattern in found:
            if to != of:
                yield TieClaim(term.kind, of, to, word, pattern, factor, has_ended)
        if not found and not term.is_plural and not after.startswith((" #", ", #", " of", "'s")):
            yield TieClaim(term.kind, of, None, word, "unnamed", factor, has_ended)


def _named(
    marked: MarkedText, before: str, after: str, term: TieTerm, last_named: str | None
) -> Iterator[tuple[str, str]]:
    """Who the phrase names, and by which pattern."""
    if match := NAMES_AFTER.match(after):
        names = [_person(word, marked) for word in re.findall(r"@\d+", match[0])]
        if match["comma"] and not PRESENTS.search(before):
            yield names[0], "comma name"
        else:
            yield from ((name, "name") for name in (names if term.is_plural or match["comma"] else names[:1]))
    elif match := IS_AFTER.match(after) or IS_BEFORE.search(before):
        yield _person(match[1], marked), "is"
    elif (match := NAME_BEFORE.search(before)) and re.match(r"[,.!?;]|$", after):
        yield _person(match[1], marked), "name comma"
    elif YOU_BEFORE.search(before):
        yield ADDRESSEE, "faced"
    elif I_BEFORE.search(before):
        yield SPEAKER, "faced"
    elif PRONOUN_BEFORE.search(before) and last_named is not None:
        yield last_named, "pronoun"


def _owner(word: str, before: str, marked: MarkedText) -> str | None:
    if word in ("my", "our", "mine"):
        return SPEAKER
    if word in ("your", "thy"):
        return ADDRESSEE
    if word.startswith("@"):
        return _person(word.rstrip("s").rstrip("'"), marked)
    named = re.findall(r"@\d+", re.split(r"[.!?]", before)[-1])  # 'Ross and his wife Emily'
    return _person(named[-1], marked) if named else None


def _of_verbs(marked: MarkedText) -> Iterator[TieClaim]:
    for match in grammar().verb.finditer(marked.text):
        of, to, what = _person(match["a"], marked), _person(match["b"], marked), grammar().verbs[match["what"]]
        if of != to and not PROPOSES.search(marked.text, 0, match.start("what")):
            kind = "spouse" if what == "married" else "lover"
            yield TieClaim(kind, of, to, "", what, _sureness(marked.text, match), has_ended=what == "ended")


def _of_pairs(marked: MarkedText) -> Iterator[TieClaim]:
    for match in grammar().pair.finditer(marked.text):
        kind = grammar().together[match["what"]]
        has_ended = kind == "ended"
        if has_ended or (kind == "spouse" and NOT_YET.search(match[0])):
            kind = "lover"
        yield from _of_pair(match, kind, marked, has_ended)
    for match in grammar().pair_did.finditer(marked.text):
        kind = "spouse" if match["what"] == "got married" else "lover"
        yield from _of_pair(match, kind, marked, has_ended=match["what"] in ENDS)


def _of_pair(match: re.Match[str], kind: str, marked: MarkedText, has_ended: bool) -> Iterator[TieClaim]:
    """'We', or two who are named; 'you two' is said to two of whom nobody knows which."""
    factor = _sureness(marked.text, match) * (DENIED if match["you"] else 1.0)
    if match["a"] is None:
        yield TieClaim(kind, SPEAKER, ADDRESSEE, "", "we", factor, has_ended)
    elif (of := _person(match["a"], marked)) != (to := _person(match["b"], marked)):
        yield TieClaim(kind, of, to, "", "pair", factor, has_ended)


def _sureness(text: str, match: re.Match[str]) -> float:
    """Less where a sentence asks, denies or supposes."""
    asked = ASKED if ASKS.match(text[match.end() :]) else 1.0
    return asked * (DENIED if SUPPOSES.search(match["aux"]) or DENIES.search(text[: match.start()]) else 1.0)


def _of_nouns_of_two(marked: MarkedText) -> Iterator[TieClaim]:
    """'Our wedding', 'your date with Faye', 'Uncle Luke'."""
    for match in grammar().ours.finditer(marked.text):
        yield TieClaim("lover", SPEAKER, ADDRESSEE, "", "ours", has_ended=match["what"] in ENDS)
    for match in grammar().with_name.finditer(marked.text):
        is_owned = match["owner"] not in ("a", "an", "the")
        of = _owner(match["owner"], marked.text[: match.start()], marked) if is_owned else SPEAKER
        to = _person(match["to"], marked)
        if of is not None and of != to:
            yield TieClaim("lover", of, to, "", "with", 1.0 if is_owned else DENIED, has_ended=match["what"] in ENDS)
    for match in grammar().titled.finditer(marked.text):
        term = terms().get(match["term"], TieTerm("family", None))
        yield TieClaim(term.kind, SPEAKER, _person(match["to"], marked), match["term"], "titled")


def _of_vows(marked: MarkedText) -> Iterator[TieClaim]:
    if grammar().endearment.search(marked.text):
        yield TieClaim("lover", SPEAKER, ADDRESSEE, "", "endearment")
    if grammar().love.search(marked.text):
        yield TieClaim("lover", SPEAKER, ADDRESSEE, "", "love")
    if grammar().propose.search(marked.text):
        yield TieClaim("lover", SPEAKER, ADDRESSEE, "", "proposal")
    for vow in (grammar().vow, grammar().asked_vow):
        for match in vow.finditer(marked.text):
            of = SPEAKER if match["of"] is None else _person(match["of"], marked)
            yield TieClaim("spouse", of, _person(match["to"], marked), "", "ceremony")


def _of_kisses(marked: MarkedText) -> Iterator[TieClaim]:
    if "kiss" not in marked.text:
        return
    for match in grammar().kiss.finditer(marked.text):
        of, to = (_person(word, marked) for word in match.groups() if word is not None)
        if of != to:
            yield TieClaim("lover", of, to, "", "kiss")
    for match in grammar().kisses.finditer(marked.text):
        yield TieClaim("lover", SPEAKER, _person(match["to"], marked), "", "kiss")
    if grammar().they_kiss.search(marked.text):
        yield TieClaim("lover", SPEAKER, ADDRESSEE, "", "they kiss")


def _person(word: str, marked: MarkedText) -> str:
    if word in ("i", "me"):
        return SPEAKER
    return ADDRESSEE if word == "you" else marked.people[int(word[1:])]
