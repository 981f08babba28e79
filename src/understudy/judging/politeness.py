"""Replies to greetings, thanks and farewells; and evasions, where nothing else may be said.

Where nothing is asked, nobody has to be refused an answer: small talk and remarks get lines that answer them. All come
from the character's own lines where it has such a line, else from the bank in its register. No line is said a third
time in a chat: once all have been said twice, two are put together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from understudy.agents.bank import fallbacks, lines_for, register_of
from understudy.agents.dialogue_context import last_heard, said_before
from understudy.judging.guards.phrases import asks, plain
from understudy.story.dialogue import Draft, Evidence, Situation, Turn
from understudy.story.persona import Persona

__all__ = ["EVASION", "evasion_drafts", "greeting_drafts", "kind_of_greeting"]

EVASION = "evasion"
SAMPLE = 2_000  # own lines searched, the most recent
SHORT = 10  # words
MOST_SAID = 2
KINDS = {
    "how_are_you": (
        r"how are you(?: doing| today| feeling)?|how do you do|how's it going|how have you been|お元気ですか|你好吗"
    ),
    "greeting": (
        r"hello(?: there)?|hi(?: there)?|hey(?: there)?|good (?:morning|day|evening|afternoon)|greetings|"
        r"good morrow|well met|こんにちは|おはよう(?:ございます)?|こんばんは|你好|您好|早上好|晚上好|早"
    ),
    "thanks": (
        r"thanks?(?: you)?(?: very much| so much| a lot)?|many thanks|much obliged|i thank you|"
        r"ありがとう(?:ございます)?|谢谢(?:你|您)?|多谢"
    ),
    "leaving": (
        r"good ?bye|bye(?: bye)?|farewell|good ?night|see you(?: later| soon| tomorrow)?|so long|"
        r"until tomorrow|take care|さようなら|おやすみ(?:なさい)?|またね|再见|晚安|回头见"
    ),
}
PATTERNS = {kind: re.compile(rf"(?:(?:oh|ah|well|and) )?(?:{words})", re.IGNORECASE) for kind, words in KINDS.items()}
SMALL_TALK = re.compile(
    r"\b(?:(?:nice|lovely|fine|beautiful|awful|cold|hot|wet) (?:day|weather|morning|evening|night)|weather|"
    r"(?:nice|good|pleased|glad|delighted) to (?:meet|see) you|pleasure to (?:meet|make)|how (?:was|is) your (?:day|"
    r"morning|evening|week|night)|how have you been|how are (?:you|things)|how goes it|what(?:'s|’s| is) (?:up|new)|"
    r"what are you (?:up to|doing)|are you busy|(?:did you )?sle(?:ep|pt) well|long time no see|any news)\b|"
    r"天気|お疲れ|天气|最近",
    re.IGNORECASE,
)
NOT_ANSWERING = re.compile(
    r"(?:i (?:have|'ve) nothing to (?:say|add|tell)|nothing to (?:say|tell)|i (?:would|'d|"
    r"should) rather not|i (?:do not|don't) (?:know|wish to say|care to say|remember)|"
    r"i (?:cannot|can't|could not|couldn't) (?:say|tell you)|ask me (?:again|another|in|on|tomorrow|"
    r"later)|never (?:you )?mind|none of your|mind your own|let us not|"
    r"don't ask(?: me)?|no idea|i will (?:not|never) (?:say|tell)|i won't (?:say|tell)|"
    r"that is my (?:own )?(?:affair|business)|i (?:must|shall) not say|not now)\b[^?]*",
    re.IGNORECASE,
)
DEMAND = re.compile(
    r"(?:(?:please|now|then|so|and|come|well|but),? )*(?:tell|say|answer|explain|describe|give|show|let|admit|confess|"
    r"swear|promise|name|speak|talk|write|go|stop|leave|get|take|bring|come|listen|look|wait|help)\b",
    re.IGNORECASE,
)
LONGEST_SMALL_TALK = 14  # words
NAME_AFTER = re.compile(r"[,，、]?\s+[A-Z][\w' ]*$")


def kind_of_greeting(message: str) -> str:
    """'greeting', 'thanks', 'leaving' or 'how_are_you' where a message is nothing else; blank where it is more."""
    bare = re.sub(r"[.!?。！？…]+\s*$", "", message.strip())
    bare = NAME_AFTER.sub("", bare) if len(bare.split()) <= 5 else bare
    bare = re.sub(r"^(?:[A-Z]\w+),\s+", "", bare)
    for kind, pattern in PATTERNS.items():
        if pattern.fullmatch(bare):
            return kind
    return ""


def greeting_drafts(situation: Situation, history: Sequence[Turn]) -> list[Draft]:
    """Answers to a greeting, the best first; none where the message is something else."""
    persona = situation.persona
    message = last_heard(persona, history)
    kind = kind_of_greeting(message)
    if not kind:
        return []
    plain_message = plain(message)
    own = [draft for draft in _own_short(persona) if kind_of_greeting(_only_sentence(draft.text)) == kind]
    own.sort(
        key=lambda draft: not plain(draft.text).startswith(plain_message.split(" ")[0]) if plain_message else False
    )
    bank = list(lines_for(kind, _register(persona), persona.language))
    if kind in ("greeting", "leaving") and persona.language == "en":
        match = PATTERNS[kind].match(message.strip())
        if match is not None and match[0].lower().startswith("good"):
            bank.insert(0, match[0][:1].upper() + match[0][1:].lower() + ".")  # a 'good night' for a 'good night'
    said = Counter(said_before(persona, history))
    drafts = [*own, *(_from_bank(line) for line in bank)]
    return sorted(drafts, key=lambda draft: said[draft.text])


def evasion_drafts(situation: Situation, history: Sequence[Turn]) -> Iterator[Draft]:
    """What can be said for want of an answer: to greetings, small talk and remarks what suits them, then evasions.

    Those said least in this chat come first; one that was not said twice is always among them.
    """
    persona = situation.persona
    yield from _unsaid(_suiting(situation, history), persona, history)
    said = Counter(plain(text) for text in said_before(persona, history))
    own = [draft for draft in _own_short(persona) if NOT_ANSWERING.fullmatch(draft.text.strip().rstrip(".!"))]
    lines = list(dict.fromkeys(fallbacks("evasions", _register(persona), persona.language)))
    turn = len(history) // 2
    offered = [*own, *(_from_bank(lines[(turn + step) % len(lines)]) for step in range(len(lines)))]
    for times in range(MOST_SAID):
        yield from (draft for draft in offered if said[plain(draft.text)] == times)
    joined = "" if persona.language in ("ja", "zh") else " "
    for first in lines:
        for second in lines:
            text = first + joined + second
            if first != second and said[plain(text)] < MOST_SAID:
                yield _from_bank(text)


def _suiting(situation: Situation, history: Sequence[Turn]) -> list[Draft]:
    """Answers to a message that asks for nothing; none to a question or a demand."""
    persona = situation.persona
    message = last_heard(persona, history)
    if greetings := greeting_drafts(situation, history):
        return greetings
    if SMALL_TALK.search(message) and len(message.split()) <= LONGEST_SMALL_TALK:
        purpose = "small_talk"
    elif message.strip() and not asks(message) and not DEMAND.match(message.strip()):
        purpose = "remarks"
    else:
        return []
    return [_from_bank(line) for line in fallbacks(purpose, _register(persona), persona.language)]


def _unsaid(drafts: Sequence[Draft], persona: Persona, history: Sequence[Turn]) -> list[Draft]:
    """Those not said twice in this chat, the least said first."""
    said = Counter(plain(text) for text in said_before(persona, history))
    fresh = [draft for draft in drafts if said[plain(draft.text)] < MOST_SAID]
    return sorted(fresh, key=lambda draft: said[plain(draft.text)])


def _own_short(persona: Persona) -> list[Draft]:
    """Short lines that the character has said to others, the latest first."""
    drafts: dict[str, Draft] = {}
    thoughts = {line.moment for line in persona.past.thoughts()}
    for line in reversed(persona.past.lines(SAMPLE)):
        text = line.text.strip()
        if text and line.moment not in thoughts and len(text.split()) <= SHORT and len(text) <= 8 * SHORT:
            evidence = (Evidence("exchange", f"{line.speaker}: {text}", line.moment),)
            drafts.setdefault(text, Draft(text, "exchange", line.moment, evidence))
    return list(drafts.values())


def _only_sentence(text: str) -> str:
    """A text of one sentence; blank where it has several."""
    return "" if re.search(r"[.!?]\s+\S", text) else text


def _register(persona: Persona) -> str:
    return register_of([*(line.text for line in persona.past.lines(200)), *persona.profile])


def _from_bank(text: str) -> Draft:
    return Draft(text, "bank", None, (Evidence("bank", text),))
