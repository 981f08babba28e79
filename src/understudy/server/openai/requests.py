"""A chat request: which character is meant, at which moment, whom it faces, what was said so far, and how to write."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from understudy.agents.conversation import message_last, other_speaker
from understudy.errors import StoryError
from understudy.server.openai.copies import Copies
from understudy.server.openai.messages import (
    Aim,
    Background,
    background_of,
    read_aim,
    read_prompt,
    system_texts,
    task_reply,
    without_name,
)
from understudy.server.openai.schemas import ChatRequest, RequestMessage, TextRequest
from understudy.server.problems import Refused, problem_of
from understudy.server.story_registry import ModelName, ServedCharacter, StoryRegistry, resolve_name
from understudy.story.dialogue import Reply, Sampling, Situation, Turn
from understudy.story.names import shown_names_at
from understudy.story.persona import Other, Persona, Told, other_at
from understudy.story.storyfile import Story
from understudy.text import fold

MAX_SENTENCES = 200
HOTTEST = 2.0  # the highest temperature that OpenAI's chat API knows
INSTRUCTION_ROLES = frozenset({"system", "developer"})
TOOL_ROLES = frozenset({"tool", "function"})
ROLES = INSTRUCTION_ROLES | TOOL_ROLES | {"user", "assistant"}
STRANGER = "the stranger"  # a user without a name, or with one that the story hides
NAMELESS = frozenset({"user", "you", "human"})

IGNORED = {
    "tools": "characters use no tools",
    "functions": "characters call no functions",
    "parallel_tool_calls": "characters use no tools",
    "prediction": "no prediction of a reply is used",
    "web_search_options": "characters know their story, and nothing of the web",
}
"""Fields that are taken and change nothing, and why."""
OTHER_SIDE = {"system": "system", "user": "assistant", "assistant": "user"}
"""The roles of messages where the prompt ends with the user's name: whoever goes on was taken for the character."""
IGNORED_OF_TEXT = ("logprobs", "echo", "suffix", "best_of")


@contextmanager
def model_not_found() -> Iterator[None]:
    """Turns errors about a story, character or moment into OpenAI's `model_not_found`."""
    try:
        yield
    except (StoryError, Refused) as error:
        raise Refused(problem_of(error).message, 404, param="model", code="model_not_found") from error


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """Who is to reply, the history, the text of every message, and how the reply is to be written."""

    character: ServedCharacter
    history: tuple[Turn, ...]
    texts: list[str]
    sampling: Sampling
    notices: tuple[str, ...] = ()
    """What of the request was not followed, and why."""
    answer: Reply | None = None
    """The reply to what needs no character, such as the title of a chat."""

    @property
    def is_fixed(self) -> bool:
        """The same reply is wanted however often it is asked for."""
        return self.sampling.seed is not None or self.sampling.temperature == 0


async def parse_text_request(request: TextRequest, registry: StoryRegistry) -> ParsedRequest:
    """The same for a prompt of text: its turns as messages."""
    prompt = request.prompt[0] if isinstance(request.prompt, list) and len(request.prompt) == 1 else request.prompt
    if not isinstance(prompt, str):
        raise Refused("write the prompt as one text, not as tokens or several prompts", 400, "prompt")
    stops = (request.stop,) if isinstance(request.stop, str) else tuple(request.stop or ())
    name = ModelName.parse(request.model)
    with model_not_found():
        known = await registry.character_async(replace(name, facing=None))
    prompted = read_prompt(prompt, known.shown_name, stops)
    others = [other for role, other, _ in prompted.messages if role == "user" and other]
    aim = Aim(prompted.speaker, others[-1] if others else "", is_roleplay=bool(prompted.speaker))
    if prompted.speaker and prompted.speaker != known.shown_name and await _speaker(registry, name, aim) == name:
        # It ends with the name of nobody of the story.
        aim = Aim(user=prompted.speaker, is_as_user=True, is_roleplay=True)
    messages = [
        RequestMessage(OTHER_SIDE[role], content=text) if aim.is_as_user else RequestMessage(role, text, other)
        for role, other, text in prompted.messages
    ]
    chat = ChatRequest(
        model=request.model, messages=messages, n=request.n, stop=list(stops), max_tokens=request.max_tokens,
        seed=request.seed, temperature=None if request.temperature is None else min(request.temperature, HOTTEST),
        top_p=request.top_p, agent=request.agent,
    )  # fmt: skip
    parsed = await parse_request(chat, registry, aim)
    ignored = [f"{field} is ignored" for field in IGNORED_OF_TEXT if getattr(request, field) not in (None, False, "")]
    return replace(parsed, texts=[prompt], notices=(*parsed.notices, *ignored))


async def parse_request(request: ChatRequest, registry: StoryRegistry, given_aim: Aim | None = None) -> ParsedRequest:
    """`given_aim` is known where the request has another form."""
    messages = request.messages
    texts = [_text_of(message, index) for index, message in enumerate(messages)]
    name, sampling = ModelName.parse(request.model), _sampling(request)
    system = [text for text, message in zip(texts, messages) if message.role in INSTRUCTION_ROLES]
    aim = given_aim or read_aim(system)
    with model_not_found():
        speaker = await _speaker(registry, name, aim)
        known = await registry.character_async(replace(speaker, facing=None))
    answer = task_reply(messages[-1].role, texts[-1], system, known)
    if answer is not None:
        return ParsedRequest(known, (), texts, sampling, answer=answer)
    _refuse_unsupported(request)
    story = registry.story(name.story)
    copies = Copies(story, known.situation.persona.name, aim.user, known.situation.persona.moment)
    background = await asyncio.to_thread(_background, known, aim, messages, texts, copies) if system else Background()
    if len(background.profile) > MAX_SENTENCES:
        raise Refused(f"system messages may add at most {MAX_SENTENCES} sentences", 400, "messages")
    with model_not_found():
        user = _last_user_name(messages) or aim.user or background.user_name
        character = await _find_character(registry, speaker, background.profile, user)
        if (aim, background) != (Aim(), Background()):
            character = await asyncio.to_thread(_in_scene, story, character, aim, background)
        if aim.is_as_user:
            character = await _as_user(registry, speaker, character, background)
    may_be_named = any(":" in text or message.name for message, text in zip(messages, texts))
    names = await asyncio.to_thread(_known_names, story, character, aim) if may_be_named else {}
    later = await asyncio.to_thread(copies.later_replies, [(each.role, text) for each, text in zip(messages, texts)])
    history = _Turns(character, aim, names).of(messages, ["" if i in later else text for i, text in enumerate(texts)])
    notices = (*_notices(request), *_unfollowed(background))
    return ParsedRequest(character, history, texts, sampling, notices)


def _sampling(request: ChatRequest) -> Sampling:
    limits = [limit for limit in (request.max_tokens, request.max_completion_tokens) if limit is not None]
    return Sampling(
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=min(limits) if limits else None,
        stop=(request.stop,) if isinstance(request.stop, str) else tuple(request.stop or ()),
        seed=request.seed,
        n=request.n or 1,
    )


async def _speaker(registry: StoryRegistry, name: ModelName, aim: Aim) -> ModelName:
    """The model, or whom of its story the client says is to speak: one model may stand for a whole group."""
    if aim.speaker:
        try:
            other = replace(name, character=aim.speaker, facing=None)
            character, model = await registry.character_async(other), await registry.character_async(name)
        except (StoryError, Refused):
            return name  # not somebody of the story, or not yet
        if character.situation.persona.name != model.situation.persona.name:
            return other
    return name


async def _find_character(
    registry: StoryRegistry, name: ModelName, extra_profile: tuple[str, ...], user: str
) -> ServedCharacter:
    """The character faces the user where the model's name has no facing and the story knows them by then."""
    if name.facing is None and user:
        try:
            return await registry.character_async(replace(name, facing=user), extra_profile=extra_profile)
        except (StoryError, Refused):
            pass  # not somebody of the story, or not yet
    return await registry.character_async(name, extra_profile=extra_profile)


def _background(
    known: ServedCharacter, aim: Aim, messages: Sequence[RequestMessage], texts: Sequence[str], copies: Copies
) -> Background:
    """What system messages tell of the character, its scene and the user."""
    said = [(message.role, message.name, text) for message, text in zip(messages, texts)]
    return background_of(system_texts(said), aim, _own_names(known), copies)


def _own_names(character: ServedCharacter) -> tuple[str, ...]:
    attributes = character.situation.persona.attributes
    names = (character.shown_name, *attributes.get("nickname", ()), *attributes.get("goes by", ()))
    return tuple(dict.fromkeys((*names, character.shown_name.split()[0])))


def _in_scene(story: Story, character: ServedCharacter, aim: Aim, background: Background) -> ServedCharacter:
    """The character in the scene that the client tells of: before the user, with the group."""
    situation, names = character.situation, character.names
    note = "\n".join(background.notes)
    setting = "\n".join(filter(None, (situation.setting, *background.scene, note)))
    faced, user = situation.faced, aim.user or background.user_name
    told = tuple(Told(text.rstrip(" .!"), source="said of the user") for text in background.about_user)
    if faced is not None:
        faced = replace(faced, told=(*faced.told, *told))
    elif user or background.about_user:
        is_hidden = fold(user) in map(fold, names.called)  # must be answered as a name that is made up
        faced = Other(STRANGER if is_hidden or not user or fold(user) in NAMELESS else user, told=told)
        if is_hidden:
            names = shown_names_at(story, situation.persona.moment, {STRANGER: user})
    excluded = {situation.persona.name, *((faced.name,) if faced else ()), *(other.name for other in situation.present)}
    members = (_other_or_none(story, name, situation.persona) for name in aim.members)
    beside = {other.name: other for other in members if other is not None and other.name not in excluded}
    present = (*situation.present, *beside.values())
    if (setting, faced, present) == (situation.setting, situation.faced, situation.present):
        return character
    return ServedCharacter(replace(situation, setting=setting, note=note, faced=faced, present=present), names)


def _other_or_none(story: Story, name: str, seen_by: Persona) -> Other | None:
    try:
        return other_at(story, resolve_name(story, name, seen_by.moment), seen_by)
    except (StoryError, Refused):
        return None  # not somebody of the story, or not yet


async def _as_user(
    registry: StoryRegistry, name: ModelName, character: ServedCharacter, background: Background
) -> ServedCharacter:
    """The user in the character's place: somebody of the story, or nobody but what was said of them."""
    situation, faced = character.situation, character.situation.faced
    user = faced.name if faced else STRANGER
    try:
        return await registry.character_async(replace(name, character=user, facing=character.shown_name))
    except (StoryError, Refused):
        pass  # nobody of the story: they know only what was said here
    persona = Persona(user, situation.persona.moment, background.about_user, language=situation.persona.language)
    present = tuple(Other(other.name) for other in situation.present)
    return replace(
        character, situation=Situation(persona, situation.setting, Other(character.shown_name), present=present)
    )


def _known_names(story: Story, character: ServedCharacter, aim: Aim) -> dict[str, str]:
    """Names that may stand before what is said, folded -> the name by which the speaker knows them."""
    persona, faced = character.situation.persona, character.situation.faced
    names = {
        fold(other.name): other.name for other in (*character.situation.acquaintances, *character.situation.present)
    }
    for member in aim.members:
        other = _other_or_none(story, member, persona) if persona.story else None
        names[fold(member)] = character.speaker(member, STRANGER) if other is None else other.name
    for user in (aim.user, faced.name if faced else ""):
        if user:
            names[fold(user)] = faced.name if faced and not aim.is_as_user else user
    hidden = set(map(fold, character.names.called))
    seen = {name: known for name, known in {**names, fold(persona.name): persona.name}.items() if name not in hidden}
    return {**seen, fold(character.shown_name): persona.name}


@dataclass(frozen=True, slots=True)
class _Turns:
    """Makes turns of messages: who said what, by the names the speaker knows them by."""

    character: ServedCharacter
    aim: Aim
    names: Mapping[str, str]

    def of(self, messages: Sequence[RequestMessage], texts: Sequence[str]) -> tuple[Turn, ...]:
        turns = list[tuple[bool, Turn]]()
        for message, text in zip(messages, texts):
            if message.role in ("user", "assistant"):
                turn = self._turn(message, text)
                if turn.text or message.role == "user":
                    turns.append((message.role == "user", turn))
        own = self.character.situation.persona.name
        if self.aim.members:
            turns = message_last(turns, lambda each: not each[0], lambda each: each[1].speaker == own)
        said = [turn for _, turn in turns]
        if self.aim.begun and not (said and said[-1].speaker == own):
            said.append(Turn(own, self.aim.begun))
        if self.aim.is_continued and said and said[-1].speaker == own:
            said[-1] = replace(said[-1], text=f"{said[-1].text.rstrip()} ")
        return tuple(said)

    def _turn(self, message: RequestMessage, text: str) -> Turn:
        own = self.character.situation.persona.name
        other = other_speaker(self.character.situation)
        is_user, named, said = message.role == "user", *without_name(text, dict(self.names))
        if self.aim.is_as_user:
            return Turn(named or (own if is_user else other), said)
        if not is_user:
            given = self.names.get(fold(message.name)) if message.name else None
            return Turn(named or given or own, said)
        speaker = other
        if message.name:
            speaker = self.names.get(fold(message.name)) or self.character.speaker(message.name, other)
        if named is not None and named != own:
            speaker, text = named, said
        return Turn(other if speaker == own else speaker, text)


def _last_user_name(messages: Sequence[RequestMessage]) -> str:
    return next((message.name or "" for message in reversed(messages) if message.role == "user"), "")


def _text_of(message: RequestMessage, index: int) -> str:
    """The text of a message; what tools said is not heard, and pictures are not seen."""
    if message.role not in ROLES:
        problem = f"'{message.role[:40]}' is no role here: use {', '.join(sorted(ROLES))}"
        raise Refused(problem, 400, f"messages[{index}].role")
    if message.role in TOOL_ROLES:
        return ""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content or () if part.type == "text")


def _has_other_parts(message: RequestMessage) -> bool:
    return isinstance(message.content, list) and any(part.type != "text" for part in message.content)


def _notices(request: ChatRequest) -> Iterator[str]:
    """What of a request changes nothing."""
    for field, reason in IGNORED.items():
        if getattr(request, field) not in (None, [], {}, False):
            yield f"{field} is ignored: {reason}"
    messages = request.messages
    if any(message.role in TOOL_ROLES or message.tool_calls or message.function_call for message in messages):
        yield "messages of tools and calls of them are ignored: characters use no tools"
    if any(map(_has_other_parts, messages)) or any(message.audio for message in messages):
        yield "parts of messages that are no text are ignored: characters read text alone"


def _unfollowed(background: Background) -> Iterator[str]:
    if background.unfollowed:
        yield (
            f"{background.unfollowed} directions on how to write were not followed: a character speaks as its story "
            "lets it"
        )


def _refuse_unsupported(request: ChatRequest) -> None:
    """What a plain answer would not be: the client could not use it."""
    format_ = request.response_format
    kind = format_.get("type") if isinstance(format_, dict) else None
    if format_ is not None and kind != "text":
        problem = "characters answer in plain text, not in JSON: leave it out, or say {'type': 'text'}"
        raise _unsupported("response_format", problem)
    if request.audio is not None:
        raise _unsupported("audio", "characters answer in text")
    if request.modalities not in (None, [], ["text"]):
        raise _unsupported("modalities", "characters answer in text")
    for field in ("tool_choice", "function_call"):
        if getattr(request, field) not in (None, "none", "auto"):
            raise _unsupported(field, "characters use no tools, so none can be required")


def _unsupported(field: str, reason: str) -> Refused:
    return Refused(f"{field} is not supported: {reason}", 400, param=field, code="unsupported_parameter")
