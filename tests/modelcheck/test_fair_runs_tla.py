"""What TLC says of fair runs, by the export, both engines say: what holds, what does not, what is empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.api import check
from modelcheck.contract.result import Holds, Violated
from modelcheck.export.targets import target
from spec.load import loads
from spec.model.ir import Model
from tests.oracles import needs_tlc, tlc

# Nothing leaves a scope here: at its edge TLC means something else, as the export says.
MODELS = {
    "clock": """
        state { hour: 0..3 = 0 }
        FAIR action tick { hour := (hour + 1) % 4 }
    """,
    "blink": """
        state { on: bool = false, done: bool = false }
        fair action blink { on := not on }
        FAIR action finish { require on and not done  done := true }
    """,
    "choice": """
        state { place: 0..2 = 0, done: bool = false }
        fair action move { choose to: 0..2 where to != place  place := to }
        FAIR action finish { require place == 2 and not done  done := true }
    """,
    "pair": """
        state { a: bool = false, b: bool = false, end: bool = false }
        fair action left { require not end  a := not a }
        FAIR action right { require not end  b := not b }
        strong fair action stop { require a and b and not end  end := true }
    """,
    "lamps": """
        sort Lamp
        process Lamp { durable lit: bool = false }
        FAIR action flip(l: Lamp) { l.lit := not l.lit }
    """,
    "mending": """
        state { up: bool = true, served: bool = false }
        fault crash { require up  up := false }
        FAIR repair restart { require not up  up := true }
        strong fair action serve { require up and not served  served := true }
    """,
    "token": """
        state { here: 0..2 = 0, work: set[0..2] = {0, 1, 2} }
        fair action pass_on { here := (here + 1) % 3 }
        FAIR action work_off(k in work) { require here == k  work.remove(k) }
    """,
    "dead": """
        state { x: 0..3 = 0 }
        FAIR action up { require x < 2  x := x + 1 }
        fair action never { require x > 2  x := 0 }
    """,
}
SETS = {"lamps": "scope Lamp = 2", "mending": "faults crash <= 2"}

HOLDS = """
    clock | fair | always eventually p: hour == 2
    clock | strong fair | leadsto p: hour == 3 ~> hour == 1
    clock | | leadsto p: hour > 3 ~> hour == 1
    clock | | leadsto p: hour == 1 ~> hour == 1
    clock | fair | leadsto p: false ~> false
    blink | strong fair | leadsto p: not done ~> done
    blink | strong fair | always eventually p: done
    blink | fair | always eventually p: on
    choice | strong fair | leadsto p: place == 2 and done ~> place != 2
    pair | fair | always eventually p: a or b or end
    lamps | fair | always eventually p: exists l: Lamp. l.lit
    mending | fair | always eventually p: up
    mending | fair | always eventually p: served
    mending | strong fair | leadsto p: not up ~> up
    token | strong fair | always eventually p: here not in work
    dead | fair | always eventually p: x == 2
    dead | fair | leadsto p: x == 3 ~> x == 0
    blink | strong fair | eventually always p: done
    mending | fair | eventually always p: up
    mending | fair | eventually always p: up and served
    token | fair | eventually always p: size(work) < 3
    dead | fair | eventually always p: x == 2
    dead | fair | eventually always p: x < 3
"""
DOES_NOT = """
    clock | | always eventually p: hour == 2
    clock | | leadsto p: hour == 3 ~> hour == 1
    clock | fair | always eventually p: hour == 0 and hour == 1
    clock | fair | leadsto p: hour == 1 ~> false
    blink | fair | leadsto p: not done ~> done
    blink | fair | always eventually p: done
    choice | fair | always eventually p: done
    choice | strong fair | leadsto p: place == 2 ~> done
    pair | fair | always eventually p: end and a and not a
    pair | | leadsto p: a ~> b
    lamps | fair | always eventually p: forall l: Lamp. l.lit
    mending | | always eventually p: up
    mending | | leadsto p: not served ~> served
    token | fair | always eventually p: work == {0, 1, 2}
    token | fair | leadsto p: here == 0 ~> 0 not in work and here == 1 and 1 in work
    dead | fair | leadsto p: x == 1 ~> x == 3
    dead | | always eventually p: x == 2
    choice | strong fair | eventually always p: done
    clock | fair | eventually always p: hour != 2
    clock | | eventually always p: hour > 0
    blink | fair | eventually always p: done
    blink | strong fair | eventually always p: on
    choice | fair | eventually always p: place == 2 or not done
    pair | fair | eventually always p: a or b
    lamps | fair | eventually always p: exists l: Lamp. l.lit
    mending | | eventually always p: up
    token | | eventually always p: size(work) < 3
    dead | | eventually always p: x == 2
"""
EMPTY = ("hour > 3", "false ~> false", "x == 3 ~> x == 0")  # nobody ever waits


def lines(text: str) -> list[tuple[str, str, str]]:
    cases = [line.strip().split(" | ", 1) for line in text.strip().splitlines()]
    return [(name, *_both(rest)) for name, rest in cases]


def _both(rest: str) -> tuple[str, str]:
    fair, _, claim = rest.partition("|")
    return fair.strip(), claim.strip()


def model(name: str, fair: str, claim: str) -> Model:
    text = MODELS[name].replace("FAIR", fair)
    (found,) = loads(f"protocol {name}\n{text}\n{claim}\ncheck all {{ {SETS.get(name, '')} }}")
    return found


CASES = [(*case, True) for case in lines(HOLDS)] + [(*case, False) for case in lines(DOES_NOT)]


@pytest.mark.parametrize("engine", ["explicit", "reference"])
@pytest.mark.parametrize(("name", "fair", "claim", "holds"), CASES)
def test_engines_say_what_tlc_says(name: str, fair: str, claim: str, engine: str, *, holds: bool) -> None:
    made = model(name, fair, claim)
    found = check(made, made.checks[0], engine=engine)

    assert isinstance(found.verdict("p"), Holds if holds else Violated)
    assert found.findings.stats.cut == {}


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize(
    ("name", "fair", "claim", "holds"),
    [
        pytest.param(*case, marks=[pytest.mark.nightly] if number % 3 else [])
        for number, case in enumerate(CASES)
    ],
)
def test_tlc_says_so_too(name: str, fair: str, claim: str, tmp_path: Path, *, holds: bool) -> None:
    made = model(name, fair, claim)
    exported = target("tla")(made, made.checks[0])
    for file, text in exported.files.items():
        (tmp_path / file).write_text(text, encoding="ascii")
    module = next(iter(exported.files)).removesuffix(".tla")

    assert (tlc(tmp_path, module, quick=True).shown == 0) == holds


def test_what_is_empty_is_among_them() -> None:
    assert all(any(words in claim for _, _, claim, _ in CASES) for words in EMPTY)
