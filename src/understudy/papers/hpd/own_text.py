"""What a reply gives away by itself, whatever it answers.

HPD's wrong replies are what models proposed and people refused, often turned into English by a machine; many of its
right ones were written by people. So the text alone tells much of which is which: how long it is, whether it narrates
instead of speaking, how it is spelled. Whatever reads more than the reply has to be better than this.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from understudy.papers.hpd.features import Feature, TextFeatures
from understudy.story.dialogue import Example
from understudy.text import words

FEATURES = (
    Feature("words"),
    Feature("sentences"),
    Feature("question"),
    Feature("exclamation"),
    Feature("trails_off", -1),
    Feature("begins_with_answer"),
    Feature("begins_with_conjunction"),
    Feature("thanks"),
    Feature("asks_assent"),
    Feature("says_i", 1),
    Feature("we_share"),
    Feature("you_share"),
    Feature("third_person_share", -1),
    Feature("narrates", -1),
    Feature("contractions"),
    Feature("names"),
    Feature("no_end_mark"),
    Feature("broken_spacing", -1),
    Feature("small_first_letter", -1),
)

ENDS = re.compile(r"[.!?。！？]+|…+")
END_MARKS = ".!?…。！？\"'”’」』"
BROKEN = re.compile(r"[a-z][.!?,][A-Z]|\s-\w|\w-\s")
CONTRACTION = re.compile(r"\w['’](?:t|s|m|ll|ve|re|d)\b", re.IGNORECASE)
NAME = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class _Wording:
    """Words and patterns of a language by which the features are told."""

    answer: re.Pattern[str]
    conjunction: re.Pattern[str]
    thanks: re.Pattern[str]
    assent: re.Pattern[str]
    narration: re.Pattern[str]
    first: frozenset[str]
    plural: frozenset[str]
    second: frozenset[str]
    third: frozenset[str]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _Wording(
    answer=_pattern(r"\W*(?:yes|yeah|no|not|of course|sure|ok|okay|well|oh|i know|right|maybe|never|all right)\b"),
    conjunction=_pattern(r"\W*(?:but|so|and|then|because|if|since|or|though)\b"),
    thanks=_pattern(r"\bthank(?:s|ful)?\b"),
    assent=_pattern(r"\b(?:right|isn't it|is it|okay|ok)\?"),
    narration=_pattern(
        r"\b(?:he|she|they|[a-z]+) (?:said|shouted|asked|cried|screamed|whispered|nodded|walked|looked|smiled|shrugged|"
        r"turned|saw|ran|went|thought)\b"
    ),
    first=_words("i i'm i'll i've i'd me my mine"),
    plural=_words("we us our let's we'll we're we've"),
    second=_words("you your yours you're you'll you've you'd"),
    third=_words("he she his her hers him they them their he's she's they're"),
)
CHINESE = _Wording(
    answer=_pattern(r"\W*(?:是|对|不|没|好|嗯|当然|噢|哦|我知道|也许|可能|行)"),
    conjunction=_pattern(r"\W*(?:但|可是|所以|那么|然后|因为|如果|而且|不过)"),
    thanks=_pattern(r"谢"),
    assent=_pattern(r"(?:吧|对吗|是吗|是不是|好吗)[？?]"),
    narration=_pattern(r"(?:他|她|他们|们)(?:说|问|喊|叫|点|走|看|笑|转|想)"),
    first=_words("我"),
    plural=_words("我们 咱们"),
    second=_words("你 您 你们"),
    third=_words("他 她 他们 她们"),
)
WORDINGS = {"en": ENGLISH, "zh": CHINESE}


def _prepare(example: Example) -> Callable[[str], Sequence[float]]:
    language = example.situation.persona.language
    wording = WORDINGS.get(language, ENGLISH)
    return lambda text: _values(text, words(text, language), wording)


def _values(text: str, said: Sequence[str], wording: _Wording) -> list[float]:
    count = max(len(said), 1)

    def share(among: frozenset[str]) -> float:
        return sum(word in among for word in said) / count

    return [
        math.log1p(len(said)),
        len(ENDS.findall(text)),
        text.rstrip().endswith(("?", "？")),
        "!" in text or "！" in text,
        ".." in text or "…" in text,
        wording.answer.match(text) is not None,
        wording.conjunction.match(text) is not None,
        wording.thanks.search(text) is not None,
        wording.assent.search(text) is not None,
        share(wording.first) > 0,
        share(wording.plural),
        share(wording.second),
        share(wording.third),
        wording.narration.search(text) is not None,
        len(CONTRACTION.findall(text)) / count,
        len(NAME.findall(text)),
        text.rstrip()[-1:] not in END_MARKS,
        BROKEN.search(text) is not None,
        text[:1].islower(),
    ]


OWN_TEXT = TextFeatures(FEATURES, _prepare)
