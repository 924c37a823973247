"""How long an editor waits, by the clock: `python -m tests.editor_times`.

A mistake is typed into `kafka.rsm` and mended again, and what is measured is the time from a key to
its diagnostics; then the time from a change of a small model to the verdict above its check, with
the wait of half a second until the keys rest.  Each is told with the load of the machine: a machine that
does something else tells nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.modelcheck.test_lsp import TINY, Editor, session

KAFKA = Path(__file__).parent.parent / "spec" / "protocols" / "kafka.rsm"
KAFKA_URI = "file:///models/kafka.rsm"
WORD = "session"  # of kafka.rsm; behind it a letter is typed too much
STEP = 0.001  # seconds between two looks


async def seen(look: Any) -> float:  # noqa: ANN401 - any look that is true in the end
    """The seconds until a look is true."""
    began = perf_counter()
    while not look():  # noqa: ASYNC110 - whoever is waited for is another process
        await asyncio.sleep(STEP)
    return perf_counter() - began


async def mistakes(editor: Editor, rounds: int) -> list[float]:
    """The seconds from a key to the mistake it makes, and from another to its end."""
    text = KAFKA.read_text(encoding="utf-8")
    line = next(
        n for n, each in enumerate(text.split("\n")) if each.strip().startswith("require") and WORD in each
    )
    column = text.split("\n")[line].index(WORD) + len(WORD)
    editor.open(text, KAFKA_URI)

    def are(version: int, *, some: bool) -> bool:
        told = editor.told.get(KAFKA_URI)
        return told is not None and told.version == version and bool(told.diagnostics) == some

    await seen(lambda: are(1, some=False))
    found = []
    for version in range(2, 2 + 2 * rounds, 2):
        editor.change(version, "x", (line, column, column), KAFKA_URI)
        found.append(await seen(lambda version=version: are(version, some=True)))
        editor.change(version + 1, "", (line, column, column + 1), KAFKA_URI)
        found.append(await seen(lambda version=version: are(version + 1, some=False)))
        await asyncio.sleep(0.05)
    return found


async def verdicts(editor: Editor, rounds: int) -> list[float]:
    """The seconds from a change to the verdict of the check that runs by itself."""
    found = []
    editor.open(TINY)
    for version in range(2, 2 + rounds):
        editor.change(version, TINY.replace("require free:", f"require free{version}:"))
        began = perf_counter()
        while not any(each.startswith(("✓", "✗")) for each in await editor.lenses()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        found.append(perf_counter() - began)
    return found


def told(what: str, seconds: list[float]) -> None:
    """All numbers, in milliseconds, and the one in the middle."""
    shown = " ".join(f"{1000 * each:.0f}" for each in seconds)
    sys.stdout.write(
        f"{what}: median {1000 * median(seconds):.0f} ms, most {1000 * max(seconds):.0f} ms: {shown}\n"
    )


def main() -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=10, metavar="N")
    rounds = parser.parse_args().rounds
    sys.stdout.write(f"load {os.getloadavg()}\n")
    told("a mistake in kafka.rsm", session(lambda editor: mistakes(editor, rounds), "--background", "none"))
    told("a verdict of tiny.rsm", session(lambda editor: verdicts(editor, rounds)))
    sys.stdout.write(f"load {os.getloadavg()}\n")


if __name__ == "__main__":
    main()
