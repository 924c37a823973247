"""What pages of `modelcheck trace play` tell of states and find, in Node, and what the language means."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from counterexamples.itf.encode import encoder
from modelcheck.answers.played import playable, playable_beforehand
from modelcheck.answers.precomputed import plain
from modelcheck.contract.result import Holds, Unknown, Violated
from modelcheck.explicit.codegen.states.layout import layout
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.wasm.asked import OF_A_STATE
from spec.meaning.semantics import CutOff, Machine, State, Taken
from spec.model.ir import PropertyKind
from spec.model.kinds import OF_RUNS
from spec.model.values import ModelError, show
from tests.agreement import differences
from tests.fuzz.cases import Case
from tests.fuzz.findings import Differences
from tests.modelcheck.explicit.test_wasm import asked_of_node, packed

Json = Any
FEW = 25  # states of a model that are asked about
TABLE = 400  # states of a page that has no kernel
ERRS = "makes an error"


@cache
def node() -> str | None:
    """Where Node is, if it is."""
    return shutil.which("node")


def page(case: Case) -> Differences | None:
    """A page whose kernel is WebAssembly."""
    made = _page(case)
    if made is None:
        return None
    code, told = made
    laid = layout(case.model, case.asked.scope, dict(case.asked.budget.counted))
    states = {json.dumps([f"{word:x}" for word in laid.pack(state)]): state for state in _some_states(case)}
    found = dict(_about(case, code, told, states, packed(laid)))
    return found | _searched(case, code, told)


def _page(case: Case) -> tuple[bytes, Json] | None:
    if node() is None or case.findings is None:
        return None
    try:
        return playable(case.model, case.asked)
    except TooWide:
        return None


def table(case: Case) -> Differences | None:
    """A page that has a table of states in place of a kernel."""
    if node() is None or case.findings is None or case.findings.error is not None:
        return None
    code, told, made = playable_beforehand(case.model, case.asked, TABLE)
    found_there = json.loads(made.table)
    all_, spent = found_there["states"], found_there["spent"]
    known = [n for n, each in enumerate(found_there["records"]) if each is not None and not any(spent[n])]
    numbers = {json.dumps(all_[number]): number for number in reversed(known)}
    sample = ((numbers.get(json.dumps(plain(state))), state) for state in _some_states(case))
    states = {json.dumps([f"{number:x}"]): state for number, state in sample if number is not None}
    found = dict(_about(case, code, told, states, lambda words: all_[int(words[0], 16)]))
    return found | (_searched(case, code, told) if made.used["whole"] else {})


def _asked(code: bytes, told: Json, **ask: Json) -> Json:
    name = node()
    assert name is not None
    with TemporaryDirectory() as folder:
        return asked_of_node(name, Path(folder), code, told, **ask)


def _some_states(case: Case) -> list[State]:
    """The first states that faults and all else lead to, as far as no error is made on the way."""
    machine = Machine(case.model, case.asked.scope)
    found = dict.fromkeys(machine.initial())
    for state in (waiting := [*found]):
        try:
            after = [step.state for step in machine.steps(state) if isinstance(step, Taken)]
        except ModelError:
            continue
        waiting += dict.fromkeys(each for each in after if each not in found)
        found |= dict.fromkeys(after)
        if len(found) >= FEW:
            break
    return [*found][:FEW]


# ------------------------------------------------------------------ single states


def _about(
    case: Case, code: bytes, told: Json, states: Mapping[str, State], read: Callable[[Json], Json]
) -> Iterator[tuple[str, tuple[object, object]]]:
    """What is said wrongly of states, each by how a page is asked about it."""
    if not states:
        return
    answers = _asked(code, told, states=[json.loads(words) for words in states])["about"]
    machine = Machine(case.model, case.asked.scope)
    for number, (state, answer) in enumerate(zip(states.values(), answers, strict=True)):
        meant, said = _meant(machine, case, state), _said(answer, read)
        for name, fact in meant.items():
            if fact != said.get(name):
                yield f"{name} in state {number}", (fact, said.get(name))


def _said(answer: Json, read: Callable[[Json], Json]) -> dict[str, object]:
    """What a page told, in an order of its own."""
    by_action: dict[str, list[Sequence[object]]] = defaultdict(list)
    for outcome, name, says, why, words, broken in answer["records"]:
        (action,) = re.findall(r"^[\w.]+", name)
        match outcome:
            case "taken":
                by_action[action].append(("taken", name, says, repr(read(words)), *sorted(broken)))
            case "refused":
                by_action[action].append(("refused", why))
            case _:
                by_action[action].append((outcome, name if outcome == "cut" else "", why))
    told: dict[str, object] = {action: _sorted(records) for action, records in by_action.items()}
    told |= {name: ERRS for name, records in by_action.items() if any(each[0] == "error" for each in records)}
    told |= {f"truth of {name}": truth for name, truth in answer["truth"].items()}
    return told | {"shown": answer["shown"], "itf": answer["itf"], "dead": answer["dead"]}


def _sorted(records: Sequence[Sequence[object]]) -> list[str]:
    """Steps and cuts as often as they are, and each refusal once."""
    refused = {repr(tuple(each)) for each in records if each[0] == "refused"}
    return sorted([*refused, *(repr(tuple(each)) for each in records if each[0] != "refused")])


def _meant(machine: Machine, case: Case, state: State) -> dict[str, object]:
    """The same by the meaning of the language, wherever it says what a page has to tell."""
    model, scope, budget = case.model, machine.scope, case.asked.budget
    found: dict[str, object] = {}
    errs = False
    for action in sorted(model.actions, key=lambda each: each.is_fault):
        if action.is_fault and (not budget.allows(action.name) or budget.counted.get(action.name) == 0):
            continue
        if errs and not action.is_fault:
            continue  # a search goes no further
        records = _records(machine, state, action.name)
        if records is None:
            errs |= not action.is_fault
            found[action.name] = ERRS
        elif records:
            found[action.name] = _sorted(records)
    shown = [show(v.type, value, scope) for v, value in zip(model.variables, state, strict=True)]
    itf = [encoder(v.type, scope)(value) for v, value in zip(model.variables, state, strict=True)]
    truth = {
        f"truth of {p.name}": _true(machine, p.name, state) for p in model.properties if p.kind in OF_A_STATE
    }
    free = next((p.name for p in model.properties if p.kind is PropertyKind.DEADLOCK_FREE), None)
    dead = None if free is None else _true(machine, free, state)
    if ERRS not in found.values() and (free is None or dead is not None):
        found["dead"] = None if free is None else not dead
    return found | truth | {"shown": shown, "itf": itf}


def _records(machine: Machine, state: State, name: str) -> list[Sequence[object]] | None:
    """What there is of an action in a state; None where it makes an error."""
    model = machine.model
    of_steps = [p for p in model.properties if p.kind is PropertyKind.STEP]
    refused: set[tuple[str, int]] = set()
    found: list[Sequence[object]] = []
    try:
        for each in machine.steps(state, refused, (name,)):
            if isinstance(each, CutOff):
                found.append(("cut", machine.name(each.step), each.limit))
                continue
            says = machine.says(model.action(name), each.step, state)
            broken = [p.name for p in of_steps if not machine.step_holds(p, state, each.step, each.state)]
            after = repr(plain(each.state))
            found.append(("taken", machine.name(each.step), says, after, *sorted([*broken, *each.broken])))
    except ModelError:
        return None
    return [*found, *(("refused", why) for _, why in refused)]


def _true(machine: Machine, name: str, state: State) -> bool | None:
    """Whether a property is true of a state; None where asking makes an error."""
    try:
        return machine.holds(machine.model.property(name), state)
    except ModelError:
        return None


# ------------------------------------------------------------------ searches


def _searched(case: Case, code: bytes, told: Json) -> dict[str, tuple[object, object]]:
    """Where a search of a page finds something else than the reference engine."""
    asked = replace(case.asked, only=(), expect=())
    known = case.by_reference(asked).findings
    assert known is not None
    assert case.findings is not None
    if known.error is not None or case.findings.error is not None:
        return {}
    faults = asked.budget.total
    found: dict[str, tuple[object, object]] = {}
    if "table" not in told["kernel"]:
        levels = _asked(code, told, levels=True, faults=faults)["levels"]
        layers: dict[int, int] = {}
        for spent, _, new in levels:
            layers[spent] = layers.get(spent, 0) + new
        expected = {layer.faults: layer.new for layer in known.stats.layers if layer.new}
        found |= differences({"layers": expected}, {"layers": layers})
    for result in case.findings.results:
        if result.kind in OF_RUNS or isinstance(result.verdict, Unknown):
            continue
        run = result.verdict.trace if isinstance(result.verdict, Violated) else None
        run = result.verdict.example if isinstance(result.verdict, Holds) else run
        answer = _asked(code, told, wanted=[result.property], faults=faults)["found"]
        end = answer["found"]
        cost = None if end is None else (answer["faults"], len(end["path"]) + end.get("breaks", False))
        name = f"{result.property} is found"
        found |= differences({name: run and (run.faults, len(run.steps))}, {name: cost})
    return found
