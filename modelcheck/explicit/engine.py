"""The explicit engine: every state at native speed, the fewest faults first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, ClassVar

from modelcheck.contract.engine import Prepared, Refusal, Task, not_of_representatives
from modelcheck.contract.report import PhaseDone, Reporter, Spilled
from modelcheck.contract.result import End, Findings, Spill
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.native.ahead import Ahead
from modelcheck.explicit.native.compiling import Tier
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.native.tiers import Optimiser
from modelcheck.explicit.search.checkpoint import Checkpoints, only_runs
from modelcheck.explicit.search.findings import PackedFindings
from modelcheck.explicit.search.restoring import restore
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import PackedSpace, SpareShards
from modelcheck.processes.cores import cores
from modelcheck.processes.memory import resident
from modelcheck.search.persistent import not_reduced
from spec.meaning.semantics import Machine
from spec.model.bounds import of_runs
from spec.model.kinds import OF_RUNS
from spec.reading import reason_of

if TYPE_CHECKING:
    from modelcheck.explicit.disk.levels import Room


class ExplicitEngine:
    """The engine that visits every state: millions a second on each core, about 15 bytes a state.

    It begins with code that was compiled quickly, and changes to better code when a search
    takes longer; with `optimise` it has that from the start.  With `series` it answers
    several tasks in turn, and those of a family share what is compiled; `close` it then.
    `room` is what a search on disk has in memory, by default what the limit of memory leaves.
    """

    name: ClassVar[str] = "explicit"

    def __init__(self, *, optimise: bool = False, series: bool = False, room: Room | None = None) -> None:
        self._room = room
        self._tier = Tier.FULL if optimise else None
        self._series = series
        self._spare = SpareShards() if series else None
        self._kernels: Prepared[Kernel] = Prepared()
        self._codes: Codes | None = None
        self._optimisers: dict[str, Optimiser] = {}
        self._ahead: list[Ahead] = []

    def foresee(self, tasks: Iterable[Task]) -> None:
        """Compile the kernels of coming tasks on another core."""
        if cores() > 1:
            self._codes = self._codes or Codes()
            self._ahead.append(Ahead(tasks, self._codes))

    def close(self) -> None:
        """Stop the background compilation, and free what is kept for another task."""
        if self._spare is not None:
            self._spare.close()
        for ahead in self._ahead:
            ahead.close()
        for optimiser in self._optimisers.values():
            optimiser.close()

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """Fair runs where states represent others; what reduction or the disk forbids; values too wide."""
        refused = [*not_of_representatives(task), *not_reduced(task)]
        if is_on_disk(task):
            refused += not_on_disk(task)
        if not refused:
            try:
                self._kernels.of(task, self._kernel)
            except TooWide as wide:
                refused.append(Refusal(str(wide), "reference"))
        return tuple(refused)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the fault-layered search."""
        kernel = self._kernels.of(task, self._kernel)
        kernel.configure()
        for phase, seconds in kernel.spent.items():
            reporter.tell(PhaseDone(phase, seconds))
        if self._codes is not None and (problem := self._codes.not_kept()):
            reporter.tell(problem)
        machine, threads = Machine(task.model, of_runs(task.scope)), task.threads or cores()
        if is_on_disk(task):
            return self._on_disk(task, kernel, machine, reporter, threads)
        before, began = resident(), monotonic()
        with ExitStack() as until_end:
            with (
                closing(PackedSpace(kernel, ways=task.ways, spare=self._spare)) as space,
                closing(PackedSearch(task, space, machine, reporter, threads)) as search,
                self._optimiser(task, kernel) as search.optimiser,
            ):
                resumed = task.keep is not None and task.keep.resume
                if task.keep is not None:
                    search.keeper = keeper = Checkpoints(task.keep.folder, task.keep.seconds)
                    if resumed:
                        restore(keeper.newest(), search)
                end, spill, on_disk = search.run(), None, None
                if end is End.MEMORY and task.spill is not None:
                    spill, on_disk = _spilled(task, before, len(search), until_end)
                    reporter.tell(Spilled(spill))
                if on_disk is None:
                    with (
                        closing(PackedFindings(search, end)) as account,
                        only_runs() if resumed else nullcontext(),
                    ):
                        return replace(account.findings(self.name), spill=spill)
            spent = monotonic() - began  # what memory had is let go now
            return replace(
                self._on_disk(on_disk, kernel, machine, reporter, threads, spent=spent), spill=spill
            )

    def _on_disk(
        self,
        task: Task,
        kernel: Kernel,
        machine: Machine,
        reporter: Reporter,
        threads: int,
        *,
        spent: float = 0,
    ) -> Findings:
        """The findings of the search on disk; its folder is removed if nothing is left to be found.

        It counts the seconds that another one has `spent`.
        """
        from modelcheck.explicit.disk.folder import StateFolder  # noqa: PLC0415 - all these only for --disk
        from modelcheck.explicit.disk.levels import room_for  # noqa: PLC0415
        from modelcheck.explicit.disk.runs import Helpers, StateArrays  # noqa: PLC0415
        from modelcheck.explicit.disk.search import DiskSearch  # noqa: PLC0415
        from modelcheck.explicit.disk.space import RecentSpace  # noqa: PLC0415

        assert task.keep is not None
        sizes = self._room or room_for(kernel.layout.words, task.limits.memory)
        with (
            closing(Helpers(threads - 1)) as helpers,
            closing(StateArrays(kernel.sorted_states(), kernel.layout.words, sizes.block)) as arrays,
            closing(
                StateFolder(task.keep.folder, arrays, helpers, most=task.limits.disk, resume=task.keep.resume)
            ) as folder,
            closing(RecentSpace(kernel)) as space,
            closing(DiskSearch(task, space, machine, reporter, threads, folder, sizes)) as search,
            self._optimiser(task, kernel) as search.optimiser,
        ):
            if spent:
                search.go_on(spent)
            with (
                closing(PackedFindings(search, search.run())) as account,
                only_runs() if task.keep.resume else nullcontext(),
            ):
                found = account.findings(self.name)
            if not found.end.partial:
                folder.remove()
            return found

    def _kernel(self, task: Task) -> Kernel:
        """The kernel of a task, from the cache or compiled."""
        self._codes = self._codes or Codes()
        began = perf_counter()
        for ahead in self._ahead:
            ahead.wait(task)
        waited = perf_counter() - began
        kernel = Kernel(task, self._codes, tier=self._tier)
        kernel.spent["compile"] = kernel.spent.get("compile", 0.0) + waited
        return kernel

    @contextmanager
    def _optimiser(self, task: Task, kernel: Kernel) -> Iterator[Optimiser]:
        """A context with the optimiser for a search; in a series it is shared."""
        shared = self._series and task.family is not None
        made = self._optimisers.setdefault(kernel.shared if shared else "", Optimiser(shared=shared))
        made.begin(task, kernel)
        try:
            yield made
        finally:
            if not shared:
                self._optimisers.pop("").close()


def is_on_disk(task: Task) -> bool:
    """Whether the states of a task are to be on disk, or are there already."""
    keep = task.keep
    if keep is None or not keep.resume:
        return keep is not None and keep.states
    from modelcheck.explicit.disk.folder import has_search  # noqa: PLC0415 - only where a search is resumed

    return keep.states or has_search(keep.folder)


def _spilled(task: Task, before: int, states: int, until_end: ExitStack) -> tuple[Spill, Task | None]:
    """What becomes of a search that memory ended, and its task on disk, if it can continue there.

    The process used `before` bytes without the search, which found `states`.
    """
    from modelcheck.explicit.disk.spilling import spilled, why_not  # noqa: PLC0415 - only when memory ends

    problem = why_not(task, [each.what.removesuffix(" on disk") for each in not_on_disk(task)], before)
    if problem is None:
        try:
            on_disk = until_end.enter_context(spilled(task))
        except OSError as error:
            problem = f"{task.spill} cannot be used: {reason_of(error)}"
        else:
            assert on_disk.keep is not None
            return Spill(states, str(on_disk.keep.folder)), on_disk
    return Spill(states, problem=problem), None


def not_on_disk(task: Task) -> list[Refusal]:
    """What a search on disk cannot do: what needs all states in memory, and nats without a bound."""
    asked = [prop for prop in task.properties if prop.kind in OF_RUNS]
    return [
        *(Refusal(f"{prop.kind.value} {prop.name} on disk") for prop in asked),
        *(Refusal(f"`{name} = any` on disk") for name in sorted(task.scope.unbounded)),
    ]
