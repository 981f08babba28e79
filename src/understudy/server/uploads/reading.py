"""What the process does that reads an upload: `python -m understudy.server.uploads.reading`.

It is told what to do by one JSON document on stdin and answers in JSON lines on stdout: how far it is, then what came
of it. Before it looks at anything that was sent it gives up what a reader has no need of: time, memory, large files.

The folder it works in belongs to the one who started it, and goes when that one is done:

    sent/         the files as they were sent, under harmless names
    fixed.toml    the cast.toml to read them with, where a person has put something right
    script-of/... made here: the story folder that is read
    made.story    made here: the story file
    used.toml     made here: the cast.toml it was read with, where there was one
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

from understudy.errors import InputError, UnderstudyError
from understudy.readers import read
from understudy.readers.story_folder import CAST, NOTES, scripts_in
from understudy.server.uploads.limits import MIB, Limits
from understudy.server.uploads.names import safe_name
from understudy.server.uploads.unpacking import is_story_zip, unpack
from understudy.storyfile import is_story_file, validate_story_file

__all__ = ["FIXED", "LARGEST_CAST", "MADE", "SENT", "USED", "make_story"]

SENT, FIXED, MADE, USED = "sent", "fixed.toml", "made.story", "used.toml"
LARGEST_CAST = MIB
STEPS = 50  # how often progress is told at most
OPEN_FILES = 64

Tell = Callable[[dict[str, Any]], None]


def confine(limits: Limits) -> None:
    """From here on this process can do no more than read."""
    for what, most in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_FSIZE, limits.story),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    signal.alarm(limits.seconds + 5)  # should nobody be left to stop it


def make_story(work: Path, limits: Limits, tell: Tell) -> bool:
    """Read what was sent into a story file; says whether a person can put its cast right."""
    folder = _laid_out(work, limits)
    scripts = scripts_in(folder)
    if any(is_story_file(script) for script in scripts):
        if len(scripts) > 1:
            raise InputError("is a story file among other files: send it by itself", scripts[0])
        if (work / FIXED).exists():
            raise InputError("is a story file: its cast was settled when it was made", scripts[0])
        validate_story_file(scripts[0])
        os.replace(scripts[0], work / MADE)
        return False
    if (folder / CAST).exists() and (folder / CAST).stat().st_size > LARGEST_CAST:
        raise InputError(f"is over {LARGEST_CAST // MIB} MB: this is no cast list", folder / CAST)
    read(folder, into=work / MADE, progress=_counting(sum(script.stat().st_size for script in scripts), tell))
    if (folder / CAST).exists():
        os.replace(folder / CAST, work / USED)
    return True


def _laid_out(work: Path, limits: Limits) -> Path:
    """The story folder to read. Its name is the title of a story that does not say its own."""
    sent = sorted((work / SENT).iterdir())
    zips = [path for path in sent if is_story_zip(path)]
    if zips and len(sent) > 1:
        raise InputError("is a zip among other files: send a zip of one story folder by itself", zips[0])
    folder = work / "script"
    folder.mkdir()
    if zips:
        title = unpack(sent[0], folder, limits) or sent[0].stem
    else:
        title = next((path.stem for path in sent if path.suffix != ".toml"), "story")
        for path in sent:  # in a folder notes are passed over, but what somebody sends by itself is meant
            copyfile(path, folder / (f"_{path.name}" if NOTES.match(path.name) else path.name))
    if (work / FIXED).exists():
        os.replace(work / FIXED, folder / CAST)
    home = work / "script-of"
    home.mkdir()
    return folder.rename(home / safe_name(title, "story"))


def _counting(total: int, tell: Tell) -> Callable[[int], None]:
    done, told = 0, 0

    def more(number: int) -> None:
        nonlocal done, told
        done += number
        step = min(done * STEPS // max(total, 1), STEPS)
        if step > told:
            told = step
            tell({"share": step / STEPS})

    return more


def main() -> None:
    job = json.load(sys.stdin)
    limits, work = Limits(**job["limits"]), Path(job["work"])

    def tell(what: dict[str, Any]) -> None:
        print(json.dumps(what), flush=True)

    confine(limits)
    try:
        tell({"fixable": make_story(work, limits, tell)})
    except InputError as error:
        name = None if error.path is None else Path(error.path).name
        tell({"refused": error.message, "file": name, "line": error.line})
    except UnderstudyError as error:
        tell({"refused": str(error)})
    except MemoryError:
        tell({"refused": f"needs more than {limits.memory // MIB:,} MB of memory to be read: send it in parts"})
    except RecursionError:
        tell({"refused": "is nested too deeply to be read"})
    except (OSError, sqlite3.OperationalError):
        tell({"refused": f"its story would need over {limits.story // MIB:,} MB, or the disk is full: send less"})
    except Exception as error:  # a reader's own mistake must not look like the server's
        tell({"refused": f"could not be read: the reader broke off ({type(error).__name__}). Please report this file"})


if __name__ == "__main__":
    main()
