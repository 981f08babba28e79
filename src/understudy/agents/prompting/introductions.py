"""What somebody tells of themselves in a conversation: "I'm Tom", "I work at the harbour".

Such sentences are recognised by how they begin. They stay in the prompt when the turns they stand in are dropped to
keep to its budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["first_person", "introduced_name", "introduced_names", "introductions"]

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
        r"(\b(?:and|but)|,) (?:he|she) (\w+)",
        lambda pair: f"{pair[1]} I {_without_ending(pair[2])}",
        predicate,
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
