"""What items are made of: stories, personas and agents that a study's [material] names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from understudy.errors import AgentError, InputError
from understudy.formats import read
from understudy.formats.chat_records import read_persona_records
from understudy.story.dialogue import Agent
from understudy.story.storyfile import Story
from understudy.studies.study import Study

__all__ = ["load_agents", "open_story", "personas_of"]


def open_story(study: Study, key: str = "story") -> Story:
    """The story that the material names: one that comes with the program, or a path from the study's file."""
    name = study.text(key)
    path = study.folder / Path(name).expanduser()
    return read(path if path.exists() else name)


def personas_of(study: Study) -> list[tuple[str, ...]]:
    """The personas that the material names, each once, whatever the order of its sentences.

    They are those of a file, or the profiles of a story's cast.
    """
    if ("story" in study.material) == ("personas" in study.material):
        raise InputError(
            f"a `{study.kind}` study takes either `story` or `personas` under [material]: name one of them"
        )
    if "personas" in study.material:
        path = study.path("personas")
        personas = [record.sentences for record in read_persona_records(path)]
        if not personas:
            raise InputError("holds no persona: write one on each line", path)
    else:
        story = open_story(study)
        personas = [member.character.profile for member in story.cast() if member.character.profile]
        if not personas:
            raise InputError(f"nobody in '{story.title}' has a profile: name a story with profiles in its cast")
    different: dict[frozenset[str], tuple[str, ...]] = {}
    for sentences in personas:
        different.setdefault(frozenset(sentences), sentences)
    return list(different.values())


def load_agents(names: Sequence[str], story: Story | None = None) -> dict[str, Agent]:
    """Agents that reply, by the name that the material gives them, as `--agent` takes it."""
    from understudy.agents import agent_named

    agents: dict[str, Agent] = {}
    for name in names:
        if name == "auto" or name.partition(":")[0] == "guarded":
            from understudy.judging.loading import load_guarded

            agents[name] = load_guarded(name, lambda _: () if story is None else (story,))
            continue
        agent = agent_named(name)
        if not isinstance(agent, Agent):
            raise AgentError(f"'{name}' ranks replies but gives none of its own: choose an agent that has `reply`")
        agents[name] = agent
    return agents
