"""A request asked of a process of its own, which is ended when the caller ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from modelcheck.processes.safe_path import environment, python

GRACE = 5.0  # seconds more than twice its time, in which a process starts and reports what it has found


class NoAnswer(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Why a request has no answer."""


async def answer(request: Mapping[str, Any], seconds: float, folder: str | None) -> dict[str, Any]:
    """What `work.py` answers, in a folder; the process is ended when its time is over by far.

    It is ended too when this is cancelled, and ends by itself when this process does.
    Raises NoAnswer where there is none.
    """
    process = await asyncio.create_subprocess_exec(
        *python("-m", "modelcheck.commands.agents.work"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=folder,
        env=environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(2 * seconds + GRACE):
            with contextlib.suppress(ConnectionError):
                process.stdin.write(json.dumps(request).encode() + b"\n")  # and it stays open
                await process.stdin.drain()
            output = await process.stdout.read()
    except TimeoutError:
        raise NoAnswer("the time is over, in the midst of one computation; no verdict") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        process.stdin.close()
        await process.wait()
    try:
        found: dict[str, Any] = json.loads(output)
    except ValueError:
        raise NoAnswer("the search was ended from outside, perhaps for want of memory; no verdict") from None
    return found
