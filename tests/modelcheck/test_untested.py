"""A part of a property that no state puts to the test holds of nothing, and a whole search tells so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import spec.model.ir as ir
from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Keep, Limits, Task
from modelcheck.contract.families import families
from modelcheck.contract.report import Silent
from modelcheck.contract.result import End, Findings, Outcome, UntestedPart
from modelcheck.contract.witnesses import witnesses
from modelcheck.engines.registry import engine as engine_of
from modelcheck.search.interpreted import InterpretedSearch
from spec.diagnostics import SpecError
from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.op import Op, Quantifier
from spec.model.types import BOOL
from spec.model.values import ModelError
from spec.model.walk import children, with_parts
from tests.model_texts import model_text

MODEL = """\
protocol post

sort   Node
union  Message { Vote(of: Node)  Ping }

config careful: bool = false

state {
  sent: set[Message] = {}
  n:    0..4 = 0
  seen: seq[0..4; 5] = []
}

process Node { durable held: set[0..4] = {}  durable on: bool = false }

fair action up { require room: n < 3  n := n + 1 }
action keep(a: Node) { require n == 2  a.held := {1} }
action ping { sent := {Ping} }
fault stop(a: Node) { a.on := true }

PROPERTIES

check it { scope Node = 2  faults <= 1 }
"""
WAYS: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "reference": ("reference", {}, {}),
    "reference, symmetry": ("reference", {}, {"symmetry": True}),
    "explicit": ("explicit", {}, {"threads": 1}),
    "explicit, two threads": ("explicit", {}, {"threads": 2}),
    "explicit, symmetry": ("explicit", {}, {"symmetry": True}),
    "explicit, no ways": ("explicit", {}, {"ways": False}),
    "spark": ("spark", {"shards": 3, "driver_states": None}, {"threads": 1}),
}


def outcome(properties: str, way: str = "explicit", **more: Any) -> Outcome:  # noqa: ANN401
    (model,) = loads(MODEL.replace("PROPERTIES", properties))
    name, own, options = WAYS[way]
    engine = engine_of(name, **own)
    return check(model, model.checks[0], engine=engine, with_witnesses=True, **options, **more)


def told(properties: str, way: str = "explicit") -> list[str]:
    found = outcome(properties, way)
    assert found.findings.end is End.COMPLETE
    return [found.model.source.at(part.span) for part in found.findings.stats.untested]


@pytest.mark.parametrize("way", WAYS)
def test_every_search_finds_the_same_parts(way: str) -> None:
    properties = """
    invariant votes:   forall m: Vote in sent. m.of in Node
    invariant pings:   forall m in sent. m is Ping
    invariant unheard: n > 4 implies n == 9
    invariant heard:   n > 2 implies n == 3
    invariant inside:  forall a: Node. a.on implies forall k in a.held. exists j in a.held where j > k. j < 9
    step      grows:   forall k in seen. k >= 0
    step      grew:    forall k in old(seen). k >= 0
    recoverable back:  n == 3 or forall m: Vote in sent. m.of in Node
    """

    assert told(properties, way) == [
        "forall m: Vote in sent",
        "n > 4",
        "exists j in a.held where j > k",
        "forall k in seen",
        "forall k in old(seen)",
        "forall m: Vote in sent",
    ]


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("n < 4 or forall k in seen. k > 0", ["forall k in seen"]),
        ("n >= 0 or forall m in sent. m is Ping", ["forall m in sent"]),  # it is never come to
        ("n > 3 and forall m in sent. m is Ping or n >= 0", []),  # violated, so nothing is told
        ("not (n > 3 and (exists m in sent. m is Ping))", ["exists m in sent"]),
        ("if n > 3 then forall m in sent. m is Ping else n >= 0", ["forall m in sent"]),
        ("if n > 3 then n >= 0 else forall m in sent. m is Ping", []),
        ("let k = n > 3. not k", []),
        ("(let few = {k in {n} where k > 3}. forall k in few. k > 0)", ["forall k in few"]),
        ("[a: Node -> forall k in seen. k > 0] != [a: Node -> false]", ["forall k in seen"]),
        ("careful implies n == 9", ["careful"]),
        ("forall k in 0..n where k > 3. k > 9", ["forall k in 0..n where k > 3"]),
        ("forall k in 0..n where k > 2. k > 2", []),
        ("forall k in 1..0. k > 9", ["forall k in 1..0"]),
        ("forall a: Node. a in Node", []),
        ("size({k in {n} where (exists j in seen. j == k)}) == 0", ["exists j in seen"]),
    ],
)
def test_a_part_is_untested_where_its_evaluation_never_comes(expression: str, parts: list[str]) -> None:
    found = outcome(f"invariant it: {expression}").findings

    texts = loads(MODEL.replace("PROPERTIES", f"invariant it: {expression}"))[0].source
    assert [texts.at(part.span) for part in found.stats.untested] == parts


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("n != old(n) implies n > old(n)", []),  # of both states: it is not asked
        ("did(up) implies n > 0", []),  # of the step
        ("n > 4 implies n > old(n)", ["n > 4"]),
        ("old(n > 4) implies n > 2", ["old(n > 4)"]),
        ("old(n) == 1 implies n > 0", []),
        ("old(careful) implies n >= 0", ["old(careful)"]),  # which reads no state at all
    ],
)
def test_of_a_step_what_is_of_one_state_is_asked(expression: str, parts: list[str]) -> None:
    assert told(f"step it: {expression}") == parts


def test_both_sides_of_a_promise_are_asked() -> None:
    properties = "leadsto it: (forall k in seen. k > 0) ~> n == 3 or (n > 4 implies n == 9)"

    assert told(properties) == ["forall k in seen", "n > 4"]


def test_a_search_that_is_decided_early_tells_nothing() -> None:
    found = outcome("invariant few: n < 2\ninvariant votes: forall m: Vote in sent. m.of in Node")

    assert found.findings.end is End.COMPLETE  # the other one holds
    assert len(found.findings.stats.untested) == 1

    found = outcome("invariant few: n < 2 and (forall m: Vote in sent. m.of in Node)")

    assert found.findings.end is End.DECIDED
    assert found.findings.stats.untested == ()


def test_a_search_with_a_limit_tells_nothing() -> None:
    found = outcome("invariant votes: forall m: Vote in sent. m.of in Node", limits=Limits(states=5))

    assert found.findings.end is End.STATES
    assert found.findings.stats.untested == ()


@pytest.mark.parametrize("engine", ["reference", "explicit"])
def test_looking_for_witnesses_changes_nothing_else(engine: str) -> None:
    properties = "invariant few: n < 3\nreachable some: n == 1\ninvariant votes: n > 4 implies n == 9"
    (model,) = loads(MODEL.replace("PROPERTIES", properties))

    def facts(*, with_witnesses: bool) -> object:
        found = check(model, model.checks[0], engine=engine, with_witnesses=with_witnesses).findings
        stats = found.stats
        counts = stats.states, stats.transitions, stats.levels, stats.layers, stats.taken, stats.unrefused
        return found.end, counts, [(each.property, type(each.verdict)) for each in found.results]

    assert facts(with_witnesses=True) == facts(with_witnesses=False)


@pytest.mark.parametrize("way", ["reference", "explicit", "spark"])
def test_an_error_is_reported_of_the_property_alone(way: str) -> None:
    found = outcome("invariant it: n < 4 implies forall k in {6 / (n - 2)}. k < 9", way).findings

    assert found.end is End.ERROR
    assert found.error is not None
    assert found.error.property == "it"


@pytest.mark.parametrize("engine", ["reference", "explicit"])
def test_a_quantifier_after_what_protects_it_makes_no_error(engine: str) -> None:
    (model,) = loads(MODEL.replace("PROPERTIES", "invariant it: n == 2 or forall k in {6 / (n - 2)}. k < 9"))
    found = check(model, model.checks[0], engine=engine, with_witnesses=True).findings

    assert (found.end, found.error, found.stats.untested) == (End.COMPLETE, None, ())


def test_checks_that_share_a_kernel_tell_of_their_own_properties() -> None:
    properties = "invariant one: n > 4 implies n == 9\ninvariant two: forall k in seen. k > 0"
    checks = """
    check first  { scope Node = 2  faults none  only one }
    check second { scope Node = 2  faults none  only two }
    """
    (model,) = loads(MODEL.replace("PROPERTIES", properties + checks))
    shared = families([(model, each) for each in model.checks], with_witnesses=True)
    found = [
        check(model, each, engine="explicit", family=family, with_witnesses=True).findings
        for each, family in zip(model.checks, shared, strict=True)
    ]

    names = [[part.property for part in each.stats.untested] for each in found]
    assert names == [["one"], ["two"], ["one", "two"]]


def test_a_search_goes_on_from_a_checkpoint_with_the_witnesses_it_had(tmp_path: Path) -> None:
    properties = "invariant one: n > 4 implies n == 9\ninvariant two: n == 1 implies n < 2"
    (model,) = loads(MODEL.replace("PROPERTIES", properties))

    def go(limits: Limits, *, resume: bool) -> Findings:
        keep = Keep(tmp_path / "kept", resume=resume)
        asked = replace(model.checks[0], budget=ir.Budget(None))
        return check(model, asked, engine="explicit", keep=keep, limits=limits, with_witnesses=True).findings

    assert go(Limits(states=20), resume=False).end is End.STATES
    found = go(Limits(), resume=True)

    assert [part.property for part in found.stats.untested] == ["one"]


# ------------------------------------------------------------- what it means, of random models


def models(part: int, many: int) -> Iterator[tuple[ir.Model, ir.Check]]:
    for number in range(part * many, (part + 1) * many):
        try:
            (model,) = loads(model_text(Random(f"untested {number}").randrange))  # noqa: S311 - no secret
        except SpecError:
            continue
        yield model, model.checks[0]


def changed(expr: ir.Expr, part: ir.Expr) -> ir.Expr:
    """The expression with what no state puts to the test turned round."""
    if expr is part:
        match expr:
            case ir.Implies(right=right):
                return replace(expr, right=opposite(right))
            case ir.Bind(body=body):
                return replace(expr, body=opposite(body))
            case _:
                raise AssertionError(expr)
    return with_parts(expr, lambda each: changed(each, part))


def opposite(expr: ir.Expr) -> ir.Expr:
    return ir.Apply(Op.NOT, (expr,), type=BOOL, span=expr.span)


def parts_at(expr: ir.Expr, part: UntestedPart) -> Iterator[ir.Expr]:
    """The quantifiers or implications of an expression that are at the place of a part."""
    match expr:
        case ir.Implies(left=left) if not part.is_quantifier and left.span == part.span:
            yield expr
        case ir.Bind(quantifier=Quantifier.FORALL | Quantifier.EXISTS, where=where) if part.is_quantifier:
            end = (expr.domain if where is None else where).span.end
            if (expr.span.start, end) == (part.span.start, part.span.end):
                yield expr
    for each in children(expr):
        yield from parts_at(each, part)


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.one_of_many) for n in range(1, 4))])
def test_what_is_untested_may_say_the_opposite(part: int) -> None:
    looked_at = 0
    for model, whole in models(part, 30):
        names = [p.name for p in model.properties if p.kind not in OF_FAIR_RUNS]
        asked = replace(whole, only=tuple(names), expect=())
        try:
            found = check(
                model, asked, engine="explicit", with_witnesses=True, limits=Limits(states=300)
            ).findings
        except (Unmet, Unsupported, ModelError):
            continue
        if not found.stats.untested:
            continue
        machine = Machine(model, asked.scope)
        search = InterpretedSearch(
            Task(model, asked.scope, asked.budget, (), stop_early=False), machine, Silent(), keep_edges=False
        )
        search.run()
        states = [search.space.node(number)[1] for number in range(len(search.space))]
        for untested in found.stats.untested:
            prop = model.property(untested.property)
            if prop.kind is ir.PropertyKind.STEP or prop.expr is None:
                continue
            at = [*parts_at(prop.expr, untested)]
            if len(at) != 1:  # a function that is used twice
                continue
            other = replace(prop, expr=changed(prop.expr, at[0]))
            asks, asks_other = machine.condition(prop), machine.condition(other)
            looked_at += 1

            assert [asks(state) for state in states] == [asks_other(state) for state in states], (
                model.source.text
            )
    assert part or looked_at


def test_more_parts_than_an_engine_asks_about_are_not_told_of() -> None:
    text = " and ".join(f"(n > {number} implies n >= 0)" for number in range(4, 70))
    (model,) = loads(MODEL.replace("PROPERTIES", f"invariant it: {text}"))

    assert witnesses(model.properties) == ()
    assert outcome(f"invariant it: {text}").findings.stats.untested == ()
