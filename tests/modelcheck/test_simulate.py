"""Random runs: the same by the same seed, within the budget, and modest about what they show."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from counterexamples.certify import certify
from counterexamples.trace import BadAssert, BadStep, Deadlocked, Erred, Stops, Trace
from modelcheck import cli
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.report import Event, RunsDone, Silent
from modelcheck.contract.result import End, Holds, Outcome, Unknown, Violated
from modelcheck.search.simulate import RandomRuns
from spec.load import load, loads
from spec.model.ir import Budget, Check, Model
from spec.model.values import ModelError

ROOT = Path(__file__).parent.parent.parent
KISR = ROOT / "spec/protocols/kisr.rsm"

COUNTER = """
protocol counter
nat N
state { n: N = 0 }
action up says "up" { n := n + 1 }
fault slip says "slip" { require n > 0
  n := n - 1 }
invariant small: n < 50
reachable three: n == 3
step slow: n <= old(n) + 1
check only_one { scope N = 9
  faults <= 2 }
"""


def named(path: Path, name: str) -> tuple[Model, Check]:
    """A check of a file, by its name."""
    return next((model, each) for model in load(path) for each in model.checks if each.name == name)


def simulated(text: str, runs: int = 50, seed: int = 7, depth: int = 100) -> Outcome:
    model = loads(text)[0]
    return check(model, model.checks[0], engine=RandomRuns(runs, seed, depth))


def trace_of(outcome: Outcome, name: str) -> Trace:
    verdict = outcome.verdict(name)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace


def cli_run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = cli.main(list(args))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# -------------------------------------------------------------------- the runs


def test_the_seeded_bug_of_kisr_is_found_and_certified() -> None:
    model, bug = named(KISR, "seeded_bug")

    outcome = check(model, bug, engine=RandomRuns(3000, 42))

    trace = trace_of(outcome, "strong_isr")
    assert len(trace.steps) >= 10
    assert certify(trace).trusted == ""
    assert (outcome.findings.end, outcome.mismatches) == (End.DECIDED, ())


def test_the_same_seed_gives_the_same_trace_however_many_runs_are_asked_for() -> None:
    model, bug = named(KISR, "seeded_bug")
    first = check(model, bug, engine=RandomRuns(3000, 42))
    sample = first.findings.sample
    assert sample is not None

    again = check(model, bug, engine=RandomRuns(sample.runs, 42))

    assert trace_of(again, "strong_isr") == trace_of(first, "strong_isr")
    assert again.findings.sample == sample


def test_another_seed_gives_another_trace() -> None:
    model, bug = named(KISR, "seeded_bug")
    one, other = (check(model, bug, engine=RandomRuns(3000, seed)) for seed in (1, 2))

    assert trace_of(one, "strong_isr") != trace_of(other, "strong_isr")


def test_what_was_not_broken_is_unknown_with_the_runs_and_the_seed() -> None:
    outcome = simulated(COUNTER)

    assert outcome.verdict("small") == Unknown("no violation in 50 random runs of up to 100 steps, seed 7")
    assert isinstance(outcome.verdict("three"), Holds)
    assert outcome.findings.end is End.SAMPLED
    assert outcome.findings.end.partial
    sample = outcome.findings.sample
    assert sample is not None
    assert (sample.runs, sample.depth, sample.seed) == (50, 100, 7)


def test_where_no_run_shows_anything_the_last_one_can_be_looked_at() -> None:
    quiet = COUNTER.replace("reachable three: n == 3\n", "")
    last, alone = simulated(quiet, runs=3, depth=5).findings.sample, simulated(quiet, runs=2).findings.sample
    assert last is not None
    assert alone is not None
    assert last.run is not None

    assert isinstance(last.run.ending, Stops)
    assert certify(last.run).trace == last.run
    assert len(last.run.steps) == 5
    assert alone.run != last.run
    assert simulated(quiet, runs=3, depth=5).findings.sample == last


def test_a_run_that_shows_something_is_the_one_to_look_at() -> None:
    sample = simulated(COUNTER).findings.sample

    assert sample is not None
    assert sample.run is None


def test_the_command_line_tells_the_last_run_and_writes_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "run.itf.json"
    words = (str(KISR), "--check", "xs", "--simulate", "2", "--seed", "3", "--depth", "4")
    _, out, _ = cli_run(capsys, "check", *words, "-v", "--itf", str(file))
    _, plain, _ = cli_run(capsys, "check", *words)
    _, told, _ = cli_run(capsys, "trace", "show", str(file), str(KISR))

    assert "a run of counted: 4 steps" in out
    assert "a run of" not in plain
    assert "a run of counted: 4 steps" in told


def test_what_was_not_reached_is_unknown_too() -> None:
    outcome = simulated(COUNTER, depth=2)

    assert outcome.verdict("three") == Unknown("not reached in 50 random runs of up to 2 steps, seed 7")


@pytest.mark.parametrize("budget", [Budget(2), Budget(None, {"slip": 2}), Budget(0)])
def test_no_run_has_more_faults_than_the_budget_allows(budget: Budget) -> None:
    model = loads(COUNTER)[0]
    asked = replace(model.checks[0], budget=budget, only=("small",))

    stats = check(model, asked, engine=RandomRuns(50, 7)).findings.stats

    assert stats.taken["slip"] <= 50 * (0 if budget.total == 0 else 2)
    assert (stats.taken["slip"] > 0) == (budget.total != 0)


def test_no_step_leaves_the_scope() -> None:
    stats = simulated(COUNTER).findings.stats

    assert stats.levels - 1 <= 9 + 2 * 2
    assert set(stats.cut) == {"N"}


BROKEN = """
protocol broken
nat N
state {{ n: N = 0 }}
action up says "up" {{ {guard}
  n := n + 1 }}
{claim}
check all {{ scope N = 20 }}
"""


@pytest.mark.parametrize(
    ("guard", "claim", "name", "ending"),
    [
        ("", "step even: n != 4", "even", BadStep()),
        ("assert low: n < 3", "", "low", BadAssert()),
        ("require n < 3", "deadlock free", "deadlock_free", Deadlocked()),
        ("require n < 3", "deadlock free unless n < 3", "deadlock_free", Deadlocked()),
    ],
)
def test_steps_asserts_and_deadlocks_are_looked_at(guard: str, claim: str, name: str, ending: object) -> None:
    outcome = simulated(BROKEN.format(guard=guard, claim=claim))

    verdicts = {result.property: result.verdict for result in outcome.findings.results}
    found = next(iter(verdicts.values())) if name == "deadlock_free" else verdicts[name]
    assert isinstance(found, Violated)
    assert found.trace is not None
    assert found.trace.ending == ending
    assert not found.fewest


def test_a_random_run_may_end_where_the_model_says_so() -> None:
    outcome = simulated(BROKEN.format(guard="require n < 3", claim="deadlock free unless n == 3"))

    assert isinstance(outcome.findings.results[0].verdict, Unknown)


def test_an_error_of_the_model_ends_the_runs() -> None:
    outcome = simulated(BROKEN.format(guard="require [1, 2, 3][n] > 0", claim=""))

    assert outcome.findings.end is End.ERROR
    assert outcome.findings.error is not None
    assert isinstance(outcome.findings.error.ending, Erred)


def test_properties_of_whole_runs_are_refused() -> None:
    with pytest.raises(Unsupported, match="recoverable done"):
        simulated(BROKEN.format(guard="", claim="recoverable done: n == 3"))


def test_an_interrupt_keeps_what_was_found() -> None:
    class Clock(Silent):
        """Somebody who presses Ctrl-C at the first report of progress."""

        def tell(self, event: Event) -> None:
            if isinstance(event, RunsDone):
                raise KeyboardInterrupt

    model = loads(COUNTER)[0]
    only = model.checks[0]
    engine = RandomRuns(10**9, 7)
    task = Task(model, only.scope, only.budget, model.properties, Limits(), only.name)

    found = engine.run(task, Clock())

    assert found.end is End.INTERRUPTED
    assert found.sample is not None
    assert found.sample.runs > 0
    assert isinstance(next(r for r in found.results if r.property == "three").verdict, Holds)


def test_a_limit_of_states_ends_the_runs() -> None:
    model = loads(COUNTER)[0]

    outcome = check(model, model.checks[0], engine=RandomRuns(10**9, 7), limits=Limits(states=500))

    assert (outcome.findings.end, outcome.findings.stats.states) == (End.STATES, 500)


def test_a_line_shows_how_far_the_runs_are() -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    stream = Terminal()
    ProgressLine(stream, "kisr · m", columns=200).tell(RunsDone(1200, 10_000, 90_000, 9.0))

    assert stream.getvalue().endswith(
        "kisr · m · 1,200 of 10,000 random runs · 90,000 steps · 10,000/s · 9.0 s"
    )


# ------------------------------------------------------------ the command line


def test_the_card_tells_the_command_that_gives_the_same_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    asked = ("check", "tests/modelcheck/tiny.rsm", "--check", "surprise", "--property", "low", "--trace")
    code, out, _ = cli_run(capsys, *asked, "--simulate", "2k")
    again = next(line for line in out.splitlines() if line.lstrip().startswith("again"))
    _, program, *words = shlex.split(again)

    second, same, _ = cli_run(capsys, *words, "--trace")

    assert program == "modelcheck"
    assert code == second == 1
    assert "violated by a run with" in out
    assert same.partition("again")[2] == out.partition("again")[2]


def test_random_runs_without_a_violation_say_unknown_and_exit_with_3(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tiny = str(ROOT / "tests/modelcheck/tiny.rsm")
    asked = ("check", tiny, "--check", "large", "--simulate", "20", "--seed", "42", "--depth", "30")

    code, out, _ = cli_run(capsys, *asked)

    assert code == 3
    assert "unknown: no violation in 20 random runs of up to 30 steps, seed 42" in out
    assert "PARTIAL: random runs see a part only" in out
    assert "holds" not in out
    assert "exact" not in out


def test_json_tells_the_sample(capsys: pytest.CaptureFixture[str]) -> None:
    tiny = str(ROOT / "tests/modelcheck/tiny.rsm")

    _, out, _ = cli_run(
        capsys, "check", tiny, "--check", "large", "--simulate", "20", "--seed", "1", "--json"
    )

    [told] = json.loads(out)
    last = told["sample"].pop("trace")
    assert told["sample"] == {"runs": 20, "depth": 100, "seed": 1}
    assert len(last["states"]) == 101
    assert told["exact"] is False


def test_a_seed_without_random_runs_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = cli_run(capsys, "check", "tests/modelcheck/tiny.rsm", "--seed", "1")

    assert code == 2
    assert "--simulate N" in err


def test_a_model_without_an_initial_state_has_no_random_run() -> None:
    text = COUNTER.replace("action up", "init { choose v in {true} where false }\naction up")

    with pytest.raises(ModelError, match="no choice because no member satisfies the condition"):
        simulated(text)
