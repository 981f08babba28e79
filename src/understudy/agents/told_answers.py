"""Answers to questions of the one faced about themselves, from what they told: in this chat, or in earlier ones.

    'Do you remember me?'     what they told last              'Yes. You are Tom. You work at the harbour.'
    'What do I do?'           the newest sentence of its kind  'You work at the harbour.'
    'Do I have a dog?'        the sentence with its words      'You told me: you have two dogs.'

A question is recognised by its form, so this is for English. A newer sentence takes the place of an older one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from understudy.agents.word_roots import roots
from understudy.dialogue import Draft, Evidence, Situation
from understudy.persona import Told
from understudy.prompting import introduced_name, introductions

__all__ = ["IN_THIS_CHAT", "second_person", "told_answers", "told_evidence"]

RECOUNTED = 3  # sentences that 'Do you remember me?' gets
IN_THIS_CHAT = "said earlier in this chat"
ABOUT_SPEAKER = re.compile(r"\b(?:i|my|me|mine|myself)\b", re.IGNORECASE)
ASKING = re.compile(r"\?\s*$|^(?:tell me|remind me)\b", re.IGNORECASE)
LIGHT = frozenset("tell remember know say remind told".split())

YOUR_FORMS = {
    "i am": "you are", "i'm": "you are", "i was": "you were", "i've": "you've", "i'll": "you'll", "i'd": "you'd",
    "am i": "are you", "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself",
    "our": "your", "ours": "yours", "ourselves": "yourselves", "we": "you", "us": "you", "we're": "you're",
    "we've": "you've",
}  # fmt: skip
FIRST_PERSON = re.compile(
    rf"\b(?:{'|'.join(re.escape(form) for form in sorted(YOUR_FORMS, key=len, reverse=True))})\b", re.IGNORECASE
)


@cache
def _kinds() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Kind -> the form of the question, and of the sentences that answer it."""
    text = files("understudy").joinpath("agents", "questions.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)["told"]
    return {
        kind: (re.compile("|".join(forms["asks"]), re.IGNORECASE), re.compile("|".join(forms["says"]), re.IGNORECASE))
        for kind, forms in told.items()
    }


def told_answers(situation: Situation, message: str, earlier: Sequence[str] = ()) -> Iterator[Draft]:
    """`earlier` is what the one faced has said in this chat before the message."""
    before = () if situation.faced is None else situation.faced.told
    here = (Told(sentence.rstrip(" .!"), source=IN_THIS_CHAT) for sentence in introductions(earlier))
    told = list({item.text.casefold(): item for item in (*before, *here)}.values())[::-1]
    if not told or not ABOUT_SPEAKER.search(message):
        return
    kinds = _kinds()
    if kinds["everything"][0].search(message):
        if before:
            yield _recounted(situation, message, told)
        return
    for kind, (asks, says) in kinds.items():
        if kind != "everything" and asks.search(message):
            answers = [item for item in told if says.search(item.text)]
            if answers:
                yield _draft(f"{_sentence(answers[0])}", answers[:1])
            return
    if ASKING.search(message):
        yield from _with_words_of(message, told)


def second_person(sentence: str) -> str:
    """'I work with my brother' as it is said to whoever said it: 'you work with your brother'."""
    plain = sentence.replace("’", "'")
    return FIRST_PERSON.sub(lambda match: YOUR_FORMS[match[0].lower()], plain)


def told_evidence(told: Told) -> Evidence:
    """What somebody told, with the chat it comes from, as it is shown beside a reply."""
    return Evidence("told", f"{told.text} ({told.source})" if told.source else told.text, told.moment)


def _recounted(situation: Situation, message: str, told: Sequence[Told]) -> Draft:
    """The name, and what was told last."""
    name = situation.faced.name if situation.faced else ""
    sentences = [item for item in told if not _kinds()["name"][1].search(item.text)][:RECOUNTED]
    opening = "Yes. " if re.match(r"\s*(?:\w+, )?(?:do|don't|can|surely)\b", message, re.IGNORECASE) else ""
    introduced = [item for item in sentences if introduced_name([item.text])]
    parts = [_sentence(item) for item in (*introduced, *(item for item in sentences if item not in introduced))]
    text = opening + " ".join(parts if introduced else (f"You are {name}.", *parts))
    return _draft(text, sentences or told[:1])


def _with_words_of(message: str, told: Sequence[Told]) -> Iterator[Draft]:
    """The sentence that has most of the question's words; of equals the newest."""
    asked = roots(message) - LIGHT
    shared = [len(asked & roots(item.text)) for item in told]
    if asked and max(shared) > 0:
        best = told[shared.index(max(shared))]
        yield _draft(f"You told me: {second_person(best.text)}.", [best])


def _sentence(told: Told) -> str:
    text = second_person(told.text).rstrip(" .!")
    return f"{text[:1].upper()}{text[1:]}."


def _draft(text: str, told: Sequence[Told]) -> Draft:
    return Draft(text, "told", evidence=tuple(map(told_evidence, told)))
