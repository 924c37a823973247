"""The mode `models`: random models, each asked of all engines; what differs is made small."""

from __future__ import annotations

import gc
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from spec.diagnostics import SpecError
from tests.fuzz.cases import TooLarge, case_of, text_of
from tests.fuzz.comparisons import COMPARISONS, Comparison, alike, differing
from tests.fuzz.findings import Answer, Differences, Finding
from tests.fuzz.others import OTHERS
from tests.fuzz.pool import answer_each
from tests.fuzz.shrink import smallest

PATIENCE = 120.0  # seconds for one model
SHRINKING = 60.0  # seconds for one difference
LARGE = "too large"


@dataclass(frozen=True)
class Job:
    """A model to be compared; or a difference that was seen, by a comparison, and is to be made small.

    `others` are the checkers that are asked too, each about one model in so many.  With
    `only`, these comparisons are made of every model, and no others.
    """

    seed: int
    others: tuple[tuple[str, int], ...] = ()
    seen: Finding | None = None
    only: tuple[str, ...] = ()

    @property
    def shrink(self) -> str:
        """The comparison whose difference is to be made small."""
        return self.seen.look if self.seen else ""

    @property
    def patience(self) -> float:
        """So many seconds it may take."""
        return PATIENCE + (SHRINKING if self.shrink else 0)

    @property
    def again(self) -> str:
        """The command that does it once more."""
        given = "".join(f" --{name}-every 1" for name, _ in self.others)
        given += "".join(f" --only {shlex.quote(name)}" for name in self.only)
        given += f" --with {','.join(name for name, _ in self.others)}" if self.others else ""
        return f"python -m tests.fuzz --mode models --seed {self.seed} --models 1{given}"

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Those that are always made, and those with other checkers; or those that are asked for."""
        every = (*COMPARISONS, *(Comparison(name, every, OTHERS[name]) for name, every in self.others))
        return tuple(replace(each, every=1, of_tiny=1) for each in every if each.name in self.only) or every

    def smaller(self, found: Finding) -> Job | None:
        """The job that makes something small that was found; None where it is as small as it gets."""
        can = not self.shrink and any(each.name == found.look for each in self.comparisons)
        return replace(self, seen=found) if can else None


def run(job: Job) -> Answer:
    """What engines say of a model, compared; or a difference made small."""
    text, answer = text_of(job.seed), Answer()
    if job.seen:
        comparison = next(each for each in job.comparisons if each.name == job.shrink)
        first = _differing(job.seed, text, comparison)
        if not first:  # it depends on more than the model: on time, or on what was done before
            answer.found.append(replace(job.seen, look=f"{job.shrink}, seen once and not again"))
            return answer
        small = smallest(text, lambda less: alike(first, _differing(job.seed, less, comparison)), SHRINKING)
        answer.found.append(_finding(job, comparison, _differing(job.seed, small, comparison), small))
        return answer
    try:
        case = case_of(job.seed, text)
        _ = case.findings
    except SpecError as error:  # what is written is well typed
        differences = {"mistake": (None, error.diagnostics[0].message)}
        answer.found.append(Finding("front end", job.seed, differences, text, job.again))
        return answer
    except TooLarge:
        answer.looks.append(LARGE)
        return answer
    for comparison in job.comparisons:
        found = differing(comparison, case) if comparison.is_for(case) else None
        if found is not None:
            answer.looks.append(comparison.name)
        if found:
            answer.found.append(_finding(job, comparison, found, text))
    return answer


def _finding(job: Job, comparison: Comparison, found: Differences, text: str) -> Finding:
    return Finding(comparison.name, job.seed, found, text, job.again)


def _differing(seed: int, text: str, comparison: Comparison) -> Differences:
    try:
        case = case_of(seed, text)
    except (SpecError, IndexError):  # no model any more, or one without a check
        return {}
    return differing(comparison, case) or {}


@contextmanager
def without_kernels_kept() -> Iterator[None]:
    """A process in which what a model leaves is gone with it, kernels too."""
    gc.freeze()
    gc.set_threshold(100_000)
    with tempfile.NamedTemporaryFile() as file:  # in which there can be no folder
        os.environ["MODELCHECK_CACHE"] = f"{file.name}/kernels"
        yield


def serve(pipe: Connection) -> None:
    """Answer jobs until there are none; no kernel is kept."""
    with without_kernels_kept():
        answer_each(pipe, run)
