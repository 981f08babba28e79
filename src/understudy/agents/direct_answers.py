"""Answers to plain questions about oneself and others, from attributes, profile and ties: nothing in them is made up.

    'How old are you?'             the attribute asked for              'Twenty-seven.'
    'Do you trust the Prior?'      yes or no by the tie, then the tie   'No. I despise the Prior.'
    'Are you my friend?'           the tie, said to their face          'Yes. You are my friend.'
    'Have you got any sisters?'    the ties of that kind                'Yes. Nan is my sister.'
    'What is your name?'           the name the one faced knows         'Aurel Benedek.'
    'Where are we?'                the place that the setting names     'The wharf at dawn.'
    'What did I just say?'         the turn that is asked for           'You said: "It is late."'

A question is recognised by its form, so this is for English. People are called what the character itself calls them
most often, where that is nobody else's name too. What the question does not ask is left out; where nothing is known of
it, there is no answer here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from understudy.agents.dialogue_context import KnownPeople, introduced_name, introductions
from understudy.agents.word_tokens import roots
from understudy.story.dialogue import Draft, Evidence, Situation
from understudy.story.persona import Other, Persona, Told
from understudy.story.types import Relation
from understudy.story.wording import tie_sentence
from understudy.text import NOT_NAMES, capitalised, find_name, fold, sentences, word_table

LIKED, DISLIKED = 3, -1  # levels of affection from which somebody is liked, or is not
KNOWN, UNKNOWN = 3, 1  # levels of familiarity from which somebody is known, or is not
LINES_READ = 2_000  # own lines that are looked through for what people are called

ATTRIBUTES = frozenset(
    "age title belongings hobby looks lineage talents export achievement character nickname affiliation gender".split()
)
FRIENDSHIP = frozenset({"friend", "enemy", "opponent", "lover"})
KIN_KINDS = {
    "spouse": ("spouse",),
    "lover": ("lover", "spouse"),
    "sibling": ("sibling",),
    "parent": ("parent",),
    "child": ("child",),
}
SENTENCE = frozenset({"age", "title", "gender"})  # also said with 'I am' before it
QUOTED_SENTENCES = 3
MY_NAME = re.compile(r"\bmy name\b|\bwho am i\b", re.IGNORECASE)
PERSON = r"(?:man|woman|boy|girl|lady|gentleman)"
SEX_ASKED = re.compile(rf"\b(?:{PERSON}|(?:fe)?male|sex|gender)\b", re.IGNORECASE)
SEX = re.compile(  # but 'I am a man of my word'
    rf"\bI(?: am|['’]m) (?:just |only |but )?an? {PERSON}\b(?! (?:of|who|with|that|in)\b)|"
    rf"(?:\A|(?<=[.!?] ))(?:Just a|As a|A) {PERSON}(?:[,.!]| is\b)|"
    r"\b(?:I am|I['’]m|my) (?:fe)?male\b"
)
PLACE = re.compile(
    r"\b(?i:in|at|on|by|near|aboard|inside|outside|under|below|beneath|behind|beside) "
    r"(?:(?i:the|an?|my|your|his|her|our|their|this) |(?=[A-Z]))"
    r"(?!(?:\w+ )?(?:morning|afternoon|evening|night|day|dawn|dusk|hours|moment|end|beginning|time|way)\b|"
    r"\w+(?:th|st|nd|rd) of\b)(?:(?! (?:and|while|when|as|before|after) )[^,.;:!?()—–])+"
)
NAMED_PLACE = re.compile(r"(?:(?i:the|an?) [^,.;:!?()—–]+|[A-Z][\w'’]*(?: [\w'’]+){0,3}(?=,| [-–—]))")
STATES = re.compile(r"\b(?:am|is|are|was|were|has|have|had|will|would|can|could|'re|'m)\b")
STAYS = re.compile(
    r"\b(?:am|are|is|was|were|be|been|sit|sat|stand|stood|wait|meet|met|live|stay|work|walk|talk|sleep|hide|gather)"
    r"(?:s|ing|ting|ed)?(?: [\w'’]+){0,4}?$"
)
KNOWS = re.compile(r"\b(?:know|knew|known|met)\b|知|认识", re.IGNORECASE)
FAMILIARITY = re.compile(r"\bfamiliar with\b", re.IGNORECASE)


@cache
def _forms(name: str) -> re.Pattern[str]:
    """The pattern of a kind of question; attributes are named as in 'attribute.age'."""
    table = word_table("agents", "questions.toml")
    section, _, attribute = name.partition(".")
    return re.compile("|".join(table[section][attribute] if attribute else table[section]), re.IGNORECASE)


def _asks(name: str, message: str) -> bool:
    return _forms(name).search(message) is not None


def direct_answers(
    situation: Situation, message: str, earlier: Sequence[str] = (), said: Sequence[str] = ()
) -> list[Draft]:
    """What can be answered from attributes, ties and the chat; empty where the question is of another kind.

    `earlier` is what the one faced has said in this chat before the message: whoever gave a name is known by it.
    `said` is what the character has said.
    """
    if situation.persona.language != "en" or not message.strip():
        return []
    answers = [
        *_turns(message, earlier, said),
        *told_answers(situation, message, earlier),
        *_names(situation, message, earlier),
    ]
    answers += [*_place(situation, message), *_attributes(situation.persona, message)]
    answers += [*_kin(situation, message), *_ties(situation, message)]
    return list({draft.text: draft for draft in answers}.values())


def tells_unasked(persona: Persona, message: str, text: str) -> bool:
    """Does a text tell sex, age or how well somebody is known, which the message does not ask for?

    A small model that has these in its prompt says them for want of an answer: 'How are you?' 'I am a woman.'
    """
    if SEX.search(text) and not (SEX_ASKED.search(message) or _asks("what", message)):
        return True
    ages = "|".join(map(re.escape, persona.attributes.get("age", ())))
    if ages and re.search(rf"\bI(?: am|['’]m) (?:{ages})\b", text) and not _asks("attribute.age", message):
        return True
    return FAMILIARITY.search(text) is not None and not KNOWS.search(message)


def people_asked_about(situation: Situation, message: str) -> list[Other]:
    """Those whom a message names by any of their names, the longest name first, and the one faced for 'me'."""
    text, matches = message, list[Other]()
    known = KnownPeople.of(situation)
    names = [(name, other) for other in known.people for name in (*other.names, *other.name.split()[:1])]
    for name, other in sorted(names, key=lambda item: -len(item[0])):
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
        if re.search(pattern, text, re.IGNORECASE):
            text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
            if other not in matches and other.name != situation.persona.name:
                matches.append(other)
    faced = situation.faced
    if faced is not None and _asks("of_speaker", message):
        matches += [other for other in known.people if known.is_same(other.name, faced.name) and other not in matches]
    return matches


def spoken_name(situation: Situation, other: Other) -> str:
    """What the character calls somebody most often in its own lines; their name where it never did."""
    persona = situation.persona
    taken = {alias for someone in situation.acquaintances if someone.name != other.name for alias in someone.aliases}
    taken |= set(persona.attributes.get("nickname", ()))
    forms = sorted({*other.names} - taken, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(form)}(?!\w)" for form in forms), re.IGNORECASE)
    canonical = {fold(form): form for form in reversed(forms)}
    counts: dict[str, int] = {}
    for line in persona.past.lines(LINES_READ):
        for match in pattern.finditer(line.text):
            form = canonical.get(fold(match[0]), other.name)
            counts[form] = counts.get(form, 0) + 1
    counts = {form: count for form, count in counts.items() if form[:4] == "the " or f"the {form}" not in forms}
    if not counts:
        return other.name
    form = max(counts, key=lambda form: counts[form])
    return f"the {form}" if fold(form) in NOT_NAMES else form  # 'I like the Captain', who is called 'Captain'


def _names(situation: Situation, message: str, earlier: Sequence[str]) -> Iterator[Draft]:
    if _asks("speaker_name", message):
        name = introduced_name(earlier) or (situation.faced.name if situation.faced else "")
        if name:
            yield Draft(f"You are {name}.", "profile", evidence=(Evidence("memory", f"{name} stands here"),))
        elif MY_NAME.search(message):
            yield Draft("You have not told me your name.", "told", evidence=(Evidence("notice", "no name was given"),))
        return
    if _asks("name", message):
        name = situation.known_as or situation.persona.name
        yield Draft(f"{name}.", "profile", evidence=(Evidence("profile", name),))
        titles = situation.persona.attributes.get("title", ())
        if titles and _asks("who", message):
            sentence = f"{name}, {titles[0].rstrip('.')}."
            yield Draft(sentence, "profile", evidence=(Evidence("profile", sentence),))


def _place(situation: Situation, message: str) -> Iterator[Draft]:
    """What the setting tells of the place; what was told of it last counts."""
    if not _asks("place.asked", message):
        return
    people = [name for other in KnownPeople.of(situation).people for name in other.names]
    people += [situation.persona.name, *situation.persona.name.split()[:1]]
    for line in reversed(situation.setting.splitlines()):
        for sentence in sentences(line):
            if place := _place_of(sentence, people):
                yield Draft(f"{capitalised(place.strip(' .!'))}.", "profile", evidence=(Evidence("memory", sentence),))
                return


def _place_of(sentence: str, people: Sequence[str]) -> str:
    """'The smoke room' of 'The smoke room, at night.'; 'in the smoke room' of 'Tom and Zita sit in the smoke room.'"""
    place = PLACE.search(sentence)
    if place and not _names_somebody(place[0], people):
        if _asks("place.hour", sentence):
            return sentence
        before = sentence[: place.start()].rstrip()
        if not before or STAYS.search(before):
            return place[0]
    named = NAMED_PLACE.match(sentence)
    if named is None or _asks("place.hour", sentence) or STATES.search(sentence):
        return ""
    return "" if named[0].isupper() or _names_somebody(named[0], people) else named[0]


def _names_somebody(text: str, people: Sequence[str]) -> bool:
    """'At the Prior', and not 'in the Prior's lodging'."""
    name = find_name(text, people)
    return name is not None and not text[name.end() :].startswith(("'s ", "’s "))


def _turns(message: str, earlier: Sequence[str], said: Sequence[str]) -> Iterator[Draft]:
    """'What did I just say?', and the like: the latest turn that is asked for, its last sentences where it is long."""
    questions = [text for text in earlier if text.rstrip().endswith("?")]
    for form, turns, speaker in (("asked", questions, "You"), ("heard", earlier, "You"), ("said", said, "I")):
        if turns and _asks(f"turn.{form}", message):
            text = " ".join(sentences(turns[-1].replace('"', "'"))[-QUOTED_SENTENCES:])
            verb = "asked" if text.endswith("?") else "said"
            yield Draft(f'{speaker} {verb}: "{text}"', "told", evidence=(Evidence("told", f"{text} ({IN_THIS_CHAT})"),))
            return


def _attributes(persona: Persona, message: str) -> Iterator[Draft]:
    for attribute, values in persona.attributes.items():
        if attribute not in ATTRIBUTES or not values or not _asks(f"attribute.{attribute}", message):
            continue
        listed = f"{', '.join(values[:-1])} and {values[-1]}" if len(values) > 1 else values[0]
        listed = listed.rstrip(". ")
        evidence = (Evidence("profile", listed),)
        yield Draft(f"{capitalised(listed)}.", "profile", evidence=evidence)
        if attribute in SENTENCE:
            yield Draft(f"I am {listed}.", "profile", evidence=evidence)


def _ties(situation: Situation, message: str) -> Iterator[Draft]:
    if _asks("unanswerable", message):
        return
    for other in people_asked_about(situation, message):
        for tie in _asked_ties(KnownPeople.of(situation).ties(situation, other.name), message):
            yield _tie_answer(situation, other, tie, message)


def _kin(situation: Situation, message: str) -> Iterator[Draft]:
    """'Are you married?': the ties of the kind that is asked for; none where nothing is known of it."""
    known = KnownPeople.of(situation)
    people = {other.name: other for other in known.people}
    for asked, kinds in KIN_KINDS.items():
        if _asks(f"kin.{asked}", message):
            ties = [tie for tie in situation.persona.relations if tie.kind in kinds and known.name_of(tie.to) in people]
            yield from (_tie_answer(situation, people[known.name_of(tie.to)], tie, message) for tie in ties)


def _asked_ties(ties: Sequence[Relation], message: str) -> list[Relation]:
    """Those of the ties to somebody that the message asks after."""
    feelings = [tie for tie in ties if tie.kind == "affection"]
    kinds = [tie for tie in ties if tie.level is None]
    if _asks("known", message):
        return [tie for tie in ties if tie.kind == "familiarity"]
    if _asks("friendship", message):
        return [tie for tie in kinds if tie.kind in FRIENDSHIP] or feelings
    if _asks("feeling", message):
        return feelings
    return (kinds or feelings) if _asks("relation", message) else []


def _tie_answer(situation: Situation, other: Other, tie: Relation, message: str) -> Draft:
    language = situation.persona.language
    if situation.faced is not None and KnownPeople.of(situation).is_same(other.name, situation.faced.name):
        sentence = to_their_face(tie_sentence(replace(tie, to="you"), language, hedged=False))
    else:
        sentence = tie_sentence(replace(tie, to=spoken_name(situation, other)), language, hedged=False)
    verdict = "" if _asks("open", message) else _yes_or_no(tie, message)
    return Draft(
        f"{verdict}{capitalised(sentence)}", "relation", evidence=(Evidence("relation", tie_sentence(tie, language)),)
    )


def to_their_face(sentence: str) -> str:
    """A sentence about 'you' in good English: 'you is my friend' as 'you are my friend'."""
    for wrong, right in (("you is ", "you are "), ("you seems ", "you seem "), ("you has ", "you have ")):
        sentence = re.sub(rf"\b{wrong}", right, sentence, flags=re.IGNORECASE)
    return re.sub(r"\b(for|of|to) them\b", r"\1 you", sentence)


def _yes_or_no(tie: Relation, message: str) -> str:
    asks_against = _asks("against", message)
    if tie.kind == "affection" and tie.level is not None:
        holds = None if DISLIKED < tie.level < LIKED else tie.level >= LIKED
    elif tie.kind == "familiarity" and tie.level is not None:
        holds = None if UNKNOWN < tie.level < KNOWN else tie.level >= KNOWN
    else:
        holds = tie.kind not in ("enemy", "opponent")
    if holds is None:
        return ""
    return "Yes. " if holds is not asks_against else "No. "


# Answers to questions of the one faced about themselves, from what they told: in this chat, or in earlier ones.
#
#   'Do you remember me?'     what they told last              'Yes. You are Tom. You work at the harbour.'
#   'What do I do?'           the newest sentence of its kind  'You work at the harbour.'
#   'Do I have a dog?'        the sentence with its words      'You told me: you have two dogs.'
#
# A question is recognised by its form, so this is for English. A newer sentence takes the place of an older one.

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
    told = word_table("agents", "questions.toml")["told"]
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
    return f"{capitalised(second_person(told.text).rstrip(' .!'))}."


def _draft(text: str, told: Sequence[Told]) -> Draft:
    return Draft(text, "told", evidence=tuple(map(told_evidence, told)))
