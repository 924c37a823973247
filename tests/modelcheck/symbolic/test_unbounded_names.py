"""What variables are called is theirs alone: no formula takes one for a name of its own."""

from __future__ import annotations

import pytest
import z3

from modelcheck.api import Unsupported, check
from modelcheck.contract.result import Holds, Unknown
from modelcheck.symbolic.unbounded.sorts import DEFINED, sort_named
from spec.load import loads

NAMED = """
protocol named
state {{ {0}: 0..3 = 0 }}
action up {{ require {0} < 3  {0} := {0} + 1 }}
invariant small: {0} < 4
invariant wrong: exists n in 2..2. n != {0}
check c {{ }}
"""
BOUND = [f"{letter}{number}" for letter in "xyz" for number in range(1, 7)]


@pytest.mark.parametrize("name", [*BOUND, "xor", "distinct", "most", "one"])
def test_a_variable_is_not_taken_for_what_formulas_have_by_that_name(name: str) -> None:
    (model,) = loads(NAMED.format(name))
    found = check(model, model.checks[0], engine="prove")

    assert isinstance(found.verdict("small"), Holds)
    assert isinstance(found.verdict("wrong"), Unknown)


MAPPED = """
protocol mapped
nat N
state {{ {0}: map[N, N] = [n: N -> 0] }}
action change(n: N, m: N) {{ {0}[n] := m }}
invariant small: forall n: N. {0}[n] >= 0
invariant wrong: forall n: N. {0}[n] == 0
check c {{ scope N = 1 }}
"""


@pytest.mark.parametrize("name", ["sin", "exp", "atan", "to_int", "distinct", "match", "lambda"])
def test_a_map_is_not_taken_for_a_function_of_solvers(name: str) -> None:
    (model,) = loads(MAPPED.format(name))
    found = check(model, model.checks[0], engine="prove")

    assert isinstance(found.verdict("small"), Holds)
    assert isinstance(found.verdict("wrong"), Unknown)


TYPED = """
protocol typed
sort {0}
union {1} {{ Nothing, Some(x: {0}) }}
enum {2} {{ one, two }}
state {{ seen: set[{0}] = {{}}, heard: {1} = Nothing(), number: {2}? = none }}
action see(i in {0}) {{ require i not in seen  seen.add(i)  heard := Some(i)  number := two }}
invariant known: heard is Some implies heard.x in seen and number == two
invariant wrong: heard is Nothing
check c {{ scope {0} = 2 }}
"""


@pytest.mark.parametrize(
    "names",
    [("Int", "Bool", "Set"), ("Array", "Int", "Real"), ("Seq", "List", "Array"), ("String", "Map", "Proof")],
    ids=", ".join,
)
def test_a_type_is_not_taken_for_what_solvers_have_by_that_name(names: tuple[str, str, str]) -> None:
    (model,) = loads(TYPED.format(*names))
    found = check(model, model.checks[0], engine="prove")

    assert isinstance(found.verdict("known"), Holds)
    assert isinstance(found.verdict("wrong"), Unknown)


@pytest.mark.parametrize("name", sorted(DEFINED))
def test_a_sort_of_any_name_can_be_declared(name: str) -> None:
    solver = z3.Solver()
    solver.from_string(f"(declare-sort {sort_named(name)} 0)")

    assert solver.check() == z3.sat


EMPTY = """
protocol empty
union U { }
state { s: set[U] = {} }
action clear { s := {} }
invariant nothing: s == {}
check c { }
"""


def test_a_union_without_cases_is_refused_in_its_place() -> None:
    (model,) = loads(EMPTY)

    with pytest.raises(Unsupported, match=r"a value of U, which has no case"):
        check(model, model.checks[0], engine="prove")
