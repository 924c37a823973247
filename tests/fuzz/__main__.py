"""`python -m tests.fuzz`: random models, mutated inputs of the command line, or mutants of proofs."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from time import monotonic

from modelcheck.processes.cores import cores
from tests.fuzz import inputs, models, ordinals, proofs
from tests.fuzz.findings import Answer
from tests.fuzz.pool import Lost, Queue, answers

LINE = 10.0  # seconds between two lines that tell how far it is
SEEDS = 10**9
MODES = {
    "models": models.serve,
    "ordinals": ordinals.serve,
    "inputs": inputs.serve,
    "proofs": proofs.serve,
}
Job = models.Job | ordinals.Job | inputs.Job | proofs.Job
EVERY = {"tlc": 20, "spin": 40, "rumur": 40}  # models


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 where nothing was found, 1 where something was."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mode", choices=MODES, default="models")
    parser.add_argument("--minutes", type=float, help="stop after so long")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first model or input (0)")
    parser.add_argument("--models", "--inputs", type=int, dest="count", help="so many, one after the other")
    parser.add_argument("--jobs", type=int, default=cores(), help="so many processes (one for each core)")
    parser.add_argument("--with", dest="others", default="", metavar=",".join(EVERY), help="ask these too")
    for name, every in EVERY.items():
        parser.add_argument(f"--{name}-every", type=int, default=every, metavar="K", help=f"({every})")
    parser.add_argument(
        "--only", action="append", default=[], metavar="LOOK", help="nothing else, but always"
    )
    parser.add_argument("--first", action="store_true", help="stop at the first thing that is found")
    args = parser.parse_args(argv)
    if args.minutes is None and args.count is None and args.mode != "proofs":
        parser.error("say how far to go: --minutes N or --models N")
    named = [name for name in args.others.split(",") if name]
    if unknown := [name for name in named if name not in EVERY]:
        parser.error(f"no such checker: {', '.join(unknown)}")
    others = tuple((name, getattr(args, f"{name}_every")) for name in named)
    last = args.seed + (SEEDS if args.count is None else args.count)
    if args.mode == "proofs":
        last = min(last, len(proofs.every()))

    def job(seed: int) -> Job:
        if args.mode == "models":
            return models.Job(seed, others, only=tuple(args.only))
        if args.mode == "ordinals":
            return ordinals.Job(seed, others, tuple(args.only))
        return proofs.Job(seed) if args.mode == "proofs" else inputs.Job(seed)

    until = None if args.minutes is None else monotonic() + 60 * args.minutes
    return _Run(args.mode, first=args.first).go(Queue(map(job, range(args.seed, last)), until), args.jobs)


class _Run:
    """One run: what was done and found so far."""

    def __init__(self, mode: str, *, first: bool) -> None:
        self.mode, self.first = mode, first
        self.done = self.found = 0
        self.looks: Counter[str] = Counter()
        self.began = self.told = monotonic()

    def go(self, queue: Queue[Job], most: int) -> int:
        """All of it, up to Ctrl-C or the end of the time."""
        say(f"{self.mode}, in {most} process{'es' * (most > 1)}")
        try:
            for job, answer in answers(MODES[self.mode], queue, most):
                self._take(job, answer, queue)
                if self.first and self.found:
                    break
                if monotonic() - self.told > LINE:
                    self._tell()
        except KeyboardInterrupt:
            say("interrupted")
        self._tell()
        for name, count in sorted(self.looks.items()):
            say(f"  {name:<28}{count:>9,}")
        return 1 if self.found else 0

    def _take(self, job: Job, answer: Answer | Lost, queue: Queue[Job]) -> None:
        self.done += not job.shrink
        if isinstance(answer, Lost):
            self._report(f"== {job.shrink or self.mode} {answer.why} · seed {job.seed}\n\n{job.again}")
            return
        self.looks.update(answer.looks)
        for line in answer.told:
            say(line)
        for each in answer.found:
            smaller = job.smaller(each)
            if smaller is None or self.first:
                self._report(str(each))
            else:
                queue.add(smaller)

    def _report(self, text: str) -> None:
        self.found += 1
        say(f"\n{text}\n")

    def _tell(self) -> None:
        self.told = monotonic()
        seconds = self.told - self.began
        rate = f"{self.done / seconds:.1f} a second"
        say(f"{self.done:,} {self.mode}, {rate}, {self.found} found, {seconds:.0f} s")


def say(line: str) -> None:
    """A line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
