"""Tests leave nothing in the user's cache of encodings, find nothing there, and know of no language model set up."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from operator import itemgetter
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings

from stories import brass_key

# What is written is flushed to the disk, and tests would wait for that: where there is room they write to memory.
MEMORY, LEAST_ROOM = Path("/dev/shm"), 4 * 1024**3
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > LEAST_ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    tempfile.tempdir = str(MEMORY)
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # threads that wait for each other take others' cores
    os.environ[variable] = "1"
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers share what they encode
    os.environ["UNDERSTUDY_CACHE"] = tempfile.mkdtemp(prefix="understudy-tests-")
os.environ["UNDERSTUDY_CONFIG"] = str(Path(os.environ["UNDERSTUDY_CACHE"]) / "no settings")
os.environ["XDG_DATA_HOME"] = str(Path(os.environ["UNDERSTUDY_CACHE"]) / "no data")
for variable in [name for name in os.environ if name.startswith(("UNDERSTUDY_LLM_", "UNDERSTUDY_LOG_", "OPENAI_"))]:
    del os.environ[variable]
os.environ["UNDERSTUDY_AGENT"] = "guarded"  # by default nothing is written by a model, whatever this machine has

# A busy or slow machine fails no test. In CI the same examples are tried every time.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
if os.environ.get("CI"):
    UNHURRIED = settings(UNHURRIED, derandomize=True, database=None)
settings.register_profile("quick", UNHURRIED, max_examples=25)
settings.register_profile("thorough", UNHURRIED, max_examples=200)
SUMMARISED_S = 60


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="also the tests marked thorough, and more examples")


def pytest_configure(config: pytest.Config) -> None:
    is_thorough = config.getoption("--thorough")
    settings.load_profile("thorough" if is_thorough else "quick")
    if not is_thorough and not config.option.markexpr:
        config.option.markexpr = "not thorough"


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Seconds per folder and the slowest tests: they inform, and fail nothing."""
    folders, tests = defaultdict[str, float](float), defaultdict[str, float](float)
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            path = Path(report.nodeid.partition("::")[0])
            folders["/".join(path.parts[:2])] += report.duration
            tests[report.nodeid] += report.duration
    if sum(tests.values()) < SUMMARISED_S:
        return
    terminalreporter.section("seconds per folder, and the ten slowest tests")
    slowest_folders, slowest_tests = (
        sorted(each.items(), key=itemgetter(1), reverse=True) for each in (folders, tests)
    )
    for name, seconds in (*slowest_folders, *slowest_tests[:10]):
        terminalreporter.write_line(f"{seconds:7.1f}  {name}")


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A story folder: two acts of two scenes."""
    return brass_key(tmp_path / "brass-key")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A real PostgreSQL with pgvector, on a socket in a folder of its own.

    Not in pytest's folder: the next pytest of this user closes that to others, as which the server runs under root.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the folder it keeps its own records in
        from pgserver.postgres_server import get_server
    with tempfile.TemporaryDirectory(prefix="understudy-postgres-") as folder:
        server = get_server(folder, cleanup_mode="stop")
        yield str(server.get_uri())
        server.cleanup()
