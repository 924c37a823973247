"""Grading in a process of its own, within limits of time and memory that nothing in a submission can pass.

NOTE(guarded): a submission is a text that is parsed, elaborated and searched; nothing in it can name a
file.  What it can do is to take time and memory, also in the midst of one evaluation where Python
hears no signal, or find a bug of an engine.  So this process only waits, and ends the other
when its time is over; the system refuses the other more memory than it may have.
"""

from __future__ import annotations

import resource
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import assert_never

from modelcheck.contract.result import End
from modelcheck.processes.children import started
from modelcheck.teaching.course.exercises import exercise
from modelcheck.teaching.course.grading import Grade, GradeItem, empty, judged
from modelcheck.teaching.course.submission import submission
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.reading import bytes_of
from spec.source import Source

SECONDS = 60.0
MEMORY = 1_000_000_000
GRACE = 2.0  # seconds in which a process starts, and reports what it has found
STATM = Path("/proc/self/statm")
ROOM = 500_000_000  # bytes of addresses that are never used: code, stacks, what was reserved
LATE = "the time is over"


@frozen
class _GradingOrder:
    """A message: what the grading process is to grade."""

    exercise: str
    source: Source
    seconds: float
    memory: int


@frozen
class _Changed:
    """A message: the submission is valid; these declarations differ from the exercise's."""

    names: tuple[str, ...]


@frozen
class _Wrong:
    """A message: the submission is invalid."""

    diagnostics: tuple[Diagnostic, ...]


@frozen
class _Ended:
    """A message: grading ended; `why` if by a limit, `bug` if by a bug of ours."""

    why: str = ""
    bug: str = ""


_Message = _Changed | GradeItem | _Wrong | _Ended


def graded(
    name: str,
    source: Source,
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    tell: Callable[[Grade], None] = lambda _: None,
) -> Grade:
    """The grade of a submission, in a limited process; `tell` receives it as it grows.

    Takes up to `seconds` and a little more, and up to `memory` bytes in another process; what a limit
    leaves undone is worth nothing, and reported, as after a request to end.  Raises SpecError for what is
    wrong with the input.
    """
    grade = empty(exercise(name))
    child, began = started(_serve), monotonic()
    try:
        child.pipe.send(_GradingOrder(name, source, seconds, memory))
        while child.pipe.poll(max(0.0, seconds + GRACE - (monotonic() - began))):
            message: _Message = child.pipe.recv()
            match message:
                case _Wrong(diagnostics):
                    raise SpecError(diagnostics)
                case _Changed(names):
                    grade = replace(grade, changed=names)
                case GradeItem():
                    items = (message if each.asked == message.asked else each for each in grade.items)
                    grade = replace(grade, items=tuple(items))
                case _Ended(why, bug):
                    if bug:
                        raise RuntimeError(bug)
                    return replace(grade, ended=why)
                case _:
                    assert_never(message)
            tell(grade)
        return replace(grade, ended=LATE)
    except (EOFError, ConnectionError):
        return replace(grade, ended=f"the process that grades {child.ending()}")
    except KeyboardInterrupt:
        return replace(grade, ended=End.INTERRUPTED.value)
    finally:
        child.end()


def _serve(pipe: Connection) -> None:
    """The grading process: grade, and send each point."""
    order: _GradingOrder = pipe.recv()
    try:
        _bound(order.memory)
        for message in _graded(order):
            pipe.send(message)
    except MemoryError:
        pipe.send(_Ended("the memory is used up"))
    except Exception:  # noqa: BLE001 - whatever it is, it is a bug of ours, and reported there
        pipe.send(_Ended(bug=traceback.format_exc()))


def _graded(order: _GradingOrder) -> Iterator[_Message]:
    """The messages of grading."""
    asked, began = exercise(order.exercise), monotonic()
    try:
        handed = submission(asked, order.source)
    except SpecError as error:
        yield _Wrong(error.diagnostics)
        return
    yield _Changed(handed.changed)
    ended = ""
    for item in judged(asked, handed, order.seconds - (monotonic() - began), order.memory):
        ended = item.note if item.met is None else ""
        yield item
    yield _Ended(ended)


def _bound(memory: int) -> None:
    """Limit this process's memory, where the system can."""
    if STATM.exists():
        reserved = int(bytes_of(STATM, 1000).split()[0]) * resource.getpagesize()
        most = reserved + ROOM + memory
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
