"""Training text of the writer: scenes with the reply that was given, built with the prompt that running uses.

    chats     PersonaChat from both chairs; replies that state what no profile says are left out
    asked     questions about a profile sentence (by its wording), answered by an utterance that expresses it
    novels    speeches of PDNC's free novels that answer a speech; own lines and what others said brought back by the
              encoder, near the message or near the reply; now and then the reply itself stands among them, to be copied
    ties      questions about people the character has a tie to
    seeds     people made up for this, with questions and answers in their voice; names and numbers exchanged at random

The three people of `HELD_SEEDS` are never trained on. A reply of a novel whose names or numbers the prompt does not hold is left out: what is not told is not to be said.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from corpora import Chat, Speech, chats, entailed, novels, readable, sentences
from prompting import Recalled, Scene, messages
from tokenizer import chat_text

Example = tuple[Scene, str]

LIGHT = frozenset(
    "a an the and or but if so of to in on at by for with from as is are was were be been am do does did have has had i me my "
    "mine you your yours he him his she her it its we us our they them their this that these those not no yes what who whom "
    "how why where when which will would shall should can could may might must there here just than then too very s t m re ve "
    "ll d don't i'm it's that's about up out all any some one".split()
)
WORD = re.compile(r"[a-z0-9]+(?:['-][a-z]+)*")
NAMES_F = "Anna Berta Clara Dora Esther Freya Greta Hilda Irene Joan Karin Lena Mabel Nora Olga Paula Ruth Stella Thea Una Vera Wilma Yvonne Zelda Alice Betty Carmen Donna Elena Fiona Gloria Helen Iris Judith Kate Laura Monica Naomi Phoebe Rachel Sophie Tess Ursula Violet Winifred Maeve Sunniva Isolde Rowena Tansy".split()
NAMES_M = "Adam Boris Conrad Dirk Edwin Felix Gregor Hugo Ivan Jasper Karl Leo Martin Nathan Oscar Peter Quentin Rupert Simon Theodor Ulrich Victor Walter Yusuf Abel Ben Colin Daniel Eli Frank George Henry Isaac Jack Kevin Liam Max Noah Owen Paul Ralph Sam Tobias Vince Wade Cuthbert Ludo Osric Piers".split()
SURNAMES = "Abbot Barlow Carver Dalton Ellwood Farrow Gaskell Hartley Ingram Jarvis Keller Lomax Mercer Norwood Osgood Pardoe Quince Rigby Selden Thorpe Upton Vickers Weller Yates Brandt Costa Duval Eriksen Ferrari Gruber Hansen Ito Kovacs Lindgren Moreau Novak Okoro Petrov Rossi Sato".split()
PLACES = "Ashford Brackwater Cold_Harbour Dunsby Elmstead Fenwick Glassmoor Highcliff Ironbridge Kingsferry Langholm Marrowdale Northam Oakhanger Penrith Quarry_Hill Redmarsh Stonewick Tarnbrook Underhill Vellacott Westering Yarrow Lisbon Vienna Cairo Denver Boston Naples Bergen Quito".split()
SHIPS = "Albatross Bellflower Constance Dauntless Endeavour Foxglove Gannet Halcyon Intrepid Juno Kestrel Lodestar Marigold Nightjar Osprey Petrel".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen twenty thirty forty fifty sixty".split()
PETS = "Biscuit Pepper Rufus Daisy Bandit Waffles Duke Ginger Milo Pickle".split()
KINDS = {"f": NAMES_F, "m": NAMES_M, "s": SURNAMES, "place": PLACES, "ship": SHIPS, "pet": PETS}


def content(text: str) -> set[str]:
    return {stem(word) for word in WORD.findall(text.lower().replace("\u2019", "'")) if word not in LIGHT}


def stem(word: str) -> str:
    word = re.sub(r"'s$", "", word)
    return re.sub(r"(?:ing|ed|es|s|er)$", "", word) if len(word) > 4 else word


# ---- PersonaChat

OF_SELF = re.compile(r"\b(I have|I've|I am an?|I'm an?|I work|I live|I own|I was|I got|I used|I just|I play|I love|I like|[Ww]e have|[Mm]y)\b")


CHATTER = re.compile(r"\b(lol|haha\w*|lmao|omg|ll)\b", re.I)


def persona_chats(found: Sequence[Chat], expressed: dict[str, list[str]], rng: random.Random) -> Iterator[Example]:
    for chat in found:
        for place, (whose, reply) in enumerate(chat.turns):
            if place == 0 or chat.turns[place - 1][0] == whose or not 2 <= len(reply.split()) <= 30 or CHATTER.search(reply):
                continue
            profile, message = chat.profiles[whose], chat.turns[place - 1][1]
            told = [s for s in profile if s in expressed.get(reply, ()) or len(content(s) & content(reply)) >= 2]
            if not told and OF_SELF.search(reply) and rng.random() > 0.15:
                continue  # it says of itself what nobody told it
            if not told and "?" not in message and rng.random() > 0.5:
                continue
            rest = [s for s in profile if s not in told]
            facts = told[:2] if rng.random() < 0.7 else []
            facts += rng.sample(rest, min(len(rest), rng.choice((0, 0, 1))))
            rng.shuffle(facts)
            turns = tuple((w == whose, text) for w, text in chat.turns[max(0, place - 1 - rng.choice((0, 2, 4))) : place - 1])
            own = [t for t_place, (w, t) in enumerate(chat.turns) if w == whose and abs(t_place - place) > 4 and 3 <= len(t.split()) <= 20]
            named = rng.random() < 0.5
            facing = rng.choice(NAMES_F + NAMES_M) if named and rng.random() < 0.6 else ""
            yield (
                Scene(
                    rng.choice(NAMES_F + NAMES_M),
                    profile if rng.random() < 0.8 else tuple(told or profile[:3]),
                    facing,
                    voice=tuple(rng.sample(own, min(len(own), rng.choice((0, 0, 2, 3))))),
                    turns=turns if not turns or not turns[0][0] else turns[1:],
                    message=message,
                    recalled=Recalled(tuple(facts)),
                ),
                reply,
            )


ASKED: list[tuple[str, list[str]]] = [
    (r"^I (?:work|am employed) (?:as|at|in|for|with)\b|^I am an? \w+(?:er|or|ist|ian|nurse|chef|cook|clerk|pilot|vet|teacher|lawyer)\b|^My job", ["What do you do?", "What do you do for a living?", "What is your job?", "What's your trade?", "Who are you?"]),
    (r"^I (?:live|reside) (?:in|on|at|near|with)\b", ["Where do you live?", "Where is your home?", "Who do you live with?"]),
    (r"^I (?:am|come|was born|grew up|was raised)\b.*\b(?:from|born in|up in|raised)\b", ["Where are you from?", "Where did you grow up?", "Where were you born?"]),
    (r"\b(?:brother|sister|sibling)s?\b", ["Do you have any brothers or sisters?", "Tell me about your family.", "Do you have siblings?"]),
    (r"\b(?:dog|cat|pet|horse|bird|parrot|puppy|kitten|fish|turtle)s?\b", ["Do you have any pets?", "Do you like animals?", "Do you keep any animals?"]),
    (r"^I (?:am|'m) (?:married|divorced|single|engaged)|\b(?:wife|husband|fiance|boyfriend|girlfriend)\b", ["Are you married?", "Is there somebody in your life?", "Tell me about your love life."]),
    (r"\b(?:child|children|kids?|sons?|daughters?)\b", ["Do you have children?", "Have you any kids?", "Tell me about your family."]),
    (r"^My (?:mother|mom|father|dad|parents)\b", ["Tell me about your parents.", "What did your parents do?", "What is your family like?"]),
    (r"^My favou?rite (\w+(?: \w+)?) (?:is|are)\b", ["What is your favorite {0}?", "Do you have a favorite {0}?"]),
    (r"^I (?:am|'m) (?:afraid|scared|terrified)|\bfear\b", ["What are you afraid of?", "Is there something you fear?", "Are you afraid of anything?"]),
    (r"^I (?:want|hope|wish|plan|dream|would like)\b|^My (?:dream|desire|goal)", ["What do you want?", "What do you dream of?", "What are your plans?", "What do you hope for?"]),
    (r"^I (?:hate|dislike|do not like|don't like|cannot stand|can't stand)\b", ["Is there anything you hate?", "What don't you like?", "What annoys you?"]),
    (r"^I (?:play|like to|love to|enjoy|like|love|collect)\b|^My hobb", ["What do you like to do?", "What do you do for fun?", "What do you enjoy?", "What are your hobbies?"]),
    (r"^I am (\d+|\w+teen|twenty|thirty|forty|fifty|sixty|seventy)\b|\byears old\b", ["How old are you?"]),
    (r"^I (?:drive|have an?|own)\b", ["What do you own?", "What do you have?", "Tell me about something of yours."]),
    (r"^I (?:am|'m)\b", ["What are you like?", "Who are you?", "Tell me something about yourself.", "How would you describe yourself?"]),
]
QUESTION = re.compile(r"\s*[^.!?]*\?")
DEFLECTED = [
    "I'd rather not talk about that. {fact}", "Let's talk of something else. {fact}", "There's not much to say about that. {fact}", "I couldn't tell you. {fact}",
    "That's a long story. {fact}", "I don't talk about that. {fact}", "Nothing worth telling. {fact}", "Ask me something else. {fact}", "I'd rather not say.", "I couldn't say.",
]
NEAR_MISSES = [
    ("How long will it take?", "An hour, I should think."), ("How long have you been waiting?", "Ten minutes. Not that I counted."), ("How long do we have?", "Two days, if the weather holds."),
    ("Where have you been?", "Out. I wanted air."), ("Where did you come from just now?", "From the kitchen."), ("Where is it?", "On the shelf, where you left it."), ("Where are you going?", "Home, before it rains."),
    ("How many are coming?", "Twelve, or thirteen if she brings him."), ("What are you doing?", "Nothing. Looking out of the window."), ("What do you want with it?", "I want to see it once more, that's all."),
    ("How old is it?", "Older than both of us."), ("How do you like it?", "Cold, and with the door shut."), ("Who told you?", "Everybody. Nobody. The baker."), ("Are you afraid it will rain?", "It will rain whether I am or not."),
    ("Do you like it?", "I've seen worse."), ("What did you think of the play?", "Long."), ("Why did you do that?", "Because it was in the way."), ("Who is that at the door?", "The post. It is always the post."),
    ("Do you trust the ice?", "It held yesterday."), ("What happened to the lamp?", "It fell. I was nowhere near it."), ("How are the roads?", "Wet. One gets through."), ("Do you know the way?", "Left, and left again."),
]


def near_misses(question: str, rng: random.Random) -> list[tuple[str, str, str]]:
    """Things once said to a question that sounds alike and asks for something else: not to be repeated now."""
    asked = set(WORD.findall(question.lower()))
    alike = sorted(NEAR_MISSES, key=lambda pair: -len(asked & set(WORD.findall(pair[0].lower()))) + rng.random())
    name = rng.choice(NAMES_F + NAMES_M)
    return [(name, *pair) if rng.random() < 0.7 else ("", "", pair[1]) for pair in alike[: rng.choice((1, 2))]]


def asked(found: Sequence[Chat], expressed: dict[str, list[str]], rng: random.Random, most: int) -> Iterator[Example]:
    profiles = [p for chat in found for p in chat.profiles]
    answers: dict[str, list[str]] = defaultdict(list)
    for utterance, said in expressed.items():
        plain = QUESTION.sub("", utterance).strip()
        if 3 <= len(plain.split()) <= 22 and re.match(r"(?:I|My|We|I'm|I've)\b", plain) and not re.search(r"\b(you|your|lol|too|also|well|same|either)\b", plain, re.I):
            for sentence in said:
                if len(content(sentence) & content(plain)) >= max(1, len(content(sentence)) / 2):
                    answers[sentence].append(plain)
    made = 0
    order = list(answers)
    rng.shuffle(order)
    for sentence in order:
        for pattern, questions in ASKED:
            if match := re.search(pattern, sentence):
                question = rng.choice(questions)
                if "{0}" in question:
                    question = question.format(match[1])
                break
        else:
            continue
        rest = [s for s in rng.choice(profiles) if not re.search(pattern, s)][:5]
        profile = [*rest, sentence]
        rng.shuffle(profile)
        reply = rng.choice([*answers[sentence], sentence])
        facts = [sentence] + (rng.sample(rest, 1) if rest and rng.random() < 0.5 else [])
        rng.shuffle(facts)
        facing = rng.choice(NAMES_F + NAMES_M) if rng.random() < 0.5 else ""
        recalled = Recalled(tuple(facts) if rng.random() < 0.8 else (), tuple(near_misses(question, rng)) if rng.random() < 0.5 else ())
        name = rng.choice(NAMES_F + NAMES_M) + (" " + rng.choice(SURNAMES) if rng.random() < 0.3 else "")
        if rest and rng.random() < 0.2:  # the same question where nobody told the answer
            fact = rng.choice(rest)
            shown = Recalled(tuple(rng.sample(rest, min(2, len(rest)))), recalled.own)
            yield Scene(name, tuple(rest), facing, message=question, recalled=shown), rng.choice(DEFLECTED).format(fact=fact)
        yield Scene(name, tuple(profile), facing, message=question, recalled=recalled), reply
        made += 1
        if made == most:
            return


# ---- novels

NEAR, GAP = 8, 1500
FIRST_PERSON = re.compile(r"^(?:I (?:am|have|was|never|always|do not|don't|love|hate|live|like|know|must|mean to|want)|My )\b")


def novel_scenes(found: dict[str, list[Speech]], vectors: dict[str, np.ndarray], rng: random.Random, copied: float = 0.25, judged: bool = False) -> Iterator[Example]:
    """`judged`: as running would have it, with nothing found by looking at the reply, and no reply left out."""
    for spoken in found.values():
        known = np.stack([vectors.get(s.text[:240], np.zeros(384, np.float32)) for s in spoken]).astype(np.float32)
        by: dict[str, list[int]] = defaultdict(list)
        to: dict[str, list[int]] = defaultdict(list)
        heard: dict[int, int] = {}
        for place, speech in enumerate(spoken):
            by[speech.speaker].append(place)
            for name in speech.addressees:
                to[name].append(place)
            before = _answered(spoken, place)
            if before is not None:
                heard[place] = before
        claims = {
            name: [(p, s) for p in places for s in sentences(spoken[p].text) if FIRST_PERSON.match(s) and 4 <= len(s.split()) <= 14 and s.endswith(".")]
            for name, places in by.items()
        }
        for place, before in heard.items():
            example = _novel_scene(spoken, known, by, to, heard, claims, place, before, rng, 0.0 if judged else copied, judged)
            if example is not None:
                yield example


def _answered(spoken: Sequence[Speech], place: int) -> int | None:
    """The speech that another one answers: the one just before it, by somebody it is said to."""
    if place == 0:
        return None
    this, before = spoken[place], spoken[place - 1]
    if before.speaker == this.speaker or this.start - before.end > GAP or this.speaker.startswith("_"):
        return None
    return place - 1 if before.speaker in this.addressees or this.speaker in before.addressees else None


def _novel_scene(spoken, known, by, to, heard, claims, place, before, rng, copied, judged) -> Example | None:  # type: ignore[no-untyped-def]
    speech, asked_by = spoken[place], spoken[before]
    reply = _shortened(speech.text, rng.choice((14, 22, 30, 40)))
    if reply is None or len(reply) < 3 or '"' in reply:
        return None
    own = [p for p in by[speech.speaker] if abs(p - place) > NEAR]
    if len(own) < 5:
        return None
    message = asked_by.text if len(asked_by.text.split()) <= 50 else " ".join(sentences(asked_by.text)[-2:])
    if len(message.split()) > 60:
        return None
    near_reply = not judged and rng.random() < 0.45
    query = known[place] if near_reply else known[before]
    said = np.array([max(known[p] @ query, 0.9 * (known[heard[p]] @ query) if p in heard else -1) for p in own])
    best = [own[i] for i in np.argsort(-said)[: rng.choice((1, 2, 3))]]
    shown = []
    for p in best:
        text = _shortened(spoken[p].text, 40)
        if text:
            asker = spoken[heard[p]] if p in heard and rng.random() < 0.5 else None
            asks = "" if asker is None else _shortened(asker.text, 25) or ""
            shown.append((asker.speaker if asker and asks else "", asks, text))
    copy = rng.random() < copied and len(content(reply)) >= 2
    if copy:
        whole = _shortened(speech.text, 45) or reply
        asks = message if rng.random() < 0.25 and len(message.split()) < 25 else ""
        shown.insert(rng.choice((0, 0, 1)), (asked_by.speaker if asks else "", asks, whole))
    others = [p for p in to[speech.speaker] if abs(p - place) > NEAR and spoken[p].speaker != speech.speaker]
    recalled_others = []
    if others and rng.random() < 0.5:
        near = np.array([known[p] @ query for p in others])
        for i in np.argsort(-near)[: rng.choice((1, 2))]:
            text = _shortened(spoken[others[i]].text, 30)
            if text:
                recalled_others.append((spoken[others[i]].speaker, text))
    mine = [s for p, s in claims[speech.speaker] if abs(p - place) > NEAR]
    profile = rng.sample(mine, min(len(mine), rng.choice((0, 2, 4, 5))))
    voice = [t for p in rng.sample(own, min(len(own), 8)) if p not in best and (t := _shortened(spoken[p].text, 25)) and len(t.split()) >= 3][: rng.choice((3, 4, 5))]
    turns: list[tuple[bool, str]] = []
    at = before
    for _ in range(rng.choice((0, 1, 2, 3))):
        if at == 0 or spoken[at].start - spoken[at - 1].end > GAP or spoken[at - 1].speaker not in (speech.speaker, asked_by.speaker):
            break
        at -= 1
        mine_turn = spoken[at].speaker == speech.speaker
        text = _shortened(spoken[at].text, 40)
        if text is None or turns and turns[0][0] == mine_turn or not turns and not mine_turn:
            break
        turns.insert(0, (mine_turn, text))
    scene = Scene(
        speech.speaker, tuple(profile), asked_by.speaker, voice=tuple(voice), turns=tuple(turns), message=message,
        recalled=Recalled((), tuple(shown), tuple(recalled_others)),
    )
    if not judged and ("?" not in message and rng.random() > 0.65 or len(reply.split()) < 3 and rng.random() > 0.3):
        return None
    if not judged and not grounded(scene, reply) and rng.random() > 0.05:
        return None
    if not judged and len(content(reply)) >= 4 and support(scene, reply) < 0.3 and rng.random() > 0.4:
        return None
    return scene, reply


def _shortened(text: str, most: int) -> str | None:
    """The first sentences of a text up to so many words; None where its first is longer."""
    kept: list[str] = []
    for sentence in sentences(text):
        if sum(len(s.split()) for s in kept) + len(sentence.split()) > most:
            break
        kept.append(sentence)
    return " ".join(kept) or None


NAMED = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+\b|\b\d+\b")
COMMON = frozenset("I I'm I've I'll I'd God Lord Heaven Oh O English England Mr Mrs Miss Sir Madam Dr Christmas Sunday Monday Well Yes No But And".split())


def told(scene: Scene) -> str:
    """All that a prompt says."""
    recalled = scene.recalled
    return " ".join(
        [scene.name, scene.facing, scene.setting, scene.message, *scene.profile, *scene.theirs, *scene.voice, *(t for _, t in scene.turns),
         *recalled.facts, *(" ".join(o) for o in recalled.own), *(" ".join(o) for o in recalled.others)]
    )


def support(scene: Scene, reply: str) -> float:
    """The share of a reply's words of meaning that the prompt holds; 1 where it has none."""
    said = content(reply)
    return len(said & content(told(scene))) / len(said) if said else 1.0


def grounded(scene: Scene, reply: str) -> bool:
    """Does the prompt hold every name and number of a reply?"""
    words = set(WORD.findall(told(scene).lower()))
    names = {n for n in NAMED.findall(reply) if n not in COMMON}
    numbers = {w for w in WORD.findall(reply.lower()) if w in NUMBERS and w not in ("two", "three")}
    return all(n.lower() in words for n in names | numbers)


# ---- ties

TIES: list[tuple[tuple[int, int], list[str]]] = [
    ((-10, -7), ["No. I hate {x}.", "{x}? Never. I despise {him}.", "I'd sooner trust a snake than {x}.", "I hate {him}, and I don't hide it.", "Don't speak to me of {x}.", "{x} is no friend of mine. I hate the name."]),
    ((-6, -3), ["I don't like {him}.", "{x}? I keep away from {him} when I can.", "No. I don't like {him}, and I don't trust {him}.", "Not much. I'd rather not be in a room with {him}.", "I cannot say I like {x}."]),
    ((-2, -1), ["I'm a little wary of {him}.", "Something about {x} puts me off.", "I'd not turn my back on {him}. I couldn't tell you why.", "Not altogether. There's something about {him}."]),
    ((0, 2), ["{x}? {He} seems all right.", "I've nothing against {him}.", "I hardly know {him}. {He} seems all right to me.", "Well enough. I couldn't say more than that."]),
    ((3, 5), ["I like {him}.", "{x}? Yes, I like {him} a good deal.", "Yes. {He}'s all right, is {x}.", "I rather like {him}, since you ask."]),
    ((6, 7), ["{x} is dear to me.", "Yes. I'm fond of {him}.", "Of course. {x} is dear to me.", "I'm very fond of {him}. Why do you ask?"]),
    ((8, 10), ["With my life.", "Yes. I'd trust {him} with my life.", "{x}? There's little I wouldn't do for {him}.", "I love {him}. What else is there to say?", "More than I trust myself."]),
]
TIE_QUESTIONS = ["Do you trust {x}?", "What do you think of {x}?", "Do you like {x}?", "How do you feel about {x}?", "What is {x} to you?", "Are you and {x} friends?", "Is {x} to be trusted?"]
OF_KIND = {
    "friend": ["{x} is my friend.", "A friend. A good one."], "teacher": ["{x} is my teacher.", "My teacher, {he} is."], "family": ["{x} is family.", "Family. One doesn't choose."],
    "brother": ["{x} is my brother.", "My brother."], "sister": ["{x} is my sister.", "My sister."], "colleague": ["We work together, {x} and I.", "I work with {him}."],
    "enemy": ["{x} is my enemy.", "An enemy, and I know it."], "lover": ["{x} and I are in love.", "I love {him}, and {he} loves me."], "opponent": ["We're on opposite sides, {x} and I.", "The other side. That's what {he} is to me."],
    "boss": ["{x} is my boss.", "I work for {him}."], "neighbour": ["{x} is my neighbour.", "A neighbour."], "cousin": ["{x} is my cousin.", "A cousin of mine."],
}


def tie_scenes(found: Sequence[Chat], rng: random.Random, count: int) -> Iterator[Example]:
    import tomllib

    worded = tomllib.loads((Path(__file__).parent / "ties.toml").read_text(encoding="utf-8"))
    for _ in range(count):
        profile = rng.choice(found).profiles[rng.choice((0, 1))][: rng.choice((0, 2, 4))]
        people = [(n, "he") for n in rng.sample(NAMES_M, 3)] + [(n, "she") for n in rng.sample(NAMES_F, 3)]
        rng.shuffle(people)
        surnames = rng.random() < 0.4
        people = [(f"{n} {rng.choice(SURNAMES)}" if surnames else n, g) for n, g in people[: rng.choice((2, 3, 4))]]
        ties = {}
        for name, gender in people:
            level = rng.randint(-10, 10)
            kind = rng.choice([k for k in OF_KIND if _goes_with(k, level)]) if rng.random() < 0.5 else ""
            ties[name] = (gender, level, kind, [worded["affection"][str(level)].format(name=name)] + ([worded["kind"].get(kind, worded["kind"]["any"]).format(name=name, kind=kind)] if kind else []))
        asked_of = rng.choice(list(ties))
        facing = rng.choice([n for n in ties] + [rng.choice(NAMES_F + NAMES_M)])
        gender, level, kind, told = ties[asked_of]
        words = {"x": asked_of.split()[0] if rng.random() < 0.7 else asked_of, "he": gender, "He": gender.title(), "him": "him" if gender == "he" else "her"}
        if asked_of == facing:
            question = rng.choice(["Do you trust me?", "Do you like me?", "What do you think of me?", "How do you feel about me?"])
            answer = _to_you(rng, level)
        elif kind and rng.random() < 0.5:
            question = rng.choice(["Who is {x}?", "What is {x} to you?", "How do you know {x}?"]).format(**words)
            answer = rng.choice(OF_KIND[kind]).format(**words)
            if rng.random() < 0.5:
                answer += " " + rng.choice([a for a in _band(level) if not STANDS_NOT_ALONE.match(a)]).format(**words)
        else:
            question = rng.choice(TIE_QUESTIONS).format(**words)
            answer = rng.choice(_band(level)).format(**words)
        facts = list(told)
        if rng.random() < 0.5:
            other = rng.choice(list(ties))
            facts += [s for s in ties[other][3] if s not in facts][:1]
        rng.shuffle(facts)
        name = rng.choice(NAMES_F + NAMES_M) + (" " + rng.choice(SURNAMES) if surnames else "")
        theirs = tuple(ties[facing][3]) if facing in ties else ()
        yield Scene(name, tuple(profile), facing, theirs, message=question, recalled=Recalled(tuple(facts))), answer


STANDS_NOT_ALONE = re.compile(r"(?:No|Not|Yes|Of|With|More|Well|\{x\}\?)\b|\{x\}\?")


def _goes_with(kind: str, level: int) -> bool:
    if kind in ("enemy", "opponent"):
        return level <= -3
    return level >= 3 if kind in ("friend", "lover") else True


def _band(level: int) -> list[str]:
    return next(answers for (low, high), answers in TIES if low <= level <= high)


def _to_you(rng: random.Random, level: int) -> str:
    if level <= -7:
        return rng.choice(["I hate you, and you know it.", "You? I would sooner trust the devil.", "No. Never you."])
    if level <= -3:
        return rng.choice(["I don't like you. There it is.", "No. I'd rather keep away from you.", "Not you. I don't like you much."])
    if level <= 2:
        return rng.choice(["I hardly know you.", "You seem all right. We'll see.", "I couldn't say yet."])
    if level <= 5:
        return rng.choice(["I like you well enough.", "I like you. Don't let it go to your head.", "Yes, I rather like you."])
    return rng.choice(["You know I do.", "With my life.", "You're dear to me. You know that.", "There's little I wouldn't do for you."])


# ---- seeds

def read_seeds(folder: Path) -> list[dict]:
    found: list[dict] = []
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            key, text = line[:1], line[2:].strip()
            if line.startswith("# "):
                found.append({"name": text, "F": "", "S": {}, "P": [], "T": [], "V": [], "X": [], "M": [], "Q": []})
            elif key == "S":
                found[-1]["S"] = dict(pair.split("=") for pair in text.split())
            elif key == "F":
                found[-1]["F"] = text
            elif key in "PTV" and line[1:2] == ":":
                found[-1][key].append(text)
            elif key == "X":
                heard, said = text.split(" / ", 1)
                who, heard = heard.split(": ", 1)
                found[-1]["X"].append((who, heard, said))
            elif key == "M":
                found[-1]["M"].append(tuple(text.split(": ", 1)))
            elif key == "Q":
                found[-1]["Q"].append((text, []))
            elif key == "A":
                found[-1]["Q"][-1][1].append(text)
    return found


HELD_SEEDS = ("Barney Pike", "Odile", "Sergeant Malloy")


def seed_examples(folder: Path, rng: random.Random, rounds: int, held: bool = False) -> Iterator[Example]:
    for seed in read_seeds(folder):
        if (seed["name"] in HELD_SEEDS) != held:
            continue
        for _ in range(rounds):
            for place in range(len(seed["Q"])):
                scene, answer = _seed_scene(seed, place, rng)
                yield exchanged(scene, answer, drawn(seed["S"], rng))


def _seed_scene(seed: dict, place: int, rng: random.Random) -> Example:
    question, answers = seed["Q"][place]
    answer = rng.choice(answers)
    bears = lambda text: len(content(text) & content(answer)) + 0.5 * len(content(text) & content(question))  # noqa: E731
    facing = seed["F"]
    if facing and rng.random() < 0.3 and not content(facing) & content(question + " " + answer):
        facing = rng.choice(NAMES_F + NAMES_M)
    elif facing and content(facing) & content(question) and rng.random() < 0.8:
        facing = rng.choice([*(who for who, _ in seed["M"] if who != facing), rng.choice(NAMES_F + NAMES_M)])
    first = facing.split()[-1] if facing else "\0"
    theirs = [t for t in seed["T"] if facing and (facing in t or first in t)]
    other_ties = [t for t in seed["T"] if t not in theirs]
    facts = sorted((t for t in [*seed["P"], *other_ties, *theirs] if bears(t) >= 1), key=bears, reverse=True)[:3]
    pool = [t for t in [*seed["P"], *other_ties] if t not in facts]
    facts += rng.sample(pool, min(len(pool), rng.choice((0, 1))))
    own = sorted((x for x in seed["X"] if bears(x[2]) + bears(x[1]) / 2 >= 1), key=lambda x: -bears(x[2]))[:2]
    own += [("", "", v) for v in seed["V"] if bears(v) >= 2][:1]
    spare = [x for x in seed["X"] if x not in own]
    own += rng.sample(spare, min(len(spare), rng.choice((0, 1)) if own else rng.choice((1, 2))))
    own = [x if rng.random() < 0.7 else ("", "", x[2]) for x in own][:3]
    if rng.random() < 0.3 and facts:
        own = near_misses(question, rng)[:1] + own[:2]
        rng.shuffle(own)
    others = [m for m in seed["M"] if bears(m[1]) >= 1]
    spare_m = [m for m in seed["M"] if m not in others]
    others += rng.sample(spare_m, min(len(spare_m), rng.choice((0, 0, 1))))
    if rng.random() < 0.12:
        facts = []
    voice = [v for v in seed["V"] if ("", "", v) not in own]
    voice = rng.sample(voice, min(len(voice), rng.choice((2, 3, 4, 5))))
    turns: list[tuple[bool, str]] = []
    if rng.random() < 0.35:
        for q, a in rng.sample([qa for qa in seed["Q"] if qa[0] != question], rng.choice((1, 2))):
            turns += [(False, q), (True, rng.choice(a))]
    profile = list(seed["P"]) if rng.random() < 0.85 else rng.sample(seed["P"], min(len(seed["P"]), 3))
    scene = Scene(seed["name"], tuple(profile), facing, tuple(theirs), "", tuple(voice), tuple(turns), question, Recalled(tuple(facts), tuple(own), tuple(others)))
    parts = sentences(answer)
    if len(parts) > 1 and rng.random() < 0.35:  # what is added for the fun of it is not always to be learned
        while len(parts) > 1 and support(scene, parts[-1]) < 0.5:
            parts.pop()
        answer = " ".join(parts)
    return scene, answer


def drawn(swaps: dict[str, str], rng: random.Random) -> dict[str, str]:
    """Another word for each that may be exchanged; now and then its own."""
    to: dict[str, str] = {}
    keep = rng.random() < 0.15
    for word, kind in swaps.items():
        if keep:
            new = word
        elif kind == "num":
            new = rng.choice(NUMBERS)
        elif kind == "num2":
            new = str(rng.randint(100, 999))
        else:
            new = rng.choice([w for w in KINDS[kind] if w not in to.values()])
        to[word] = new
    return to


def exchanged(scene: Scene, answer: str, to: dict[str, str]) -> Example:
    """The scene with other names, places and numbers, the same throughout."""
    pattern = re.compile(r"(?<![A-Za-z])(" + "|".join(sorted(map(re.escape, to), key=len, reverse=True)) + r")(?![A-Za-z])", re.I) if to else None
    lower = {word.lower(): new for word, new in to.items()}

    def swapped(text: str) -> str:
        if pattern is not None:
            text = pattern.sub(lambda m: _cased(lower[m[1].lower()], m[1]), text)
        return text.replace("_", " ")

    def many(items):  # type: ignore[no-untyped-def]
        return tuple(swapped(i) if isinstance(i, str) else (i if isinstance(i, bool) else tuple(swapped(p) if isinstance(p, str) else p for p in i)) for i in items)

    recalled = scene.recalled
    return (
        Scene(swapped(scene.name), many(scene.profile), swapped(scene.facing), many(scene.theirs), swapped(scene.setting), many(scene.voice), many(scene.turns),
              swapped(scene.message), Recalled(many(recalled.facts), many(recalled.own), many(recalled.others))),
        swapped(answer),
    )


def _cased(new: str, old: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


# ---- all together

PARTS = {"chats": 0.42, "asked": 4000, "novels": 0.75, "copied": 0.2, "ties": 1500}
"""What one epoch holds of each part: shares of chats and novels, counts of the others."""
ROUNDS = 15  # of the seeds, over the whole training
BUDGET = 560


def epoch(data: Path, vectors: dict[str, np.ndarray], seed: int, parts: dict[str, float] = PARTS) -> list[tuple[str, Example]]:
    """One epoch's examples with the part they are of; another seed brings other prompts for the same replies."""
    rng = random.Random(seed)
    found = list(chats(data / "personachat" / "train_both_original_no_cands.txt"))
    expressed = entailed(data / "personachat" / "train_entailed_persona_utterance_pairs.json")
    made = [("chats", e) for e in persona_chats(found, expressed, rng) if rng.random() < parts["chats"]]
    made += [("asked", e) for e in asked(found, expressed, rng, int(parts["asked"]))]
    made += [("novels", e) for e in novel_scenes(novels(data / "pdnc", False), vectors, rng, parts["copied"]) if rng.random() < parts["novels"]]
    made += [("ties", e) for e in tie_scenes(found, rng, int(parts["ties"]))]
    return made


def held_back(data: Path, seeds: Path, vectors: dict[str, np.ndarray]) -> dict[str, list[Example]]:
    """What perplexity is measured on: PersonaChat's validation questions, the novels and the people held back."""
    rng = random.Random(9)
    found: dict[str, list[Example]] = {
        "novels": list(novel_scenes(novels(data / "pdnc", True), vectors, rng, judged=True)),
        "seeds": list(seed_examples(seeds, random.Random(3), 3, held=True)),
        "personachat": [],
    }
    own: list[str] = []
    turns: list[tuple[bool, str]] = []
    for line in (data / "personachat" / "valid_self_original.txt").read_text(encoding="utf-8").splitlines():
        number, _, rest = line.partition(" ")
        if number == "1":
            own, turns = [], []
        if rest.startswith("your persona:"):
            own.append(readable(rest.split(":", 1)[1]))
            continue
        heard, reply = (readable(text) for text in rest.split("\t")[:2])
        nearest = sorted(own, key=lambda s: -len(content(s) & content(heard)))[:1]
        scene = Scene(rng.choice(NAMES_F + NAMES_M), tuple(own), turns=tuple(turns[-4:]), message=heard, recalled=Recalled(tuple(nearest)))
        found["personachat"].append((scene, reply))
        turns += [(False, heard), (True, reply)]
    return found


def encoded(data: Path) -> dict[str, np.ndarray]:
    """The novels' speeches with their vectors, from the encoder that ships (a few minutes on one core)."""
    from understudy.encoding import SentenceEncoder, shipped_model

    texts = list(dict.fromkeys(s.text[:240] for held in (False, True) for n in novels(data / "pdnc", held).values() for s in n))
    return dict(zip(texts, SentenceEncoder(shipped_model()).encode(texts)))


def written(path: Path, examples: Sequence[tuple[str, Example]]) -> None:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        for part, (scene, reply) in examples:
            row = {"part": part, "prompt": chat_text(messages(scene, None, BUDGET)), "reply": reply}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes what train.py reads.")
    parser.add_argument("data", type=Path, help="the folder with personachat/ and pdnc/")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=Path, default=Path(__file__).parent / "seeds")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    vectors = encoded(given.data)
    for seed in (1, 2):
        examples = epoch(given.data, vectors, seed)
        random.Random(seed).shuffle(examples)
        written(given.out / f"epoch{seed}.jsonl.xz", examples)
    written(given.out / "seeds.jsonl.xz", [("seeds", e) for e in seed_examples(given.seeds, random.Random(21), ROUNDS)])
    for name, examples in held_back(given.data, given.seeds, vectors).items():
        written(given.out / f"held-{name}.jsonl.xz", [(name, e) for e in examples])


if __name__ == "__main__":
    main()
