"""How a search goes: a line of a terminal that is written over and over, else now and then a line."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import TextIO, assert_never

from counterexamples.lines import count
from modelcheck.contract.report import (
    AnswersDone,
    Checkpointed,
    Event,
    LayerDone,
    NotCached,
    PhaseDone,
    Progress,
    Proving,
    RunFound,
    RunsDone,
    SecondEngineProgress,
    Shrinking,
    Spilled,
)
from modelcheck.contract.result import Spill
from modelcheck.contract.wording import memory_words, seconds_words
from modelcheck.processes.watch import LOOKS

EVERY = 0.2  # seconds between two mentions
CLEAR = "\r\x1b[2K"  # back to the start of the line, and erase it
FIRST = 10.0  # seconds of work before the first line where there is no terminal
LONGEST = 600.0  # seconds between two of these lines, at most


class ProgressLine:
    """A reporter that shows progress in a line of a terminal. Call `clear` before other output.

    Where there is no terminal, long work prints a line now and then, at ever longer intervals.
    """

    def __init__(self, stream: TextIO, title: str, *, columns: int) -> None:
        self._stream = stream
        self._log: _ProgressLog | None = None
        self._title = title
        self._columns = columns
        self._is_terminal = stream.isatty()
        self._violated: list[str] = []
        self._beside: list[str] = []
        self._noted: set[NotCached] = set()
        self._mentioned = monotonic()

    def begin(self, title: str) -> None:
        """Show a new title."""
        self._title, self._violated, self._beside = title, [], []
        self._draw(title)

    def show(self, words: str) -> None:
        """Show words until there is progress."""
        self._draw(words)

    def mention(self, title: str) -> None:
        """Show a title, unless another was shown just now."""
        now = monotonic()
        if now - self._mentioned > EVERY:
            self._mentioned = now
            self.begin(title)

    def tell(self, event: Event) -> None:
        """Update the line."""
        match event:
            case Progress():
                self._draw(self._words(event))
            case RunsDone():
                so_far = f"{event.done:,} of {count(event.wanted, 'random run')}"
                self._draw(self._paced([so_far], event.steps, "step", event.seconds))
            case AnswersDone():
                so_far = f"{event.done:,} of {count(event.wanted, event.what)}"
                self._draw(self._paced([so_far], event.states, "state", event.seconds))
            case Shrinking():
                so_far = f"down to {count(event.faults, 'fault')} in {count(event.steps, 'step')}"
                self._draw(self._paced([so_far], event.tried, "smaller run", event.seconds))
            case Proving():
                clauses = [count(event.clauses, "clause")] if event.clauses else []
                so_far = f"runs of {count(event.steps, 'step')}"
                self._draw(self._paced([so_far, *clauses], event.questions, "question", event.seconds))
            case RunFound(name):
                self._violated.append(name)
            case Checkpointed(_, str(problem)):
                self._erase()
                self._stream.write(f"modelcheck: no checkpoint: {problem}; the search continues\n")
            case NotCached(folder, problem) if event not in self._noted:
                self._noted.add(event)
                self._erase()
                self._stream.write(
                    f"modelcheck: what was compiled is not kept in {folder}: {problem};"
                    " the next run will take as long (MODELCHECK_CACHE names another folder)\n"
                )
            case SecondEngineProgress() | Spilled():
                self._announce(event)
            case LayerDone() | Checkpointed() | NotCached() | PhaseDone():
                pass
            case _:
                assert_never(event)

    def _announce(self, event: SecondEngineProgress | Spilled) -> None:
        """Tell of a second engine, or that a search begins again."""
        match event:
            case SecondEngineProgress(name, depth, found):
                self._beside = [f"{name} at depth {depth}"]
                if found is not None:
                    self._say(
                        f"{name} found a run for {found.property}, with {count(found.faults, 'fault')} in"
                        f" {count(found.steps, 'step')}; the search continues for one with fewer faults,"
                        " and Ctrl-C shows what there is"
                    )
            case Spilled(Spill(states, str(folder))):
                self._say(
                    f"memory is full after {count(states, 'state')}: the search begins again with its states"
                    f" on disk, in {folder} (--no-disk: end instead)"
                )
            case Spilled():  # it ends, and the card says why
                pass

    def clear(self) -> None:
        """Erase the line."""
        if self._log is not None:
            self._log.end()
            self._log = None
        self._erase()

    def _erase(self) -> None:
        """Erase what a terminal shows."""
        if self._is_terminal:
            self._stream.write(CLEAR)
            self._stream.flush()

    def _say(self, words: str) -> None:
        """Print a permanent line."""
        self._erase()
        self._stream.write(f"{self._plain(words)}\n")

    def _words(self, event: Progress) -> str:
        """Progress in words."""
        so_far = [count(event.faults, "fault"), f"depth {event.depth}"]
        now = [f"{event.waiting:,} waiting", memory_words(event.memory)]
        paced = self._paced(so_far, event.states, "state", event.seconds, now)
        decided = [f"decided: {', '.join(self._violated)}"] if self._violated else []
        return " · ".join([paced, *decided, *self._beside])

    def _paced(
        self, so_far: Sequence[str], done: int, what: str, seconds: float, now: Sequence[str] = ()
    ) -> str:
        """Progress with amount, rate and time, in words."""
        rate = done / seconds if seconds > 0 else 0
        parts = [*so_far, count(done, what), f"{rate:,.0f}/s", *now, seconds_words(seconds)]
        return " · ".join([self._title, *parts])

    def _draw(self, words: str) -> None:
        """Draw the line."""
        if self._is_terminal:
            self._stream.write(CLEAR + self._plain(words)[: self._columns - 1])
            self._stream.flush()
        elif self._log is not None:
            self._log.words = self._plain(words)
        else:
            with suppress(OSError):  # a stream in memory has no descriptor
                self._log = _ProgressLog(self._stream.fileno(), self._stream.encoding, self._plain(words))
                self._log.start()

    def _plain(self, words: str) -> str:
        """The words as they fit the terminal."""
        ascii_only = not (self._stream.encoding or "").lower().startswith("utf")
        return words.replace("·", "-") if ascii_only else words


class _ProgressLog(threading.Thread):
    """A thread that prints lines of progress: after 10 s, 20 s, 40 s and so on, at least every 10 minutes.

    They come also while native code runs, which tells nothing.  A fork may happen meanwhile: so it
    takes no lock that another thread needs, and writes to the descriptor.
    """

    def __init__(self, descriptor: int, encoding: str, words: str) -> None:
        super().__init__(daemon=True, name=LOOKS)
        self.words = words
        self._descriptor = descriptor
        self._encoding = encoding
        self._over = threading.Event()

    def run(self) -> None:
        """Print lines until the end."""
        began, wait = monotonic(), FIRST
        with suppress(OSError):  # what read them has ended
            while not self._over.wait(wait):
                spent = monotonic() - began
                words = f"after {seconds_words(spent)}: {self.words}\n"
                os.write(self._descriptor, words.encode(self._encoding, "replace"))
                wait = min(spent, LONGEST)

    def end(self) -> None:
        """Print no more lines."""
        self._over.set()
        self.join()
