"""What the messages of a request are, by their form: chat programs put everything they know into system messages.

    Write Zita's next reply in a fictional chat between Zita and Tom.      who answers, and who the user is
    [Write the next reply only as Pia Lenk.]                               who answers in a group
    [Write your next reply from the point of view of Tom, ...]             the user's own next line is wanted
    I am Tom, a one-armed baker. / Tom is a baker. / The user is Tom.      who the user is
    I smoke the letters that come to the Comma.                            a card: dropped where the story says it
    [Circumstances ...: The wharf at dawn] / a note in mid-chat            the scene
    example_user, example_assistant, <START>, [Example Chat]               examples: no knowledge
    Be brief. / [System note: ...]                                         how to write: not followed here
    Tom: Who are you?\\nZita:                                              a prompt of text: turns, and who goes on

What the story says of a character comes from the story, as of the moment: a copy of it, of whatever moment, is dropped.

Chat programs also ask for titles, tags or next questions behind the user's back. Open WebUI sends such a request as a
message of its own that begins with '### Task:' and says which JSON it wants:

    {"title": ...}  {"tags": [...]}  {"follow_ups": [...]}  {"queries": [...]}  {"text": ...}  {"prompt": ...}

These are answered at once, by no character: it would answer in character, which no program can read, and each costs a
run of a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from understudy.agents.dialogue_context import first_person, introduced_name
from understudy.server.chats.store import title_from
from understudy.server.openai.copies import Copies, without_card_scene
from understudy.server.story_registry import ServedCharacter
from understudy.story.dialogue import Evidence, Reply
from understudy.text import fold

SENTENCE = re.compile(r"[^\n.!?。！？]*[.!?。！？]*[\"'”’」』)]*(?:\s+|$)|[^\n]+")
EXAMPLE_NAMES = frozenset({"example_user", "example_assistant"})
NAME = r"[^\]\n:,]{1,80}?"
MAIN = re.compile(
    rf"\bWrite (?P<speaker>{NAME})['’]s next reply in a fictional chat between .{{1,400}}? and "
    rf"(?P<user>{NAME})(?:\.|$|\n)"
)
GROUP = re.compile(r"\[Start a new group chat\. Group members: (?P<members>[^\]]{1,1000})\]")
NEXT = re.compile(rf"\bWrite (?:the|your|a) (?:next )?reply (?:only )?as (?P<name>{NAME})\s*[.\]]", re.IGNORECASE)
USERS_VIEW = re.compile(
    rf"\bWrite (?:the|your|a) (?:next )?reply (?:only )?from the point of view of (?P<name>{NAME})\s*[,.\]]",
    re.IGNORECASE,
)
GO_ON = re.compile(r"\[Continue (?:your last|the following) message[^\]:]*(?::\s*(?P<begun>.*))?\]\s*\Z", re.DOTALL)
EXAMPLES_BEGIN = re.compile(r"^\s*(?:<START>|\[(?:Example Chat|Start a new chat)\])\s*$", re.IGNORECASE | re.MULTILINE)
CHAT_BEGINS = re.compile(r"^\s*\[Start a new (?:group )?chat\b[^\]]*\]\s*$", re.IGNORECASE | re.MULTILINE)
BRACKETED = re.compile(r"\[(?P<text>.*)\]", re.DOTALL)
SCENE_LABEL = re.compile(
    r"(?:circumstances and context of the dialogue|scenario|setting|scene|author['’]?s? note|"
    r"details of the fictional world[^:]*|場面|场景)\s*[:：]\s*",
    re.IGNORECASE,
)
CARD_LABEL = re.compile(r"(?:[^:\n]{1,60}['’]s )?(?:personality|description|character)\s*:\s*", re.IGNORECASE)
USER_LABEL = re.compile(r"(?:the )?(?:user|human)(?:['’]s)?(?: persona| description| profile)?\s*:\s*", re.IGNORECASE)
OF_USER = re.compile(
    r"(?i:the user(?:['’]s name)? is|you are (?:talking|speaking|chatting) (?:to|with)) "
    rf"(?P<name>[A-Z]{NAME})(?=[,.;!]|$| who\b| and\b)"
)
USER_CALLED = re.compile(
    r"\A(?:the user(?:['’]s name)? is|you are (?:talking|speaking|chatting) (?:to|with)) (?=\w)", re.IGNORECASE
)
USER_SUBJECT = re.compile(r"\A(?:the )?(?:user|human)(?= \w)", re.IGNORECASE)
LISTED = re.compile(r"\Aan? ", re.IGNORECASE)
THEY = {"They are": "I am", "They ": "I "}
SURROUNDINGS = re.compile(
    r"(?:it(?:['’]s| is| was) (?:now |still |already |very |a |an |the |late |early )*(?:night|day|dawn|dusk|"
    r"evening|morning|noon|afternoon|midnight|late|early|dark|cold|hot|warm|winter|summer|autumn|fall|spring|raining|snowing|foggy|\d)|"
    r"it (?:rains|snows|pours|storms)|there (?:is|are)|we are (?:in|at|on|by|under)|outside|tonight|"
    r"the (?:sun|moon|rain|snow|wind|sky|weather|night|storm|fog|tide))\b",
    re.IGNORECASE,
)
"""How a sentence begins that tells of the hour, the weather or the place."""
LABELLED = re.compile(
    "|".join(f"^(?=(?i:{label.pattern}))" for label in (SCENE_LABEL, USER_LABEL, CARD_LABEL)), re.MULTILINE
)
"""Where a part of a text begins that says what it is."""
TO_WRITER = re.compile(
    r"(?:(?:always|never|please|only)\s+)?(?:write|reply|respond|answer|avoid|stay|keep|use|do not|don['’]t|be|speak|"
    r"italicize|continue|remember to|follow|include|describe|assume|generate|act|role-?play|pretend|ensure)\b|"
    r"(?:system note|ooc|nsfw)\b|you (?:are|will act as) (?:an? )?(?:helpful |ai )*(?:assistant|ai|language model)\b|"
    r"if you have more knowledge of\b",
    re.IGNORECASE,
)
LABEL = re.compile(r"\s*(?P<name>[^:\n]{1,60}?)\s*:(?P<text>.*)", re.DOTALL)
MARKERS = re.compile(
    r"<\|im_end\|>|<\|eot_id\|>|<\|begin_of_text\|>|</?s>|<\|im_start\|>(?:system|user|assistant)?\n?|"
    r"<\|start_header_id\|>\w*<\|end_header_id\|>|\[/?INST\]|^#{2,3} (?:Instruction|Input|Response):?[^\n]*$|^\*\*\*$",
    re.MULTILINE,
)
"""What prompts for models have around turns; the turns themselves begin with names."""
PROMPT_USERS = ("User", "Human", "You")
FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|I['’]ve|my|me)\b")
KNOWN_SHARE = 0.5  # of a text's sentences that makes it a card's


@dataclass(frozen=True, slots=True)
class Aim:
    """What the client says of the reply it wants: by whom, to whom, and what kind of one."""

    speaker: str = ""
    user: str = ""
    members: tuple[str, ...] = ()
    is_as_user: bool = False
    """The user's own next line is wanted."""
    begun: str = ""
    """The reply that is to be gone on with, where no message has it."""
    is_continued: bool = False
    """The last message is to be gone on with: the client, which says so, puts a space before what comes."""
    is_roleplay: bool = False
    """The client says that this is a fictional chat: its system messages are parts of a card and its like."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """What a prompt of text holds: who is to go on, where it says so, and (role, name, text) of messages."""

    speaker: str
    messages: list[tuple[str, str | None, str]]


@dataclass(frozen=True, slots=True)
class SystemText:
    """The text of a system message that is no direction; `is_note` says that the chat had begun before it."""

    text: str
    is_note: bool


@dataclass(frozen=True, slots=True)
class Background:
    """What system messages tell, by what it is about; sentences of the profile speak as the character."""

    profile: tuple[str, ...] = ()
    scene: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was told of the scene once the chat had begun."""
    user_name: str = ""
    about_user: tuple[str, ...] = ()
    unfollowed: int = 0
    """Sentences that say how to write."""


def read_aim(system: Sequence[str]) -> Aim:
    """What the system messages of a request say is wanted; a later one counts more."""
    speaker = user = begun = ""
    members: tuple[str, ...] = ()
    is_as_user = is_roleplay = is_continued = False
    for text in system:
        if match := MAIN.search(text):
            speaker, user, is_roleplay = match["speaker"].strip(), match["user"].strip(), True
        if match := GROUP.search(text):
            members = tuple(name.strip() for name in match["members"].split(",") if name.strip())
        if match := USERS_VIEW.search(text):
            user, is_as_user = match["name"].strip(), True
        elif match := NEXT.search(text):
            is_as_user = bool(user) and fold(match["name"]) == fold(user)
            speaker = speaker if is_as_user else match["name"].strip()
        is_roleplay = is_roleplay or CHAT_BEGINS.search(text) is not None
        if match := GO_ON.search(text):
            begun, is_continued = (match["begun"] or "").strip(), True
    return Aim(speaker, user, members, is_as_user, begun, is_continued, is_roleplay or bool(members))


def system_texts(messages: Sequence[tuple[str, str | None, str]]) -> list[SystemText]:
    """What system messages tell, without directions and examples; `messages` are (role, name, text)."""
    texts, has_begun = list[SystemText](), False
    for role, name, text in messages:
        has_begun = has_begun or role in ("user", "assistant")
        if role in ("system", "developer") and name not in EXAMPLE_NAMES:
            told = EXAMPLES_BEGIN.split(text, maxsplit=1)[0]  # who joins all system messages has examples among them
            told = GO_ON.sub("", CHAT_BEGINS.sub("", told))
            lines = (line for line in told.splitlines() if not any(map(_finder(line), (MAIN, NEXT, USERS_VIEW))))
            texts += [SystemText(part.strip(), has_begun) for part in LABELLED.split("\n".join(lines)) if part.strip()]
    return texts


def background_of(texts: Sequence[SystemText], aim: Aim, own_names: Sequence[str], copies: Copies) -> Background:
    """Sorts what was told, without copies of what the story tells."""
    told: dict[str, list[str]] = {"profile": [], "scene": [], "note": [], "user": []}
    user, unfollowed, had_card = aim.user, 0, False
    for message in texts:
        bracketed = BRACKETED.fullmatch(message.text)
        text, labelled = _without_label(bracketed["text"].strip() if bracketed else message.text)
        lines = without_card_scene(text).splitlines()
        every = list(_sentences("\n".join(line for line in lines if not copies.is_later(line))))
        is_card = sum(map(copies.has, every)) >= KNOWN_SHARE * len(every)
        for run in _runs(every, copies.has):
            kept = [sentence for sentence in run if not TO_WRITER.match(sentence)]
            unfollowed += len(run) - len(kept)
            named = _name_of_user(" ".join(run), own_names)
            if labelled:
                kind = labelled
            elif named or _is_about(run[0], aim.user, own_names):
                kind = "user"
            elif is_card:
                kind = "profile"
            elif message.is_note or bracketed:
                kind = "scene"
            else:
                is_first = not had_card and not told["user"]
                kind = _unlabelled(" ".join(run), is_first, own_names) if aim.is_roleplay else "profile"
            user = user or (named if kind == "user" else "")
            if labelled == "user":
                kept = [LISTED.sub(lambda match: f"I am {match[0].lower()}", sentence) for sentence in kept]
            for sentence in kept:
                is_of_scene = not labelled and kind != "scene" and not is_card and SURROUNDINGS.match(sentence)
                about = "scene" if is_of_scene else kind
                told["note" if message.is_note and about == "scene" else about].append(sentence)
        had_card = had_card or is_card
    about_user = tuple(_as_told_by_user(sentence, user) for sentence in told["user"])
    return Background(tuple(told["profile"]), tuple(told["scene"]), tuple(told["note"]), user, about_user, unfollowed)


def _finder(line: str) -> Callable[[re.Pattern[str]], bool]:
    return lambda pattern: pattern.search(line) is not None


def _without_label(text: str) -> tuple[str, str]:
    """A text without 'Scenario:' and the like before it, and what kind of text that says it is."""
    for label, kind in ((SCENE_LABEL, "scene"), (USER_LABEL, "user"), (CARD_LABEL, "profile")):
        if match := label.match(text):
            return text[match.end() :], kind
    return text, ""


def _runs(sentences: Sequence[str], is_known: Callable[[str], bool]) -> list[list[str]]:
    """Runs of sentences that nothing known stands between."""
    runs: list[list[str]] = [[]]
    for sentence in sentences:
        if is_known(sentence):
            runs.append([])
        else:
            runs[-1].append(sentence)
    return [run for run in runs if run]


def read_prompt(prompt: str, own_name: str, stops: Sequence[str]) -> Prompted:
    """The turns of a prompt that ends where somebody is to go on; what stands before them is a system message.

    Names are the character's, that at the end, and those that a stop sequence ends the text before.
    """
    text = EXAMPLES_BEGIN.sub("", CHAT_BEGINS.sub("", MARKERS.sub("\n", prompt)))
    last = LABEL.match(text.rstrip("\n").rpartition("\n")[2])
    speaker = last["name"].strip() if last else own_name
    own = {fold(own_name), *(fold(part) for part in own_name.split())}
    stopped = (match["name"].strip() for stop in stops if (match := LABEL.match(stop.strip())))
    names = {fold(name): name for name in (speaker, *stopped, *PROMPT_USERS) if name} | dict.fromkeys(own, own_name)
    head, turns = list[str](), list[tuple[str, str]]()
    for line in text.splitlines():
        match = LABEL.match(line)
        if match and fold(match["name"]) in names:
            turns.append((names[fold(match["name"])], match["text"].strip()))
        elif turns and line.strip():
            turns[-1] = (turns[-1][0], f"{turns[-1][1]}\n{line.strip()}".strip())
        elif line.strip():
            head.append(line.strip())
    if not turns:
        return Prompted("", [("user", None, "\n".join(head))])
    if fold(speaker) in own:
        speaker = own_name
    messages: list[tuple[str, str | None, str]] = [("system", None, "\n".join(head))] if head else []
    for name, said in turns:
        is_own = name == speaker
        messages.append(("assistant" if is_own else "user", None if name in PROMPT_USERS or is_own else name, said))
    if messages[-1][0] == "assistant" and not messages[-1][2]:
        messages.pop()
    return Prompted(speaker, messages)


def without_name(text: str, names: dict[str, str]) -> tuple[str | None, str]:
    """Who is named before a text and a colon ('Pia Lenk: Hello'), and the text; `names` are folded."""
    label, colon, said = text.partition(":")
    name = names.get(fold(label)) if colon and 0 < len(label) <= 80 and "\n" not in label.strip() else None
    return (None, text) if name is None else (name, said.strip())


def _unlabelled(text: str, is_first: bool, own_names: Sequence[str]) -> str:
    """What a text without a mark is in a role-play: who the user is comes first, then the card, then the scene."""
    if _names_any(text, own_names) or re.match(r"you(?:['’]re| are)\b", text, re.IGNORECASE):
        return "profile"
    if FIRST_PERSON.search(text):
        return "user" if is_first else "profile"
    return "scene"


def _name_of_user(text: str, own_names: Sequence[str]) -> str:
    """The name of the user, where a text introduces one who is not the character."""
    match = OF_USER.search(text)
    name = match["name"].strip() if match else introduced_name([text])
    own = {fold(part) for own_name in own_names for part in (own_name, *own_name.split())}
    return "" if fold(name) in own or all(fold(part) in own for part in name.split()) else name


def _as_told_by_user(sentence: str, user: str) -> str:
    """'The user is Tom, who has a dog.' -> 'I am Tom, who has a dog.' What does not begin with the user stays."""
    named = rf"|{re.escape(user)}['’]s" if user else ""
    sentence = re.sub(rf"\A(?:the user['’]s|his|her|their{named})(?= \w)", "My", sentence, flags=re.IGNORECASE)
    sentence = re.sub(r"\AThey (?:are|(?=have\b|were\b))", lambda match: THEY[match[0]], sentence)
    return first_person(USER_SUBJECT.sub("He", USER_CALLED.sub("I am ", sentence)), user or "He")


def _is_about(sentence: str, user: str, own_names: Sequence[str]) -> bool:
    """Does a sentence begin by speaking of the user by name?"""
    return _names_any(sentence, [user]) and not _names_any(sentence.split(",")[0][:40], own_names)


def _names_any(text: str, names: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names if name)


def _sentences(text: str) -> Iterator[str]:
    yield from filter(None, (sentence.strip() for sentence in SENTENCE.findall(text)))


TASK = re.compile(r"\s*#{2,3} Task:\s*\n", re.IGNORECASE)
CHAT = re.compile(r"#{2,3} Chat History:|<chat_history>", re.IGNORECASE)
WANTED = re.compile(r"[{,]\s*\\?\"(title|tags|follow_ups|queries|text|prompt)\\?\"\s*:")
EMOJI = re.compile(r"\bemoji\b", re.IGNORECASE)
TOOLS = re.compile(r"\bavailable tools\b.*\btool_calls\b", re.IGNORECASE | re.DOTALL)
SAID = re.compile(r"^(?P<role>USER|ASSISTANT):[ \t]*(?P<text>.*)$", re.MULTILINE)
GREETING = re.compile(
    r"^(?:good (?:morning|day|afternoon|evening|night)|hello|hi|hey|greetings)\b[^.!?,]{0,40}[.!?,]\s*", re.IGNORECASE
)
TITLE_LETTERS = 40
FOLLOW_UPS = 3
ANSWERED = Evidence("notice", "asked by the program, not by its user: answered without a model")


def task_reply(role: str, text: str, system: Sequence[str], character: ServedCharacter) -> Reply | None:
    """The reply to a request that a program makes by itself; None where somebody talks to the character."""
    if role != "user":
        return None
    if any(map(TOOLS.search, system)):
        return _reply({"tool_calls": []})
    if TASK.match(text) is None:
        return None
    task, chat = [*CHAT.split(text, maxsplit=1), ""][:2]
    wanted = WANTED.search(task)
    if wanted is None:
        return Reply("🙂", evidence=(ANSWERED,)) if EMOJI.search(task) else None
    return _reply({wanted[1]: _value(wanted[1], chat, character)})


def _reply(document: object) -> Reply:
    return Reply(msgspec.json.encode(document).decode(), evidence=(ANSWERED,))


def _value(wanted: str, chat: str, character: ServedCharacter) -> object:
    said = [match["text"].strip() for match in SAID.finditer(chat) if match["role"] == "USER"]
    if wanted == "title":
        return _title(said, character)
    if wanted == "tags":
        return list(dict.fromkeys(filter(None, (character.shown_name, character.situation.persona.story))))
    if wanted == "follow_ups":
        return _follow_ups(said, character)
    return [] if wanted == "queries" else ""


def _title(said: Sequence[str], character: ServedCharacter) -> str:
    """The character, and what the chat began with."""
    first = GREETING.sub("", said[0]) if said else ""
    name = character.shown_name
    first = re.sub(rf"^(?:{re.escape(name)}|{re.escape(name.split()[0])})\b[\s,.!]*", "", first, flags=re.IGNORECASE)
    title = title_from(first, TITLE_LETTERS)
    return f"{name}: {title}" if title else name


def _follow_ups(said: Sequence[str], character: ServedCharacter) -> list[str]:
    """Questions about whom the character has ties to; nobody is named whom it does not know by then."""
    persona = character.shown_situation.persona
    if persona.language != "en":
        return []
    names = dict.fromkeys(tie.to for tie in sorted(persona.relations, key=lambda tie: tie.since.numbers, reverse=True))
    questions = ["What do you do all day?", *(f"What do you think of {name}?" for name in names), "Who are you?"]
    asked = {text.casefold() for text in said}
    return [question for question in questions if question.casefold() not in asked][:FOLLOW_UPS]
