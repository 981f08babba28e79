"""What a language model is asked about a scene: who people are and are to each other, with the lines that say so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from understudy.dialogue import ChatMessage
from understudy.story import Line, Scene, Schema
from understudy.storyfile.found import NEVER_FOUND

__all__ = ["scene_parts", "scene_prompt"]

ANSWER_TOKENS = 2500  # room for the answer and for what is asked
CHARACTERS_PER_TOKEN = 3
MOST_LINES = 150
LISTED_NAMES = 60

TASK = """\
You read one scene of a story and write down what its lines say about its people: facts about one of them, and what \
somebody is to somebody else. Write only what a line says plainly; guess nothing, and use nothing that you know of the \
story from elsewhere.

Answer with one JSON object and nothing else:
{{"facts": [{{"who": NAME, "attribute": ATTRIBUTE, "value": TEXT, "confidence": 0..1,
             "quotes": [{{"line": MOMENT, "words": WORDS}}]}}],
 "relations": [{{"of": NAME, "to": NAME, "kind": KIND, "term": WORD, "confidence": 0..1,
                 "quotes": [{{"line": MOMENT, "words": WORDS}}]}}]}}

NAME is one of these people, written exactly so: {names}.
ATTRIBUTE is one of: {attributes}. The attribute 'profile' is for a whole sentence in the first person, as the character
would say it: "I am a nurse". Values are in the language of the story.
KIND is one of: {kinds}. It says what `to` is to `of`: {{"of": "Ann", "to": "Eve", "kind": "parent", "term": "mother"}}
means that Eve is Ann's mother. WORD is the scene's own word for it, or "".
MOMENT is the number in brackets before a line, and WORDS are copied from that very line, letter by letter.
Where the scene says nothing of the kind, answer {{"facts": [], "relations": []}}."""


def scene_parts(scene: Scene, context_tokens: int) -> Iterator[Sequence[Line]]:
    """The lines of a scene, in as many parts as a model's context asks for."""
    room = max(context_tokens - ANSWER_TOKENS, 500) * CHARACTERS_PER_TOKEN
    part, length = list[Line](), 0
    for line in scene.lines:
        size = len(line.text) + 40
        if part and (length + size > room or len(part) >= MOST_LINES):
            yield part
            part, length = [], 0
        part.append(line)
        length += size
    if part:
        yield part


def scene_prompt(
    scene: Scene, lines: Sequence[Line], names: Collection[str], schema: Schema
) -> tuple[ChatMessage, ChatMessage]:
    """The messages for one part of a scene; those who are there are listed first."""
    listed = list(dict.fromkeys((*scene.present, *names)))[:LISTED_NAMES]
    attributes = [name for name in schema.attributes if name not in NEVER_FOUND]
    kinds = [name for name in schema.kinds if name not in NEVER_FOUND]
    task = TASK.format(names="; ".join(listed), attributes=", ".join(attributes), kinds=", ".join(kinds))
    told = [f"Scene {scene.moment.dotted}: {scene.setting}", f"There: {', '.join(scene.present)}", ""]
    told += [f"[{line.moment.dotted}] {f'{line.speaker}: ' if line.speaker else ''}{line.text}" for line in lines]
    return ChatMessage("system", task), ChatMessage("user", "\n".join(told))
