"""`understudy profile`: who somebody seems to be, from what they said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli.options import json_option
from understudy.cli.progress import read_showing, working
from understudy.cli.show import heading, indented, print_json, screen, table
from understudy.errors import InputError
from understudy.story.storyfile import Story
from understudy.story.types import Moment

if TYPE_CHECKING:
    from understudy.papers.personachat.profiling import ProfileTrait

__all__ = ["profile"]


@click.command(short_help="Show who somebody seems to be, from what they said.")
@click.argument("dialogue", metavar="DIALOGUE")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--profiles", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Profile sentences to choose from: one a line, or PersonaChat dialogues.",
)  # fmt: skip
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
    help="PersonaChat's folder: to learn from, and to choose from without --profiles.",
)  # fmt: skip
@click.option(
    "--top", type=click.IntRange(min=1), default=5, show_default=True, help="Sentences to show of each person."
)
@json_option
def profile(
    dialogue: str, names: tuple[str, ...], profiles: Path | None, data: Path | None, top: int, as_json: bool
) -> None:
    """The profile sentences that fit best what somebody said in a dialogue, each with the line and words that show it.

    DIALOGUE is anything that `read` takes. Without a NAME everybody is shown, if there are only a few. With neither
    --profiles nor --data the sentences are what they say of themselves, ranked by how well their other lines
    support it.

    \b
    Examples:
        understudy profile demo Zita
        understudy profile talk.txt --data data/personachat
        understudy profile demo Zita --profiles sentences.txt
    """
    story = read_showing(dialogue)
    people = _people(story, names)
    said = {name: [line.text for line in story.past(name, Moment.end(), {}).lines()] for name in people}
    traits_by_name = (
        _from_own_words(story, said, top)
        if profiles is None and data is None
        else _choose_sentences(said, profiles, data, top)
    )
    if as_json:
        documents = [
            {
                "name": name,
                "profile": [
                    {"sentence": trait.sentence, "score": trait.score, "said": trait.said, "words": list(trait.words)}
                    for trait in traits
                ],
            }
            for name, traits in traits_by_name.items()
        ]
        print_json({"people": documents})
        return
    out = screen()
    for name, traits in traits_by_name.items():
        out.print(heading(name))
        if traits:
            lines = [(trait.sentence, trait.said, ", ".join(trait.words)) for trait in traits]
            out.print(indented(table([("seems to be", {}), ("having said", {}), ("words", {})], lines)))
        else:
            out.print(f"  {NOTHING_CHOSEN if profiles or data else NOTHING_SAID}")
        out.print()


FEW = 4  # people who are all shown when no name is given
NOTHING_CHOSEN = "None of the sentences has anything to do with what was said."
NOTHING_SAID = "Says nothing of themselves in so many words: give sentences to choose from with --profiles."


def _from_own_words(story: Story, said: Mapping[str, Sequence[str]], top: int) -> dict[str, list[ProfileTrait]]:
    from understudy.papers.personachat.profiling import self_descriptions

    if story.language != "en":
        raise InputError("the encoder that ships reads English: say what to choose from, --profiles FILE or --data DIR")
    with working("Reading what they say"):
        return {name: self_descriptions(lines, top) for name, lines in said.items()}


def _choose_sentences(
    said: Mapping[str, Sequence[str]], profiles: Path | None, data: Path | None, top: int
) -> dict[str, list[ProfileTrait]]:
    from understudy.papers.personachat.profiling import profile_of, sentences_in, training_in

    with working("Reading profiles"):
        training = None if data is None else training_in(data)
        sentences = sentences_in(profiles) if profiles is not None else list(training.sentences if training else ())
        scorer = "links" if training is not None and training.pairs else "words"
        return {name: profile_of(lines, sentences, training, scorer, top) for name, lines in said.items()}


def _people(story: Story, names: tuple[str, ...]) -> list[str]:
    if names:
        return [story.character(name).name for name in names]
    speaking = [member.character.name for member in story.cast() if member.lines]
    if not speaking:
        raise InputError("nobody says anything in it")
    if len(speaking) > FEW:
        some = ", ".join(speaking[:FEW])
        raise InputError(f"{len(speaking)} people speak in it: name those to look at ({some}, ...)")
    return speaking
