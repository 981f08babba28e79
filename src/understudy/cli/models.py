"""`understudy models`: which language models can be talked to, and fetching those that run in this process."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import click

from understudy.cli.options import json_option
from understudy.cli.progress import downloading, working
from understudy.cli.show import print_json, screen, table

__all__ = ["models"]

Row = dict[str, Any]
MISSING = "needs pip install '.[local]'"


@click.group(invoke_without_command=True, short_help="List language models; fetch and remove those that run here.")
@json_option
@click.pass_context
def models(ctx: click.Context, as_json: bool) -> None:
    """Language models: in this process (`local`), and behind a server (`llm`), set up or answering on this machine.

    Every other model can be asked through files: `--agent batch:FOLDER` writes the requests, and reads the answers.

    \b
    Examples:
        understudy models
        understudy models pull smollm2
        understudy models pull hub:OWNER/REPO/FILE.gguf
        understudy models remove smollm2
    """
    if ctx.invoked_subcommand is not None:
        return
    from understudy.language.backends.catalog import SUGGESTED, installed_model

    with working("Looking for models"):
        rows = [*_local_rows(), *_llm_rows()]
    if as_json:
        print_json({"models": rows})
        return
    shown = [(row["name"], row["backend"], "yes" if row["ready"] else "no", row["where"]) for row in rows]
    columns = [("name", {}), ("back end", {}), ("ready", {}), ("where", {"overflow": "fold"})]
    screen().print(table(columns, shown))
    if suggested := [model for model in SUGGESTED if installed_model(model.name) is None]:
        click.echo("Larger models talk better. One command fetches one (disk, memory, licence):")
    for model in suggested:
        click.echo(f"  understudy models pull {model.name}")
        click.echo(f"      {model.disk_gb:.1f} GB, {model.memory_gb:.1f} GB, {model.licence}")


@models.command()
@click.argument("name", metavar="NAME")
@json_option
def pull(name: str, as_json: bool) -> None:
    """Fetch a model that runs in this process: `smollm2`, or hub:OWNER/REPO/FILE.gguf of the Hugging Face hub.

    Stopped or broken off, it is taken up where it was by the same command. A model of the hub that is not given to
    everybody needs a token in HF_TOKEN.

    \b
    Examples:
        understudy models pull smollm2
        understudy models pull hub:OWNER/REPO/FILE.gguf
    """
    from understudy.language.backends.catalog import pull

    try:
        with downloading() as progress:
            path = pull(name, progress)
    except KeyboardInterrupt:
        click.echo("\nThe same command takes it up from here.", err=True)
        raise
    if as_json:
        print_json({"models": [_row(name, path)]})
        return
    click.echo(f"{name} is in {path} ({path.stat().st_size // 1_000_000} MB).")
    if find_spec("xllamacpp") is None:
        click.echo("To talk with it: pip install '.[local]'")
        return
    click.echo(f"Talk with it: understudy chat demo Zita --agent local:{name}")


@models.command()
@click.argument("name", metavar="NAME")
@click.option("--yes", is_flag=True, help="Do not ask first.")
def remove(name: str, yes: bool) -> None:
    """Delete a model that was pulled.

    \b
    Example:
        understudy models remove smollm2
    """
    from understudy.language.backends.catalog import find_model, remove

    path = find_model(name)
    if not yes:
        click.confirm(f"Delete {path} ({path.stat().st_size // 1_000_000} MB)?", abort=True)
    click.echo(f"Deleted {remove(name)}.")


def _local_rows() -> Iterator[Row]:
    from understudy.language.backends.catalog import local_models

    for model in local_models():
        yield _row(model.name, model.path)


def _row(name: str, path: object) -> Row:
    where = f"understudy models pull {name}" if path is None else str(path)
    is_runnable = find_spec("xllamacpp") is not None
    if path is not None and not is_runnable:
        where += f" ({MISSING})"
    return {"name": name, "backend": "local", "where": where, "ready": path is not None and is_runnable}


def _llm_rows() -> Iterator[Row]:
    """Servers that are set up, and servers that answer on this machine."""
    from understudy.language.backends.settings import configured_llms, find_local_servers

    set_up = set()
    for llm in configured_llms():
        set_up.add((llm.url, llm.model))
        where = f"{llm.url} ({llm.problem})" if llm.problem else llm.url
        yield {"name": llm.name, "backend": "llm", "where": where, "ready": not llm.problem}
    for url, names in find_local_servers():
        for name in names:
            if (url, name) not in set_up:
                yield {"name": name, "backend": "llm", "where": f"{url} (answers; not set up)", "ready": False}
