"""`understudy check`: persona tests for anybody's bot, over the OpenAI API."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import click
from rich.text import Text

from understudy.cli.options import FILE, Options, check_output, key_in, shared
from understudy.cli.progress import read_showing, watching
from understudy.cli.show import clean, indented, print_json, print_table, screen
from understudy.registry import Imported
from understudy.svg import INVALID_XML

if TYPE_CHECKING:
    from understudy.bench.check import CheckRepeat, CheckResult
    from understudy.language.backends import Backend

KEY, OPENAI_KEY = "UNDERSTUDY_CHECK_KEY", "OPENAI_API_KEY"
SHOWN = 3  # failing conversations of a test that are shown
OPEN_BACKEND = Imported("understudy.language.backends.openai_api", "OpenAIBackend")  # HTTP and TLS are slow to import


@click.command(short_help="Persona tests for a bot, over the OpenAI API.")
@click.argument("tests", type=FILE, metavar="TESTS.toml")
@click.option("--url", metavar="URL", help="Base URL of the bot's API, as in http://127.0.0.1:8321/v1.")
@click.option("--model", metavar="MODEL", help="The model's name there, for tests that name none.")
@click.option("--key-file", type=FILE, metavar="FILE", help=f"A file that holds the key (else ${KEY}, ${OPENAI_KEY}).")
@click.option("--jobs", type=click.IntRange(1, 64), default=4, show_default=True, help="Conversations at a time.")
@click.option(
    "--repeats", type=click.IntRange(1, 1000), metavar="N", help="Repeats of each test, whatever the file says."
)
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(min=0.1), default=60.0, show_default=True, metavar="SECONDS",
    help="Longest wait for a reply to begin.",
)  # fmt: skip
@click.option("--retries", type=click.IntRange(0, 10), default=2, show_default=True, help="Of a request that fails.")
@shared("seed", seed="Seed of the first repeat.")
@click.option("--junit", type=FILE, metavar="FILE.xml", help="Write JUnit XML, for a CI system.")
@shared("verbose", verbose="Show every failing conversation, and the replies of passed tests.")
@click.option("--init", is_flag=True, help="Write an example to TESTS.toml instead.")
@shared("force json")
@click.pass_context
def check(
    ctx: click.Context, options: Options, tests: Path, url: str | None, model: str | None, key_file: Path | None,
    jobs: int, repeats: int | None, timeout_s: float, retries: int, junit: Path | None, init: bool,
) -> None:  # fmt: skip
    """Put the tests of a file to a bot that speaks the OpenAI API, and judge its replies.

    Ends with status 0 where every test passed and 1 where one did not, so that it can stand in a CI job.

    \b
    Examples:
        understudy check tests.toml --init
        understudy check tests.toml --url http://127.0.0.1:8321 --model demo/Zita
        understudy check tests.toml --url https://bots.test --model ann --json
    """
    if init:
        _write_example(tests, options.force)
        return
    if url is None:
        raise click.UsageError("say where the bot answers: --url URL, as in http://127.0.0.1:8321/v1")
    from dataclasses import replace

    from understudy.bench.check import document_of, run_tests
    from understudy.bench.check.tests_file import read_tests

    check_output(junit)
    file = read_tests(tests, read_showing)
    if repeats is not None:
        file = replace(file, tests=tuple(replace(test, repeats=repeats) for test in file.tests))
    with watching() as watch:
        backend_for = _backends(url, _key(url, key_file), timeout_s, retries)
        results = run_tests(file, backend_for, model, jobs, options.seed, watch)
    if junit is not None:
        junit.write_bytes(junit_xml(tests.stem, results))
    if options.as_json:
        print_json(document_of(file, results, url, model, options.seed))
    else:
        _print(results, options.verbose)
        if junit is not None:
            click.echo(f"The JUnit XML is in {junit}.")
    if not all(result.passed for result in results):
        ctx.exit(1)


def _write_example(path: Path, force: bool) -> None:
    from understudy.bench.check import example

    check_output(path, force=force)
    path.write_text(example(), encoding="utf-8")
    click.echo(f"An example is in {path}.")
    click.echo(f"Next: understudy check {path} --url http://127.0.0.1:8321/v1 --model demo/Zita@2.3")


def _backends(url: str, key: str | None, timeout_s: float, retries: int) -> Callable[[str], Backend]:
    from understudy.language.backends.settings import LLMSettings

    def backend_for(model: str) -> Backend:
        settings = LLMSettings(name=model, url=url, model=model, key=key, timeout_s=timeout_s, retries=retries)
        backend: Backend = OPEN_BACKEND(settings)
        return backend

    return backend_for


def _key(url: str, file: Path | None) -> str | None:
    """The key of a file or of the environment; OpenAI's goes over an open network in no case."""
    if file is not None:
        return key_in(file, is_one_word=True)
    if key := os.environ.get(KEY, "").strip():
        return key
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname in ("127.0.0.1", "localhost", "::1"):
        return os.environ.get(OPENAI_KEY, "").strip() or None
    return None


def _print(results: Sequence[CheckResult], verbose: bool) -> None:
    out = screen()
    repeated = any(len(result.repeats) > 1 for result in results)
    columns = ["<", "test", *([">passed", ">95%", ">of"] if repeated else []), ">seconds"]
    lines = []
    for result in results:
        share = result.share
        cells = [_mark(result), result.test.name]
        spread = f"{share.low:.2f}..{share.high:.2f}" if len(result.repeats) > 1 else ""
        cells += [f"{share.value:.2f}", spread, str(len(result.repeats))] * repeated
        lines.append((*cells, f"{result.seconds:.1f}"))
    print_table(out, columns, lines, indent=0)
    for result in results:
        failed = _distinct(result.failed())
        shown = _distinct(result.repeats) if verbose else [] if result.passed else failed[:SHOWN]
        if shown:
            out.print()
            out.print(Text(clean(result.test.name), style="bold"))
        for repeat in shown:
            for reason in (repeat.error, *repeat.reasons):
                if reason:
                    out.print(indented(Text(clean(reason), style="red")))
            for turn, reply in zip(result.test.turns, repeat.replies):
                out.print(indented(Text(clean(f"- {turn}")), 4))
                out.print(indented(Text(clean(f"- {reply}"), style="cyan"), 4))
        if not result.passed and len(failed) > len(shown):
            out.print(indented(f"{len(failed) - len(shown)} more failed: --verbose shows them."))
    passed = sum(result.passed for result in results)
    out.print()
    out.print(f"{passed:,} of {len(results):,} tests passed.")


def _distinct(repeats: Sequence[CheckRepeat]) -> list[CheckRepeat]:
    """A bot that does not sample fails in the same way each time: that is shown once."""
    return list({(repeat.error, repeat.replies): repeat for repeat in repeats}.values())


def _mark(result: CheckResult) -> str:
    return "passed" if result.passed else "error" if result.is_error else "failed"


# Results as JUnit XML, which CI systems show: a test case for each test, its failing replies in the failure's text.


def junit_xml(name: str, results: Sequence[CheckResult]) -> bytes:
    errors = sum(result.is_error and not result.passed for result in results)
    failures = sum(not result.passed and not result.is_error for result in results)
    seconds = sum(result.seconds for result in results)
    counts = {"tests": str(len(results)), "failures": str(failures), "errors": str(errors), "time": f"{seconds:.3f}"}
    root = Element("testsuites", {"name": _clean(name), **counts})
    suite = SubElement(root, "testsuite", {"name": _clean(name), **counts, "skipped": "0"})
    for result in results:
        keys = {"classname": _clean(result.test.kind or name), "name": _clean(result.test.name)}
        case = SubElement(suite, "testcase", keys | {"time": f"{result.seconds:.3f}"})
        if not result.passed:
            failed = result.failed()
            first = next((repeat.error or "; ".join(repeat.reasons) for repeat in failed), "")
            message = f"passed {result.share.value:.0%} of {len(result.repeats)}: {first}"
            problem = SubElement(case, "error" if result.is_error else "failure", {"message": _clean(message)})
            problem.text = _clean("\n\n".join(_conversation_text(result, repeat) for repeat in failed))
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _conversation_text(result: CheckResult, repeat: CheckRepeat) -> str:
    lines = [f"- {reason}" for reason in (repeat.error, *repeat.reasons) if reason]
    for turn, reply in zip(result.test.turns, repeat.replies):
        lines += [f"user: {turn}", f"bot: {reply}"]
    return "\n".join(lines)


def _clean(text: str) -> str:
    return INVALID_XML.sub("\ufffd", text)
