"""Stories whose names and texts mean something to some format: what is written out has to read back all the same."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from understudy.formats.assembly import Assembly
from understudy.sources.events import CastEntry, Description, Event, Opening, SceneStart, Speech
from understudy.sources.names import fold
from understudy.sources.source import SourceFile
from understudy.story.storyfile import Story, StoryWriter
from understudy.story.types import Character, Source

__all__ = ["AwkwardScene", "awkward_scenes", "story_of", "told"]

HERE = Source("made.txt", 1)
NAMES = ["Odile", "Mr. O'Neil", "System", "human", "GPT", "User", "Assistant", "unused", "tool", "ZITA", "名前",
         "Émile: the elder", "[description]", "1", '"Bo"', "Anna and Bob", "Everyone", "Author"]  # fmt: skip
TEXTS = ["{{user}}, wait.", "<BOT> says", "{{// nothing}} something", "You are Odile, a pianist.", "*He waves.*",
         "你好。",
         '{"mes": 1}', "null", "\\n", "\u200b.", "𝔘nicode 👩‍👧", "<START>", "name: text", "[a", "#1"]  # fmt: skip


class AwkwardScene(NamedTuple):
    setting: str
    lines: tuple[tuple[str | None, str], ...]


def _one_line(text: str) -> str:
    return " ".join(text.split())


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).map(_one_line).filter(bool)
texts = st.sampled_from(TEXTS) | words
names = st.lists(st.sampled_from(NAMES) | words, min_size=1, max_size=5, unique_by=fold)


@st.composite
def awkward_scenes(draw: st.DrawFn) -> list[AwkwardScene]:
    """Scenes in which somebody speaks, for a story where nobody does is refused."""
    people = draw(names)
    lines = st.lists(st.tuples(st.sampled_from([None, *people]), texts), max_size=5).map(tuple)
    scenes = draw(st.lists(st.builds(AwkwardScene, st.just("") | texts, lines), max_size=3))
    spoken = AwkwardScene(draw(st.just("") | texts), ((people[0], draw(texts)),))
    return draw(st.permutations([*scenes, spoken]))


def story_of(scenes: list[AwkwardScene]) -> Story:
    events: list[Event] = [Opening()]
    for setting, lines in scenes:
        events.append(SceneStart(HERE, setting))
        for speaker, text in lines:
            if speaker is None:
                events.append(Description(HERE, text))
            else:
                events += (CastEntry(HERE, Character(speaker)), Speech(HERE, (speaker,), text))
    with tempfile.TemporaryDirectory() as folder, StoryWriter(None) as writer:
        path = Path(folder) / "made.txt"
        path.write_text("made up\n")
        source = SourceFile(path)
        source.units = sum(event.units for event in events if not isinstance(event, Opening))
        assembly = Assembly(writer)
        assembly.add_file(source, "made", iter(events))
        assembly.finish("Made Up")
        return Story(writer.address)


def told(story: Story) -> list[AwkwardScene]:
    """Settings, speakers and texts, in order."""
    return [
        AwkwardScene(scene.setting, tuple((line.speaker, line.text) for line in scene.lines))
        for scene in story.scenes()
    ]
