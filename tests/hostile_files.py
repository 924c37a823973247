"""What may stand in the place of a file that somebody names, and an end to whoever waits for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60


def _hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _other(text: str) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return put


KINDS: Mapping[str, Callable[[Path], None]] = {  # each makes a file that is not there
    "named pipe": os.mkfifo,
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "full device": lambda path: path.symlink_to("/dev/full"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to nothing": lambda path: path.symlink_to("nothing"),
    "folder": Path.mkdir,
    "hole": _hole,
    "aliases of aliases": _other(
        "a: &a0 [x, x]\n"
        + "".join(f"k{n}: &a{n} {{<<: *a0, l: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60))
    ),
    "deep brackets": _other("[" * 100_000),
    "long number": _other(f"0\n1\nx {'9' * 6_000} {'9' * 6_000}\nnode.id={'9' * 6_000}\n"),
}


def put(kind: str, path: Path) -> None:
    """Have this in the place of a file, or where none is."""
    path.unlink(missing_ok=True)
    KINDS[kind](path)


@contextmanager
def patience() -> Iterator[None]:
    """What waits for long in here fails, where it would keep all other tests waiting."""

    def late(*_: object) -> None:
        raise TimeoutError(f"it waits for more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
