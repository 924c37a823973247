"""A request asked of a process of its own, which is ended when the caller ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from collections.abc import Mapping
from typing import Any

from modelcheck.processes.endings import ending_words
from modelcheck.processes.safe_path import environment, python

GRACE = 5.0  # seconds more than twice its time, in which a process starts and reports what it has found


class NoAnswer(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if a request has no answer; has the reason."""


async def answer(request: Mapping[str, Any], seconds: float, folder: str | None) -> dict[str, Any]:
    """The answer of a `work.py` process to a request; it is killed long after its time.

    It is ended too when this is cancelled, and ends on its own when this process does.
    Raises NoAnswer where there is none.
    """
    # Not by asyncio, which waits for ever where it is cancelled while it starts a process.
    process = subprocess.Popen(  # noqa: ASYNC220, S603 - ours, and started in a moment
        python("-m", "modelcheck.commands.serve.mcp.work"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=environment(),
    )
    try:
        async with asyncio.timeout(2 * seconds + GRACE):
            output = await asyncio.to_thread(_told, process, json.dumps(request).encode() + b"\n")
    except TimeoutError:
        raise NoAnswer("the time is over, in the midst of one computation; no verdict") from None
    finally:
        process.kill()  # so that who still reads from it comes to an end
        process.wait()
    try:
        found: dict[str, Any] = json.loads(output)
    except ValueError:
        raise NoAnswer(f"the process of the search {ending_words(process.returncode)}; no verdict") from None
    return found


def _told(process: subprocess.Popen[bytes], request: bytes) -> bytes:
    """The output of a process for a request; its input stays open while it runs."""
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout, contextlib.suppress(ConnectionError), process.stdin:
        with contextlib.suppress(ConnectionError):
            process.stdin.write(request)
            process.stdin.flush()
        output = process.stdout.read()
    process.wait()  # how it ended is not to be our doing
    return output
