"""`understudy guess`, `voices` and `bench guess`: who is speaking, and who sounds alike?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from understudy.cli.bench import measure
from understudy.cli.options import IN_FILE, Options, listed, shared
from understudy.cli.progress import read_with_people, watching, working
from understudy.cli.show import (
    Document,
    Figures,
    Screen,
    bar,
    clean,
    grouped,
    heading,
    indented,
    print_comparisons,
    print_json,
    print_rows,
    print_table,
    screen,
    share,
    short,
    voice,
)

if TYPE_CHECKING:
    from understudy.guessing import GuesserEntry

SHOWN = 110  # letters of a line
REASONS = 3  # of each mask


@click.command(short_help="Hide the names in a scene: who is who, and why?")
@shared("story")
@click.option("--scene", metavar="MOMENT", help="One scene, with the reasons. Otherwise all later ones, in figures.")
@click.option("--from", "since", metavar="MOMENT", help="Where the later scenes begin (default: the last third).")
@click.option(
    "--model", "models", metavar="MODEL", multiple=True, default=("joint",),
    help="A guesser, as in `bench guess --models` (default: joint).",
)  # fmt: skip
@click.option("--assigned", is_flag=True, help="One person behind each mask, for a model's folder or module:factory.")
@click.option("--together", is_flag=True, help="Weight several models together: commas, or --model repeated.")
@shared("main names seed annotated json")
def guess(
    options: Options, scene: str | None, since: str | None, models: tuple[str, ...], assigned: bool, together: bool
) -> None:
    """Who is speaking? Main characters become P0, P1, ..., and what came before tells who they are.

    Nothing later in the story is used. For authors: the answers are shown beside the guesses.

    \b
    Examples:
        understudy guess demo --scene 3.2.1
        understudy guess demo --from 3.1 --names mask
        understudy guess my.story --model who --assigned
    """
    if scene is not None and since is not None:
        raise click.UsageError("--scene asks about one scene, --from about all later ones: give one of them")
    from understudy.guessing.story import GuessSettings, guess_later, guess_scene

    guesser = _guesser(listed(models), options.names, assigned, together)
    settings = GuessSettings(guesser, options.most, options.names, options.seed)
    opened = read_with_people(options.story, options.annotated)
    if scene is not None:
        with working("Learning from what came before"):
            document = guess_scene(opened, scene, settings)
        print_json(document) if options.as_json else _print_scene(document)
        return
    with watching() as watch:
        document = guess_later(opened, since, settings, watch)
    if options.as_json:
        print_json(document)
        return
    screen().print(f"Learned from {document['learned_from']:,} scenes before {document['since']}.")
    print_guess(document)


def _guesser(models: Sequence[str], names: str, assigned: bool, together: bool) -> GuesserEntry:
    """The one guesser that a story is asked with."""
    from understudy.training.guessing.registry import find_assigned, find_guesser, weighted_guessers

    if together:
        if assigned:
            raise click.UsageError("models weighted together have one person behind each mask: leave --assigned out")
        return weighted_guessers([find_guesser(model, names) for model in dict.fromkeys(models)])
    if len(models) != 1:
        raise click.UsageError("one model is asked: name one with --model, or weight several with --together")
    return find_assigned(models[0], names) if assigned else find_guesser(models[0], names)


def _print_scene(document: Document) -> None:
    out = screen()
    out.print(heading(f"{document['story']}: {document['scene']}"))
    if document["setting"]:
        out.print(clean(document["setting"]), style="dim")
    out.print()
    masks = [guess["mask"] for guess in document["guesses"]]
    for line in document["lines"]:
        if line["speaker"] is None:
            out.print(indented(Text(clean(line["text"]), style="dim italic")))
            continue
        style = f"bold {voice(line['speaker'])}" if line["speaker"] in masks else "bold"
        said = Text(f": {clean(line['text'])}", style="not bold default")
        out.print(Text(clean(line["speaker"]), style=style).append(said))
    right = sum(guess["guess"] == guess["truth"] for guess in document["guesses"])
    out.print(heading(f"\nWho is who? {right} of {len(masks)} right, learned from {document['learned_from']:,} scenes"))
    for guess in document["guesses"]:
        _print_guess(out, guess)


def _print_guess(out: Screen, guess: Document) -> None:
    sure = next(iter(guess["probabilities"].values()))
    verdict = Text("right", "green") if guess["guess"] == guess["truth"] else Text(f"it is {guess['truth']}", "red")
    headline = Text(f"{guess['mask']}: ", style=f"bold {voice(guess['mask'])}")
    out.print(headline.append(Text(f"{guess['guess']} {sure:.2f} ", "not bold default")).append(verdict))
    rivals = list(guess["probabilities"].items())[1:4]
    if rivals:
        out.print(indented(Text("not " + ", ".join(f"{name} {share:.2f}" for name, share in rivals), "dim")))
    for reason in guess["evidence"][:REASONS]:
        out.print(indented(f"{reason['kind']}: {clean(short(reason['text'], SHOWN))}"))


@click.command(short_help="Which of the characters sound alike?")
@shared("story main seed")
@click.option("--pairs", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="Pairs to show.")
@shared("annotated json")
def voices(options: Options, pairs: int) -> None:
    """Which pairs of characters are hardest to tell apart, by which lines, and what would tell them apart.

    \b
    Example:
        understudy voices demo
    """
    from understudy.guessing.story import GuessSettings
    from understudy.guessing.voices import voices_of

    opened = read_with_people(options.story, options.annotated)
    with watching() as watch:
        document = voices_of(opened, GuessSettings(most=options.most, seed=options.seed), watch)
    print_json(document) if options.as_json else print_voices(document, pairs)


@click.command("guess")
@shared("data", data="The TVShowGuess folder, with transcripts/.")
@click.option(
    "--judge", type=IN_FILE, metavar="FILE.jsonl",
    help="Scenes to judge on (default: dev.jsonl of the folder).",
)  # fmt: skip
@click.option(
    "--models", "--model", metavar="MODEL,...", multiple=True,
    help="random, vanilla, vanilla+assigned, multi-row, scene-pooling, ranker, joint, 'joint without history' and "
    "the others of docs/papers/tvshowguess.md; a folder that `train guesser` made; or module:factory of your own. "
    "Commas, or repeated.",
)  # fmt: skip
@click.option(
    "--assigned", is_flag=True,
    help="Judge models named by a folder or module:factory also with one person behind each mask.",
)  # fmt: skip
@click.option("--together", is_flag=True, help="Judge the models named also weighted together.")
@click.option("--ablations", is_flag=True, help="Judge joint also without each of its parts.")
@click.option(
    "--curve", is_flag=True, help="Judge joint also with an eighth, a quarter and half of the training scenes."
)
@click.option(
    "--people", type=IN_FILE, metavar="FILE.jsonl",
    help="What people said of the same scenes: `study results --format answers` of a `guess` study.",
)  # fmt: skip
@shared("names limit seed items output report json")
def guess_bench(
    options: Options, judge: Path | None, models: tuple[str, ...], assigned: bool, together: bool, ablations: bool,
    curve: bool, people: Path | None,
) -> None:  # fmt: skip
    """Who is speaking, in shows? Guessers learn from earlier episodes and are judged on later scenes.

    \b
    Examples:
        understudy bench guess --data tvshowguess --report out.html
        understudy bench guess --data tvshowguess --models joint,mine:guesser
        understudy bench guess --data tvshowguess --models joint,who --together
        understudy bench guess --data tvshowguess --people answers.jsonl
    """
    if together and not models:
        raise click.UsageError("--together weights the models named: name two or more with --models")
    from understudy.papers.tvshowguess import MODELS, bench_guess

    measure(
        options,
        "Who is speaking?",
        lambda watch: bench_guess(
            options.data, judge, listed(models) or MODELS, options.names, options.limit, options.seed, watch,
            options.items, ablations=ablations, curve=curve, assigned=assigned, together=together, people=people,
        ),
        print_guess,
    )  # fmt: skip


ALL = "all"
PEOPLE = "people"  # the row of those who were asked: no model
LONGEST = 9  # letters of a name at the head of a column
WIDE = 24
MOST = 8  # people in a table of who is taken for whom
CUTS = (
    ("coarse_evidence", "evidence, when people told them"),
    ("evidence", "evidence, more finely"),
    ("history", "what history it took"),
    ("reasoning", "what reasoning it took"),
)
CLUES = {"joint": "all clues", "words alone": "their words alone"}


def print_guess(document: Document) -> None:
    """By show for all models; the rest for the one that is right most often."""
    rows = document["rows"]
    overall = [
        row
        for row in rows
        if (row["metric"], row.get("show")) == ("accuracy", ALL) and row["model"] != PEOPLE and row["value"] is not None
    ]
    best = max(overall, key=lambda row: row["value"])["model"] if overall else None
    _by_show(rows)
    _by_speakers(rows)
    ours = [row for row in rows if row["model"] == best]
    _by_character(ours)
    for name, said in CUTS:
        _by_cut([row for row in ours if row["metric"] == f"accuracy_by_{name}"], name, f"{best}: {said}")
    _confusions([confusion for confusion in document["confusions"] if confusion["model"] == best])
    _comparisons(document["comparisons"], best)
    _history(rows)
    screen().print("Intervals draw whole scenes. All models, counts and flows are in the document: --json, or -o FILE.")


def _by_show(rows: Sequence[Document]) -> None:
    """A line for each model, a column for each show; beneath it the paper's, where it has such a model."""
    accuracies = [row for row in rows if row["metric"] == "accuracy"]
    shows = [*dict.fromkeys(row["show"] for row in accuracies if row["show"] != ALL), ALL]
    lines = list[Document]()
    for model, of_model in grouped(accuracies, "model").items():
        has_value = any(row["value"] is not None for row in of_model)
        if has_value:
            lines += [{**row, "line": short(model, WIDE)} for row in of_model]
        if any(row["paper"] is not None for row in of_model):
            theirs: Document = {"line": f"{short(model, WIDE)}, paper", "low": None}
            lines += [{**row, **theirs, "value": row["paper"]} for row in of_model]
    counts = {row["show"]: row["n"] for row in reversed(accuracies) if row["value"] is not None}
    lines += [{"line": "speakers", "show": show, "value": counts.get(show, 0)} for show in shows if counts]
    columns = [Figures(_head(show), {"show": show}) for show in shows]
    print_rows(lines, {"model": "line"}, [*columns, Figures("95%", {"show": ALL}, "95%")], "Accuracy by show")


def _by_speakers(rows: Sequence[Document]) -> None:
    of_all = [{**row, "line": short(row["model"], WIDE)} for row in rows if row.get("show") == ALL]
    by_crowd = [row for row in of_all if row["metric"] == "accuracy_by_speakers"]
    scenes = [row for row in of_all if row["metric"] == "scene_accuracy"]
    columns = [Figures("of scenes", {"metric": "scene_accuracy"})]
    columns += [
        Figures(f"{crowd} speak", {"speakers": crowd}) for crowd in sorted({row["speakers"] for row in by_crowd})
    ]
    print_rows([*scenes, *by_crowd], {"model": "line"}, columns, "Mean over scenes, and accuracy by number of speakers")


def _by_character(rows: Sequence[Document]) -> None:
    """For each show a line of its people, those who are found best first."""
    accuracies = [row for row in rows if row["metric"] == "accuracy_by_character"]
    lines = []
    for show, of_show in grouped(accuracies, "show").items():
        people = sorted(of_show, key=lambda row: -row["value"])
        lines.append((_plain(show), ", ".join(f"{row['character']} {share(row['value'])}" for row in people)))
    if lines:
        _print(f"{rows[0]['model']}: by character", ["<show", "accuracy"], lines)


def _by_cut(rows: Sequence[Document], name: str, title: str) -> None:
    """A line for each group, a column for each show that has annotations."""
    shows = [*dict.fromkeys(row["show"] for row in rows if row["show"] != ALL), ALL]
    columns = [Figures(_head(show), {"show": show}) for show in shows]
    print_rows(rows, {name.replace("_", " "): name}, [*columns, Figures("95%", {"show": ALL}, "95% n")], title)


def _confusions(confusions: Sequence[Document]) -> None:
    """Who they were by line, whom they were taken for by column."""
    for confusion in confusions:
        names = confusion["names"][:MOST]
        columns = ["who", *(f">{short(name, LONGEST)}" for name in names)]
        lines = [
            (short(name, WIDE), *(str(count or "-") for count in counts[:MOST]))
            for name, counts in zip(names, confusion["counts"])
        ]
        cut = f", the {MOST} masked most" if len(confusion["names"]) > MOST else ""
        _print(f"{confusion['model']}: who is taken for whom in {_plain(confusion['show'])}{cut}", columns, lines)


def _comparisons(comparisons: Sequence[Document], best: str | None) -> None:
    lines = []
    for row in comparisons:
        first, second = row["agents"]
        if best in (first, second):
            sign = 1 if first == best else -1
            low, high = sorted((sign * row["low"], sign * row["high"]))
            rival = second if first == best else first
            difference = {"difference": sign * row["difference"], "low": low, "high": high}
            lines.append({**row, "agents": [rival], **difference})
    print_comparisons(lines, {"less": "agents"}, f"{best} and the others, paired over scenes")


def _history(rows: Sequence[Document]) -> None:
    gains = [row for row in rows if row["metric"] == "history_gain"]
    if gains:
        title = f"What history adds: {gains[0]['model']} less {gains[0]['without']}"
        print_rows(gains, {"history": "history"}, [Figures("gain", show="value 95% p n", form="+.3f")], title)
    recalls = [row for row in rows if row["metric"].startswith("history_recall@")]
    recall = [Figures("recall", show="value 95% reason")]
    print_rows(recalls, {"": "metric", "found by": "model"}, recall, "Earlier scenes found")


def print_voices(document: Document, most: int) -> None:
    out = screen()
    by_model = {row["model"]: row for row in document["rows"] if row["metric"] == "accuracy" and row["show"] != "all"}
    out.print(heading(f"{document['story']}: who can be told apart"))
    for model, row in by_model.items():
        by = CLUES.get(model, model)
        if row["value"] is None:
            out.print(indented(f"no figure for {by}: {row.get('reason') or 'nothing was asked'}"))
            continue
        low = "" if row["low"] is None else f" ({row['low']:.2f}-{row['high']:.2f})"
        out.print(indented(f"{row['value']:.2f}{low} of {row['n']} parts told right by {by}"))
    rows = [
        (f"{pair['pair'][0]}, {pair['pair'][1]}", bar(min(2 * pair["alike"], 1.0), 12), f"{pair['alike']:.2f}",
         f"{pair['told_apart']:.2f}")
        for pair in document["pairs"][:most] if pair["alike"] is not None
    ]  # fmt: skip
    unheard = [pair for pair in document["pairs"][:most] if pair["alike"] is None]
    out.print(heading("\nThe most alike (0.5: nobody could tell)"))
    print_table(out, ["pair", "", ">alike", ">told apart"], rows)
    for pair in unheard:
        out.print(indented(f"{', '.join(pair['pair'])}: {pair['reason']}"))
    for pair in document["pairs"][:most]:
        if not pair["lines"]:
            continue
        out.print(heading(f"\n{pair['pair'][0]} and {pair['pair'][1]}"))
        for line in pair["lines"]:
            out.print(indented(f"{line['moment']} {line['who']}, taken for {line['taken_for']} ({line['share']:.2f}): "
                               f"{clean(short(line['text'], SHOWN))}"))  # fmt: skip
        for who, terms in pair["terms"].items():
            if terms:
                out.print(indented(Text(f"only {who}: {', '.join(terms)}", "dim")))


def _print(title: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
    out = screen()
    out.print(heading(title))
    print_table(out, columns, lines)
    out.print()


def _plain(show: str) -> str:
    return show.replace("_", " ")


def _head(show: str) -> str:
    """A show's name where there is room for a few letters: its initials if it is long."""
    words = _plain(show).split()
    return _plain(show) if len(show) <= LONGEST else "".join(word[0].upper() for word in words)
