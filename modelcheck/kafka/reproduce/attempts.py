"""A run tried on a real cluster, from what is refused to the exit code."""

from __future__ import annotations

from pathlib import Path

from counterexamples.trace import Trace
from modelcheck.answers.progress import ProgressLine
from modelcheck.contract.exits import Exit
from modelcheck.kafka.reproduce.attempt import Attempt, Came, attempt
from modelcheck.kafka.reproduce.driver import Run
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.selection import asked
from spec.frozen import frozen


@frozen
class Manner:
    """Options of an attempt: another check's configuration, repetitions, folders, where settings go."""

    under: str | None = None
    times: int = 1
    keep: Path | None = None
    at_brokers_only: bool = False


def tried(trace: Trace, home: Home, progress: ProgressLine, manner: Manner = Manner()) -> Attempt:  # noqa: B008 - it is frozen
    """Drive a run on real clusters, some times; returns the attempt, if interrupted with the runs completed.

    Costs about a minute for each run.  Raises SpecError where the release lacks the settings, or the
    cluster does not start, and KeyboardInterrupt where a request to end (NOTE(ending)) comes before a run
    has ended; no process and no folder of its own is left then.
    """
    wish, problem = asked(trace, home, under=manner.under, at_brokers_only=manner.at_brokers_only)
    if problem is not None:
        return Attempt(wish, home.version, frozenset(), (), problem)
    runs: list[Run] = []
    try:
        for each in attempt(wish, home, times=manner.times, keep=manner.keep, tell=progress.begin):
            runs.append(each)  # noqa: PERF402 - the runs so far are kept where it is interrupted
    except KeyboardInterrupt:
        if not runs:
            raise
    return Attempt(wish, home.version, wish.predicted, tuple(runs))


def exit_code(found: Attempt) -> Exit:
    """EXPECTED if the cluster behaved like the model, else another exit code."""
    if found.came is Came.COULD_NOT:
        return Exit.UNKNOWN
    return Exit.EXPECTED if found.is_as_predicted else Exit.VIOLATED
