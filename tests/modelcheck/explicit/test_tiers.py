"""Code made quickly, well or in between finds the same, whenever one takes over from the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from multiprocessing import current_process
from pathlib import Path
from random import Random

import pytest

from modelcheck.api import check
from modelcheck.contract.engine import Task
from modelcheck.contract.families import families, looked_at
from modelcheck.contract.report import Silent
from modelcheck.contract.result import Findings, Holds, Violated
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.explicit.native import tiers
from modelcheck.explicit.native.compiling import Tier
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.native.tiers import Optimiser
from modelcheck.explicit.search.findings import PackedFindings
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import PackedSpace
from modelcheck.storage.cache import Cache
from spec.load import load, loads
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model, PropertyKind

PROTOCOLS = Path(__file__).parents[3] / "spec/protocols"


def named(file: str, name: str) -> tuple[Model, Check]:
    return next((m, c) for m in load(PROTOCOLS / f"{file}.rsm") for c in m.checks if c.name == name)


def task_of(model: Model, asked: Check) -> Task:
    return Task(model, asked.scope, asked.budget, looked_at(model, asked), stop_early=False)


def facts(findings: Findings) -> object:
    """All that is counted and found, and the runs themselves."""
    stats, told = findings.stats, list[object]()
    for result in findings.results:
        match result.verdict:
            case Violated(_, run) | Holds(example=run):
                told.append((result.property, result.by_faults, run and (run.states, run.steps)))
            case verdict:
                told.append((result.property, result.by_faults, verdict))
    return findings.end, stats.layers, stats.levels, stats.taken, stats.cut, stats.unrefused, told


class Switching:
    """Gives a search one code or another, at random, after every round."""

    def __init__(self, kernel: Kernel, others: Sequence[Kernel], seed: int) -> None:
        self.kernel, self.random = kernel, Random(seed)  # noqa: S311
        self.calls = [kernel.call, *(other.call for other in others)]
        self.switches = 0

    def look(self, _seconds: float) -> None:
        call = self.random.choice(self.calls)
        self.switches += call is not self.kernel.call
        self.kernel.call = call


def searched(task: Task, kernel: Kernel, threads: int, switching: Switching | None = None) -> object:
    """What a search finds."""
    machine = Machine(task.model, task.scope)
    with (
        closing(PackedSpace(kernel)) as space,
        closing(PackedSearch(task, space, machine, Silent(), threads)) as search,
    ):
        search.optimiser = switching
        with closing(PackedFindings(search, search.run())) as account:
            return facts(account.findings("explicit"))


@pytest.mark.parametrize(
    ("file", "name"),
    [("kisr", "any_crashes"), ("kafka", "usual"), ("kafka", "jepsen_clean"), ("raft", "replication_losses")],
)
def test_code_that_changes_at_random_rounds_finds_the_same(file: str, name: str, tmp_path: Path) -> None:
    task = task_of(*named(file, name))
    quick, middle, full = (Kernel(task, Codes(Cache(tmp_path / tier.value)), tier=tier) for tier in Tier)
    alone = searched(task, full, 1)

    assert (quick.tier, middle.tier, full.tier) == (Tier.QUICK, Tier.MIDDLE, Tier.FULL)
    assert alone == searched(task, quick, 2)
    own = quick.call
    for seed in range(3):
        switching = Switching(quick, [middle, full], seed)

        assert alone == searched(task, quick, 1 + seed % 2, switching)
        assert switching.switches > 2
        quick.call = own


# ------------------------------------------------------------------ the process beside


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Better code is wanted from the first round on, and nothing is kept from before."""
    monkeypatch.setattr(tiers, "HOT", 0.0)
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    return tmp_path


def large() -> tuple[Model, Check]:
    """A search of some rounds, which waits at each until the other code is there, or its process gone."""
    model, asked = named("kisr", "s")
    return model, replace(asked, expect=())


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> list[Optimiser]:
    """Searches wait for the process beside them, which is quicker than to search for long."""
    seen: list[Optimiser] = []
    look = Optimiser.look

    def wait(self: Optimiser, seconds: float) -> None:
        look(self, seconds)
        if self not in seen:
            seen.append(self)
        if self._child is not None:
            self._child.pipe.poll(60)

    monkeypatch.setattr(Optimiser, "look", wait)
    return seen


def test_a_long_search_goes_on_with_better_code_and_keeps_it(eager: Path, patient: list[Optimiser]) -> None:
    model, asked = large()
    found = check(model, asked, engine="explicit").findings

    assert found.stats.states == 379_069
    assert patient[0]._kernel.tier is Tier.FULL
    assert [path for path in eager.iterdir() if path.name.endswith("-full")]


def killed(child: object) -> None:
    os.kill(child.process.pid, signal.SIGKILL)  # type: ignore[attr-defined]


def test_without_the_process_the_search_ends_with_the_code_it_has(
    eager: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, asked = large()
    begun: list[Optimiser] = []
    look = Optimiser.look

    def kill(self: Optimiser, seconds: float) -> None:
        had = self._child
        look(self, seconds)
        if self._child is not None and had is None:
            begun.append(self)
            killed(self._child)
            time.sleep(0.1)

    monkeypatch.setattr(Optimiser, "look", kill)
    found = check(model, asked, engine="explicit").findings

    assert found.stats.states == 379_069
    assert len(begun) == 1
    assert begun[0]._kernel.tier is not Tier.FULL  # the cheap optimisations, if it took long, need no process
    assert not [path for path in eager.iterdir() if path.name.endswith("-full")]


def no_process(_serve: Callable[..., object]) -> object:
    raise OSError("no more processes")


def test_where_no_process_can_start_the_search_goes_on(eager: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, asked = large()
    monkeypatch.setattr("modelcheck.processes.children.started", no_process)

    assert check(model, asked, engine="explicit").findings.stats.states == 379_069


@pytest.mark.usefixtures("eager")
def test_a_worker_of_a_sweep_starts_no_process_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model, asked = large()
    monkeypatch.setitem(current_process()._config, "daemon", 1)  # type: ignore[attr-defined]

    assert check(model, asked, engine="explicit").findings.stats.states == 379_069


def test_a_short_search_starts_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "modelcheck.processes.children.started", lambda _: pytest.fail("a process for so little")
    )
    model, asked = named("kisr", "xs")

    assert check(model, asked, engine="explicit").findings.stats.states == 19_521


def test_a_search_that_waits_for_its_turn_starts_no_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(tiers, "HOT", 1e-9)
    monkeypatch.setattr("modelcheck.explicit.search.rounds.process_time", lambda: 1.0)
    monkeypatch.setattr(
        "modelcheck.processes.children.started", lambda _: pytest.fail("a process for a busy machine")
    )
    model, asked = named("kisr", "xs")

    assert check(model, asked, engine="explicit").findings.stats.states == 19_521


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Cheap optimisations are wanted from the first round on, and nothing is kept from before."""
    monkeypatch.setattr(tiers, "WARM", 0.0)
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    return tmp_path


def kept_in(folder: Path) -> list[str]:
    """The tiers of the code that is kept there."""
    return sorted(path.name.rpartition("-")[2] for path in folder.iterdir())


def test_a_worker_goes_on_with_cheap_optimisations_which_it_makes_itself(
    warm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(current_process()._config, "daemon", 1)  # type: ignore[attr-defined]
    found = check(*named("kisr", "xs"), engine="explicit").findings

    assert found.stats.states == 19_521
    assert kept_in(warm) == ["middle", "quick"]


def test_cheap_optimisations_are_made_once(warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = facts(check(*named("kisr", "xs"), engine="explicit").findings)
    assert kept_in(warm) == ["middle", "quick"]
    monkeypatch.setattr(
        "modelcheck.explicit.native.writing.compiled", lambda *_: pytest.fail("it is there already")
    )

    assert facts(check(*named("kisr", "xs"), engine="explicit").findings) == once


def test_a_short_search_has_no_optimisations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(tiers, "WARM", 1.0)  # 20,000 s
    check(*named("kisr", "xs"), engine="explicit")

    assert kept_in(tmp_path) == ["quick"]


SCRIPT = """
from modelcheck.api import check
from modelcheck.explicit.native import tiers
from spec.load import load

print("begins")
tiers.HOT = 0.0
models = {model.name: model for model in load(%r)}
asked = next(asked for asked in models["counted"].checks if asked.name == "s")
print(check(models["counted"], asked, engine="explicit").findings.stats.states)
"""


def test_a_script_is_not_run_again_by_the_process_beside_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT % str(PROTOCOLS / "kisr.rsm"))
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "MODELCHECK_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert done.stderr == ""
    assert done.stdout.split() == ["begins", "379069"]


# --------------------------------------------------------------------- one for many


def questions(file: str) -> Iterator[tuple[Model, Check]]:
    for model in load(PROTOCOLS / f"{file}.rsm"):
        for asked in model.checks:
            yield model, replace(asked, expect=())


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("file", ["quorum", "kafka"])
def test_one_kernel_for_many_questions_answers_each_as_its_own_does(
    file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = list(questions(file))
    shared = families(asked)
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "own"))
    own = [facts(check(*each, engine="explicit", threads=1).findings) for each in asked]
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "shared"))
    for (model, question), family, expected in zip(asked, shared, own, strict=True):
        found = check(model, question, engine="explicit", threads=1, family=family).findings

        assert facts(found) == expected, question.name

    def ways_back(question: tuple[Model, Check]) -> tuple[str, ...]:
        """What is asked for ways back, for which a kernel has bits and functions of its own."""
        return tuple(p.name for p in looked_at(*question) if p.kind is PropertyKind.RECOVERABLE)

    made = {(id(f), ways_back(each)) for f, each in zip(shared, asked, strict=True) if f}
    kernels = len(list((tmp_path / "shared").iterdir()))
    assert kernels == len(made) + shared.count(None)
    assert kernels < len(list((tmp_path / "own").iterdir()))


WANTED_AS_ANOTHER_TYPE = """
    protocol wanted
    enum Colour { red, green, blue }
    config on: bool = false
    config many: 2..3 = 2
    config colour: Colour = red
    state { x: bool = false  n: 0..5 = 2  c: Colour = green }
    fun maybe(b: bool?): bool? = b
    fun number(v: 2..3?): 2..3? = v
    fun shade(v: Colour?): Colour? = v
    action go { x := not x }
    invariant flag: not (x in maybe(on))
    invariant same: true in maybe(on)
    invariant amount: number(many) == n
    invariant paint: shade(colour) != c
    check off {}
    check on { config on = true, many = 3, colour = green }
"""


@pytest.mark.usefixtures("quickly_compiled")
def test_a_config_that_varies_is_what_it_is_also_where_an_option_is_asked_for() -> None:
    (model,) = loads(WANTED_AS_ANOTHER_TYPE)
    shared = families([(model, each) for each in model.checks])
    engine = ExplicitEngine(series=True)

    for asked, family in zip(model.checks, shared, strict=True):
        assert family is not None
        assert family.configs == {"on", "many", "colour"}
        known = check(model, asked, engine="reference").findings
        found = check(model, asked, engine=engine, family=family, threads=1).findings
        verdicts = [[(each.property, type(each.verdict)) for each in f.results] for f in (known, found)]
        assert verdicts[0] == verdicts[1], asked.name


WAY_BACK = """
    protocol way_back
    state { x: 0..3 = 0 }
    action up { require x < 3; x := x + 1 }
    action back { require x == 2; x := 0 }
    invariant low: x <= 3
    recoverable home: x == 0
    check without { only low }
    check with_it { }
"""


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("order", [1, -1])
def test_a_question_about_a_way_back_has_a_kernel_with_marks(order: int) -> None:
    (model,) = loads(WAY_BACK)
    asked = model.checks[::order]
    engine = ExplicitEngine(series=True)
    family = families([(model, each) for each in asked])[0]
    found = {each.name: check(model, each, engine=engine, family=family).findings for each in asked}

    assert {name: [type(r.verdict) for r in each.results] for name, each in found.items()} == {
        "without": [Holds],
        "with_it": [Holds, Violated],
    }


@pytest.mark.usefixtures("quickly_compiled")
def test_searches_of_a_series_find_in_the_memory_of_others_what_they_find_alone() -> None:
    names = [("two_phase_commit", 0), ("paxos", 0), ("kisr", 0), ("paxos", 1), ("two_phase_commit", 1)]
    models = {name: load(PROTOCOLS / f"{name}.rsm")[0] for name, _ in names}
    asked = [(models[name], models[name].checks[number]) for name, number in names]
    alone = [facts(check(*each, engine=ExplicitEngine()).findings) for each in asked]
    series = ExplicitEngine(series=True)
    for _ in range(2):
        assert [facts(check(*each, engine=series).findings) for each in asked] == alone
    series.close()


SPENT_AND_FORGOTTEN = """
    protocol spent
    state { x: 0..3 = 2, y: 0..1 = 0 }
    action up { require y == 0; y := 1 }
    fault down { require x > 0; x := 0; y := 0 }
    invariant low: y <= 1
    check one { faults down <= 1 }
"""


@pytest.mark.usefixtures("quickly_compiled")
def test_what_is_remembered_of_a_state_is_of_what_was_spent_and_of_its_layer(tmp_path: Path) -> None:
    (model,) = loads(SPENT_AND_FORGOTTEN)
    task = replace(task_of(model, model.checks[0]), forgets=True)
    kernel = Kernel(task, Codes(Cache(tmp_path)))
    (start,) = Machine(model, task.scope).initial()
    words = [kernel.represent(start, (spent,), last=last) for spent in (0, 1) for last in (False, True)]

    assert kernel.context.forgotten
    assert len(set(words)) == 4
