"""Whom an old line was said to, and whether it can be said to the one faced now.

    called      it calls somebody else, or points at them: 'Sweet Sir Toby, be patient.' 'This is my brother Frasier.'
    for others  it speaks to somebody ('you', 'read me the number') where the one faced was not there
    of them     it speaks of the one faced as of somebody else, or was said behind their back in talk about them
    asked of    'Who is the man in the hat?' is answered by no line that has nothing of the man and the hat

Of what calls and speaks to people the forms are English; names are looked for in every language. Only those who were
there when a line was said can have been called in it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from understudy.agents.dialogue_context import KnownPeople
from understudy.agents.pools import KeyedCache
from understudy.agents.word_tokens import plain_line, roots
from understudy.story.dialogue import Situation
from understudy.story.persona import Other, Past
from understudy.story.types import Exchange, Moment
from understudy.text import either, find_name

SCENES = 400  # of the past that are looked through
NEAR = 8  # lines before one that say whom it speaks of
MARK = r"[,;:.!?…—–(“\"]"
LEADING = (
    "my dear dearest good sweet noble gentle fair worthy kind poor old young little honest brave most thou o oh ah hey "
    "hi hello well come now yes no nay aye ay and but so okay ok please thanks sorry sir mr mrs ms miss dr lord lady "
    "monsieur madam mistress master cousin brother sister uncle aunt captain doctor king queen prince princess fine"
)
TITLE_OF_RANK = (
    r"my (?:good |dear |sweet |gentle )?(?:lord|lady|liege|lords|friends?|son|child|man|girl|boy|fellow)|"
    r"your (?:majesty|highness|grace|hono(?:u)?r|lordship|ladyship|excellency)|"
    r"sirs?|madam|ma'am|miss|mister|gentlemen|ladies|sailors|masters|friends|guys|boys|girls|lads?|lass|lassie|laddie|"
    r"captain|doctor|professor|sergeant|commissary|inspector|officer|nurse|father|mother|dad|mom|mum|papa|mama|"
    r"nephew|cousin|uncle|aunt|servant|slave|spirit|boatswain|wench|knave|villain|honey|sweetie|darling|dude|buddy"
)
BEFORE = rf"(?:^|{MARK})\s*(?:(?i:{'|'.join(LEADING.split())})\.?\s+){{0,3}}"
CALLING = rf"{BEFORE}(?:(?i:my|thou|good)\s+\w+\s+)?"
NOT_LISTED = r"(?!\s*,\s*(?:who|whose|he|she|they|his|her|the|and|a|an|or|[A-Z]\w+(?:,| and))\b)"
AND_ANOTHER = rf"\s+and\s+(?:(?i:{'|'.join(LEADING.split())})\s+)?[A-Z]\w+"
AFTER = rf"(?=(?:{AND_ANOTHER})?\s*(?:[,;:.!?…—–”\"]|$)){NOT_LISTED}"
CLEARLY_AFTER = rf"(?=(?:{AND_ANOTHER})?\s*[,!]){NOT_LISTED}"
"""After a name that is called; before another mark it may be the topic as well: 'Jory Pell. Fell from the yard.'"""
CALLED = re.compile(rf"{CALLING}([A-Z][a-z]{{2,}})(?=\s*[,!.])")
EPITHET = re.compile(rf"{BEFORE}(?i:{TITLE_OF_RANK}){AFTER}")
FILLER = re.compile(
    r"\b(?:thank you|thank thee|mind you|you know,|y['’]know|you see,|i tell you|let me tell you|if you ask me|"
    r"i assure you|you might say|i beg your pardon)",
    re.IGNORECASE,
)
SECOND_PERSON = re.compile(
    r"\b(?:you|your|yours|yourself|yourselves|y['’]all|thou|thee|thy|thine|thyself|ye)\b", re.IGNORECASE
)
VERBS = (
    "give take come go look read tell bring keep get put stand sit stop shut hark arm mark write show hold wait leave "
    "listen ask remember fetch speak swear follow draw approach awake bid impart make send call turn open close run "
    "stay help pray drink eat count enter"
)
IMPERATIVE = re.compile(
    r"(?:^|[.!?…—–;]\s+)(?:(?:now|so|then|and|but|come|go|please|ok|okay|oh|well|no|yes),?\s+)?"
    rf"(?:{'|'.join(VERBS.split())}|don['’]t|do not|let (?:me|him|her|it|them)|be (?!that))\b(?!['’])",
    re.IGNORECASE,
)
THIRD_PERSON = {
    "m": re.compile(r"\b(?:he|him|his)\b", re.IGNORECASE),
    "f": re.compile(r"\b(?:she|her|hers)\b", re.IGNORECASE),
    "": re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE),
}
WOMAN = re.compile(r"\b(?:woman|girl|female|lady|she|her|女|女性|女の子|姑娘)\b|女")
MAN = re.compile(r"\b(?:man|boy|male|gentleman|he|his)\b|男")
WHO = re.compile(
    r"\b(?:who(?:['’]s| is| was| are| were)|what (?:sort|kind|manner) of (?:man|woman|person))\b", re.IGNORECASE
)
SAID_OF = (
    r"(?:is|was|has|had|will|would|does|did|says|said|told|took|wrote|knows|can|could|must|may|might|hath|doth|and I)\b"
)
ABOUT = r"(?:with|of|about|by|from|for|trust|like|love|hate|despise|know|ask|tell|see|the|to|on|against)"


@dataclass(frozen=True, slots=True)
class _Circumstances:
    """An own line, what had just been said, and who spoke before and after it."""

    text: str
    before: tuple[str, ...]
    neighbours: frozenset[str | None]


_LINES = KeyedCache[dict[tuple[int, ...], _Circumstances]](32)


KIN_WORDS = {
    "child": "son|daughter|child|girl|boy", "parent": "father|mother|dad|mom|mum|papa|mama",
    "spouse": "wife|husband", "sibling": "brother|sister", "lover": "girlfriend|boyfriend|lover", "friend": "friend",
}  # fmt: skip


def _kin_words(situation: Situation) -> re.Pattern[str] | None:
    """What the character calls the one faced before others: 'my daughter'."""
    faced, known = situation.faced, KnownPeople.of(situation)
    if faced is None:
        return None
    kinds = {tie.kind for tie in known.ties(situation, faced.name)} & KIN_WORDS.keys()
    words = "|".join(KIN_WORDS[kind] for kind in sorted(kinds))
    return re.compile(rf"\bmy (?:\w+ )?(?:{words})\b", re.IGNORECASE) if words else None


def names_of(other: Other) -> tuple[str, ...]:
    """All names of somebody and the parts of a name of several words, without an article before them."""
    names = other.names
    parts = (part for part in other.name.split() if len(part) > 2 and part[:1].isupper())
    bare = (name[4:] for name in names if name.startswith("the "))
    return tuple(dict.fromkeys((*names, *parts, *bare)))


@lru_cache(4096)
def _vocative(names: tuple[str, ...], is_clear: bool) -> re.Pattern[str] | None:
    joined = either(filter(str.strip, names))
    return re.compile(rf"{CALLING}({joined}){CLEARLY_AFTER if is_clear else AFTER}") if joined else None


@lru_cache(4096)
def _pointed_at(names: tuple[str, ...]) -> re.Pattern[str] | None:
    joined = either(name for name in names if name[:1].isupper())
    return re.compile(rf"\b[Tt]his is (?:my (?:\w+ ){{0,2}}\w+,? )?(?:[A-Z]\w*\.? )?(?:{joined})\b") if joined else None


@lru_cache(4096)
def _spoken_of(names: tuple[str, ...]) -> re.Pattern[str] | None:
    joined = either(name for name in names if name[:1].isupper())
    if not joined:
        return None
    return re.compile(
        rf"\b(?:{joined})\b(?='s\b|’s\b|\s+{SAID_OF})|\b{ABOUT}\s+(?:(?:Mr|Mrs|Miss|Dr|Sir|Lord|Lady|Monsieur)\.?\s+)?"
        rf"(?:{joined})\b(?!,? you)"
    )


def _is_spoken_of(text: str, names: Iterable[str]) -> bool:
    """Is somebody of these names spoken of inside a clause, not called?"""
    pattern = _spoken_of(tuple(names))
    return pattern is not None and pattern.search(text) is not None


def gender_of(other: Other | None) -> str:
    """'f', 'm', or blank where what is known of them does not say."""
    if other is None:
        return ""
    for sentence in other.profile[:6]:
        is_woman, is_man = WOMAN.search(sentence), MAN.search(sentence)
        if bool(is_woman) != bool(is_man):
            return "f" if is_woman else "m"
    return ""


class Addressing:
    """Judges old lines of one character for one situation."""

    def __init__(self, situation: Situation) -> None:
        self._past, self._language = situation.persona.past, situation.persona.language
        self._own = situation.persona.name
        known = KnownPeople.of(situation)
        self._faced = situation.faced
        listed = self._faced and known.name_of(self._faced.name)
        same = [other for other in known.people if self._faced is not None and other.name == listed]
        self._faced_names = frozenset(
            name for other in (*same, *filter(None, (self._faced,))) for name in names_of(other)
        )
        here = {known.name_of(other.name) for other in situation.present}
        others = [other for other in known.people if other.name not in here and other not in same]
        self._others = {name: other for other in others for name in other.names}
        own = {self._own, *self._own.split()}
        self._names = {
            other.name: tuple(name for name in names_of(other) if name not in self._faced_names and name not in own)
            for other in others
        }
        self._other_names = tuple(dict.fromkeys(name for names in self._names.values() for name in names))
        parts = set(self._other_names)
        self._kin = _kin_words(situation)
        self._own_to_faced = tuple(sorted(name for name in self._faced_names if name not in parts and name not in own))

    def suits(self, exchange: Exchange, message: str) -> bool:
        """Can an exchange's line be an answer to the one faced? A question who somebody is needs one about them."""
        if exchange.approved is not None or exchange.said.speaker != self._own:
            return True
        return not self.fault(exchange) and self.has_subject(exchange, message)

    def has_subject(self, exchange: Exchange, message: str) -> bool:
        """Has an exchange half of whom a message asks for, where it asks who somebody is?"""
        if self._language != "en" or WHO.search(message) is None:
            return True
        asked = roots(WHO.sub(" ", message), self._language)
        text = f"{exchange.heard.text if exchange.heard else ''} {exchange.said.text}"
        return 2 * len(asked & roots(text, self._language)) >= len(asked)

    def fault(self, exchange: Exchange) -> str:
        """Why an exchange's line cannot be said to the one faced; blank where it can."""
        if exchange.approved is not None or exchange.said.speaker != self._own:
            return ""
        return self.fault_of(exchange.said.text, exchange.said.moment)

    def fault_of(self, text: str, moment: Moment) -> str:
        """The same of a text that is the line of a moment, or a part of it."""
        company = self._past.company(moment)
        was_there = not self._faced_names.isdisjoint(company)
        text = plain_line(text)
        if self._faced is not None and company and not was_there and self._names_faced(text):
            return "was said behind the back of the one faced"
        if self._language != "en":
            return ""
        if self._calls_others(text, company):
            return "calls somebody else"
        said = FILLER.sub(" ", text)
        speaks_to_somebody = SECOND_PERSON.search(said) is not None or IMPERATIVE.search(said) is not None
        around = self._around(moment)
        whole = text if around is None else around.text
        if speaks_to_somebody and whole != text and self._calls_others(whole, company):
            return "was said to somebody else"
        is_for_faced = was_there and (len(company) == 1 or self._spoke_beside(moment))
        if not is_for_faced and EPITHET.search(text):
            return "calls somebody else"
        if self._faced is None or not company:
            return ""
        if _is_spoken_of(text, self._own_to_faced):
            return "speaks of the one faced as of somebody else"
        if is_for_faced:
            return ""
        if not was_there and self._has_unnamed(text) and self._was_about_faced(moment):
            return "was said behind the back of the one faced"
        return "was said to somebody else" if speaks_to_somebody else ""

    def is_for_faced(self, exchange: Exchange) -> bool:
        """Was it the one faced who had spoken before the line, or did after it, or was nobody else there?"""
        company = self._past.company(exchange.said.moment)
        heard_from = exchange.heard.speaker if exchange.heard is not None else None
        if heard_from in self._faced_names or self._spoke_beside(exchange.said.moment):
            return True
        return len(company) == 1 and not self._faced_names.isdisjoint(company)

    def _spoke_beside(self, moment: Moment) -> bool:
        around = self._around(moment)
        return around is not None and not self._faced_names.isdisjoint(filter(None, around.neighbours))

    def _calls_others(self, text: str, company: Collection[str]) -> bool:
        """Those who were there for the line may be called before any mark; others, as who is called in, clearly."""
        there = {self._others[name].name for name in company if name in self._others}
        for who, names in self._names.items():
            pattern = _vocative(names, bool(company) and who not in there)
            if pattern is not None and pattern.search(text):
                return True
        pointed_at = _pointed_at(self._other_names)
        if pointed_at is not None and pointed_at.search(text):
            return True
        return any(self._is_short_for_another(match[1]) for match in CALLED.finditer(text))

    def _is_short_for_another(self, name: str) -> bool:
        """Is somebody else called by the beginning of a name, as Kevin is by 'Kev'?"""
        return not any(known.startswith(name) for known in self._faced_names) and any(
            known.startswith(name) and known != name for known in self._other_names
        )

    def _names_faced(self, text: str) -> bool:
        if find_name(text, self._own_to_faced) is not None:
            return True
        return self._kin is not None and self._kin.search(text) is not None

    def _has_unnamed(self, text: str) -> bool:
        """Does a text begin to speak of somebody of the sex of the one faced without having said of whom?"""
        match = THIRD_PERSON[gender_of(self._faced)].search(text)
        if match is None:
            return False
        before = text[: match.start()]
        return not any(mark in before for mark in ".!?") and find_name(before, self._others) is None

    def _was_about_faced(self, moment: Moment) -> bool:
        around = self._around(moment)
        return around is not None and any(find_name(text, self._own_to_faced) for text in around.before)

    def _around(self, moment: Moment) -> _Circumstances | None:
        lines = _LINES.get_or_create(id(self._past), self._past, lambda: _circumstances(self._past, self._own))
        return lines.get(moment.numbers)


def _circumstances(past: Past, own: str) -> dict[tuple[int, ...], _Circumstances]:
    by_moment: dict[tuple[int, ...], _Circumstances] = {}
    for scene in past.scenes(SCENES):
        spoken = [line for line in scene.lines if line.speaker is not None]
        for index, line in enumerate(spoken):
            if line.speaker == own:
                before = spoken[max(0, index - NEAR) : index]
                last = next((other.speaker for other in reversed(before) if other.speaker != own), None)
                after = next((other.speaker for other in spoken[index + 1 : index + 3] if other.speaker != own), None)
                by_moment[line.moment.numbers] = _Circumstances(
                    plain_line(line.text), tuple(other.text for other in before), frozenset((last, after))
                )
    return by_moment
