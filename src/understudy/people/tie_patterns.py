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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from understudy.people.names import MarkedText, NameIndex
from understudy.story.wording import TieTerm, plural_terms, terms
from understudy.text import either, word_table

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
        named = list(_named(marked, before, after, term, last_named))
        for to, pattern in named:
            if to != of:
                yield TieClaim(term.kind, of, to, word, pattern, factor, has_ended)
        if not named and not term.is_plural and not after.startswith((" #", ", #", " of", "'s")):
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
    question_factor = ASKED if ASKS.match(text[match.end() :]) else 1.0
    return question_factor * (DENIED if SUPPOSES.search(match["aux"]) or DENIES.search(text[: match.start()]) else 1.0)


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


# The regular expressions by which a line tells of a tie; the words around those for ties are in `tie_patterns.toml`.
#
# Expressions are written over marked text (`marked_names`): small letters, '@3' for the fourth person named.

BEFORE_VOCATIVE = (
    r"(?:^|[,.!?;:…()-] ?|\b(?:hey|hi|hello|oh|ok|okay|thanks|yes|yeah|no|bye|well|please|sorry|dear|you|night|morning"
    r"|but|and|look|so|my|good|sweet|gentle|farewell) )"
)
AFTER_VOCATIVE = r"(?=\s?[,.!?;:…()-]|$)"
HELPING = (
    r"(?:'m|'re|'s|'ve|'d|'ll| am| are| is| was| were| have| had| has| will| would| did| do| been| be| just| still"
    r"| really| so| totally| already| actually| finally| going to| gonna| got| getting| started| both| to| want to"
    r"| wanna| never| not| used| deeply| madly)*"
)


def tables() -> dict[str, Any]:
    return word_table("people", "tie_patterns.toml")


@cache
def weights() -> dict[str, float]:
    """How sure one use of a pattern is, by its name."""
    return dict(tables()["weights"])


def _by_word(table: str) -> dict[str, str]:
    return {word: kind for kind, words in tables()[table].items() for word in words}


class Grammar:
    """The expressions, compiled once."""

    def __init__(self) -> None:
        self.verbs = _by_word("verbs")
        self.together = plural_terms() | _by_word("together")
        self.vocatives = _by_word("vocative") | _by_word("called")
        endearments, of_two = either(tables()["endearments"]), tables()["nouns of two"]
        adjectives = either(tables()["adjectives"])
        nouns = {*of_two["ours"], *of_two["with"], *tables()["endearments"]}
        words = {*terms(), *self.verbs, *self.together, *self.vocatives, *nouns, "love you", "take", "broke", "split"}
        self.any = re.compile(rf"\b(?:{either(words)})")  # of small letters: without regard to case it is slower
        self.noun_phrase = re.compile(
            r"(?<![\w@])(?P<owner>my|our|your|his|her|@\d+'s?|thy|mine) "
            rf"(?P<adjectives>(?:(?:{adjectives}),? )*)(?P<ex>ex[- ])?(?P<term>{either(terms())})(?![\w-])"
        )
        self.vocative = re.compile(rf"{BEFORE_VOCATIVE}(?P<term>{either(self.vocatives)}){AFTER_VOCATIVE}")
        self.endearment = re.compile(rf"{BEFORE_VOCATIVE}(?:{endearments}){AFTER_VOCATIVE}")
        self.verb = re.compile(
            rf"(?<![\w@])(?P<a>i|you|@\d+)(?P<aux>{HELPING}) (?P<what>{either(self.verbs)}) (?P<b>@\d+|you|me)\b(?!')"
        )
        pair = r"(?<![\w@])(?:(?P<we>we)|(?P<you>you (?:two|guys))|(?P<a>@\d+|i|you|me) and (?P<b>@\d+|i|you|me))"
        self.pair = re.compile(
            rf"{pair}(?P<aux>{HELPING}) (?:(?:like|very|such|old|good|the|a|all|getting|completely|officially) )*"
            rf"(?P<what>{either(self.together)})(?![\w-])"
        )
        self.pair_did = re.compile(
            rf"{pair}(?P<aux>(?:'ve| have| just| had)*) "
            r"(?P<what>broke up|split up|got divorced|broken up|got married|got engaged)"
        )
        self.ours = re.compile(
            rf"\bour (?:(?:first|own|whole|little|last|second|big) )*(?P<what>{either(of_two['ours'])})\b"
        )
        self.with_name = re.compile(
            rf"(?<![\w@])(?P<owner>my|your|his|her|@\d+'s?|an?|the) (?:\w+ )?(?P<what>{either(of_two['with'])})"
            r" (?:with|to|from) (?P<to>@\d+)"
        )
        self.titled = re.compile(r"\b(?P<term>uncle|aunt|auntie|cousin|grandma|grandpa|brother|sister) (?P<to>@\d+)")
        self.love = re.compile(r"\bi(?: really| do| still| just)? love you\b(?! (?:guys|two|all|for|too much))")
        self.propose = re.compile(r"\b(?:will|would) you marry me\b")
        self.vow = re.compile(r"\bi,?(?: (?P<of>@\d+),?)? take (?:thee|you|this (?:wo)?man),? (?P<to>@\d+)")
        self.asked_vow = re.compile(r"\bdo you,? (?P<of>@\d+)[^?.]{0,40}\btake (?:\w+ )*?(?P<to>@\d+)")
        self.kiss = re.compile(
            r"(@\d+)[^.@]{0,40}\bkiss(?:es|ing|ed)?\b[^.@]{0,15}(@\d+)|(@\d+) and (@\d+)[^.@]{0,25}\bkiss(?:ing)?\b"
        )
        self.kisses = re.compile(r"^[^@.]{0,25}\bkiss(?:es|ing)? (?P<to>@\d+)")
        self.they_kiss = re.compile(r"\bthey (?:(?:start|share|begin|both|passionately) )*(?:to )?kiss")


@cache
def grammar() -> Grammar:
    return Grammar()


# What a line of Japanese or Chinese claims of ties: the plainest patterns, over marked text.
#
# possessor + term + name     '私の妹の千夏', '我女儿小满'
# name + is + possessor + term   '千夏は私の妹', '小满是我女儿'
# vocative                    'お母さん、', '爷爷！'

MARKS = "、。！？…，,.!?「」『』“”（）()\\s—"
OF = {"ja": "の", "zh": "的?"}
BEFORE_NAME = {"ja": "(?:の|、|である)?", "zh": "(?:，|、|叫)?"}
IS = {"ja": "(?:は|が|って)", "zh": "(?:就?是|也是)"}


@cache
def unspaced_claims(language: str) -> Callable[[MarkedText], Iterator[TieClaim]]:
    """The reader of claims of a language."""
    table = tables()[language]
    kinds = {word: kind for kind, words in table["terms"].items() for word in words}
    called = {word: kind for kind, words in table["vocative"].items() for word in words}
    owners = dict.fromkeys(table["speaker"], SPEAKER) | dict.fromkeys(table["addressee"], ADDRESSEE)
    phrase = rf"(?P<owner>@\d+|{either(owners)}){OF[language]}(?P<term>{either(kinds)})"
    named_after = re.compile(rf"{phrase}{BEFORE_NAME[language]}(?P<to>@\d+)")
    named_before = re.compile(rf"(?P<to>@\d+){IS[language]}{phrase}")
    vocative = re.compile(rf"(?:^|[{MARKS}])(?P<term>{either(called)})(?=[{MARKS}]|$)")

    def person(word: str, marked: MarkedText) -> str:
        return marked.people[int(word[1:])] if word.startswith("@") else owners[word]

    def read(marked: MarkedText) -> Iterator[TieClaim]:
        for pattern, name in ((named_after, "name"), (named_before, "is")):
            for match in pattern.finditer(marked.text):
                of, to = person(match["owner"], marked), person(match["to"], marked)
                if of != to:
                    yield TieClaim(kinds[match["term"]], of, to, match["term"], name)
        for match in vocative.finditer(marked.text):
            yield TieClaim(called[match["term"]], SPEAKER, ADDRESSEE, match["term"], "vocative")

    return read
