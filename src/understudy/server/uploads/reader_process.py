"""The process that reads one upload: `python -m understudy.server.uploads.reader_process`.

It takes one JSON document on stdin and writes JSON lines on stdout: progress, then the result. Before it opens anything
that was uploaded it limits its own processor time, memory, and the size of files it may write. Where the document names
a story file, it looks for its people instead.

It works in a folder that the server process made, and deletes afterwards:

    sent/                   the uploaded files, under harmless names
    fixed.toml              the cast.toml to read them with, if anything was corrected
    fixed-quotations.toml   and what was decided about quotations
    script-of/...           made here: the story folder that is read
    made.story              made here: the story file
    used.toml               made here: the cast.toml it was read with, if there was one
    used-quotations.toml    made here: quotations that are doubtful or decided, if there are any
    found.toml              what was found of a story's people; brought up to date here

A zip of a story folder is unpacked here too. It is refused if an entry would land outside of the folder, is a link or
encrypted, or unpacks to far more than its size; sizes are counted while unpacking, since a zip can lie about them.

A file's name is shown to users, gives titles and episode numbers, and names the working copy that a reader opens. So it
keeps its letters and digits and loses everything that is special to a file system, a terminal or a browser.
"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import signal
import sqlite3
import stat
import sys
import unicodedata
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from shutil import copyfile
from typing import Any

from understudy.errors import InputError, UnderstudyError
from understudy.formats import read
from understudy.formats.evidence import measure
from understudy.formats.prose.corrections import QUOTATIONS
from understudy.formats.prose.decisions import DoubtfulQuotations
from understudy.formats.recognition import recognised
from understudy.formats.story_folder import CAST, NOTES, scripts_in
from understudy.sources.source import HEAD_BYTES
from understudy.story.storyfile import Story, is_story_file, validate_story_file
from understudy.story.storyfile.found import FOUND

MIB = 1024 * 1024
SENT_FOLDER, STORY_FILE = "sent", "made.story"
FIXED_CAST, USED_CAST = "fixed.toml", "used.toml"
FIXED_QUOTATIONS, USED_QUOTATIONS = "fixed-quotations.toml", "used-quotations.toml"
MAX_CAST_BYTES = MIB
MAX_PROGRESS_REPORTS = 50
MAX_OPEN_FILES = 64
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
DOCUMENT_MARKERS = {"[Content_Types].xml", "META-INF/container.xml"}  # of office documents and e-books, zips too
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MAX_COMPRESSION_RATIO = 150  # text reaches ten, a zip bomb thousands
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
UNPACK_CHUNK_BYTES = 256 * 1024
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # Unicode categories: controls, bidi marks ...
SPECIAL = re.compile(r'[<>:"|?*/\\]')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)", re.IGNORECASE)
MAX_BYTES = 120  # with a number added, well within what every file system takes
MAX_SUFFIX_BYTES = 12

Send = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class UploadLimits:
    timeout_s: int = 60
    """For reading one upload, wall-clock and processor time alike."""
    memory_bytes: int = 1024 * MIB
    """Address space of the process that reads."""
    upload_bytes: int = 64 * MIB
    """All files of one upload together."""
    files: int = 300
    unpacked_bytes: int = 256 * MIB
    """What a zip may hold once it is unpacked."""
    zip_entries: int = 2000
    story_bytes: int = 512 * MIB
    """The story file made from the upload."""
    uploads: int = 100
    total_bytes: int = 2048 * MIB
    """All uploads together, including deleted ones that can still be restored."""
    concurrency: int = 2
    """Uploads read at a time; others wait."""
    restore_s: int = 24 * 3600
    """How long a deleted upload can be restored."""


def limit_resources(limits: UploadLimits) -> None:
    """Limit this process for the rest of its life."""
    for what, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.timeout_s),
        (resource.RLIMIT_FSIZE, limits.story_bytes),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    signal.alarm(limits.timeout_s + 5)  # in case the server is killed and cannot stop this process


def make_story(work: Path, limits: UploadLimits, send: Send, form: str = "") -> bool:
    """Read the uploaded files into a story file; returns whether the cast can be corrected by fixes.

    `form` names the reader that is to take them.
    """
    folder = _prepare_story_folder(work, limits)
    scripts = scripts_in(folder)
    if any(is_story_file(script) for script in scripts):
        if len(scripts) > 1:
            raise InputError("is a story file among other files: send it by itself", scripts[0])
        if (work / FIXED_CAST).exists():
            raise InputError("is a story file: its cast was settled when it was made", scripts[0])
        validate_story_file(scripts[0])
        os.replace(scripts[0], work / STORY_FILE)
        return False
    cast = folder / CAST
    if cast.exists() and cast.stat().st_size > MAX_CAST_BYTES:
        raise InputError(f"is over {MAX_CAST_BYTES // MIB} MB: this is no cast list", cast)
    doubtful, total, done = DoubtfulQuotations(), sum(script.stat().st_size for script in scripts), 0
    report = _throttled(send)

    def progress(size: int, doing: str) -> None:
        nonlocal done
        done += size
        report(min(done, total), total, doing)

    read(folder, into=work / STORY_FILE, progress=progress, form=form or None, quotations=doubtful)
    doubtful.write()
    for name, used in ((CAST, USED_CAST), (QUOTATIONS, USED_QUOTATIONS)):
        if (folder / name).exists():
            os.replace(folder / name, work / used)
    return True


def look_for_people(story: Path, work: Path, send: Send) -> None:
    """Look for the people of a story that has been read."""
    from understudy.people.draft import find_people  # which loads what reading does not need

    report = _throttled(send)
    opened = Story.open(story, found_file=work / FOUND)
    find_people(opened, lambda doing, done, total: report(done, total, doing.capitalize()))


def _throttled(send: Send) -> Callable[[int, int, str], None]:
    """Sends how much is done of how much, and what is being done, where either has changed noticeably."""
    last: tuple[int, str] = 0, ""

    def report(done: int, total: int, doing: str) -> None:
        nonlocal last
        now = done * MAX_PROGRESS_REPORTS // max(total, 1), doing
        if now != last:
            last = now
            send({"share": now[0] / MAX_PROGRESS_REPORTS, "step": doing or None})

    return report


def _prepare_story_folder(work: Path, limits: UploadLimits) -> Path:
    """The story folder to read. Its name becomes the title of a story that states none."""
    sent = sorted((work / SENT_FOLDER).iterdir())
    zips = [path for path in sent if is_story_zip(path)]
    if zips and len(sent) > 1:
        raise InputError("is a zip among other files: send a zip of one story folder by itself", zips[0])
    folder = work / "script"
    folder.mkdir()
    if zips:
        title = unpack(sent[0], folder, limits) or sent[0].stem
    else:
        title = next((path.stem for path in sent if path.suffix != ".toml"), "story")
        for path in sent:  # readers ignore notes in a folder; an uploaded file is meant to be read, so it is renamed
            copyfile(path, folder / (f"_{path.name}" if NOTES.match(path.name) else path.name))
    for name, fixed in ((CAST, FIXED_CAST), (QUOTATIONS, FIXED_QUOTATIONS)):
        if (work / fixed).exists():
            os.replace(work / fixed, folder / name)
    parent = work / "script-of"
    parent.mkdir()
    return folder.rename(parent / safe_name(title, "story"))


def is_story_zip(path: Path) -> bool:
    """Whether a file is a zip, but not one that is a document itself: an e-book, an office document, a card."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.startswith(ZIP_MAGIC) or recognised(measure(head, path)) is not None:
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return DOCUMENT_MARKERS.isdisjoint(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError):
        return True  # damaged, as `unpack` will say


def unpack(path: Path, into: Path, limits: UploadLimits) -> str | None:
    """Unpack the files of the story folder in a zip; returns the folder's name, None if they are at the top."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _checked_entries(archive, path, limits)
            story_folder = _story_folder(entries, path)
            names: set[str] = set()
            bytes_left = limits.unpacked_bytes
            for entry in entries:
                if PurePosixPath(entry.filename).parent != story_folder:
                    continue
                name = safe_name(entry.filename)
                if name.casefold() in names:
                    raise InputError(f"holds two files called '{name}': rename one", path)
                names.add(name.casefold())
                bytes_left -= _extract(archive, entry, into / name, bytes_left, path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError, EOFError) as error:
        raise InputError("is a damaged zip: pack the folder again", path) from error
    except RuntimeError as error:  # what zipfile raises for an encrypted entry
        raise InputError("is locked with a password: pack the folder without one", path) from error
    return story_folder.name or None


def _checked_entries(archive: zipfile.ZipFile, path: Path, limits: UploadLimits) -> list[zipfile.ZipInfo]:
    """The files in a zip, hidden ones left out; an `InputError` if any of them is unsafe."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > limits.zip_entries:
        raise InputError(f"holds {len(entries):,} files, more than the {limits.zip_entries:,} a story may have", path)
    if sum(entry.file_size for entry in entries) > limits.unpacked_bytes:
        raise InputError(f"unpacks to more than {limits.unpacked_bytes // MIB:,} MB: send its scripts in parts", path)
    for entry in entries:
        name = entry.orig_filename
        entry_path = PurePosixPath(name)
        if entry_path.is_absolute() or ".." in entry_path.parts or "\\" in name or ":" in name[:3] or "\0" in name:
            raise InputError("holds a file that would lie outside of its folder: pack the folder itself", path)
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise InputError("holds a link or a device: pack the files themselves", path)
        if entry.flag_bits & 0x1:
            raise InputError("is locked with a password: pack the folder without one", path)
        if entry.compress_type not in ZIP_METHODS:
            raise InputError("is packed in a way that is not read here: pack it as an ordinary zip", path)
        if entry.file_size > MIB and entry.file_size > MAX_COMPRESSION_RATIO * max(entry.compress_size, 1):
            raise InputError("unpacks to far more than a script could: this looks like a trap", path)
    parts = [PurePosixPath(entry.filename).parts for entry in entries]
    return [
        entry
        for entry, names in zip(entries, parts)
        if not any(name.startswith(".") or name == "__MACOSX" for name in names)
    ]


def _story_folder(entries: list[zipfile.ZipInfo], path: Path) -> PurePosixPath:
    """The folder nearest to the top that holds files."""
    folders = {PurePosixPath(entry.filename).parent for entry in entries}
    if not folders:
        raise InputError("holds no files: pack a story folder, its scripts and cast.toml", path)
    depth = min(len(folder.parts) for folder in folders)
    nearest = sorted(folder for folder in folders if len(folder.parts) == depth)
    if len(nearest) > 1:
        raise InputError(f"holds several folders ({nearest[0]}, {nearest[1]}): pack one story folder", path)
    return nearest[0]


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, max_bytes: int, path: Path) -> int:
    """Returns how many bytes were written."""
    written = 0
    with archive.open(entry) as source, target.open("xb") as output:
        while chunk := source.read(UNPACK_CHUNK_BYTES):
            written += len(chunk)
            if written > max_bytes:
                raise InputError("unpacks to more than it says: this looks like a trap", path)
            output.write(chunk)
    return written


def _system_failure(error: OSError | sqlite3.OperationalError, limits: UploadLimits) -> str:
    """Only what the failure is: paths of the server are not the client's to know."""
    if isinstance(error, OSError):
        is_full, what = error.errno in DISK_FULL, error.strerror or type(error).__name__
    else:  # a write beyond the limit on sizes is an input/output error to SQLite
        name = str(getattr(error, "sqlite_errorname", ""))
        is_full, what = name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE")), str(error)
    if is_full:
        return f"its story would need over {limits.story_bytes // MIB:,} MB, or the disk is full: send less"
    return f"could not be read: the server failed ({what}). It is not the file's fault: tell whoever runs the server"


def main() -> None:
    request = json.load(sys.stdin)
    limits, work = UploadLimits(**request["limits"]), Path(request["work"])

    def send(message: dict[str, Any]) -> None:
        print(json.dumps(message), flush=True)

    limit_resources(limits)
    try:
        if story := request.get("story"):
            look_for_people(Path(story), work, send)
            send({"fixable": False})
        else:
            send({"fixable": make_story(work, limits, send, request.get("form", ""))})
    except InputError as error:
        name = None if error.path is None else Path(error.path).name
        send({"refused": page_wording(error.message), "file": name, "line": error.line})
    except UnderstudyError as error:
        send({"refused": str(error)})
    except MemoryError:
        send({"refused": f"needs more than {limits.memory_bytes // MIB:,} MB of memory to be read: send it in parts"})
    except RecursionError:
        send({"refused": "is nested too deeply to be read"})
    except (OSError, sqlite3.OperationalError) as error:
        send({"refused": _system_failure(error, limits)})
    except Exception as error:  # a bug in a reader: reported for this upload, not as a failure of the server
        send({"refused": f"could not be read: the reader broke off ({type(error).__name__}). Please report this file"})


# What readers' messages say of the command line, in words that are true of a page.
#
# There a format is chosen with 'Read as', and columns have to have the usual names.

COLUMNS = "call its columns 'speaker' and 'text'"
REPLACEMENTS = (
    (r"--format(?: FORMAT\b(?: \((?:[^()]|\([^()]*\))*\))?)?", "'Read as'"),
    (r"[Ss]ay it with --columns(?:, such as: understudy read .*$| speaker=NAME,text=NAME)", COLUMNS),
    (r"[Ss]ay which column is whose: --columns speaker=NAME,text=NAME", COLUMNS),
    (r"name the columns: --columns speaker=KEY,text=KEY", "call its keys 'speaker' and 'text'"),
    (r"give your copy with --text FILE", "`understudy read` takes your copy with --text, this page does not"),
)
PATTERNS = [(re.compile(pattern), words) for pattern, words in REPLACEMENTS]
SENTENCE = re.compile(r"(?<=\. )call ")


def page_wording(message: str) -> str:
    for pattern, words in PATTERNS:
        message = pattern.sub(lambda _, words=words: words, message)  # type: ignore[misc]
    return SENTENCE.sub("Call ", message)


def safe_name(path: str, default: str = "unnamed") -> str:
    """The last part of a path, safe to show and to use; `default` if nothing of it is left."""
    name = re.split(r"[/\\]", unicodedata.normalize("NFKC", path))[-1]
    while (cleaned := _clean_name(name)) != name:  # removing characters can form a new special name
        name = cleaned
    return name or default


def _clean_name(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name)
    plain = "".join(char for char in plain if unicodedata.category(char) not in INVISIBLE)
    plain = " ".join(SPECIAL.sub("-", plain).split()).lstrip(".~- ").rstrip(". ")
    plain = f"_{plain}" if RESERVED.match(plain) else plain
    return _shorten_name(plain)


def _shorten_name(name: str) -> str:
    if len(name.encode()) <= MAX_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix.encode()) > MAX_SUFFIX_BYTES:
        stem, dot, suffix = name, "", ""
    suffix = dot + suffix
    return stem.encode()[: MAX_BYTES - len(suffix.encode())].decode(errors="ignore").rstrip(". ") + suffix


if __name__ == "__main__":
    main()
