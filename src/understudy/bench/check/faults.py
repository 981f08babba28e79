"""Faults of a reply that do not depend on the character: each check returns a reason, or '' where there is none.

`FAULTS` holds those that a test names under `never`; each is a function of (reply, the turns before it). A check looks
for plain signs only: what it finds is a fault, and what it misses is not proven to be none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from understudy.judging.guards.phrases import repeats_runs
from understudy.text import guess_language, words

ASSISTANT = re.compile(
    r"\bas an? (?:ai|artificial intelligence|assistant|(?:large )?language model)\b"
    r"|\bi(?: am|'m) (?:just |only )?an? (?:ai\b|artificial|(?:virtual |digital )?assistant|chatbot|bot\b)"
    r"|\b(?:large )?language model\b|\bopenai\b|\bchatgpt\b|\bmy (?:training|knowledge cutoff)\b"
    r"|\bhow (?:can|may) i (?:assist|help) you today\b|\b(?:stay|remain)(?:ing)? in character\b|\brole-?play",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\bi(?: am|'m) (?:sorry|afraid),? (?:but )?i (?:cannot|can't|am unable|won't)\b"
    r"|\bi (?:cannot|can't) (?:assist|help you|help with|comply|fulfil|engage|provide)\b"
    r"|\bi(?: am|'m) (?:unable|not able) to (?:assist|help|provide)\b",
    re.IGNORECASE,
)
DIRECTION = re.compile(r"(?<![*\w])\*[^*\n]+\*(?![*\w])|\([^()\n]+\)|\[[^\[\]\n]+\]|（[^（）\n]+）|＊[^＊\n]+＊")
# A reply may be anything, and long: nothing here is searched twice from every place.
LABEL = re.compile(
    r"^[^\S\n]*[*_]*([^\W\d_][\w.'-]{0,39}(?: [^\W\d_][\w.'-]{0,39}){0,3})[*_]*[^\S\n]*[:：][*_]*\s", re.MULTILINE
)
LINK = r"\[[^\[\]\n]+\]\([^()\n]+\)"
ROLES = frozenset({"user", "human", "you", "me", "assistant", "system", "ai", "bot"})
MARKDOWN = re.compile(rf"^\s{{0,3}}(?:#{{1,6}} |[-*+] |\d+[.)] |```|>)|\*\*[^*\n]+\*\*|{LINK}", re.MULTILINE)
ENDED = re.compile(r"[.!?…。！？~〜♪♡☆*)\]）】」』\"'”’-]\s*$|[^\W\d_]\s*$")
HANGING = re.compile(r"(?:[,;:]|\b(?:and|or|but|the|a|an|of|to|with|that|because|in|my|your))\s*$", re.IGNORECASE)
RUN = 4  # words of which a repetition is counted

FUNCTION_WORDS = {
    "de": "der die das und nicht ich ist ein eine mit auf wir sie es zu von den dem im du sich auch wie",
    "fr": "le la les des une est et je ne pas vous que dans avec pour mais moi nous sur il elle du ce qui",
    "es": "el los las una que por con pero muy yo es de en no se lo del al como mi su esta soy",
    "it": "il che di non sono della per questo una con mi lo gli ma si nel come anche piu io",
    "pt": "o os uma que nao de em eu voce com para mas um da do se por meu sua esta",
    "nl": "de het een en niet ik is van dat je op te zijn met voor maar wij ook aan",
}
LANGUAGES = ("en", "ja", "zh", *FUNCTION_WORDS)
FEWEST_WORDS = 4  # a shorter reply may be of any language


def assistant(reply: str, _before: Sequence[str] = ()) -> str:
    match = ASSISTANT.search(_plain(reply))
    return f"speaks as an assistant ('{match[0]}')" if match else ""


def refusal(reply: str, _before: Sequence[str] = ()) -> str:
    match = REFUSAL.search(_plain(reply))
    return f"refuses ('{match[0]}')" if match else ""


def stage_directions(reply: str, _before: Sequence[str] = ()) -> str:
    match = DIRECTION.search(re.sub(rf"\*\*|{LINK}", "", reply))
    return f"has a stage direction ('{match[0]}')" if match else ""


def speaks_for_other(reply: str, _before: Sequence[str] = ()) -> str:
    """'User: ...' anywhere, or a name with a colon at the start of a later line; 'Listen: ...' at the very start is
    none, unless another follows."""
    labels = list(LABEL.finditer(reply))
    for number, match in enumerate(labels):
        is_role = match[1].lower() in ROLES
        is_later = "\n" in reply[: match.start(1)].lstrip() or len(labels) - number > 1
        if is_role or (is_later and not any(part[:1].islower() for part in match[1].split())):
            return f"speaks for '{match[1]}'"
    return ""


def loops(reply: str, _before: Sequence[str] = ()) -> str:
    spoken = _words(reply)
    is_loop = repeats_runs(spoken, RUN) or _repeats_one_word(spoken)
    return "says the same again and again" if is_loop else ""


def _repeats_one_word(spoken: Sequence[str]) -> bool:
    streak = longest = 1
    for first, second in pairwise(spoken):
        streak = streak + 1 if first == second else 1
        longest = max(longest, streak)
    return longest > RUN


def repeats(reply: str, before: Sequence[str] = ()) -> str:
    """What was said in this conversation already, by either side, word for word."""
    flat = _words(reply)
    return "repeats what was said before" if flat and any(_words(text) == flat for text in before) else ""


def breaks_off(reply: str, _before: Sequence[str] = ()) -> str:
    text = reply.rstrip()
    is_ended = ENDED.search(text) is not None and HANGING.search(text) is None
    return "" if is_ended else f"breaks off ('{text[-30:]}')"


def markdown(reply: str, _before: Sequence[str] = ()) -> str:
    match = MARKDOWN.search(reply)
    return f"has markup ('{match[0].strip()}')" if match else ""


FAULTS: dict[str, Callable[[str, Sequence[str]], str]] = {
    "assistant": assistant,
    "refusal": refusal,
    "stage_directions": stage_directions,
    "speaks_for_other": speaks_for_other,
    "loops": loops,
    "repeats": repeats,
    "breaks_off": breaks_off,
    "markdown": markdown,
}


def too_long(reply: str, most_words: int) -> str:
    count = len(_words(reply))
    return f"has {count} words, more than {most_words}" if count > most_words else ""


def wrong_language(reply: str, language: str) -> str:
    """Scripts are told apart by their letters, languages in Latin letters by their small words."""
    detected = guess_language(reply)
    if detected == "en":
        spoken = words(_plain(reply))
        if len(spoken) < FEWEST_WORDS:
            return "" if language not in ("ja", "zh") else f"is not in '{language}'"
        detected = _latin_language(spoken)
    return "" if detected == language else f"is in '{detected}', not in '{language}'"


def _latin_language(spoken: Sequence[str]) -> str:
    counts = {name: sum(word in small.split() for word in spoken) for name, small in FUNCTION_WORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= max(2, len(spoken) // 4) else "en"


def _words(text: str) -> list[str]:
    """Words; characters in scripts without spaces, so that no tokenizer of a language is needed."""
    if guess_language(text) != "en":
        return [character for character in text if character.isalnum()]
    return words(_plain(text))


def _plain(text: str) -> str:
    return text.replace("\u2019", "'")
