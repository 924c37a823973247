"""A nat without a bound: what is found for any number of values is what each number of values gives."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from counterexamples.itf.read import read
from counterexamples.itf.write import write
from counterexamples.trace import Erred
from modelcheck.answers import card
from modelcheck.api import Unsupported, check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.cli import main
from modelcheck.contract.engine import Keep, Limits
from modelcheck.contract.result import End, Outcome, Unknown, Violated
from modelcheck.diagnosis.shrink import shrink
from modelcheck.engines.room import MOST_ROOM, ROOMS
from modelcheck.search.simulate import RandomRuns
from spec.diagnostics import SpecError
from spec.editing.manual import manual
from spec.formatting.format import format_text
from spec.load import loads
from spec.meaning.evaluate import NOT_GREATEST
from spec.model.bounds import bound_words
from tests.ordinal_models import ordinal_model
from tests.without_bounds import agree_with_bounds, bounded, engines_agree, facts

KAFKA = """import kafka
check two {
  scope  Broker = {A, B}, Epoch = any, Offset = 1, Record = 1
  config acks = all, min_isr = 1
  faults crash any
  only   acknowledged_survive, no_divergence
}
check three {
  scope  Broker = {A, B, C}, Epoch = any, Offset = 1, Record = 1
  config acks = all, min_isr = 2
  faults crash any
  only   acknowledged_survive, no_divergence
}
"""
FIRST_ROOM = ROOMS[0]
MODELS = 60  # random ones


def asked(name: str, **bounds: int | str) -> Outcome:
    """One of the checks of `KAFKA`, with other bounds."""
    model, *_ = loads(KAFKA)
    given = tuple(f"{nat}={bound}" for nat, bound in bounds.items())
    question = next(each for each in model.checks if each.name == name)
    return check(model, apply(model, question, Overrides(scope=given)))


@pytest.mark.parametrize(
    ("name", "epochs", "states"),
    [("two", 2, 1288), ("two", 3, 2964), ("two", 4, 5416), ("two", "any", 1124), ("three", "any", 62016)],
)
def test_any_number_of_elections_has_fewer_states_than_a_few(
    name: str, epochs: int | str, states: int
) -> None:
    found = asked(name, Epoch=epochs).findings

    assert found.end is End.COMPLETE
    assert found.stats.states == states
    assert found.stats.cut.keys() == ({"Record"} if epochs == "any" else {"Record", "Epoch"})


def test_both_engines_have_the_same_states_without_a_bound() -> None:
    model, *_ = loads(KAFKA)
    one, two = (check(model, model.checks[0], engine=each).findings for each in ("reference", "explicit"))

    assert one.stats.states == two.stats.states == 1124
    assert one.stats.layers == two.stats.layers
    assert one.stats.taken == two.stats.taken


# ------------------------------------------------------------------ what is the same


def test_random_models_have_without_a_bound_what_they_have_within_each() -> None:
    random = Random(38)  # noqa: S311 - no secret
    agreed = 0
    for _ in range(MODELS):
        (model,) = loads(ordinal_model(random))
        agreed += agree_with_bounds(model, model.checks[0], "E", 3)
    assert agreed >= MODELS // 3


def test_engines_and_symmetry_agree_on_random_models_without_a_bound() -> None:
    random = Random(39)  # noqa: S311 - no secret
    agreed = 0
    for _ in range(MODELS):
        (model,) = loads(ordinal_model(random))
        agreed += engines_agree(model, model.checks[0])
    assert agreed >= MODELS // 3


# ------------------------------------------------------------------ what needs a bound

COUNTER = """protocol counter
sort N
nat E, L
state {{ top: E = 0  seen: set[E] = {{}}  {state} }}
process N {{ durable own: E = 0 }}
{action}
action renew(n: N) {{ top := top + 1  n.own := top }}
invariant fine: {claim}
check all {{ scope N = 2, L = 1, E = any }}
"""


def counter(*, state: str = "", action: str = "", claim: str = "true") -> str:
    return COUNTER.format(state=state, action=action, claim=claim)


@pytest.mark.parametrize(
    ("parts", "place", "why"),
    [
        ({"state": "by: map[E, bool] = [e: E -> false]"}, "by", "an entry for each E up to a bound"),
        ({"state": "log: seq[bool; E] = []"}, "log", "E bounds the size of `log`"),
        ({"claim": "forall e: E. e <= top"}, "E", "this looks at each E up to a bound"),
        ({"claim": "top != 2"}, "2", "which E a written number means"),
        ({"claim": "top in {0, 1}"}, "1", "which E a written number means"),
        ({"claim": "1 in seen"}, "1", "which E a written number means"),
        ({"claim": "seen != {1}"}, "1", "which E a written number means"),
        ({"claim": "forall n: N. n.own + 1 != top"}, "n.own + 1", "whether one E is the next of another"),
        ({"claim": "top < size(N)"}, "size(N)", "another kind of number"),
        ({"claim": "int(top) >= 0"}, "int(top)", "arithmetic with E"),
        ({"claim": "(sum n in N. n.own) >= 0"}, "sum n in N. n.own", "added up"),
        ({"claim": "forall e in 0..top. e <= top"}, "0..top", "arithmetic with E"),
        ({"action": "action a { top := 3 }"}, "3", "which E a written number means"),
        ({"action": "action a { top := top + 2 }"}, "top + 2", "arithmetic with E"),
        ({"action": "action a(n: N) { top := max(n.own, 1) }"}, "1", "which E a written number means"),
        ({"action": "action a { choose e in E  top := e }"}, "E", "looks at each E"),
        ({"state": "k: 0..9 = 0", "action": "action a { require top < k }"}, "k", "another kind of number"),
        ({"state": "k: 0..9 = 0", "action": "action a { k := top }"}, "top", "another kind of number"),
        (
            {"state": "by: map[0..3, bool] = [k: 0..3 -> false]", "action": "action a { by[top] := true }"},
            "top",
            "used as places",
        ),
        ({"action": "action a(e in seen) { seen.remove(e) }\nstep b: not did(a(2))"}, "2", "written number"),
        (
            {"action": "action a(e in seen) { seen.remove(e) }\nstep b: not did(a(size(N)))"},
            "size(N)",
            "another kind of number",
        ),
        ({"claim": "max((top, 1), (0, 0)) != (2, 1)"}, "2", "written number"),
        ({"claim": "[n: N -> n.own] != [n: N -> 1]"}, "1", "written number"),
        ({"action": "action a(n: N) { let first = 1  n.own := first }"}, "1", "written number"),
        ({"action": "action a(n: N) { let z = 1  let y = z  n.own := y }"}, "1", "written number"),
        ({"action": "action a(n: N) { let z = size(N)  let y = z  n.own := y }"}, "y", "another kind"),
        (
            {"action": "action a { require (top, 1) < (top, 2) and (top, 1) == (1, 1) }"},
            "1",
            "written number",
        ),
    ],
)
def test_what_needs_a_bound_is_an_error_at_its_place(parts: dict[str, str], place: str, why: str) -> None:
    text = counter(**parts)
    with pytest.raises(SpecError) as caught:
        loads(text)

    (found,) = caught.value.diagnostics
    assert found.code == "R0514"
    assert why in found.message
    assert found.span is not None
    assert text[found.span.start : found.span.end] == place


@pytest.mark.parametrize(
    "parts",
    [
        {"claim": "top == 0 or top > 0"},
        {"claim": "forall e in seen. e <= top"},
        {"claim": "forall n: N. max(n.own, 0) <= top"},
        {"action": "action a(n: N) { require (n.own, 0) < (top, 1)  n.own := 0 }"},
        {"action": "fun least(x: E, y: E): E = min(x, y)\naction a(n: N) { n.own := least(top, n.own) }"},
        {"state": "k: 0..9 = 0", "action": "action a { require k < 3  k := k + 1 }"},
        {"action": "init { top := 5 }"},
        {"claim": "[n: N -> n.own] != [n: N -> 0] or max((top, 1), (0, 0)) > (top, 0)"},
        {"action": "action a(n: N) { require (exists x in {(top, 1), (0, 0)}. x <= (top, 1)) }"},
        {"state": "r: R = R([n: N -> 0])", "action": "record R { of: map[N, E] }"},
        {"state": "sent: bag[E; 2] = {}", "action": "action a { require sent != {}  sent := {} }"},
        {"action": "action a(e in seen) { seen.remove(e) }\nstep b: did(a(0)) implies top > 0"},
        {"action": "action a(n: N) { let none_yet = 0  require n.own > none_yet  n.own := none_yet }"},
        {"claim": "let least = 0. top == least or top > least"},
        {"action": "action a(n: N) { let z = 0  let y = z  n.own := max(y, n.own) }"},
    ],
)
def test_what_only_looks_at_the_order_needs_none(parts: dict[str, str]) -> None:
    loads(counter(**parts))


def test_a_sort_and_a_network_cannot_be_any() -> None:
    text = counter().replace("N = 2", "N = any")
    with pytest.raises(SpecError, match="a sort has a number of members"):
        loads(text)
    text = counter(action="network net: bag of N").replace("L = 1", "L = 1, net = any")
    with pytest.raises(SpecError, match="only a nat of which the order matters"):
        loads(text)


def test_a_new_value_of_a_lesser_one_is_an_error_with_a_run() -> None:
    text = counter(action="action late(n: N) { require n.own != top  n.own := n.own + 1 }")
    (model,) = loads(text)
    for engine in ("explicit", "reference"):
        found = check(model, model.checks[0], engine=engine).findings
        assert found.end is End.ERROR
        assert found.error is not None
        assert isinstance(found.error.ending, Erred)
        assert found.error.ending.code == NOT_GREATEST
        assert "0 + 1 is no new E where 1 is in use" in found.error.ending.message
        assert [step.action for step in found.error.steps] == ["renew"]


def test_shrinking_a_run_without_a_bound_leaves_it_so() -> None:
    text = counter(action="action late(n: N) { require n.own != top  n.own := n.own + 1 }")
    (model,) = loads(text)
    run = check(model, model.checks[0]).findings.error

    assert run is not None
    shrunk = shrink(run)
    assert bound_words(shrunk.trace.scope)["E"] == "any"
    assert "E" not in shrunk.bounds_lowered


def test_values_made_in_the_head_of_an_action_leave_gaps_too() -> None:
    text = counter(state="log: seq[E; L] = []", action="action note { let e = top + 1 + 1  log.append(e) }")
    (model,) = loads(text)
    one, two = (check(model, model.checks[0], engine=each).findings for each in ("explicit", "reference"))

    assert one.error is not None
    assert two.error is not None
    assert one.error.ending == two.error.ending


def test_values_that_are_kept_are_named_when_there_is_no_room_for_more() -> None:
    text = counter(action="action note { seen := seen + {top} }")
    (model,) = loads(text)
    found = check(model, model.checks[0], limits=Limits(states=100_000)).findings

    assert found.end.partial
    (result,) = found.results
    assert isinstance(result.verdict, Unknown)
    assert "`seen` may keep every E there was" in result.verdict.reason


def test_steps_for_which_there_is_no_room_are_told_without_a_bound() -> None:
    (model,) = loads("""
        protocol p
        nat E
        state { top: E = 0, seen: set[E] = {} }
        action up { top := top + 1  seen.add(top) }
        invariant fine: true
        check all { scope E = any }
    """)
    found = dict(card.facts(check(model, model.checks[0])))

    assert found["cut"] == ["1 step for which there was no room for one more E"]


def test_a_small_search_without_room_for_all_values_decides_nothing() -> None:
    text = counter().replace("N = 2", "N = 1").replace("seen: set[E] = {}", "log: seq[E; L] = []")
    text = text.replace("top := top + 1", "log := log + [top]  top := top + 1").replace(
        "L = 1", f"L = {MOST_ROOM}"
    )
    (model,) = loads(text)
    found = check(model, model.checks[0]).findings

    assert found.end is End.COMPLETE  # the log is as long as the room is
    text = text.replace(f"L = {MOST_ROOM}", f"L = {MOST_ROOM + 1}")
    (model,) = loads(text)
    found = check(model, model.checks[0]).findings

    assert found.end is End.ROOM
    assert [type(each.verdict) for each in found.results] == [Unknown]


@pytest.mark.parametrize("engine", ["explicit", "reference"])
@pytest.mark.parametrize(
    ("first", "end"),
    [(FIRST_ROOM, End.DECIDED), (FIRST_ROOM + 1, End.DECIDED), (MOST_ROOM, End.ROOM), (99, End.ROOM)],
)
def test_a_search_has_room_for_the_values_that_a_run_starts_with(first: int, end: End, engine: str) -> None:
    text = counter(
        action=f"init {{ seen := {{{', '.join(map(str, range(1, first)))}}}  top := {first} }}",
        claim="forall n: N. n.own == 0 or n.own == top",
    )
    (model,) = loads(text)
    found = check(model, model.checks[0], engine=engine).findings

    assert found.end is end
    if end is End.DECIDED:
        assert facts(found) == {"fine": ("violated", (0, 2))}


@pytest.mark.parametrize("states", [2000, 8000])
def test_a_search_is_resumed_with_the_room_that_it_had(states: int, tmp_path: Path) -> None:
    text = counter(state="log: seq[E; L] = []", action="action note { log.append(top) }")
    (model,) = loads(text.replace("N = 2, L = 1", f"N = 1, L = {FIRST_ROOM + 4}"))
    question = model.checks[0]
    first = check(model, question, limits=Limits(states=states), keep=Keep(tmp_path)).findings
    later = check(model, question, keep=Keep(tmp_path, resume=True)).findings
    whole = check(model, question).findings

    assert first.end is End.STATES
    assert (later.end, later.stats.states, later.stats.layers) == (
        *(whole.end, whole.stats.states),
        whole.stats.layers,
    )


def test_a_run_has_a_bound_of_its_own_and_can_be_read_again() -> None:
    (model,) = loads(counter(claim="forall n: N. n.own == 0 or n.own == top"))
    found = check(model, model.checks[0])
    trace = found.trace("fine")

    assert trace is not None
    assert (trace.scope.nats["E"], trace.scope.unbounded) == (2, frozenset())
    assert read(write(trace), model) == trace


def test_a_trap_without_a_bound_is_replayed_without_one() -> None:
    text = counter(action="action lose(n: N) { require top != 0  n.own := 0 }").replace(
        "invariant fine: true", "recoverable fine: forall n: N. n.own == 0 and top == 0"
    )
    (model,) = loads(text)
    trace = check(model, model.checks[0]).trace("fine")

    assert trace is not None
    assert trace.scope.unbounded == {"E"}
    assert bound_words(trace.scope)["E"] == "any"


@pytest.mark.parametrize(
    "command", [["export", "--to", "tla"], ["trace", "graph"], ["rates"], ["check", "--estimate"]]
)
def test_what_needs_a_bound_says_how_to_give_one(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "counter.rsm"
    path.write_text(counter())
    if command[0] == "rates":
        path.write_text(
            counter(action="fault crash(n: N) { n.own := 0 }").replace(
                "E = any }", "E = any faults any rates crash = 1/d }"
            )
        )

    assert main([*command, str(path)]) == 2
    assert "needs a bound for `E`" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ["bmc", "ic3", "induction", "spark"])
def test_engines_that_need_a_bound_refuse(engine: str) -> None:
    (model,) = loads(counter())
    with pytest.raises(Unsupported, match="E = any"):
        check(model, model.checks[0], engine=engine)


def test_random_runs_need_no_bound() -> None:
    text = counter(claim="forall n: N. n.own == 0 or n.own == top")
    (model,) = loads(text)
    found = check(model, model.checks[0], engine=RandomRuns(20, seed=1)).findings
    (result,) = found.results

    assert isinstance(result.verdict, Violated)
    assert result.verdict.trace is not None
    assert result.verdict.trace.scope.unbounded == frozenset()


def test_fair_runs_need_a_bound() -> None:
    text = counter().replace("invariant fine: true", "always eventually fine: top == 0")
    (model,) = loads(text)
    with pytest.raises(Unsupported, match="always eventually fine with `E = any`"):
        check(model, model.checks[0], engine="explicit")


def test_any_is_kept_by_the_formatter_and_set_by_the_command_line() -> None:
    text = counter()
    (model,) = loads(text)
    (question,) = model.checks

    assert "E = any" in format_text(text)
    assert apply(model, question, Overrides(scope=("E=3",))).scope.unbounded == frozenset()
    assert apply(model, bounded(question, "E", 3), Overrides(scope=("E=any",))).scope == question.scope
    (other,) = loads(counter(claim="top != 2").replace("E = any", "E = 3"))
    with pytest.raises(SpecError, match="which E a written number means"):
        apply(other, other.checks[0], Overrides(scope=("E=any",)))


GAPS = """protocol gaps
nat E, L
state {{ top: E = 0, few: set[E; L] = {{}}, more: set[E; L] = {{}}, log: seq[E; L] = [] }}
fun newest(e: E): bool =
  (forall f in few. f <= e) and (forall m in more. m <= e) and (forall l in log. l <= e)
action renew {{ require newest(top)  top := top + 1 }}
action note {{ more := {{top}} }}
action join {{ few := few + {{top}} }}
action take {{ choose e in few  top := e  few := few - {{e}} }}
action {action}
invariant fine: size(few) <= 2
check all {{ scope E = any, L = 2 }}
"""


@pytest.mark.parametrize(
    "action",
    [
        "skip { require newest(top)  let next = top + 1  few := few + {next + 1} }",  # `next` is not kept
        "swap { few := {} + {top} }",
        "move { few := more + {top}  more := {} }",
        "drop { choose e in few  few := few - {e} }",
        "grow { log := log + [top] }",
        "cut { require size(log) == 2  log := [top] + log[1..] }",
    ],
)
def test_gaps_that_a_step_leaves_are_closed(action: str) -> None:
    (model,) = loads(GAPS.format(action=action))
    one, two = (
        check(model, model.checks[0], engine=each, limits=Limits(states=20_000)).findings
        for each in ("reference", "explicit")
    )

    assert one.end is End.COMPLETE
    assert (one.stats.states, one.stats.taken, one.stats.cut) == (
        two.stats.states,
        two.stats.taken,
        two.stats.cut,
    )


def test_the_manual_says_of_any_that_a_nat_has_no_bound() -> None:
    assert any("without a bound" in entry.says for entry in manual()["any"])
