"""`understudy bench personachat|profiles|consistency|overlap|judged-chats`: PersonaChat and what was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from understudy.cli.bench import measure
from understudy.cli.options import IN_FILE, IN_PATH, Options, agents_option, listed, shared
from understudy.cli.show import Document, Figures, grouped, heading, print_comparisons, print_rows, screen, share

judged_option = agents_option(
    "Whom to judge: a name, a model folder, or module:factory of your own.", ("encoder", "tfidf")
)
scorers_option = click.option(
    "--scorers", metavar="NAME,...", multiple=True, help="tfidf, words, links, encoder, or some joined by +."
)


@click.command()
@shared("data split")
@judged_option
@click.option("--conditions", metavar="NAME,...", multiple=True, help="none, self_original, ...; all by default.")
@shared("limit seed items")
@click.option(
    "--replies", type=click.IntRange(min=0), metavar="N",
    help="Questions of a condition to answer in words, for F1, BLEU and MAUVE. Default: all of agents that write, none "
    "of agents that rank.",
)  # fmt: skip
@shared("cache output report json")
def personachat(options: Options, agents: tuple[str, ...], conditions: tuple[str, ...], replies: int | None) -> None:
    """How well an agent predicts the next reply, with and without personas, beside the paper's figures.

    Does it find the right reply among 20? How probable does it find it (perplexity), if it is a language model? How
    near to it is what it says itself (F1, BLEU, MAUVE), and how varied?

    \b
    Examples:
        understudy bench personachat --data data/personachat --report out.html
        understudy bench personachat --data pc/ --agents tfidf,mine:agent
        understudy bench personachat --data pc/ --agents my-model --cache kept
        understudy bench personachat --data pc/ --agents llm --limit 200
    """
    from understudy.papers.personachat.bench import bench_personachat

    measure(
        options,
        "PersonaChat: the next reply",
        lambda watch: bench_personachat(
            options.data, options.split, listed(agents), listed(conditions) or None, options.limit, options.seed, watch,
            options.items, options.cache, replies,
        ),
        _print_personachat,
    )  # fmt: skip


PERSONACHAT_TABLES = (
    ("hits@1", ("hits@5", "mrr")),
    ("perplexity", ("perplexity_per_token", "hits@1_per_token", "delta-p")),
    ("f1", ("bleu", "dist-1", "dist-2", "rep", "mauve", "p_f1", "contradicts")),
)
"""The metric that has its interval and the paper's figure beside it, and those that have not."""
HEADS = {"perplexity_per_token": "per token", "hits@1_per_token": "hits@1 per token"}


def _print_personachat(document: Document) -> None:
    rows, out = document["rows"], screen()
    for agent, of_agent in grouped(rows, "agent").items():
        trained = of_agent[0]["trained_on"]
        out.print(heading(agent + (f", trained on {trained} personas" if trained else "")))
        if "judged_by" in of_agent[0]:
            out.print(f"  judged by {of_agent[0]['judged_by']}")
        for first, others in PERSONACHAT_TABLES:
            mains = [row for row in of_agent if row["metric"] == first]
            if any(row["value"] is not None for row in mains):
                paper = " paper" if any(row["paper"] is not None for row in mains) else ""
                form = ".2f" if first == "perplexity" else ".3f"
                columns = [Figures(first, {"metric": first}, f"value 95%{paper}", form)]
                columns += [Figures(HEADS.get(metric, metric), {"metric": metric}) for metric in others]
                columns.append(Figures("n", {"metric": first}, "n"))
                print_rows(of_agent, {"condition": "condition"}, columns)
                out.print()
        for row in of_agent:
            if row["metric"] == "errors":
                out.print(f"  {row['condition']}: no reply to {share(row['value'])} of {row['n']:,} ({row['reason']})")
    if any(row["paper"] is not None for row in rows):
        settings = document["manifest"]["settings"]
        out.print(f"Ours: {settings['split']} split. The paper's: {settings['paper']}.")
    for metric in ("hits@1", "log_prob_per_word", "f1"):
        _print_two_by_two(document, metric, "condition")


def _print_two_by_two(document: Document, metric: str, on: str) -> None:
    compared = [row for row in document["comparisons"] if row["metric"] == metric]
    print_comparisons(compared, {on: on, "agents": "agents"}, f"{metric}, agents two by two")


@click.command()
@shared("data split", split="Which file: the one that begins with it.")
@scorers_option
@click.option(
    "--chats", type=IN_FILE, metavar="FILE", multiple=True,
    help="Judge these chats too: a file of `self-chat`, or ConvAI2's chats of volunteers; may be repeated.",
)  # fmt: skip
@shared("limit seed items output report json")
def profiles(options: Options, scorers: tuple[str, ...], chats: tuple[Path, ...]) -> None:
    """How often somebody's profile is told wrongly, among 100 others, from what was said.

    With --chats also from what people said to models, and models to people or to each other.

    \b
    Examples:
        understudy bench profiles --data data/personachat
        understudy bench profiles --data data/personachat --chats chats.jsonl
    """
    from understudy.papers.personachat.profiles import bench_profiles

    measure(
        options,
        "PersonaChat: telling profiles",
        lambda watch: bench_profiles(
            options.data,
            options.split,
            listed(scorers) or None,
            options.limit,
            options.seed,
            watch,
            options.items,
            chats,
        ),
        _print_profiles,
    )


SPEAKERS = {"both": "either", "A": "first speaker", "B": "second speaker"}


def _print_profiles(document: Document) -> None:
    rows, out = document["rows"], screen()
    for scorer, of_scorer in grouped(rows, "scorer").items():
        out.print(heading(scorer))
        dialogues = [row for row in of_scorer if "chats" not in row]
        _print_error_rates("told from", [{**row, "of": SPEAKERS[row["speaker"]]} for row in dialogues])
        chats = [row for row in of_scorer if "chats" in row and row["length"] == "whole"]
        for source, given in dict.fromkeys((row["chats"], row["given"]) for row in chats):
            out.print(heading(f"{scorer}, {source} (profiles shown: {given})"))
            some = [row for row in chats if (row["chats"], row["given"]) == (source, given)]
            _print_error_rates("words -> profile", [{**row, "of": row["told"]} for row in some])
    settings = document["manifest"]["settings"]
    out.print(
        f"error: not first among {settings['others']} others; pairs: another one is before it (chance .5), as the "
        f"paper counts. Ours: {settings['split']} split. The paper's: {settings['paper']}, people chatting with the "
        "Key-Value Profile Memory."
    )


def _print_error_rates(head: str, rows: Sequence[Document]) -> None:
    """A line for each thing told, with both error rates."""
    told = [
        {**row, "whose": row["profile"] if row["unit"] == "profile" else f"{row['profile']}, sentences"} for row in rows
    ]
    columns = [
        Figures("error", {"metric": "error_rate"}, "value 95%", spread_form=".2f"),
        Figures("pairs", {"metric": "pairwise_error"}, "value 95% paper", spread_form=".2f"),
        Figures("n", {"metric": "error_rate"}, "n"),
    ]
    print_rows(told, {head: "of", "whose": "whose", "heard": "length"}, columns)
    screen().print()


@click.command()
@shared("data")
@judged_option
@shared("limit seed items output report json")
def consistency(options: Options, agents: tuple[str, ...]) -> None:
    """How often an agent's first choice contradicts the persona, on Dialogue NLI's sets.

    \b
    Example:
        understudy bench consistency --data data/dnli
    """
    from understudy.papers.personachat.consistency import bench_consistency

    measure(
        options,
        "Consistency with the persona",
        lambda watch: bench_consistency(
            options.data, listed(agents), options.limit, options.seed, watch, options.items
        ),
        _print_consistency,
    )


def _print_consistency(document: Document) -> None:
    rows = document["rows"]
    columns = [Figures(name, {"metric": name}, "value 95%") for name in dict.fromkeys(row["metric"] for row in rows)]
    for name, of_set in grouped(rows, "set").items():
        print_rows(of_set, {"agent": "agent"}, columns, name)
    for metric in dict.fromkeys(row["metric"] for row in document["comparisons"][:1]):
        _print_two_by_two(document, metric, "set")


@click.command()
@shared("data split limit seed output report json")
def overlap(options: Options) -> None:
    """Do P-F1 and P-Cover tell whose words they are? On PersonaChat's profiles, beside the metrics paper's appendix.

    \b
    Example:
        understudy bench overlap --data data/personachat
    """
    from understudy.papers.utterance_metrics.overlap import bench_overlap

    measure(
        options,
        "Words in common with a profile",
        lambda watch: bench_overlap(options.data, options.split, options.limit, options.seed, watch),
        _print_overlap,
    )


def _print_overlap(document: Document) -> None:
    columns = [
        Figures("r_s", {"metric": "spearman"}, "value 95%", spread_form=".2f", stars=True),
        Figures("AUC", {"metric": "auc"}, "value 95%", spread_form=".2f"),
        Figures("paper's r_s", {"metric": "spearman"}, "paper n"),
    ]
    lines = {"scorer": "scorer", "profiles": "wording", "against": "reference"}
    print_rows(document["rows"], lines, columns)
    screen().print(
        "*** p < .001, ** p < .01, * p < .05 after Holm. The paper's: " + document["manifest"]["settings"]["paper"]
    )


@click.command("judged-chats")
@click.option(
    "--data", type=IN_PATH, required=True,
    help="The folder with ConvAI2's chats of volunteers (*volunteers*.json), or such a file.",
)  # fmt: skip
@scorers_option
@click.option(
    "--model", metavar="MODEL",
    help="Measure perplexity too: a generative agent's folder, or a language model (folder, .gguf file, name).",
)  # fmt: skip
@shared("limit seed items output report json")
def judged_chats(options: Options, scorers: tuple[str, ...], model: str | None) -> None:
    """Which automatic measures agree with people who scored whole chats, and who tells a bot's profile?

    Beside PersonaChat's training files, n-grams and profile scorers learn from them.

    \b
    Examples:
        understudy bench judged-chats --data data/personachat --report out.html
        understudy bench judged-chats --data data/personachat --model SmolLM2/
    """
    from understudy.papers.personachat.judged_chats import bench_judged_chats, open_language_model

    language_model = None if model is None else open_language_model(model)
    measure(
        options,
        "Chats that people have judged",
        lambda watch: bench_judged_chats(
            options.data, listed(scorers) or None, language_model, options.limit, options.seed, watch, options.items
        ),
        _print_judged_chats,
    )


def _print_judged_chats(document: Document) -> None:
    rows, out = document["rows"], screen()
    if measured := [row for row in rows if "measure" in row]:
        _print_measures(measured)
        out.print("*** p < .001, ** p < .01, * p < .05 after Holm, over all measures of the same chats.")
        out.print()
    chosen = [row for row in rows if "scorer" in row]
    for chats, of_chats in grouped(chosen, "chats").items():
        _print_choices(chats, of_chats)
    settings = document["manifest"]["settings"]
    out.print(f"'both talk': each side said at least {settings['least_turns']} things. Paper: {settings['paper']}.")


def _print_measures(rows: Sequence[Document]) -> None:
    """A line for each measure, columns for each set of chats; the strongest agreement with the last set first."""
    sets = list(dict.fromkeys(row["chats"] for row in rows))
    agreement = {(row["measure"], row["of"]): abs(row["value"] or 0) for row in rows if row["chats"] == sets[-1]}
    ordered = sorted(rows, key=lambda row: -agreement[row["measure"], row["of"]])
    columns = [Figures(name, {"chats": name}, "value 95% n", spread_form="+.2f", stars=True) for name in sets]
    title = "r_s with the score that people gave the chat"
    print_rows(ordered, {"measure": "measure", "of": "of"}, columns, title)


def _print_choices(chats: str, rows: Sequence[Document]) -> None:
    columns = [
        Figures(head, {"target": target, "metric": metric}, "value 95%", spread_form=".2f")
        for head, target, metric in (
            ("right", "true profile", "accuracy"),
            ("as people", "person's choice", "accuracy"),
            ("AUC", "person's choice", "auc"),
        )
    ]
    title = f"Which of two profiles was the bot's? ({chats}, {rows[0]['n']:,} chats)"
    print_rows(rows, {"chosen by": "scorer", "told from": "told_from"}, columns, title)
