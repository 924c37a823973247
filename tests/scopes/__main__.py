"""`python -m tests.scopes`: does a larger bound change an answer of a review?  It writes down what it found.

Costs two hours of CPU; where it is interrupted, what was found so far is written down, and answers are kept
for the next time.  `tests/scopes/test_scopes.py` insists that what is written down is of the model and
the questions as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import monotonic

from modelcheck.processes.workers import Workers
from tests.scopes.asked import Comparing, JobComparison
from tests.scopes.grid import RAISED, jobs
from tests.scopes.record import described, write

LINE = 15.0  # seconds between two lines of progress


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 where no larger bound changes an answer, 1 where one does."""
    parser = argparse.ArgumentParser(prog="python -m tests.scopes", description=__doc__)
    parser.add_argument("--only", type=int, action="append", metavar="N", help="the job of this number alone")
    parser.add_argument("--raise", dest="raised", action="append", default=[], choices=[*map(str, RAISED)])
    parser.add_argument("--every", type=int, default=1, metavar="K", help="one job of so many (1)")
    args = parser.parse_args(argv)
    asked = jobs()
    numbers = args.only or list(reversed(range(0, len(asked), args.every)))  # the newest releases first
    is_whole = not (args.only or args.raised or args.every > 1)
    chosen = tuple(asked[number] for number in numbers)
    models = {id(posed.model): posed.model for job in chosen for posed in job.posed}
    found: list[JobComparison] = []
    began = last = monotonic()
    with Workers(Comparing(chosen, tuple(args.raised)), list(models.values())) as workers:
        for _, comparison in workers.each(len(chosen)):
            found.append(comparison)
            for each in comparison.compared:
                for cell in each.different:
                    print(described(chosen[comparison.number], each.raised, cell), flush=True)  # noqa: T201
            if monotonic() - last > LINE:
                last = monotonic()
                states = sum(each.states for each in found)
                line = f"{len(found)} of {len(chosen)} jobs, {states:,} states, {last - began:.0f} s"
                print(line, file=sys.stderr, flush=True)  # noqa: T201
                if is_whole:
                    write(asked, found)
        ended = workers.ended
    if ended:
        print(f"ended early: {ended}", file=sys.stderr)  # noqa: T201
    if is_whole:
        write(asked, found)
    return 1 if ended or any(each.different for one in found for each in one.compared) else 0


if __name__ == "__main__":
    sys.exit(main())
