"""Reading in a process of its own: a file that would take for ever, or everything, takes nothing from the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.server.uploads.limits import MIB, Limits

__all__ = ["read_apart"]

LONGEST_ANSWER = 64 * 1024
HANDED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Of the environment: no key, and nothing else a reader has no business with."""


async def read_apart(work: Path, limits: Limits, progress: Callable[[float], None]) -> bool:
    """Have what lies in a folder read (see `reading`); says whether its cast can be put right by a person.

    Raises an `InputError` with the reader's own words where it cannot be read. However it ends, the process is gone.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "understudy.server.uploads.reading",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env=_environment(work), cwd="/", start_new_session=True, limit=LONGEST_ANSWER,
    )  # fmt: skip
    try:
        async with asyncio.timeout(limits.seconds):
            answer = await _answer(process, {"work": str(work), "limits": asdict(limits)}, progress)
            await process.wait()
    except TimeoutError:
        raise InputError(f"takes longer than {limits.seconds} s to read: send it in parts") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())
    if answer is None:
        raise InputError(
            f"took more than {limits.seconds} s or {limits.memory // MIB:,} MB of memory to read: send it in parts"
        )
    if "refused" in answer:
        raise InputError(str(answer["refused"]), answer.get("file"), answer.get("line"))
    return bool(answer["fixable"])


async def _answer(
    process: asyncio.subprocess.Process, job: dict[str, Any], progress: Callable[[float], None]
) -> dict[str, Any] | None:
    """The last thing it says, unless that is how far it is."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(json.dumps(job).encode())
        await process.stdin.drain()
    process.stdin.close()
    answer: dict[str, Any] | None = None
    async for line in process.stdout:
        told = json.loads(line)
        if "share" in told:
            progress(float(told["share"]))
        else:
            answer = told
    return answer


def _environment(work: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
    return {**kept, "TMPDIR": str(work), "SQLITE_TMPDIR": str(work), "PYTHONDONTWRITEBYTECODE": "1"}
