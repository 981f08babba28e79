"""Which of the things that could be said answers best: drafts of a writer, old lines, profile and ties, on one scale.

    score(c) = 0.62 agreement(c) + 0.54 fit(c) + 0.5 relevance(c) + 0.05 voice(c)
               - 0.15 echo(c) - 0.11 [c asks back] - 0.08 [c is a fact as it stands]
               - 0.3 [c is an old line beside drafts] - 0.5 [c tells what others said, beside drafts]

    agreement   mean F1 of the words of meaning of c with those of the drafts: what many say is rarely made up
    fit         the encoder's cosine of the turns (nothing else) with the candidate
    relevance   how much an old line, a memory or a fact bears on the message (see `agents.old_lines`)
    voice       the metric `voice` of the candidate, from -1 (like somebody else) to 1; 0 where it has no value: where
                the character has few lines, or its held-back lines are not told from others'
    echo        share of the candidate's words of meaning that the message has

Of 1,311 candidates that passed the guards for 100 questions, a writer's draft with a score of 0.3 was marked as a good
answer as often as an old line with 0.6, and of what others had said no line was: the last two terms. Only whole drafts
vote. The weights of the first line's first two terms and of the second line are ridge coefficients on
candidates marked by hand (docs/notes/writer.md); the others were set with an eye on the probes of the story that ships.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from understudy.agents.dialogue_context import last_heard, said_before
from understudy.agents.fit import CachedEncoder, build_context
from understudy.agents.old_lines import RecalledDraft
from understudy.agents.plain_replies import fallbacks, lines_for, register_of
from understudy.agents.word_tokens import roots
from understudy.judging.guards.phrases import asks, plain
from understudy.language.encoding import Context
from understudy.story.dialogue import Draft, Evidence, Situation, Turn
from understudy.story.persona import Persona
from understudy.text import sentences

AGREEMENT, FIT, RELEVANCE, VOICE = 0.62, 0.54, 0.5, 0.05
ECHO, ASKS_BACK, PLAIN_FACT = -0.15, -0.11, -0.08
BESIDE_DRAFTS = {"exchange": -0.3, "memory": -0.5}
FACTS = frozenset({"profile", "relation", "told"})

Voice = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Scored:
    """A draft and how well it would answer."""

    draft: Draft
    score: float


def expand(drafts: Sequence[Draft], whole: bool = False) -> list[tuple[Draft, bool]]:
    """Each draft once, with whether it votes; a writer's also without its last sentences, where it makes things up.

    A capable writer's drafts are kept `whole`.
    """
    field: dict[str, tuple[Draft, bool]] = {}
    for draft in sorted(drafts, key=lambda draft: draft.source != "writer"):
        text = draft.text.strip()
        if text:
            field.setdefault(
                text, (draft if text == draft.text else replace(draft, text=text), draft.source == "writer")
            )
    for draft in drafts:
        if draft.source == "writer" and not whole:
            parts = sentences(draft.text)
            for count in range(1, len(parts)):
                text = " ".join(parts[:count])
                field.setdefault(text, (replace(draft, text=text, log_probs=None), False))
    return list(field.values())


def score_drafts(
    situation: Situation,
    history: Sequence[Turn],
    drafts: Sequence[Draft],
    cached: CachedEncoder | None,
    voice: Voice | None = None,
    whole: bool = False,
) -> list[Scored]:
    """Best first."""
    field = expand(drafts, whole)
    if not field:
        return []
    language = situation.persona.language
    asked = roots(last_heard(situation.persona, history), language)
    texts = [draft.text for draft, _ in field]
    meant = [roots(text, language) for text in texts]
    fits = _fits(situation, history, texts, cached)
    voters = [index for index, (_, votes) in enumerate(field) if votes]
    agreements = _agreements(meant, voters)
    voices = list(voice(texts)) if voice is not None else [0.0] * len(field)
    scored = []
    for (draft, _), own, fit, agreed, sound in zip(field, meant, fits, agreements, voices):
        score = AGREEMENT * agreed + FIT * fit + VOICE * sound
        score += RELEVANCE * (draft.relevance if isinstance(draft, RecalledDraft) else 0.0)
        score += ECHO * (len(own & asked) / len(own) if own else 0.0)
        score += ASKS_BACK * draft.text.rstrip().endswith(("?", "？")) + PLAIN_FACT * (draft.source in FACTS)
        score += BESIDE_DRAFTS.get(draft.source, 0.0) if voters else 0.0
        scored.append(Scored(draft, round(score, 6)))
    return sorted(scored, key=lambda item: -item.score)


def _fits(
    situation: Situation, history: Sequence[Turn], texts: Sequence[str], cached: CachedEncoder | None
) -> list[float]:
    if cached is None:
        return [0.0] * len(texts)
    turns = build_context(situation, history).turns
    context = cached.encoder.encode_contexts([Context(turns=turns)], False)[0]
    return [float(fit) for fit in cached.encode(texts) @ context]


def _agreements(meant: Sequence[frozenset[str]], voters: Sequence[int]) -> list[float]:
    """Mean F1 with the drafts that vote, oneself left out."""
    agreements = []
    for index, own in enumerate(meant):
        voted = [meant[voter] for voter in voters if voter != index]
        agreements.append(sum(_f1(own, other) for other in voted) / len(voted) if voted else 0.0)
    return agreements


def _f1(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


# Replies to greetings, thanks and farewells; and evasions, where nothing else may be said.
#
# Where nothing is asked, nobody has to be refused an answer: small talk and remarks get lines that answer them. All
# come from the character's own lines where it has such a line, else from the bank in its register. No line is said a
# third time in a chat: once all have been said twice, two are put together.


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
