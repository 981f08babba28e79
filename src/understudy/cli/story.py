"""`understudy cast`, `scenes`, `persona` and `profile`: who is in a story, what happens in it, who somebody is when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from understudy.cli.options import IN_FILE, IN_FOLDER, Options, shared
from understudy.cli.progress import read_showing, situation_of, working
from understudy.cli.show import (
    Screen,
    bar,
    clean,
    found_mark,
    grid,
    heading,
    indented,
    print_affection,
    print_json,
    print_table,
    screen,
    short,
    spoken,
    voice,
    when,
)
from understudy.errors import InputError
from understudy.formats.documents import cast_document, persona_document, scene_document, tie_document
from understudy.story.dialogue import Situation
from understudy.story.persona import FoundSentence, felt_towards
from understudy.story.spoiler_free import courses_so_far, most_changed, scenes_before
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Moment, Relation, Scene, Schema
from understudy.story.wording import attribute_label, tie_sentence

if TYPE_CHECKING:
    from understudy.papers.personachat.profiling import ProfileTrait

BAR = 14
LONGEST_NAME = 20
LAST_LINES = 8
LAST_SCENES = 3
LONGEST = 240  # characters of a line or, half as many, of a setting
GIST = 2  # lines of a remembered scene that are shown
FEW = 4  # people who are all shown when no name is given
NOTHING_CHOSEN = "None of the sentences has anything to do with what was said."
NOTHING_SAID = "Says nothing of themselves in so many words: give sentences to choose from with --profiles."


@click.command()
@shared("story")
@click.option("--at", "before", metavar="MOMENT", help="Only who has spoken before this moment, and how much.")
@shared("json")
def cast(options: Options, before: str | None) -> None:
    """Who is in a story, how much they say, and from when to when.

    \b
    Examples:
        understudy cast demo
        understudy cast demo --at 2.1
    """
    opened = read_showing(options.story)
    members = opened.cast() if before is None else opened.cast_before(opened.moment(before))
    if options.as_json:
        print_json({"cast": cast_document(members)})
        return
    out = screen()
    out.print(heading(f"{opened.title}: cast" + ("" if before is None else f" before {opened.moment(before)}")))
    print_cast(out, members)


def print_cast(out: Screen, members: Sequence[CastMember], aliases: bool = True) -> None:
    most = max((member.lines for member in members), default=0)
    rows = [
        (
            Text(clean(member.character.name)),
            Text(f"{member.lines:,}"),
            Text(bar(member.lines / most, BAR, out.options.ascii_only) if most else ""),
            Text(member.first.dotted if member.first else ""),
            Text(member.last.dotted if member.last else ""),
            Text(clean(", ".join(member.character.aliases if aliases else ()))),
        )
        for member in members
    ]
    for name, *_ in rows:
        name.truncate(LONGEST_NAME, overflow="ellipsis")
    widths = [max((cell.cell_len for cell in column), default=0) for column in zip(*rows)][:-1]
    room = out.width - sum(max(width, 5) + 2 for width in widths)
    for *_, names in rows:
        names.truncate(max(room, len("aliases")), overflow="ellipsis")
    print_table(out, ["<name", ">lines", "<", "<first", "<last", "aliases" if aliases else ""], rows, indent=0)


@click.command()
@shared("story")
@click.option("--from", "since", metavar="MOMENT", help="Begin with this moment.")
@click.option("--to", "before", metavar="MOMENT", help="Stop before this moment.")
@click.option("--text", is_flag=True, help="Print the scenes to read, not a table of them.")
@shared("json")
def scenes(options: Options, since: str | None, before: str | None, text: bool) -> None:
    """The scenes of a story: when, where, who is there, how many lines.

    \b
    Examples:
        understudy scenes demo --from 2.1 --to 2.3
        understudy scenes demo --from 2.1 --to 2.2 --text
    """
    opened = read_showing(options.story)
    selected = scenes_before(opened, opened.moment(before) if before else None, opened.moment(since) if since else None)
    if options.as_json:
        print_json({"title": opened.title, "scenes": [scene_document(scene) for scene in selected]})
    elif text:
        _print_scenes(screen(), opened, selected)
    else:
        rows = (
            (scene.moment.dotted, scene.setting, ", ".join(scene.present), f"{len(scene.lines):,}")
            for scene in selected
        )
        print_table(screen(), ["<scene", "setting", "present", ">lines"], rows, indent=0)


def _print_scenes(out: Screen, story: Story, scenes: Iterable[Scene]) -> None:
    titles = [(moment, title) for moment, title in story.headings() if title]
    for scene in scenes:
        while titles and titles[0][0] <= scene.moment:
            moment, title = titles.pop(0)
            if scene.moment.within(moment):
                out.print(heading(f"\n{moment}: {title}"))
        out.print(heading(f"\n{scene.moment}" + (f": {scene.setting}" if scene.setting else "")))
        out.print(indented(f"Present: {clean(', '.join(scene.present))}"), style="dim")
        out.print(indented(spoken(scene.lines, moments=False)))


@click.command(short_help="Who a character is at a moment.")
@shared("story name at facing")
@click.option("--last", type=click.IntRange(min=0), metavar="N", help="Show the N latest lines and remembered scenes.")
@click.option("--author", is_flag=True, help="Also show what others feel towards the character, who does not know it.")
@shared("annotated json")
def persona(options: Options, last: int | None, author: bool) -> None:
    """Who a character is at a moment: what it is, owns, feels, said and lived through by then.

    Nothing that comes later in the story is part of it.

    \b
    Examples:
        understudy persona demo Zita --at 2.3
        understudy persona demo Zita --at 2.3 --facing Benedek --json
    """
    opened, situation = situation_of(options)
    felt = felt_towards(opened, situation.persona.name, situation.persona.moment) if author else ()
    if options.as_json:
        document = persona_document(situation, last)
        if author:
            document["felt_towards"] = [{"of": tie.of, **tie_document(tie, opened.language)} for tie in felt]
        print_json(document)
    else:
        _show(screen(), opened, situation, last)
        if author:
            _show_felt(screen(), felt)


def _show(out: Screen, story: Story, situation: Situation, last: int | None) -> None:
    who = situation.persona
    title = Text(clean(who.name), style=f"bold {voice(who.name)}")
    out.print(title.append(Text(f" at {when(who.moment)} of '{clean(story.title)}'", style="not bold default")))
    if situation.setting:
        out.print(f"in: {clean(situation.setting)}", style="dim")
    if who.profile:
        out.print(heading("\nProfile"))
        for sentence in who.profile:
            out.print(indented(_marked_found(sentence, who.found.get(sentence))))
    if who.attributes:
        out.print(heading("\nAttributes"))
        out.print(
            indented(grid([(attribute_label(name), ", ".join(values)) for name, values in who.attributes.items()]))
        )
    if who.relations:
        out.print(heading("\nTies"))
        rows = [(tie.to, _tie(tie), tie.since.dotted, _tie_sentence(tie, who.language)) for tie in who.relations]
        out.print(indented(grid(rows)))
    _show_chart(out, story, situation)
    _show_faced(out, situation)
    lines = who.past.lines(LAST_LINES if last is None else last)
    out.print(heading(f"\nSaid last ({len(lines)} of {len(who.past):,} lines)"))
    out.print(indented(spoken(lines, speakers=False, longest=LONGEST)))
    out.print(heading("\nRemembers last"))
    for scene in who.past.scenes(LAST_SCENES if last is None else last):
        _show_memory(out, scene)


def _tie(tie: Relation) -> str:
    """The kind, with its level where it has one: 'affection +7', 'familiarity 3', 'friend'."""
    if tie.level is None:
        return tie.kind
    low, _ = Schema().bounds(tie.kind) or (0, 0)
    return f"{tie.kind} {tie.level:+}" if low < 0 and tie.level else f"{tie.kind} {tie.level}"


def _tie_sentence(tie: Relation, language: str) -> Text:
    sentence = Text(clean(tie_sentence(tie, language)))
    return sentence if tie.found is None else sentence.append(found_mark(tie.found), style="dim")


def _marked_found(sentence: str, found: FoundSentence | None) -> Text:
    text = Text(clean(sentence))
    return text if found is None else text.append(found_mark(found.finding), style="dim")


def _show_chart(out: Screen, story: Story, situation: Situation) -> None:
    courses = courses_so_far(story, situation.persona)
    to = situation.faced.name if situation.faced else most_changed(courses)
    if to is not None and to in courses:
        out.print()
        print_affection(out, situation.persona, to, courses[to])


def _show_faced(out: Screen, situation: Situation) -> None:
    faced = situation.faced
    if faced is not None:
        out.print(heading(f"\nFaces {faced.name}, and can tell"))
        for sentence in faced.profile or ("nothing about them",):
            out.print(indented(_marked_found(sentence, faced.found.get(sentence))))


def _show_memory(out: Screen, scene: Scene) -> None:
    summary = f"{scene.moment.dotted}  {short(clean(scene.setting), LONGEST // 2)}"
    number = f"{len(scene.lines)} line{'s' * (len(scene.lines) != 1)}"
    out.print(indented(f"{summary}  ({clean(', '.join(scene.present))}; {number})"))
    out.print(indented(spoken(scene.lines[-GIST:], moments=False, longest=LONGEST), by=4))


def _show_felt(out: Screen, felt: tuple[Relation, ...]) -> None:
    out.print(heading("\nFelt by others, for the author's eyes: the character does not know"))
    rows = [(tie.of, _tie(tie), f"since {tie.since.dotted}") for tie in felt]
    out.print(indented(grid(rows) if rows else "nothing is said of it"))


@click.command(short_help="Show who somebody seems to be, from what they said.")
@click.argument("dialogue", metavar="DIALOGUE")
@click.argument("people", metavar="[NAME]...", nargs=-1)
@click.option(
    "--profiles", type=IN_FILE, metavar="FILE",
    help="Profile sentences to choose from: one a line, or PersonaChat dialogues.",
)  # fmt: skip
@click.option(
    "--data", "folder", type=IN_FOLDER, metavar="DIR",
    help="PersonaChat's folder: to learn from, and to choose from without --profiles.",
)  # fmt: skip
@click.option(
    "--top", type=click.IntRange(min=1), default=5, show_default=True, help="Sentences to show of each person."
)
@shared("json")
def profile(
    options: Options, dialogue: str, people: tuple[str, ...], profiles: Path | None, folder: Path | None, top: int
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
    names = _people(story, people)
    said = {name: [line.text for line in story.past(name, Moment.end(), {}).lines()] for name in names}
    traits_by_name = (
        _from_own_words(story, said, top)
        if profiles is None and folder is None
        else _choose_sentences(said, profiles, folder, top)
    )
    if options.as_json:
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
            print_table(out, ["seems to be", "having said", "words"], lines)
        else:
            out.print(f"  {NOTHING_CHOSEN if profiles or folder else NOTHING_SAID}")
        out.print()


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
