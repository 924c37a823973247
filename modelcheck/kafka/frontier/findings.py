"""A frontier that was found: the answers of each configuration, and which are better than others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from counterexamples.certify import certify
from counterexamples.trace import Trace
from modelcheck.kafka.frontier.grid import ConfigurationRow, Grid, RowCase
from modelcheck.kafka.frontier.search import Answered, FrontierAnswer
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.cases import survived
from modelcheck.kafka.questions.question import ANY, Guarantee
from spec.frozen import frozen


@frozen
class Better:
    """A configuration that survives at least as much in every cell, and more in one, at no greater cost.

    `guarantees` are those of which it survives more.
    """

    row: ConfigurationRow
    number: int
    guarantees: tuple[Guarantee, ...]


@frozen
class Line:
    """A row of the frontier with its answers by guarantee and kind of fault, numbered from 1.

    `worst` names, for a cell whose cases have different answers, those with the worst.
    """

    number: int
    row: ConfigurationRow
    answers: Mapping[tuple[str, str], Answer]
    complete: bool
    worst: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def answer(self, guarantee: Guarantee, kind: str = ANY) -> Answer | None:
        """The answer for a guarantee and a kind of fault; None for a kind that cannot happen."""
        return self.answers.get((guarantee.name, kind))


@frozen
class OneSetting:
    """A configuration that survives more than the first, by one setting, and of what it survives `less`."""

    line: Line
    less: tuple[Guarantee, ...]


@frozen
class Remedies:
    """A guarantee that the first configuration of a star loses, and the others that survive more of it."""

    first: Line
    guarantee: Guarantee
    settings: tuple[OneSetting, ...]


class Frontier:
    """The answers for a grid; `ended` is the reason why some are missing."""

    def __init__(self, grid: Grid, found: Answered) -> None:
        self.grid, self.ended, self.seconds = grid, found.ended, found.seconds
        self.lines = tuple(
            _line(number, row, found.answers)
            for number, row in enumerate(grid.asked, 1)
            if _is_answered(row, found)
        )
        self.states = sum(one.states for one in found.answers.values())
        self.known = sum(one.known for one in found.answers.values())

    @property
    def missing(self) -> int:
        """The number of configurations without answers."""
        return len(self.grid.asked) - len(self.lines)

    @property
    def complete(self) -> bool:
        """Whether every question was answered as far as it was asked."""
        return not self.missing and all(line.complete for line in self.lines)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of faults, ANY last."""
        return (*self.grid.kinds, ANY)

    @property
    def depending(self) -> tuple[int, ...]:
        """The numbers of the configurations of which no file says in which of several cases they are.

        Only those whose cases have different answers.
        """
        return tuple(line.number for line in self.lines if line.worst)

    def cells(self, line: Line) -> Iterator[tuple[Guarantee, str, Answer | None]]:
        """Every answer of a line, by guarantee and kind of fault."""
        for guarantee in self.grid.guarantees:
            for kind in self.kinds:
                yield guarantee, kind, line.answer(guarantee, kind)

    @cached_property
    def better(self) -> Mapping[int, Better]:
        """For each dominated configuration, by number, an undominated one that dominates it."""
        found: dict[int, Better] = {}
        ranges = {line.number: self._ranges(line) for line in self.lines}
        for line in self.lines:
            above = [
                other
                for other in self.lines
                if _is_comparable(other.row, line.row)
                and _dominates(ranges[other.number], ranges[line.number])
            ]
            if above:
                best = max(above, key=lambda other: (_total(ranges[other.number]), -other.number))
                more = tuple(
                    guarantee
                    for guarantee in self.grid.guarantees
                    if any(
                        ranges[best.number][guarantee.name, kind][0]
                        > ranges[line.number][guarantee.name, kind][1]
                        for kind in self.kinds
                    )
                )
                found[line.number] = Better(best.row, best.number, more)
        return found

    @cached_property
    def remedies(self) -> tuple[Remedies, ...]:
        """For each guarantee that the first configuration of a star loses, the others that survive more.

        It is of any mixture of faults, and what survives most comes first.
        """
        stars: dict[tuple[str, ...], list[Line]] = {}
        for line in self.lines if self.grid.is_star else ():
            stars.setdefault(line.row.among, []).append(line)
        return tuple(each for first, *others in stars.values() for each in self._remedies(first, others))

    def _remedies(self, first: Line, others: Sequence[Line]) -> Iterator[Remedies]:
        """The remedies for each guarantee that the first configuration of one star loses."""
        kept = {line.number: self._ranges(line) for line in (first, *others)}

        def gain(line: Line, guarantee: Guarantee) -> int:
            cell = guarantee.name, ANY
            before, after = kept[first.number][cell], kept[line.number][cell]
            return max(0, after[0] - before[1]) + min(0, after[1] - before[0])

        def of(guarantee: Guarantee) -> tuple[OneSetting, ...]:
            better = [line for line in others if gain(line, guarantee) > 0]
            better.sort(key=lambda line: -gain(line, guarantee))
            less = (tuple(each for each in self.grid.guarantees if gain(line, each) < 0) for line in better)
            return tuple(map(OneSetting, better, less))

        for guarantee in self.grid.guarantees:
            answer = first.answer(guarantee)
            if answer is not None and answer.loss is not None:
                yield Remedies(first, guarantee, of(guarantee))

    def _ranges(self, line: Line) -> dict[tuple[str, str], tuple[int, int]]:
        """For each cell of a line the faults surely survived, and those possibly survived."""
        return {
            (guarantee.name, kind): _range(answer, self.grid.faults)
            for guarantee, kind, answer in self.cells(line)
        }


def _is_answered(row: ConfigurationRow, found: Answered) -> bool:
    """Whether every job of a row has answers."""
    return all(job.key in found.answers for job in row.jobs)


def _line(number: int, row: ConfigurationRow, by_key: Mapping[str, FrontierAnswer]) -> Line:
    """The line of a row with the answers to its jobs."""
    by_case = [
        {(one.guarantee.name, one.kind): one for job in case.jobs for one in by_key[job.key].answers}
        for case in row.cases
    ]
    answers, worst = {}, {}
    for cell in dict.fromkeys(cell for found in by_case for cell in found):
        strengths = [survived(found.get(cell)) for found in by_case]
        least = strengths.index(min(strengths))
        answers[cell] = _own(by_case[least][cell], row.cases[least])
        same = [case.words for case, one in zip(row.cases, strengths, strict=True) if one == strengths[least]]
        if len(same) < len(row.cases):
            worst[cell] = tuple(same)
    return Line(number, row, answers, all(answer.complete for answer in answers.values()), worst)


def _own(answer: Answer, case: RowCase) -> Answer:
    """The answer with the case's own configuration in its run, which is replayed."""
    loss = answer.loss
    if loss is None or all(loss.scope.config[name] == value for name, value in case.own.items()):
        return answer
    return replace(answer, loss=_replayed(loss, case.own))


def _replayed(loss: Trace, own: Mapping[str, object]) -> Trace:
    """The run replayed under another configuration."""
    return certify(replace(loss, scope=replace(loss.scope, config={**loss.scope.config, **own}))).trace


# ------------------------------------------------------------------ what is better


Ranges = Mapping[tuple[str, str], tuple[int, int]]


def _range(answer: Answer | None, faults: int) -> tuple[int, int]:
    """The faults surely survived and those possibly survived; a fault that cannot happen is survived."""
    if answer is None or answer.survived is None:
        return faults, faults
    most = faults if answer.lost_with is None else answer.lost_with - 1
    if answer.complete and answer.lost_with is None:
        return faults, faults
    return min(answer.survived, faults), most


def _is_comparable(other: ConfigurationRow, row: ConfigurationRow) -> bool:
    """Whether a user of one configuration could use the other at no greater cost."""
    return other.among == row.among and all(a <= b for a, b in zip(other.cost, row.cost, strict=True))


def _dominates(above: Ranges, below: Ranges) -> bool:
    """Whether one surely survives in each cell all that the other may, and more in one."""
    return all(above[cell][0] >= below[cell][1] for cell in below) and any(
        above[cell][0] > below[cell][1] for cell in below
    )


def _total(ranges: Ranges) -> int:
    """The number of faults surely survived, over all cells."""
    return sum(least for least, _ in ranges.values())


def words(better: Better, guarantees: Sequence[Guarantee]) -> str:
    """What a better configuration improves: "as durable as 3, and more available"."""
    if not all(guarantee.adjective for guarantee in guarantees):
        names = [guarantee.name for guarantee in better.guarantees]
        return f"{better.number} survives as much, and more for {listed(names)}"
    more = [guarantee.adjective for guarantee in better.guarantees]
    same = [guarantee.adjective for guarantee in guarantees if guarantee not in better.guarantees]
    if not same:
        return f"{better.number} is more {listed(more)}"
    return f"{better.number} is as {listed(same)}, and more {listed(more)}"


def in_short(better: Better) -> str:
    """What a better configuration improves, for a narrow column: "3: more available"."""
    return f"{better.number}: more {listed([each.adjective or each.name for each in better.guarantees])}"


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
