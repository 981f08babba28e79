"""`understudy study serve`: the server on which participants answer and the organiser looks on."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from understudy.cli.conversation import browsable, ending_with_its_threads, key_in, listen, open_when_up
from understudy.cli.progress import watching
from understudy.cli.show import clean
from understudy.cli.study import link_to, location_of, name_option, store_option
from understudy.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from understudy.server.http_server import HttpServer
    from understudy.studies.store import StoredStudy

__all__ = ["announcement", "serve_study"]

KEY = "UNDERSTUDY_API_KEY"


def announcement(stored: StoredStudy, address: str) -> str:
    state = "closed (`study end --reopen` opens it again)" if stored.closed else "open"
    return f"'{clean(stored.study.title)}' is {state}: {address}/studies/{stored.name}"


@click.command("serve", short_help="Serve studies to their participants.")
@click.argument("paths", metavar="STUDY.toml...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--links", type=click.IntRange(0, 10_000), default=0, metavar="N", help="Make N links for each study.")
@store_option
@name_option
@click.option("--port", type=click.IntRange(0, 65535), default=7860, show_default=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need a key.")
@click.option("--key-file", type=click.Path(path_type=Path, dir_okay=False), help=f"The organiser's key (or ${KEY}).")
@click.option("--host-name", "host_names", metavar="NAME", multiple=True, help="A host name of the server.")
@click.option(
    "--processes", type=click.IntRange(1, 64), default=1, show_default=True,
    help="Server processes on the address; more than one need --store postgresql://...",
)  # fmt: skip
@click.option("--behind-proxy", is_flag=True, help="Trust X-Forwarded-For and -Proto of a proxy on this machine.")
@click.option("--open", "open_page", is_flag=True, help="Open the organiser's page in the browser.")
@click.option("--json-log", is_flag=True, help="Log one JSON object a line.")
@ending_with_its_threads()
def serve_study(
    paths: tuple[Path, ...], links: int, store: str | None, name: str | None, port: int, host: str,
    key_file: Path | None, host_names: tuple[str, ...], processes: int, behind_proxy: bool, open_page: bool,
    json_log: bool,
) -> None:  # fmt: skip
    """Serve studies to their participants until Ctrl-C.

    A participant needs nothing but a link; make some with --links, with `study invite`, or on the organiser's page,
    which shows how far the study is. On an address that others can reach, that page needs the key.

    \b
    Examples:
        understudy study serve zita.toml --links 5 --open
        understudy study serve zita.toml --host 0.0.0.0 --key-file key.txt
        understudy study serve zita.toml --store postgresql://... --processes 4
    """
    try:
        from understudy.server.access import AccessPolicy
        from understudy.server.data_folder import private_files
        from understudy.server.http_server import make_server
        from understudy.server.studies import StudyContext, make_study_app
        from understudy.server.telemetry import set_up_log
    except ModuleNotFoundError as error:
        raise MissingExtra("serving", "serve") from error
    from understudy.database import is_postgres
    from understudy.studies.opening import agents_of, open_study
    from understudy.studies.store import open_study_store

    if name is not None and len(paths) > 1:
        raise InputError("--name is for one study: leave it out, or serve one at a time")
    location = location_of(paths[0], store)
    if processes > 1 and not is_postgres(location):
        raise InputError("several processes need a database that they share: say --store postgresql://...")
    policy = AccessPolicy.for_host(host, os.environ.get(KEY) if key_file is None else key_in(key_file), host_names)
    with ExitStack() as stack:
        stack.enter_context(private_files())
        listening = stack.enter_context(listen(host, port))  # before links are made that nobody would be shown
        with open_study_store(location) as opened, watching() as progress:
            studies = [open_study(opened, path, name, progress) for path in paths]
            tokens = {stored.name: opened.invite(stored.name, links) if links else [] for stored in studies}
        address = f"http://{browsable(host)}:{listening.getsockname()[1]}"

        def server_here() -> HttpServer:
            """Opens everything that a server process needs; the caller's `stack` closes it."""
            agents = agents_of([stored.study for stored in studies])
            context = StudyContext(stack.enter_context(open_study_store(location)), agents=agents)
            return make_server(make_study_app(context, policy), behind_proxy, on_stop=context.is_stopping.set)

        def announce() -> None:
            for stored in studies:
                click.echo(announcement(stored, address))
                for token in tokens[stored.name]:
                    click.echo(f"  {link_to(address, token)}")
            click.echo("Ctrl-C stops.")

        set_up_log(json_log)
        if processes > 1:
            from understudy.server.processes import serve_processes

            serve_processes(server_here, [listening], processes, announce)
        else:
            server = server_here()
            announce()
            if open_page:
                Thread(target=open_when_up, args=(server, f"{address}/studies"), daemon=True).start()
            with suppress(KeyboardInterrupt):  # before the server has begun to listen for it
                server.run(sockets=[listening])
    click.echo("Stopped.")
