"""The output of commands: results on one stream, everything else on another."""

from __future__ import annotations

import io
import json
import os
import select
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from counterexamples.lines import Line, line, plain
from modelcheck.contract.exits import Exit
from spec.diagnostics import SpecError, render
from spec.frozen import frozen

if TYPE_CHECKING:
    from modelcheck.contract.result import End

WIDTH = 100  # wider lines are harder to read, however wide the terminal


class Unfailing(io.FileIO):
    """A stream that never raises: after the first failure, output is dropped and `problem` is why."""

    problem: OSError | None = None

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - all that has bytes
        """Write as much as the stream accepts now."""
        while self.problem is None:
            try:
                written = super().write(data)
            except OSError as error:
                self.problem = error
            else:
                if written is not None:
                    return written
                select.select([], [self], [])  # it may have been made non-blocking
        return memoryview(data).nbytes


def own_streams() -> Unfailing:
    """Replace `sys.stdout` and `sys.stderr` by streams that never fail; returns that of the output.

    Of what the process was started without, the input cannot be read and the output not be written.
    """
    if sys.stdin is None:
        sys.stdin = open(_instead(os.O_WRONLY), encoding="utf-8")  # noqa: SIM115 - to the end of the process
    out = Unfailing(_instead(os.O_RDONLY) if sys.stdout is None else sys.stdout.fileno(), "w", closefd=False)
    err = Unfailing(_instead(os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno(), "w", closefd=False)
    sys.stdout = _text(out, sys.stdout, by_lines=out.isatty())
    sys.stderr = _text(err, sys.stderr, by_lines=True)
    return out


def _instead(mode: int) -> int:
    """A null device in place of a closed stream, so that no other file gets its descriptor."""
    number = os.open(os.devnull, mode)
    os.set_inheritable(number, True)  # noqa: FBT003 - it has no name for it
    return number


def _text(stream: Unfailing, like: TextIO | None, *, by_lines: bool) -> TextIO:
    """A text stream with the encoding of the one it replaces."""
    encoding, errors = ("utf-8", "replace") if like is None else (like.encoding, like.errors)
    return io.TextIOWrapper(
        io.BufferedWriter(stream), encoding=encoding, errors=errors, line_buffering=by_lines
    )


@frozen
class Output:
    """The output streams of a command, with methods for text, coloured lines and JSON."""

    out: TextIO
    err: TextIO
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def write(self, text: str) -> None:
        """Write a text unchanged."""
        self.out.write(text)

    def file(self, content: str | bytes) -> None:
        """Write a file's content: in UTF-8 to a pipe, made safe for a terminal."""
        if isinstance(content, str) and self.is_terminal:
            self.lines(line(each) for each in content.splitlines())
            return
        data = content.encode() if isinstance(content, str) else content
        self.out.flush()
        self.out.buffer.write(data)
        self.out.buffer.flush()

    @property
    def is_terminal(self) -> bool:
        """Whether the output is a terminal."""
        return self.out.isatty()

    @property
    def is_ascii(self) -> bool:
        """Whether the output's encoding has only ASCII."""
        return not (self.out.encoding or "ascii").lower().startswith("utf")

    def json(self, value: object) -> None:
        """Write a value as JSON in ASCII."""
        self.out.write(json.dumps(value, indent=2) + "\n")

    def lines(self, lines: Iterable[Line]) -> None:
        """Write lines, in colour if the terminal has it."""
        if self._has_colour():
            from counterexamples.terminal import put  # noqa: PLC0415 - rich is loaded only where there is colour

            put(lines, self.out)
            return
        self.out.writelines(plain([each], ascii_only=self.is_ascii) for each in lines)

    def mistakes(self, error: SpecError) -> None:
        """Write wrong input's diagnostics to standard error."""
        texts = [render(diagnostic) for diagnostic in error.diagnostics]
        self.tell("\n".join([*texts, f"{len(texts)} errors"] if len(texts) > 1 else texts))

    def tell(self, text: str) -> None:
        """Write a message for the user to standard error."""
        self.err.write(text + "\n")

    def give_up(self, end: End) -> NoReturn:
        """Exit at once, from any thread, because of a limit that nothing else handled."""
        self.tell(f"modelcheck: {end.value}, in the midst of one computation; no verdict")
        self.err.flush()
        os._exit(Exit.UNKNOWN)  # what runs in the main thread cannot be stopped

    @property
    def width(self) -> int:
        """The width of lines: the terminal's, or `COLUMNS`."""
        known = self.out.isatty() or "COLUMNS" in self.environment
        return max(40, min(WIDTH, shutil.get_terminal_size().columns)) if known else WIDTH

    def _has_colour(self) -> bool:
        """Whether to use colour: see https://no-color.org and https://force-color.org."""
        if self.environment.get("NO_COLOR") or self.environment.get("TERM") == "dumb":
            return False
        return self.is_terminal or bool(self.environment.get("FORCE_COLOR"))
