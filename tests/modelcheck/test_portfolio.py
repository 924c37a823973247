"""Two engines on one task: who answers, what is certain, what never stays behind."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

import modelcheck.commands.check.command as command
import modelcheck.engines.registry as registry
from modelcheck import cli
from modelcheck.answers.outcome_json import as_json
from modelcheck.api import check
from modelcheck.contract.engine import Engine, Keep, Limits, Refusal, Task
from modelcheck.contract.report import (
    Event,
    LayerDone,
    Progress,
    Reporter,
    RunFound,
    SecondEngineProgress,
    Silent,
    Stopped,
)
from modelcheck.contract.result import (
    End,
    Extent,
    Findings,
    Holds,
    Layer,
    Outcome,
    Result,
    Stats,
    Unknown,
    Violated,
)
from modelcheck.contract.wording import engine_words, second_engine_words
from modelcheck.engines.portfolio import Disagreement, Portfolio
from modelcheck.engines.second_engine import Order, SecondEngine
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.search.reference import ReferenceEngine
from spec.load import loads
from spec.model.ir import Check, Model

TINY = Path(__file__).parent / "tiny.rsm"
SLOW = 60.0  # seconds after which a test gives up


def asked(*names: str, check_: str = "surprise") -> tuple[Model, Check]:
    """A check of the tiny model, of some properties only."""
    model = loads(TINY.read_text(encoding="utf-8"), str(TINY))[0]
    found = next(each for each in model.checks if each.name == check_)
    return model, replace(found, only=names or None, expect=())


def task_of(model: Model, asked: Check, **more: object) -> Task:
    props = tuple(p for p in model.properties if asked.only is None or p.name in asked.only)
    task = Task(model, asked.scope, asked.budget, props, check=asked.name)
    return replace(task, **more)  # type: ignore[arg-type]


@dataclass
class Waiting:
    """An engine that is at so many faults until somebody stops it or it has had enough."""

    name: ClassVar[str] = "waiting"
    faults: int = 0
    enough: Callable[[], bool] = bool  # which is never
    end: End = End.SECONDS

    def refusals(self, task: Task) -> tuple[Refusal, ...]:  # noqa: ARG002 - an engine
        return ()

    def run(self, task: Task, reporter: Reporter) -> Findings:
        started, end = time.monotonic(), self.end
        layers = tuple(Layer(n, 1, n + 1, 1, 1, 0) for n in range(self.faults))
        try:
            for layer in layers:
                reporter.tell(LayerDone(layer))
            while not self.enough():
                assert time.monotonic() < started + SLOW
                reporter.tell(Progress(self.faults, 3, 10, 20, 5, 99.0, 0))
                time.sleep(0.02)
            # What the other sent just before it was gone is heard now.
            reporter.tell(Progress(self.faults, 3, 10, 20, 5, 99.0, 0))
        except Stopped as stopped:
            end = stopped.end
        stats = Stats(10, 20, 4, layers, {}, {}, (), (), 1.0, 0)
        results = tuple(Result(p.name, p.kind, Unknown(end.value)) for p in task.properties)
        return Findings(self.name, end, results, stats)


class Heard:
    """A reporter that remembers how deep the second engine is, and what it has found."""

    def __init__(self) -> None:
        self.depth = -1
        self.found: dict[str, RunFound] = {}

    def tell(self, event: Event) -> None:
        if isinstance(event, SecondEngineProgress):
            self.depth = event.depth
            self.found |= {} if event.found is None else {event.found.property: event.found}


@dataclass
class Late:
    """An engine that does its work once the second one has found so much, and has come so deep."""

    name: ClassVar[str] = "late"
    heard: Heard
    found: int = 0
    depth: int = 0
    lie: Result | None = None  # about one property

    def refusals(self, task: Task) -> tuple[Refusal, ...]:  # noqa: ARG002 - an engine
        return ()

    def run(self, task: Task, reporter: Reporter) -> Findings:
        started = time.monotonic()
        while len(self.heard.found) < self.found or self.heard.depth < self.depth:
            assert time.monotonic() < started + SLOW
            reporter.tell(Progress(0, 0, 1, 1, 1, 99.0, 0))
            time.sleep(0.02)
        findings = ExplicitEngine().run(task, reporter)
        lie = self.lie
        results = (lie if lie is not None and lie.property == r.property else r for r in findings.results)
        return replace(findings, results=tuple(results))


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    """No process outlives a test."""
    yield
    assert multiprocessing.active_children() == []


def once_gone() -> Callable[[], bool]:
    """Whether another process came and went."""
    seen: list[bool] = []

    def has_gone() -> bool:
        seen.append(bool(multiprocessing.active_children()))
        return any(seen) and not seen[-1]

    return has_gone


def found(model: Model, question: Check, first: Engine, **more: object) -> Findings:
    """What both find of a check, the second one from the start."""
    return Portfolio(first, patience=0).run(task_of(model, question, **more), Silent())


# ---------------------------------------------------------------------- who answers


def test_the_second_answers_what_no_run_with_fewer_faults_does() -> None:
    model, question = asked("low")
    findings = found(model, question, Waiting(faults=2))
    alone = check(model, question, engine="explicit").findings

    assert findings.end is End.DECIDED
    (result,), (other,) = findings.results, alone.results
    assert isinstance(result.verdict, Violated)
    assert isinstance(other.verdict, Violated)
    assert result.verdict.trace is not None
    assert other.verdict.trace is not None
    assert result.verdict.extent == other.verdict.extent
    assert result.verdict.fewest
    assert len(result.verdict.trace.steps) == len(other.verdict.trace.steps) == 6
    assert result.by_faults == other.by_faults == (True, True, False)
    assert findings.beside is not None
    assert findings.beside.answered == ("low",)
    assert engine_words(findings) == "waiting and bmc"
    assert list(second_engine_words(findings))[:2] == [
        "bmc answered low",
        "waiting had been through all runs with fewer faults",
    ]


def test_a_run_that_may_not_have_the_fewest_faults_is_no_answer_before_a_limit() -> None:
    model, question = asked("low")
    heard = Heard()
    first = Waiting(1, lambda: bool(heard.found))
    findings = Portfolio(first, patience=0).run(task_of(model, question), heard)

    assert findings.end is End.SECONDS
    (result,) = findings.results
    assert isinstance(result.verdict, Violated)
    assert not result.verdict.fewest
    assert result.verdict.extent.faults == 2
    assert "fewer faults may do" in list(second_engine_words(findings))


def test_what_one_has_not_the_other_may_have() -> None:
    """The slow engine, and the second one beside it: the answer is the one of the engine of choice."""
    model, question = asked("low", "safe")
    question = replace(question, scope=replace(question.scope, sorts={"Replica": ("a", "b", "c")}))
    findings = found(model, question, ReferenceEngine())
    alone = check(model, question, engine="explicit").findings

    assert [cost(result) for result in findings.results] == [cost(result) for result in alone.results]
    assert all(isinstance(r.verdict, Violated) and r.verdict.fewest for r in findings.results)
    assert findings.end is alone.end is End.DECIDED


def cost(result: Result) -> tuple[int, int]:
    assert isinstance(result.verdict, Violated)
    assert result.verdict.trace is not None
    return result.verdict.trace.faults, len(result.verdict.trace.steps)


def test_where_both_answer_both_are_told() -> None:
    model, question = asked("low", "mono")
    heard = Heard()
    task = task_of(model, question)
    findings = Portfolio(Late(heard, found=1, depth=7), patience=0).run(task, heard)

    assert findings.end is End.COMPLETE
    assert findings.beside is not None
    assert findings.beside.answered == ()
    assert findings.beside.agreed == ("low",)
    assert findings.beside.depth >= 6
    assert engine_words(findings) == "explicit"
    assert next(second_engine_words(findings)) == "bmc agrees with explicit on low"
    told = as_json(Outcome(model, question, findings, ()))
    assert told["beside"] == {
        "engine": "bmc",
        "answered": (),
        "agreed": ("low",),
        "depth": findings.beside.depth,
        "problem": "",
    }


def test_counts_that_are_expected_are_waited_for() -> None:
    model, question = asked("low")
    findings = found(model, question, Waiting(2, once_gone()), stop_early=False)

    assert findings.end is End.SECONDS
    assert isinstance(findings.results[0].verdict, Violated)


def test_what_the_first_gives_up_the_second_may_finish_within_the_time() -> None:
    model, question = asked("low")
    gone = Waiting(2, lambda: bool(multiprocessing.active_children()), End.STATES)
    findings = found(model, question, gone, limits=Limits(seconds=SLOW))

    assert findings.end is End.DECIDED
    assert isinstance(findings.results[0].verdict, Violated)

    assert found(model, question, gone).end is End.STATES  # no limit of time: nothing is waited for


# ---------------------------------------------------------------- when there is no second


@pytest.mark.parametrize(
    "more",
    [
        {"threads": 1},
        {"symmetry": ("Replica",)},
        {"keep": Keep(Path("nowhere"))},
        {"ways": False},
    ],
    ids=str,
)
def test_who_wants_one_core_symmetry_or_little_memory_has_one_engine(more: dict[str, object]) -> None:
    model, question = asked("low")

    looks = iter(range(20))
    first = Waiting(2, lambda: next(looks, None) is None)

    assert found(model, question, first, **more).beside is None


def test_what_the_second_cannot_do_the_first_does_alone() -> None:
    model, question = asked("low", "writable")

    findings = found(model, question, Waiting(2, once_gone()))

    assert findings.beside is None
    assert findings.end is End.SECONDS


def test_a_quick_check_pays_nothing() -> None:
    program = (
        "import sys\nfrom modelcheck import cli\n"
        f"cli.main(['check', {str(TINY)!r}, '--check', 'surprise', '-q'])\n"
        "print(sorted({'multiprocessing', 'z3', 'modelcheck.engines.second_engine'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=TINY.parents[2]
    )

    assert ran.stdout.splitlines()[-1] == "[]"


# -------------------------------------------------------------------- a contradiction


def liar(name: str, verdict: Holds | Violated, model: Model, **more: int) -> tuple[Late, Heard]:
    heard = Heard()
    kind = model.property(name).kind
    return Late(heard, lie=Result(name, kind, verdict), **more), heard


def test_to_say_that_it_holds_where_a_run_breaks_it_is_a_contradiction() -> None:
    model, question = asked("low", "mono")
    first, heard = liar("low", Holds(Extent(question.scope, 2)), model, found=1)

    with pytest.raises(
        Disagreement, match="low: explicit: no run decides it; bmc: one has 2 faults and 6 steps"
    ):
        Portfolio(first, patience=0).run(task_of(model, question), heard)


def test_to_say_that_a_run_is_short_where_there_is_none_so_short_is_a_contradiction() -> None:
    model, question = asked("low", "mono")
    short = check(model, question, engine="explicit").verdict("low")
    first, heard = liar("mono", replace(short), model, depth=8)  # type: ignore[arg-type]

    with pytest.raises(Disagreement, match=r"mono: explicit: .* 6 steps; bmc: none of up to \d+ steps"):
        Portfolio(first, patience=0).run(task_of(model, question), heard)


def test_longer_runs_with_fewer_faults_are_none() -> None:
    """One order begins with faults, the other with steps."""
    from modelcheck.engines.portfolio import _fit  # noqa: PLC0415 - the rule itself

    assert _fit((1, 9), (2, 5))
    assert _fit((2, 5), (2, 5))
    assert not any(_fit(best, (2, 5)) for best in (None, (1, 5), (1, 4), (2, 6), (2, 4), (3, 4), (3, 6)))


class Lying(Late):
    """In place of the explicit engine, at a command line."""

    def __init__(self) -> None:
        model, question = asked("low")
        lie = Result("low", model.property("low").kind, Holds(Extent(question.scope, 2)))
        super().__init__(Heard(), lie=lie)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        both = reporter
        heard = self.heard

        class Tee:
            """Hears what is told to the reporter beyond."""

            def tell(self, event: Event) -> None:
                heard.tell(event)

        both._reporter = Tee()  # type: ignore[attr-defined]
        self.found = 1
        return super().run(task, both)


def test_a_contradiction_ends_in_70_with_all_it_takes_to_see_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(registry.ENGINES, "explicit", f"{__name__}:Lying")
    monkeypatch.setattr(command, "PATIENCE", 0.0)
    monkeypatch.chdir(tmp_path)
    code = cli.main(["check", str(TINY), "--check", "surprise", "--property", "low"])

    assert code == 70
    told = capsys.readouterr().err
    assert "the engines explicit and bmc contradict each other" in told
    assert "Traceback" not in told
    name = "modelcheck-disagreement-tiny-surprise.json"
    assert f"{name} has all it takes" in told
    saved = json.loads((tmp_path / name).read_text(encoding="utf-8"))
    assert saved["text"] == TINY.read_text(encoding="utf-8")
    assert saved["first"]["properties"][0]["verdict"] == "holds"
    assert saved["first"]["scope"]["nats"] == {"Epoch": 3, "Offset": 1}
    (trace,) = saved["second"]["traces"]
    assert len(trace["states"]) == 7
    assert {"python", "z3-solver"} <= set(saved["versions"])
    (tmp_path / "model.rsm").write_text(saved["text"], encoding="utf-8")
    assert loads(saved["text"])[0].name == "tiny"
    assert saved["again"][1].startswith("modelcheck check FILE --check surprise --engine bmc")


# ------------------------------------------------------------------- what stays behind


@contextmanager
def second_engine() -> Iterator[SecondEngine]:
    model, question = asked("mono")
    second = SecondEngine(Order("bmc", {"depth": 1000}, task_of(model, question)))
    try:
        yield second
    finally:
        second.close()


def test_a_second_engine_that_is_killed_is_missed_and_no_more() -> None:
    with second_engine() as second:
        child = second._child
        assert child is not None
        assert child.process.pid is not None
        os.kill(child.process.pid, signal.SIGKILL)
        while second.is_running:
            second.listen(1.0)

        assert second.problem.startswith("its process was killed (SIGKILL), by the system as when memory")


def test_it_is_gone_when_it_is_closed() -> None:
    with second_engine() as second:
        child = second._child
        assert child is not None
        pid = child.process.pid
        assert pid is not None
        second.close()

        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


PARENT = """
import sys, time
from tests.modelcheck.test_portfolio import second_engine

if __name__ == "__main__":
    with second_engine() as second:
        while second.depth < 0:
            second.listen(0.1)
        print(second._child.process.pid, flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_it_does_not_outlive_its_parent(by: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=TINY.parents[2],
        env=os.environ | {"PYTHONPATH": str(TINY.parents[2])},
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(by)
        parent.wait(SLOW)
        for _ in range(200):
            if not Path(f"/proc/{pid}").exists():
                return
            time.sleep(0.05)
    raise AssertionError(f"the process {pid} is still there")
