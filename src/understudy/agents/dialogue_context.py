"""What a character has just heard and has already said, which of its words matter, and what somebody told of
themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache

from understudy.agents.pools import KeyedCache
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Relation
from understudy.story.wording import fill_macros, speaker_words
from understudy.text import fold, sentences, stop_words, words

BARE_QUESTION = re.compile(
    r"\W*(?:(?:but|and|so|oh|well)\W+)*(?:why(?: not| so| is that| do you say (?:that|so))?|how (?:so|come)|"
    r"what do you mean(?: by that)?|(?:なぜ|何故|どうして|なんで)(?:ですか)?|为什么|为何)\W*",
    re.IGNORECASE,
)
FEWEST_WORDS = 3  # of a sentence that is noticed when it is said again


def last_heard(persona: Persona, history: Sequence[Turn]) -> str:
    """The last thing somebody else said; blank where nobody has."""
    own = fold(persona.name)
    return next((turn.text for turn in reversed(history) if fold(turn.speaker) != own), "")


def meant_by_last(persona: Persona, history: Sequence[Turn]) -> str:
    """The last thing somebody else said; a bare 'Why?' with what it asks about, the turns before it."""
    own = fold(persona.name)
    last = next((index for index in reversed(range(len(history))) if fold(history[index].speaker) != own), None)
    if last is None or BARE_QUESTION.fullmatch(history[last].text) is None:
        return last_heard(persona, history)
    return " ".join(turn.text for turn in history[max(0, last - 2) : last]) or history[last].text


def heard_turns(persona: Persona, history: Sequence[Turn]) -> list[str]:
    """What others have said in this conversation."""
    own = fold(persona.name)
    return [turn.text for turn in history if fold(turn.speaker) != own]


def said_before(persona: Persona, history: Sequence[Turn]) -> tuple[str, ...]:
    """What the character has said in this conversation, after its greetings: they open a talk and answer nothing."""
    own = fold(persona.name)
    greetings = (" ".join(fill_macros(text, "", language=persona.language).split()) for text in persona.greetings)
    return (*greetings, *(turn.text.strip() for turn in history if fold(turn.speaker) == own))


def said_sentences(persona: Persona, history: Sequence[Turn]) -> frozenset[str]:
    """The sentences that the character has said in this conversation, folded; 'Yes.' and the like may come again."""
    said = (sentence for text in said_before(persona, history) for sentence in sentences(text))
    return frozenset(fold(sentence) for sentence in said if len(words(sentence, persona.language)) >= FEWEST_WORDS)


def repeats(text: str, said: Set[str]) -> bool:
    """Was one of the sentences of a text said before (see `said_sentences`)?"""
    return any(fold(sentence) in said for sentence in sentences(text))


def heard_words(persona: Persona, message: str) -> list[str]:
    """The words of a message, without the character's own names: to be called by them says nothing of what is meant.

    A message that is nothing but the name keeps it.
    """
    heard = words(message, persona.language)
    names = own_name_words(persona)
    return [word for word in heard if word not in names] or heard


def own_name_words(persona: Persona) -> frozenset[str]:
    names = (persona.name, *persona.attributes.get("goes by", ()))
    return frozenset(word for name in names for word in words(name, persona.language))


@cache
def light_words(language: str) -> frozenset[str]:
    """Words that carry no meaning of their own; 'I' and 'me' say who speaks, not what of."""
    return stop_words(language) | speaker_words(language)


def content(bag: Iterable[str], language: str) -> Counter[str]:
    """How often each word occurs, those that carry no meaning of their own left out."""
    light = light_words(language)
    return Counter(word for word in bag if word not in light)


def shared_content(message: str, text: str, language: str) -> tuple[str, ...]:
    """Words of meaning that two texts have in common, in the order of the first."""
    known = content(words(text, language), language)
    return tuple(word for word in content(words(message, language), language) if word in known)


def is_first_person(sentence: str) -> bool:
    """Whether an English sentence speaks of its speaker."""
    return not {"i", "i'm", "i've", "my", "me", "we", "our"}.isdisjoint(words(sentence, "en"))


# Whom a character knows, each person once, and what it feels about them now.
#
# A person may be the one faced under one name and an acquaintance under another ('the Prior', Casimir Ould), and a
# tie may be to either. Two are one person where a name of one is a name of the other and of nobody else.
#
# Of ties to one person that say the opposite the newest holds: who became an enemy is no friend any more, whatever
# kind of tie it was that began first.

FRIENDLY = frozenset({"friend", "lover", "teammate", "family", "confidant", "teacher"})
HOSTILE = frozenset({"enemy", "opponent"})

_PEOPLE = KeyedCache["KnownPeople"](64)


def ties_to_faced(situation: Situation) -> tuple[Relation, ...]:
    """The persona's ties to the one faced, however the situation was made."""
    faced = situation.faced
    if faced is None:
        return ()
    own = (tie for tie in situation.persona.relations if tie.to == faced.name)
    return tuple(dict.fromkeys((*faced.relations, *own)))


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """The one faced, those present, and everybody else the character has met or heard named."""

    people: tuple[Other, ...]
    _names: Mapping[str, str]

    @classmethod
    def of(cls, situation: Situation) -> KnownPeople:
        """Made once for a situation: there can be thousands of acquaintances."""
        return _PEOPLE.get_or_create(id(situation), situation, lambda: _joined(situation))

    def name_of(self, name: str) -> str:
        """The name that a person is listed by here, whatever they are called; of strangers the name itself."""
        return self._names.get(fold(name), name)

    def is_same(self, one: str, other: str) -> bool:
        return self.name_of(one) == self.name_of(other)

    def ties(self, situation: Situation, name: str) -> list[Relation]:
        """What the character feels about somebody now."""
        faced = situation.faced
        own = [tie for tie in situation.persona.relations if self.is_same(tie.to, name)]
        if faced is not None and self.is_same(faced.name, name):
            own = [*faced.relations, *own]
        return uncontradicted(dict.fromkeys(own))


def _joined(situation: Situation) -> KnownPeople:
    listed = (*situation.acquaintances, *situation.listeners)
    owners: dict[str, set[str]] = {}
    for other in listed:
        for name in other.names:
            owners.setdefault(fold(name), set()).add(other.name)
    joined: dict[str, Other] = {}
    for other in listed:
        # Under the name of whoever alone has this one as an alias.
        others = owners[fold(other.name)] - {other.name}
        name = next(iter(others)) if len(others) == 1 and next(iter(others)) in joined else other.name
        joined[name] = _merged(joined[name], other) if name in joined else other
    names = dict[str, str]()
    for other in joined.values():
        for name in other.names:
            folded = fold(name)
            names[folded] = other.name if names.get(folded, other.name) == other.name else name
    return KnownPeople(tuple(joined.values()), names)


def _merged(first: Other, second: Other) -> Other:
    aliases = dict.fromkeys((*first.aliases, *second.names))
    return replace(
        first,
        profile=tuple(dict.fromkeys((*first.profile, *second.profile))),
        relations=tuple(dict.fromkeys((*first.relations, *second.relations))),
        aliases=tuple(alias for alias in aliases if alias != first.name),
        told=tuple(dict.fromkeys((*first.told, *second.told))),
    )


def tie_sign(tie: Relation) -> int:
    """1 where a tie is for somebody, -1 where it is against them, 0 where it is neither."""
    if tie.kind == "affection" and tie.level is not None:
        return (tie.level > 1) - (tie.level < -1)
    return (tie.kind in FRIENDLY) - (tie.kind in HOSTILE)


def uncontradicted(ties: Iterable[Relation]) -> list[Relation]:
    """Ties to one person without those of which a newer one says the opposite; of two at a moment affection counts."""
    listed = list(ties)
    return [tie for tie in listed if tie_sign(tie) * _newest_sign(listed) >= 0]


def _newest_sign(ties: Sequence[Relation]) -> int:
    signed = [tie for tie in ties if tie_sign(tie)]
    newest = max(signed, key=lambda tie: (tie.since, tie.kind == "affection"), default=None)
    return 0 if newest is None else tie_sign(newest)


# What somebody tells of themselves in a conversation: "I'm Tom", "I work at the harbour".
#
# Such sentences are recognised by how they begin. They stay in the prompt when the turns they stand in are dropped to
# keep to its budget.


LONGEST = 24  # words (of Japanese and Chinese: twice as many characters)

SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Dr|Doctor|Captain|Father|Mother|Sister|Brother|Sir|Lady|Lord|Inspector|Professor)\.? )?"
PROPER = rf"({TITLE}[A-Z][\w'’-]*(?: [A-Z][\w'’-]+){{0,2}})"
GIVEN = re.compile(
    rf"\b(?:(?i:my name(?:'s|’s| is)|(?:they|people|friends|you can|just|please)?\s*call me)) {PROPER}"
    rf"|\b(?:[Ii] am|[Ii]['’]m|(?:^|[,.!] )[Tt]his is) {PROPER}(?=[.,!;?]|$| and\b| from\b| of\b| the\b| by\b)"
)
LOWER_CASE_NAME = re.compile(r"\bmy name(?:'s|’s| is) ([a-z][\w'’-]*)\b", re.IGNORECASE)
NO_NAMES = frozenset(
    "Sorry Fine Here English British Scottish Welsh Irish American Canadian Australian French German Italian Spanish "
    "Portuguese Dutch Swiss Austrian Swedish Danish Norwegian Finnish Russian Polish Greek Turkish Jewish Arab Indian "
    "Chinese Japanese Korean African European Asian Christian Catholic Muslim Buddhist Hindu God Not So Very".split()
)
OPENING = (
    r"(?:(?:hello|hi|hey|well|oh|ah|yes|no|good (?:morning|evening|afternoon|day)|actually|by the way|you see|"
    r"nice to meet you|and|but|so)\b[\s,.!:-]*)*"
)
ENGLISH = re.compile(
    OPENING + r"(?:"
    r"i(?: am|['’]m) (?!(?:sorry|sure|not|afraid|glad|asking|telling|talking|just|only|here|going|gonna|trying|looking|"
    r"wondering|listening|waiting|saying|fine|well|ok|okay|serious|curious|happy|done|back|ready|leaving|all|so|very|"
    r"confused|kidding|joking|thinking|certain|right|wrong|lost|impressed|pleased|surprised|also|still|it|that|too|"
    r"warning|begging|being|having|getting|making|doing|coming|hearing|referring|good|great|bored|tired)\b)\w"
    r"|i (?:was (?:born|raised)|grew up|come from|live|work|worked|own|keep|study|teach|sail|play|used to|collect)\b"
    r"|i (?:have|['’]ve got) (?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+) "
    r"(?!(?:question|feeling|idea|favour|favor|message|letter|problem|suggestion|plan)\b)"
    r"|i (?:love|like|hate|enjoy) (?!(?:you|it|that|this|to (?:know|hear|ask|see|talk))\b)"
    r"|my (?!(?:point|question|guess|god|word|mistake|pleasure|dear|bad)\b)[\w'’-]+(?: [\w'’-]+)? "
    r"(?:is|are|was|were|has|had|works?|lives?|died|comes?|keeps?|used)\b"
    r"|(?:please |just |you can |they )?call me \w)",
    re.IGNORECASE,
)
JAPANESE = re.compile(
    r"(?:私|わたし|俺|おれ|僕|ぼく|あたし|わし|うち)(?:は|の|には|も)|.{1,12}(?:といいます|と申します|と言います)"
)
JAPANESE_NAME = re.compile(
    r"(?:名前は)([\w・ー]{1,12}?)(?:です|だ|という|といい)|([\w・ー]{1,12}?)(?:といいます|と申します|と言います)"
)
CHINESE = re.compile(r"我(?:叫|是|在|住|来自|有|喜欢|做|的)")
CHINESE_NAME = re.compile(r"我(?:叫|的名字(?:是|叫))([\w·]{1,8})")
STATEMENTS = {"en": ENGLISH, "ja": JAPANESE, "zh": CHINESE}


def introductions(texts: Iterable[str], language: str = "en") -> tuple[str, ...]:
    """The sentences in which a speaker tells of themselves, each once, in the order they were said."""
    return tuple(dict.fromkeys(sentence for text in texts for sentence in _statements(text, language)))


def introduced_names(texts: Iterable[str], language: str = "en") -> list[str]:
    """The names that somebody gave as their own, in the order they were given."""
    return [name for text in texts for name in _names(text, language)]


def introduced_name(texts: Iterable[str], language: str = "en") -> str:
    """The name that somebody gave last as their own; blank where they gave none."""
    return next(reversed(introduced_names(texts, language)), "")


def _statements(text: str, language: str) -> Iterator[str]:
    for match in SENTENCE.finditer(text):
        sentence = match[0].strip()
        length = len(sentence.split()) if language == "en" else len(sentence) / 2
        if sentence and sentence[-1] not in "?？" and length <= LONGEST and STATEMENTS[language].match(sentence):
            yield sentence


def _names(text: str, language: str) -> Iterator[str]:
    if language == "en":
        names_given = [first or second for first, second in GIVEN.findall(text)]
        yield from (name for name in names_given if name.split()[0] not in NO_NAMES)
        if not names_given:
            yield from (name.capitalize() for name in LOWER_CASE_NAME.findall(text))
    elif language == "ja":
        yield from (first or second for first, second in JAPANESE_NAME.findall(text))
    else:
        yield from CHINESE_NAME.findall(text)


# Third-person sentences about a character, as the character would say them: cards describe, profiles speak.

IRREGULAR = {"is": "am", "has": "have", "does": "do", "was": "was", "goes": "go", "'s": "am"}
PRONOUNS = {"his": "my", "himself": "myself", "herself": "myself", "hers": "mine", "him": "me"}


def first_person(sentence: str, name: str) -> str:
    """'He keeps bees.' -> 'I keep bees.' A sentence that does not begin with the character stays as it is."""
    parts = name.split() or [name]
    names = "|".join(re.escape(part) for part in dict.fromkeys((name, parts[0], parts[-1])) if part)
    match = re.match(rf"(?:{names}|He|She)\s+(\w+)(.*)$", sentence, re.DOTALL)
    if match is None:
        return sentence
    predicate = re.sub(r"\b(his|himself|herself|hers|him)\b", lambda word: PRONOUNS[word[1]], match[2])
    if sentence.startswith("She"):
        predicate = re.sub(r"\bher\b", "my", predicate)
    predicate = re.sub(r"\b(and|but|or) (has|is|does)\b", lambda pair: f"{pair[1]} {IRREGULAR[pair[2]]}", predicate)
    predicate = re.sub(
        r"(\b(?:and|but)|,) (?:he|she) (\w+)", lambda pair: f"{pair[1]} I {_without_ending(pair[2])}", predicate
    )
    return f"I {_without_ending(match[1])}{predicate}"


def _without_ending(verb: str) -> str:
    """'keeps' -> 'keep'."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb.endswith(("ches", "shes", "sses", "xes")):
        return verb[:-2]
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb
