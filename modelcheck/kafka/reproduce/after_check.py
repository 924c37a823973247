"""`--reproduce` of other commands: the run that they have found, tried on a real cluster and reported."""

from __future__ import annotations

from collections.abc import Callable

from counterexamples.trace import Trace
from modelcheck.answers.progress import ProgressLine
from modelcheck.contract.exits import Exit
from modelcheck.kafka.reproduce.attempts import exit_code, tried
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.report import as_json, lines
from modelcheck.storage.output import Output
from spec.diagnostics import SpecError
from spec.frozen import frozen


@frozen
class Reproduced:
    """The result of a reproduction after a check: its exit code, and its report as data, if any."""

    exit: Exit
    data: dict[str, object] | None = None


def reproduced(run: Callable[[], Trace], home: Home, output: Output, *, shown: bool) -> Reproduced:
    """Try a run on a real cluster, and print the report if it is to be shown.

    `run` gives it, or raises SpecError where none is driven.  A mistake is reported, as an interruption
    is, and neither changes the answer that was found before.
    """
    progress = ProgressLine(output.err, "reproduce", columns=output.width)
    try:
        try:
            found = tried(run(), home, progress)
        finally:
            progress.clear()
    except SpecError as error:
        output.mistakes(error)
        return Reproduced(Exit.WRONG)
    except KeyboardInterrupt:
        output.tell("modelcheck: interrupted, so nothing is reproduced")
        return Reproduced(Exit.UNKNOWN)
    if shown:
        output.write("\n")
        output.lines(lines(found, output.width))
    return Reproduced(exit_code(found), as_json(found))
