"""A table of what statements do: for each what becomes of a variable, said by an expression.

Each stands in an action of its own, in a model whose first states have all values of two variables
`a` and `b`: `operators.ARGUMENTS`.  What it `becomes` is true of each of its steps, what it `reaches`
of some state after one; `b` stays what it was.  So a statement's meaning is said twice, once in the
words of statements and once in those of expressions, for which `operators.py` has a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from spec.load import loads
from spec.model.ir import Model
from tests.conformance.operators import ARGUMENTS, DECLARED, SCOPE, Values, initial_states


@dataclass(frozen=True)
class Effect:
    """What some statements do to `a`; `was` is its value before them, in what they reach."""

    does: str
    becomes: str
    reaches: Sequence[str] = ()


_VALUES: Mapping[str, Values] = {
    **ARGUMENTS,
    "maps of records": Values(
        "map[Mode, Entry]", "[m: Mode -> Entry(0, false)]",
        ("", "$ := [m: Mode -> Entry(1, m == mid)]",
         "$ := [m: Mode -> Entry(if m == low then 0 else 1, true)]"),
    ),
    "records of maps": Values(
        "Table", "Table([m: Mode -> 0], false)", ("", "$ := Table([m: Mode -> 1], true)"),
    ),
    "counts": Values("Long", "0", ("", "$ := 1", "$ := 3")),
}  # fmt: skip

EFFECTS: Mapping[str, Mapping[str, Effect]] = {
    "numbers": {
        "assign": Effect("a := b", "a == b", ("a == 2 and was == -2",)),
        "assign, from itself": Effect("a := -a", "a == -old(a)"),
        "in order": Effect("a := b  a := a - b", "a == 0"),
        "let": Effect("let c = a  a := b  a := c", "a == old(a)"),
        "let, of what changed": Effect("a := 0  let c = a + 1  a := c", "a == 1"),
        "if": Effect("if a < b { a := b }", "a == max(old(a), b)"),
        "if, else": Effect(
            "if a < b { a := 2 } else if a == b { a := 1 } else { a := 0 }",
            "a == (if old(a) < b then 2 else if old(a) == b then 1 else 0)",
        ),
        "if, of what changed": Effect("a := 1  if a == 1 { a := b }", "a == b"),
        "for": Effect("for x in {0, 1, 2} { a := x }", "a == 2"),
        "for, in order": Effect("for x in -2..b { a := x }", "a == b"),
        "for, of no member": Effect("for x in b + 1..b { a := x }", "a == old(a)"),
        "for, of what it changes": Effect("a := 2  for x in 0..a { a := x - 1 }", "a == 1"),
        "choose": Effect(
            "choose x in -1..1  a := x", "a in -1..1", ("was == 2 and a == -1", "was == 2 and a == 1")
        ),
        "choose, where": Effect(
            "choose x in -2..2 where x > b  a := x", "a > b", ("b == -2 and a == -1", "b == 1 and a == 2")
        ),
        "choose, one after the other": Effect(
            "choose x in 0..1  choose y in 0..1 where x != y  a := x - y",
            "a == 1 or a == -1",
            ("a == 1", "a == -1"),
        ),
        "choose, in a branch": Effect(
            "if b > 0 { choose x in {0, 1}  a := x } else { a := b }",
            "if b > 0 then a in {0, 1} else a == b",
            ("b == 2 and a == 0", "b == 2 and a == 1", "b == -1"),
        ),
        "choose, in a loop": Effect(
            "a := 0  for x in {1, 2} { choose y in {0, 1}  if y == 1 { a := x } }",
            "a in {0, 1, 2}",
            ("a == 0", "a == 1", "a == 2"),
        ),
    },
    "bools": {
        "assign, of bools": Effect("a := not a or b", "a == (old(a) implies b)"),
        "for, of bools": Effect("for x in {true, false} { a := x }", "a"),
    },
    "sets": {
        "assign, of sets": Effect("a := a & b", "a == old(a) & b"),
        "add": Effect("a.add(1)", "a == old(a) + {1}"),
        "remove": Effect("a.remove(1)", "a == old(a) - {1}"),
        "add and remove": Effect("a.add(2)  a.remove(2)", "2 not in a and a == old(a) - {2}"),
        "for, over a set": Effect("for x in b { a.add(x) }", "a == old(a) + b"),
        "for, over itself": Effect("for x in a { a.remove(x) }", "a == {}"),
        "for, and a test": Effect("for x in a { if x in b { a.remove(x) } }", "a == old(a) - b"),
        "choose, of a set": Effect(
            "choose x in b  a := {x}", "exists x in b. a == {x}", ("b == {0, 2} and a == {2}",)
        ),
        "choose, of subsets": Effect(
            "choose s in subsets(b) where size(s) == 1  a := s",
            "size(a) == 1 and a subset b",
            ("b == {1, 2} and a == {1}", "b == {1, 2} and a == {2}"),
        ),
    },
    "sequences": {
        "assign, of sequences": Effect("a := b[..1]", "a == b[..1]"),
        "append": Effect(
            "if size(a) < 3 { a.append(1) }", "if size(old(a)) < 3 then a == old(a) + [1] else a == old(a)"
        ),
        "append, beyond the scope": Effect("a.append(0)", "size(a) == size(old(a)) + 1", ("size(was) == 2",)),
        "for, over a sequence": Effect("a := []  for x in b { a.append(x) }", "a == b"),
        "choose, of a sequence": Effect(
            "choose x in b  a := [x]", "size(a) == 1 and a[0] in b", ("b == [2, 0] and a == [0]",)
        ),
    },
    "bags": {
        "add, to a bag": Effect(
            "if size(a) < 3 { a.add(1) }",
            "count(1, a) == count(1, old(a)) + (if size(old(a)) < 3 then 1 else 0)",
        ),
        "remove, of a bag": Effect(
            "a.remove(0)", "count(0, a) == max(0, count(0, old(a)) - 1) and count(1, a) == count(1, old(a))"
        ),
        "for, over a bag": Effect(
            "for x in a { a.remove(x) }", "forall x in 0..1. count(x, a) == max(0, count(x, old(a)) - 1)"
        ),
    },
    "options": {
        "assign, of options": Effect("a := b", "a == b", ("a == none and was == 1",)),
        "assign, a value": Effect("a := 1", "a == 1"),
        "assign, none": Effect("a := none", "a == none"),
        "if, narrowing": Effect(
            "if a != none and a < 2 { a := a + 1 }",
            "if old(a) == none then a == none else the(a) == min(the(old(a)) + 1, 2)",
        ),
        "for, over an option": Effect(
            "for x in b { a := 2 - x }", "if b == none then a == old(a) else the(a) == 2 - the(b)"
        ),
        "choose, of an option": Effect("choose x in b  a := x", "a == b and b != none", ("a == 2",)),
    },
    "maps": {
        "assign, at a key": Effect(
            "a[mid] := 1 - a[mid]", "a == [m: Mode -> if m == mid then 1 - old(a)[m] else old(a)[m]]"
        ),
        "assign, at each key": Effect("for m in Mode { a[m] := b[m] }", "a == b"),
        "assign, at a chosen key": Effect(
            "choose m: Mode where a[m] != b[m]  a[m] := b[m]",
            "exists m: Mode. old(a)[m] != b[m] and a == [n: Mode -> if n == m then b[n] else old(a)[n]]",
        ),
        "assign, a map": Effect("a := [m: Mode -> a[mid]]", "forall m: Mode. a[m] == old(a)[mid]"),
    },
    "tuples": {"assign, of tuples": Effect("a := (0, a < b)", "a == (0, old(a) < b)")},
    "enums": {
        "assign, of enums": Effect("a := max(a, b)", "a >= old(a) and a >= b and (a == old(a) or a == b)"),
        "for, over an enum": Effect(
            "for m in Mode { if m < b { a := m } }",
            "b == low and a == old(a) or b == mid and a == low or b == high and a == mid",
        ),
    },
    "records": {
        "assign, to a field": Effect("a.on := not a.on", "a == Entry(old(a).term, not old(a).on)"),
        "assign, to two fields": Effect(
            "a.term := b.term  a.on := a.term == 1", "a == Entry(b.term, b.term == 1)"
        ),
    },
    "unions": {
        "assign, of unions": Effect("a := Ack(1)", "a == Ack(1)"),
        "for, over one case": Effect(
            "for m: Ack in {a, b} { a := Vote(m.term, true) }",
            "if old(a) is Ack or b is Ack then a is Vote else a == old(a)",
        ),
        "choose, of one case": Effect(
            "choose m: Vote in {a, b}  a := Ack(m.term)",
            "a is Ack and (old(a) is Vote or b is Vote)",
            ("a == Ack(1)",),
        ),
    },
    "maps of records": {
        "assign, to a field at a key": Effect(
            "a[mid].term := 1 - a[low].term",
            "a[mid] == Entry(1 - old(a)[low].term, old(a)[mid].on) and "
            "(forall m in {low, high}. a[m] == old(a)[m])",
        ),
        "assign, a record at a key": Effect(
            "a[low] := b[high]", "a[low] == b[high] and a[mid] == old(a)[mid] and a[high] == old(a)[high]"
        ),
    },
    "records of maps": {
        "assign, at a key of a field": Effect(
            "a.at[low] := 1  a.full := a.at[mid] == 1",
            "a == Table([m: Mode -> if m == low then 1 else old(a).at[m]], old(a).at[mid] == 1)",
        ),
    },
    "counts": {
        "assign, beyond the scope": Effect("a := a + 1", "a == old(a) + 1", ("was == 1 and a == 2",)),
    },
}


@dataclass(frozen=True)
class Wrong:
    """Statements that some values of `a` have no meaning for, and the code of that error."""

    does: str
    code: str


ERRORS: Mapping[str, Mapping[str, Wrong]] = {
    "numbers": {
        "assign, beyond the range": Wrong("a := a + 1", "R0601"),
        "let, without a value": Wrong("let c = [1][a]  a := c", "R0602"),
    },
    "bags": {"add, beyond the limit": Wrong("a.add(0)", "R0601")},
    "sequences": {"assign, without a value": Wrong("a := [a[0]]", "R0602")},
    "options": {"if, without a value": Wrong("if the(a) == 1 { a := none }", "R0605")},
    "sets": {
        "for, without a value": Wrong("for x in {the(a)} { a.add(x) }", "R0605"),
        "choose, without a value": Wrong("choose x in b where x == the(a)  a := {x}", "R0605"),
    },
}


@dataclass(frozen=True)
class Asked:
    """Statements about values of a kind, each an action, and the names of what is claimed of each."""

    model: Model
    becomes: Mapping[str, str]
    reaches: Mapping[str, Sequence[str]]


@cache
def asked(of: str, names: tuple[str, ...]) -> Asked:
    """Some of the table's statements about values of a kind."""
    claims, becomes, reaches = [], {}, {}
    for n, name in enumerate(names, start=1):
        effect = EFFECTS[of][name]
        becomes[name] = f"t{n}"
        claims.append(f"step t{n}: did(s{n}) implies b == old(b) and ({effect.becomes})")
        reaches[name] = [f"r{n}_{at}" for at in range(len(effect.reaches))]
        claims += [
            f"reachable {claim}: by == {n} and ({text})"
            for claim, text in zip(reaches[name], effect.reaches, strict=True)
        ]
    (model,) = loads(_text(of, [EFFECTS[of][name].does for name in names], claims), "statements.rsm")
    return Asked(model, becomes, reaches)


def erring(of: str, name: str) -> Model:
    """A model that has a step which is an error."""
    (model,) = loads(_text(of, [ERRORS[of][name].does], []), "statements.rsm")
    return model


def _text(of: str, does: Sequence[str], claims: Sequence[str]) -> str:
    values = _VALUES[of]
    actions = [
        f"action s{n} {{ require first: by == 0  was := a  {each}  by := {n} }}"
        for n, each in enumerate(does, start=1)
    ]
    return "\n".join([
        DECLARED,
        "record Table { at: map[Mode, 0..1], full: bool }",
        f"state {{ by: 0..{len(does)} = 0  was: {values.type} = {values.first} }}",
        *initial_states(values),
        *actions,
        *claims,
        f"check all {{ {SCOPE} }}",
    ])  # fmt: skip
