"""The mode `ordinals`: random models with a nat without a bound, compared with numbers in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from random import Random

from tests.fuzz.cases import Case, case_of
from tests.fuzz.comparisons import Comparison, differing
from tests.fuzz.findings import Answer, Differences, Finding
from tests.fuzz.models import without_kernels_kept
from tests.fuzz.others import OTHERS
from tests.fuzz.pool import answer_each
from tests.ordinal_models import ordinal_model
from tests.without_bounds import agree_with_bounds, engines_agree

NAT, MOST = "E", 3  # what has no bound, and the least of the bounds that are compared with it
NUMBERS = (1, 2, MOST)  # bounds that other checkers are asked with
PATIENCE = 180.0  # seconds for one model


def text_of(seed: int, bound: int | str = "any") -> str:
    """The text of the random model of a number, with or without a bound."""
    text = ordinal_model(Random(seed))  # noqa: S311 - no secret
    return text.replace(f"{NAT} = any", f"{NAT} = {bound}")


def bounds(case: Case) -> Differences | None:
    """Verdicts and costs without a bound and within several; no answer where none is found without."""
    return {} if agree_with_bounds(case.model, case.asked, NAT, MOST) else None


def engines(case: Case) -> Differences | None:
    """The same without a bound by both engines and with symmetry."""
    return {} if engines_agree(case.model, case.asked) else None


def within(seed: int) -> Case:
    """The model of a number with one of the bounds."""
    bound = NUMBERS[seed % len(NUMBERS)]
    return case_of(seed, text_of(seed, bound))


def of_bounded(ask: Callable[[Case], Differences | None]) -> Callable[[Case], Differences | None]:
    """What another checker says of the model within a bound."""
    return lambda case: ask(within(case.seed))


COMPARISONS = (Comparison("bounds", 1, bounds), Comparison("engines", 3, engines))


@dataclass(frozen=True)
class Job:
    """A model to be compared; `others` are checkers that are asked within a bound, each about one in so many.

    With `only`, these comparisons are made of every model, and no others.
    """

    seed: int
    others: tuple[tuple[str, int], ...] = ()
    only: tuple[str, ...] = ()
    shrink: str = ""
    patience: float = field(default=PATIENCE, compare=False)

    @property
    def again(self) -> str:
        """The command that does it once more."""
        given = f" --with {','.join(name for name, _ in self.others)}" if self.others else ""
        given += "".join(f" --{name}-every 1" for name, _ in self.others)
        return f"python -m tests.fuzz --mode ordinals --seed {self.seed} --models 1{given}"

    def comparisons(self) -> Iterator[Comparison]:
        """Those that are made of this model."""
        others = [Comparison(name, every, of_bounded(OTHERS[name])) for name, every in self.others]
        for each in (*COMPARISONS, *others):
            if each.name in self.only or (not self.only and self.seed % each.every == 0):
                yield each

    def smaller(self, _: Finding) -> None:
        """Nothing: the models are short."""


def run(job: Job) -> Answer:
    """What is found of a model without a bound, compared."""
    answer, case = Answer(), case_of(job.seed, text_of(job.seed))
    for each in job.comparisons():
        found = differing(each, case)
        if found is not None:
            answer.looks.append(each.name)
        if found:
            answer.found.append(Finding(each.name, job.seed, found, case.text, job.again))
    return answer


def serve(pipe: Connection) -> None:
    """Answer jobs until there are none; no kernel is kept."""
    with without_kernels_kept():
        answer_each(pipe, run)
