"""Lines that are no speech: scene markers, and boilerplate that is no part of the story.

Scene markers are `[Scene: Central Perk, everyone is there.]`, `CUT TO THE HALL`, `INT. KITCHEN`, `LUKE'S DINER`.
Where a file marks its scenes with the word, cuts within them are camera directions; where it does not, cuts and bare
locations are all the marks there are.

Boilerplate is titles, credits, breaks and page text; such lines become headings that do not move time. Page text also
sticks to the ends of speeches (`Good plan.Posted: 10/17/00 10:42JOEY: Yeah`); `split_page_text` takes it apart.
"""

from __future__ import annotations

import re

OPENING = r"[\s\[({<*\"“_-]*"
SCENE_WORD = r"(?:scene|sceme|secne|scence|sceen|sence)"
COUNTED = r"(?:\s+(?:\d+|[ivx]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)?"
MARK = re.compile(
    rf"{OPENING}(?:(?:act|part) \w+[\s,.:–-]+)?(?:new |opening |final |next |tag )?{SCENE_WORD}"
    rf"{COUNTED}\s*(?:[:;.,\])}}–—-]|$|_?break\b|(?:change|shift|switche|move)s?\b|(?=[A-Z]))",
    re.IGNORECASE,
)
BARE_SCENE = re.compile(
    rf"{OPENING}(?:(?:Act|ACT|Part|PART) \w+[\s,.:–-]+)?"
    r"[Ss](?:cene|CENE)\s+(?:[A-Z0-9]|at |in |changes|switches|shifts|moves)"
)
CUT = re.compile(
    rf"{OPENING}(?:(?:quick|smash|jump|hard|scene) )?"
    r"(?:(?:cut(?:s|ting)?|fade[sd]?|dissolve[sd]?|switch(?:es)?)(?: back)? (?:in ?to|to|over to|in on)\b"
    r"|open(?:s|ing)? (?:in|at|on|outside|inside|with|to|up)\b|(?:int|ext)(?:erior)?(?:[./: ]|\b))",
    re.IGNORECASE,
)
SHOUTED_CUT = re.compile(
    rf"{OPENING}(?:CUT (?:BACK )?TO|OPEN(?:ING)? (?:IN|AT|ON|OUTSIDE|INSIDE|WITH)|INT\.|EXT\.|INT/EXT)"
)
PREFIX = re.compile(
    rf"^(?:(?:act|part) \w+[\s,.:–-]+)?(?:new |opening |final |next |tag )?{SCENE_WORD}{COUNTED}"
    r"(?:[\s_]*(?:break|(?:change|shift|switche|move)s?(?: to)?)\b)?[\s:;.,–—-]*"
    r"|^(?:(?:quick|smash|jump|hard) )?(?:cuts?|fades?)(?: back)? (?:to|into|in)[\s:]+|^open(?:s|ing)? (?:in|at|on)\s+",
    re.IGNORECASE,
)
PLACES = (
    r"apartments?|house|home|offices?|diner|kitchen|inn|rooms?|hallway|hall|street|school|hospital|bar|pub|restaurant"
    r"|\w*stores?|\w*shops?|books|studio|station|airport|car|jeep|church|lobby|caf[eé]|coffee ?house|courthouse|park"
    r"|bedroom|bathroom|lab|laboratory|cafeteria|stairwell|stairs|staircase|corridor|library|gym|hotel|theat(?:re|er)"
    r"|market|square|dorms?|yale|campus|classroom|basement|garage|balcony|porch|garden|gazebo|perk|bank|beach|plane"
    r"|airplane|bus|train|elevator|lounge|mansion|residence|pool|roof|rooftop|laundromat|museum|stage|backstage"
    r"|warehouse|parking lot|town|inside|outside|interior|exterior|chapel|casino|nursery|ward|club|surgery"
)
PLACE = re.compile(rf"\b(?:{PLACES})\b", re.IGNORECASE)
ENDS_WITH_PLACE = re.compile(rf"\b(?:{PLACES})\b[.\s]*(?:[-–—,]\s*[\w\s]+)?$", re.IGNORECASE)
VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|will|can|comes?|goes|walks?|enters?|leaves?|sits?|stands?|opens?|looks?"
    r"|gets?|I|you|we|my|your|me|it)\b|(?<=\w)n['’]t\b|\w['’](?:m|re|ll|ve|d)\b",
    re.IGNORECASE,
)
NAME = re.compile(r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? |Miss )?[^\W\d_a-z][\w’'-]*(?: [^\W\d_a-z][\w’'-]*){0,2}")
OWNED = re.compile(
    # a word is taken whole or not at all, and so many are a list: the time stays in proportion to the text
    r"(?<![\w-])(?:[^\W\d_a-z][\w-]*+(?:, and |, | and | & )){0,20}"
    r"[^\W\d_a-z][\w-]*+(?: [^\W\d_a-z][\w-]*+)?(?:['’]s?(?=[\s,.\])]|$))"
)
ABSENT = re.compile(
    r"\b(?:but|except|without|minus|not|for|about|from|of)\s+[^\W\d_a-z][\w-]*(?: and [^\W\d_a-z][\w-]*)?"
)
TRIM = ' \t[](){}<>*"“”_'


def is_scene_mark(text: str) -> bool:
    """Does the line say 'scene' itself?"""
    start = text[:40].casefold()
    if "sc" not in start and "se" not in start:
        return False
    if not MARK.match(text):
        return False
    # 'Scene of the crime, eh?' is no marker: without a colon or bracket, it must go on like one
    return text[0] in "[({<*" or ":" in text[:30] or bool(BARE_SCENE.match(text)) or len(text.split()) == 1


def is_cut(text: str) -> bool:
    """A cut, fade, opening, INT. or EXT.: written as a direction or in capitals, not as part of a sentence."""
    if SHOUTED_CUT.match(text):
        return True
    return text[0] in "[({<*-" and CUT.match(text) is not None


def is_bare_location(text: str) -> bool:
    """`CHILTON - HALLWAY`, `The cafeteria.`, `[Dragonfly Inn: kitchen]`: a location and nothing else."""
    bare = text.strip(TRIM)
    if not 3 <= len(bare) <= 70 or bare[-1] in "!?,;…" or len(bare.split()) > 10 or not bare[0].isupper():
        return False
    if VERB.search(bare) and not bare.isupper():
        return False
    if bare.isupper():
        return text[0] not in "(" and ":" not in bare.rstrip(":")
    if text[0] in "([{<":
        return bool(re.fullmatch(r"[^:.,]{3,40}: [^:,]{3,30}\.?", bare)) and PLACE.search(bare) is not None
    return len(bare.split()) <= 7 and ENDS_WITH_PLACE.search(bare) is not None


def has_location_word(text: str) -> bool:
    """Does it have a word for a location? Capitals alone may also be a title."""
    return PLACE.search(text) is not None


def setting(text: str) -> str:
    """The marker without its brackets and the word 'scene'."""
    return PREFIX.sub("", text.strip(TRIM), count=1).strip(TRIM)


def present(text: str) -> tuple[str, ...]:
    """Capitalised names a marker lists as there, after the location and leaving out owners (`Ross's flat`)."""
    location = re.match(r"[^,.;:–]*(?:[,.;:–]|$)", text)
    remainder = text[location.end() :] if location and not VERB.search(location[0]) else text
    remainder = ABSENT.sub(" ", OWNED.sub(" ", remainder))
    return tuple(dict.fromkeys(match[0] for match in NAME.finditer(remainder)))


STAMP = r"Posted:\s*\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\s+\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AP]M)?"
PAGE = r"Page \d{1,3} of \d{1,3}"
FOOT = r"All times are (?:UTC|GMT)(?:\s?[+-]\d{1,2}(?::\d{2})?)?"
LOADING = r"Like this:\s*Like Loading\.*"
GLUE = re.compile(rf"{STAMP}|{PAGE}(?=\D|$)|{FOOT}|{LOADING}")

BREAK = re.compile(
    r"\W*(?:(?:the )?(?:end|fin)(?: of (?:the )?(?:show|episode|teaser|part \w+|act \w+))?|to be continued"
    r"|(?:(?:the )?(?:opening|closing|end(?:ing)?|main|start|roll|theme) )*(?:credits?|titles?|theme(?: song| music)?)"
    r"(?: sequence| roll| song)?|(?:first |second |third |last )?comm?er?[ic]{1,2}al(?: breaks?)?s?|ad breaks?|break"
    r"|teaser|prologue|epilogue|cold open(?:ing)?"
    r"|(?:act|part) (?:\d+|[ivx]+|one|two|three|four|five)|(?:the )?end of (?:the )?episode\b.{0,60}|episode end)\W*",
    re.IGNORECASE,
)
CUT_TO_BREAK = re.compile(
    r"\W*(?:(?:cuts?|fades?|goes) (?:to|into) (?:the |a )?(?:opening|closing|commercial|credits|titles|black)\b.{0,40}"
    r"|fade (?:out|in|to black)|(?:following )?(?:a |an )?[“\"]?previously on\b.{0,60})\W*",
    re.IGNORECASE,
)
MAKER = (
    r"(?:written|directed|transcri\w+|trascribed|teleplay|story|produced|edited|adapted|created|html\w*|typed|submitted"
    r"|minor (?:additions|adjustments)|adjustments|phrases|script|story ?editor|executive producers?)"
)
CREDIT = re.compile(
    rf"\W*(?:(?:originally|additional|final|re-?|with|also|some|parts?|episodes?|[ivx1-9]+|and|&|minor|minot|the"
    rf"|dutch|help|scenes taken from)\s+)*"
    rf"(?:{MAKER}(?: \w+)? by\b|(?:teleplay|story|transcript|transcriber|story & teleplay|adjustments)\s*(?::|by\b)"
    rf"|(?:with help|help) from\b|by:? \S+$|(?:transcriber|trans?ciber|author|editor)(?:['’]s)? notes?\b|note:"
    rf"|(?:originally |original )?air(?:ed|date| date)\b|(?:copyright|©|disclaimer|production code|guest starr?ing)\b"
    rf"|dedicated to\b|in memory of\b|special thanks\b|thanks to\b)",
    re.IGNORECASE,
)
PAGE_MATTER = re.compile(
    r"(?:https?://|www\.)\S+$|powered by \S+|.{0,60}\bforum software\b|all times are (?:utc|gmt)\b|return to \S+$"
    r"|\W*(?:top|back to top|print view|quote|reply|unread post)\W*$",
    re.IGNORECASE,
)


def is_credit(text: str) -> bool:
    """Who made, wrote or transcribed it, when it was aired; also a transcriber's note."""
    return CREDIT.match(text) is not None


def is_boilerplate(text: str) -> bool:
    """Is the whole line a break, a credit or part of the page?"""
    if len(text) > 400:
        return False
    return bool(BREAK.fullmatch(text) or CUT_TO_BREAK.fullmatch(text) or PAGE_MATTER.match(text) or CREDIT.match(text))


def is_page_text(text: str) -> bool:
    """A stamp or page number such as stick to lines of text."""
    return GLUE.fullmatch(text) is not None


def may_contain_page_text(text: str) -> bool:
    return ":" in text or " of " in text or "All times" in text


def split_page_text(text: str) -> list[str]:
    """The line in parts, with page text in parts of its own."""
    if not may_contain_page_text(text):
        return [text] if text else []
    pieces: list[str] = []
    position = 0
    for match in GLUE.finditer(text):
        pieces += [text[position : match.start()], match[0]]
        position = match.end()
    pieces.append(text[position:])
    return [piece.strip() for piece in pieces if piece.strip()]
