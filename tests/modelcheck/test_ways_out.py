"""The trap that a run ends in: what its states share, and what would lead out of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from counterexamples.explanation import RunTrap
from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.contract.result import Holds, Outcome, Violated
from modelcheck.diagnosis.explain import explain
from modelcheck.diagnosis.ways_out import trap_of
from spec.load import load, loads

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/understand-a-violation.md").read_text(encoding="utf-8")
TRADE = ROOT / "tests/modelcheck/trade.rsm"

ROAD = """
protocol road
state { place: 0..4 = 0, stuck: bool = false, cold: bool = false }
action go { require free: not stuck  require warm: not cold  require place < 4  place := place + 1 }
fault snow { require place == 2  stuck := true }
action freeze { require stuck  cold := true }
recoverable home: place == 4
check all { faults <= 1 }
"""


def outcome(path: str | Path, name: str) -> Outcome:
    model, found = next((m, c) for m in load(path) for c in m.checks if c.name == name)
    return check(model, found)


def violation(found: Outcome, prop: str) -> Trace:
    verdict = next(result.verdict for result in found.findings.results if result.property == prop)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace


def trapped(text: str) -> RunTrap:
    model = loads(text)[-1]
    found = trap_of(violation(check(model, model.checks[0]), "home"))
    assert found is not None
    return found


def test_what_is_so_in_all_states_of_a_trap_is_told_and_what_differs_is_not() -> None:
    found = trapped(ROAD)

    assert (found.states, found.shared) == (2, ("place = 2", "stuck = true"))


def test_what_leads_out_was_tried_and_what_does_not_is_not_said() -> None:
    found = trapped(ROAD)

    assert found.ways_out == ("undoing step 3, snow", "go without its guard `free`")


def test_a_guard_that_keeps_it_in_with_another_does_not_lead_out_alone() -> None:
    found = trapped(ROAD.replace("stuck := true }", "stuck := true  cold := true }"))

    assert found.ways_out == ("undoing step 3, snow",)


def test_a_repair_that_a_variant_dropped_leads_out(tmp_path: Path) -> None:
    path = tmp_path / "road.rsm"
    text = ROAD.replace(
        "check all { faults <= 1 }", "repair plough { require stuck  stuck := false  cold := false }"
    )
    path.write_text(
        f"{text}\nvariant unploughed of road {{ drop plough }}\ncheck all of unploughed {{ faults <= 1 }}\n",
        encoding="utf-8",
    )
    found = trap_of(violation(outcome(path, "all"), "home"))

    assert found is not None
    assert "the repair plough, which unploughed has not" in found.ways_out


def test_what_was_not_tried_to_the_end_is_said() -> None:
    model = loads(ROAD)[0]
    found = trap_of(violation(check(model, model.checks[0]), "home"), lambda looked: looked < 2)

    assert found is not None
    assert not found.is_whole
    assert found.sentences[-1] == "(Not everything was tried to the end.)"


def test_the_trap_of_the_last_replica_in_sync_is_told(golden: Callable[[str, str], None]) -> None:
    found = explain(violation(outcome(TRADE, "clean"), "led"))

    assert found is not None
    assert found.trap is not None
    golden("explanations/last_replica.clean.txt", "\n".join(found.trap.sentences) + "\n")


# ------------------------------------------------------------------ what a document shows


def test_the_table_of_the_trade_is_what_the_checks_find() -> None:
    rows = [
        _row(name)
        for name in ("clean", "unclean", "eligible", "clean_three", "unclean_three", "eligible_three")
    ]
    shown = re.search(r"<!-- table: trade -->\n(.*?)\n\n", PAGE, re.DOTALL)
    assert shown is not None

    assert shown[1].splitlines()[2:] == rows


def test_the_trap_that_the_document_shows_is_the_one_that_is_found() -> None:
    shown = re.search(r"<!-- trap -->\n```text\n(.*?)```", PAGE, re.DOTALL)
    golden = (ROOT / "tests/golden/explanations/last_replica.clean.txt").read_text(encoding="utf-8")
    assert shown is not None

    assert shown[1] == golden


def _row(name: str) -> str:
    found = outcome(TRADE, name)
    scope = found.check.scope
    entries = scope.config
    election = "unclean" if entries["unclean"] else "eligible leader replicas" if entries["elr"] else "clean"
    told = []
    for prop in ("acknowledged_survive", "led"):
        verdict = next(result.verdict for result in found.findings.results if result.property == prop)
        told.append("yes" if isinstance(verdict, Holds) else _lost(violation(found, prop)))
    return f"| {len(scope.sorts['Broker'])} | {entries['min_isr']} | {election} | {' | '.join(told)} |"


def _lost(trace: Trace) -> str:
    return "no: " + ", ".join(step.action for step in trace.steps if step.action in trace.model.faults)


def test_a_condition_before_a_recoverable_asks_it_only_there() -> None:
    text = """
        protocol votes
        sort Node
        process Node { durable up: bool = true }
        state { wrote: bool = false }
        fun down: set[Node] = {n in Node where not n.up}
        fault stop(n: Node) { require n.up  n.up := false  wrote := false }
        action write { require 2 * size(down) < size(Node)  wrote := true }
        recoverable writes: wrote
        recoverable writes_with_one_down: size(down) <= 1 implies wrote
        check three { scope Node = 3  faults any }
    """
    model = loads(text)[0]
    found = check(model, model.checks[0])
    verdicts = {result.property: result.verdict for result in found.findings.results}

    assert isinstance(verdicts["writes_with_one_down"], Holds)
    assert violation(found, "writes").faults == 2
