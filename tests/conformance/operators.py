"""A table of what the language can say: for each operation, function and quantifier some truths about it.

Each is a bool expression over two arguments.  `spec/meaning/evaluate.py` says for which values of these it is
true, and where it is an error; every engine and export is to say so too.  Those with the same arguments
stand in one model, whose first states have all of their values, so that one question asks all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from spec.load import loads
from spec.meaning.semantics import Machine, State
from spec.model.ir import Model
from spec.model.values import ModelError


@dataclass(frozen=True)
class Values:
    """The values of two arguments: their type, and for each value how it is made of an empty or first one."""

    type: str
    first: str
    made: tuple[str, ...]  # statements, in which `$` is the argument


def _literals(type_: str, *values: str) -> Values:
    return Values(type_, values[0], tuple(f"$ := {value}" for value in values))


DECLARED = """
protocol operators
sort Node
nat Long
enum Mode { low, mid, high }
record Entry { term: 0..1, on: bool }
union Msg { Vote(term: 0..1, by: bool), Ack(term: 0..1), Ping }
"""
SCOPE = "scope Node = 2, Long = 3"

ARGUMENTS: Mapping[str, Values] = {
    "numbers": _literals("-2..2", *map(str, range(-2, 3))),
    "bools": _literals("bool", "false", "true"),
    "sets": _literals("set[0..2]", "{}", "{0}", "{1}", "{2}", "{0, 1}", "{0, 2}", "{1, 2}", "{0, 1, 2}"),
    "sequences": _literals("seq[0..2; Long]", "[]", "[0]", "[1]", "[0, 1]", "[1, 0]", "[0, 1, 1]", "[2, 0]"),
    "bags": Values(
        "bag[0..1; 3]", "{}",
        ("", "$.add(0)", "$.add(1)", "$.add(0) $.add(0)", "$.add(0) $.add(1)", "$.add(1) $.add(1) $.add(0)"),
    ),
    "options": _literals("0..2?", "none", "0", "1", "2"),
    "maps": _literals(
        "map[Mode, 0..1]", "[m: Mode -> 0]", "[m: Mode -> if m == mid then 1 else 0]",
        "[m: Mode -> if m == low then 0 else 1]",
    ),
    "tuples": _literals("(0..1, bool)", "(0, false)", "(0, true)", "(1, false)", "(1, true)"),
    "enums": _literals("Mode", "low", "mid", "high"),
    "records": _literals("Entry", "Entry(0, false)", "Entry(1, false)", "Entry(0, true)"),
    "members": Values("set[Node]", "{}", ("", "$ := Node", "choose some_$ in Node $ := {some_$}")),
    "unions": _literals("Msg", "Ping", "Ack(0)", "Ack(1)", "Vote(0, true)", "Vote(1, false)"),
}  # fmt: skip

TRUTHS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "numbers": {
        "+": ("a + b == 1", "a + b + 4 == 0", "1 + a == b"),
        "-": ("a - b == 1", "a - b == -4", "a - 1 == b"),
        "*": ("a * b == -4", "a * a == 4", "b * 0 == 0"),
        "/": ("a / b == 1", "a / b == -1", "a / 2 == -1"),
        "%": ("a % b == 1", "a % b == -1", "a % 2 == 1", "a % -2 == 0"),
        "/, from 0": ("(a + 2) / 2 == 1", "(b + 2) / 3 == 1"),
        "%, from 0": ("(a + 2) % 3 == 1", "(b + 2) % 2 == 0"),
        "negate": ("-a == b", "-a == 2"),
        "==": ("a == b",),
        "!=": ("a != b",),
        "<": ("a < b", "not b > a"),
        "<=": ("a <= b", "b >= a"),
        "min2": ("min(a, b) == a", "min(a, b) == -1"),
        "max2": ("max(a, b) == a", "max(a, b) == 1"),
        "range": ("a..b == {0, 1}", "a..b == {}", "0 in a..b"),
        "size, of a range": ("size(a..b) == 3",),
        "if": ("(if a < b then a else b) == 0", "(if a == 2 then [1, 2][b] else 1) == 1"),
        "let": ("let c = a + 1. c * c == b", "let c = a. let d = c + b. d == c"),
        "sum": ("(sum x in a..b. x) == 2", "(sum x in a..b where x > 0. x * x) == 5"),
        "max": ("(max x in a..b. x * x) == 4",),
        "min": ("(min x in a..b. 1 - x) == -1",),
    },
    "bools": {
        "not": ("not a", "not (a and b)"),
        "and": ("a and b", "a and [true][if b then 1 else 0]"),
        "or": ("a or b", "a or [true][if b then 1 else 0]"),
        "implies": ("a implies b", "a implies b implies a", "a implies [true][if b then 1 else 0]"),
        "order of bool": ("a < b", "max(a, b)"),
    },
    "sets": {
        "in": ("1 in a", "1 not in b"),
        "==, of sets": ("a == b", "a != {1, 2}"),
        "subset": ("a subset b", "{1} subset a"),
        "union": ("a + b == {0, 1, 2}", "a + {1} == b"),
        "minus, of sets": ("a - b == {1}", "a - b == a"),
        "intersect": ("a & b == {}", "a & b == {1, 2}"),
        "size, of a set": ("size(a) == 2", "size(a + b) == size(a) + size(b)"),
        "the, of a set": ("the(a) == 1",),
        "least": ("min(a) == 1", "min(a) == min(b)"),
        "greatest": ("max(a) == 1", "max(a) == max(b)"),
        "subsets": ("b in subsets(a)", "exists s in subsets(a). size(s) == 2 and s subset b"),
        "size, of the subsets": ("size(subsets(a)) == 4",),
        "forall": ("forall x in a. x < 2", "forall x in a where x in b. x > 0"),
        "exists": ("exists x in a. x > 1", "exists x in a where x in b. x > 0"),
        "two binders": ("forall x in a, y in b. x <= y", "exists x in a, y in b. x > y"),
        "sum, over a set": ("(sum x in a. x) == 3", "(sum x in a where x in b. 1) == 1"),
        "max, over a set": ("(max x in a. 2 - x) == 1",),
        "min, over a set": ("(min x in a where x in b. x) == 1",),
        "argmax": ("(argmax x in a. 0 - x) == 1", "(argmax x in a where x in b. x) == 1"),
        "argmin": ("(argmin x in a. 0 - x) == 1", "(argmin x in a where x in b. x) == 1"),
        "argmax, the first of several": ("(argmax x in a. x % 2) == 0", "(argmax x in a. 0) == 1"),
        "argmin, the first of several": ("(argmin x in a. x % 2) == 0", "(argmin x in a. 0) == 1"),
        "set": ("{x in a where x > 0} == b", "{2 - x for x in a} == b", "{x % 2 for x in a} == {0}"),
    },
    "sequences": {
        "==, of sequences": ("a == b", "a != [0, 1]"),
        "concat": ("a + b == [0, 1]", "[0] + a == b"),
        "take": ("a[..1] == b", "a[..2] == [0, 1]", "a[..-1] == b", "b[..size(a)] == a"),
        "drop": ("a[1..] == b", "a[2..] == [1]", "a[-1..] == b", "b[size(a)..] == []"),
        "index": ("a[1] == 1", "a[size(b)] == 0"),
        "at": ("at(a, 1) == 1", "at(a, -1) == none", "head(a) == 1", "at(b, size(a)) == none"),
        "last": ("last(a) == 1", "last(a) == last(b)"),
        "common_prefix": ("common_prefix(a, b) == 1", "common_prefix(a, b) == size(a)"),
        "starts_with": ("starts_with(a, b)", "starts_with([0, 1], a)"),
        "elements, of a sequence": ("elements(a) == {0, 1}", "elements(a) == elements(b)"),
        "size, of a sequence": ("size(a) == 2", "size(a) < size(b)"),
        "in, a sequence": ("1 in a", "2 not in b"),
        "forall, over a sequence": ("forall x in a. x in b",),
        "sum, over a sequence": ("(sum x in a. x) == 2", "(sum x in a where x in b. 1) == 3"),
        "argmax, over a sequence": ("(argmax x in a. -x) == 0",),
        "set, over a sequence": ("{x + 1 for x in a} == {1, 2}",),
    },
    "bags": {
        "==, of bags": ("a == b",),
        "union, of bags": ("count(1, a + b) == 3", "count(0, a + b) == 2"),
        "minus, of bags": ("a - b == a", "count(1, a - b) == 1", "count(0, a - b) == 1"),
        "size, of a bag": ("size(a) == 2", "size(a) == size(b)"),
        "count": ("count(0, a) == 2", "count(1, a) == count(1, b)"),
        "in, a bag": ("0 in a", "1 not in b"),
        "elements, of a bag": ("elements(a) == {0}", "elements(a) == elements(b)"),
        "exists, over a bag": ("exists x in a. x in b and x == 1",),
        "sum, over a bag": ("(sum x in a. 1) == 2", "(sum x in a. x) == 1"),
    },
    "options": {
        "==, of options": ("a == b", "a == none", "a != 1"),
        "the": ("the(a) == 1", "the(a) < the(b)"),
        "size, of an option": ("size(a) == 1",),
        "in, an option": ("1 in a", "2 not in b"),
        "elements, of an option": ("elements(a) == {}", "elements(a) + elements(b) == {0, 1}"),
        "forall, over an option": ("forall x in a. x in b", "exists x in a. x > 0"),
        "in, a set of values": ("a in {0, 2}", "b in {x: 0..2 where x in a}", "a in 1..2"),
        "none in a set of values": ("none in {size(a)}", "none in {the(b)}"),
        "in, a set of tuples of values": ("(a, b) in {(1, 0), (2, 2)}", "(b, true) in {(1, size(a) == 1)}"),
        "in, subsets of values": ("{a, b} in subsets({0, 2})",),
        "narrowing": ("a != none and a < 2", "a == none or b == none or a <= b"),
    },
    "maps": {
        "==, of maps": ("a == b", "a == [m: Mode -> 0]"),
        "lookup": ("a[mid] == 1", "a[high] == b[mid]", "a[the({mid})] == 0"),
        "a map": ("[m: Mode -> 1 - a[m]] == b", "[m: Mode -> a[mid]] == a"),
    },
    "tuples": {
        "==, of tuples": ("a == b", "a == (0, true)"),
        "order of tuples": ("a < b", "a <= b", "max(a, b) == (1, false)", "min(a, b) == (0, true)"),
        "a tuple": ("a in {(0, true), (1, false)}",),
    },
    "enums": {
        "==, of enums": ("a == b", "a == mid"),
        "order of enums": ("a < b", "a >= mid", "max(a, b) == mid", "min(a, b) == low"),
        "members": ("a in Mode", "{m: Mode where m < a} == {low}"),
        "how many members": ("size(Mode) == 3",),
        "argmax, over an enum": ("(argmax m: Mode where m <= a. if m == b then 1 else 0) == b",),
    },
    "records": {
        "==, of records": ("a == b", "a == Entry(1, false)"),
        "a field": ("a.term == 1", "a.on or b.on", "a.term == b.term and a.on != b.on"),
        "a record": ("Entry(term = 1, on = a.on) == b", "a in {Entry(0, true), Entry(0, false)}"),
    },
    "members": {  # about one of the arguments: which member it has is not known
        "members of a sort": ("forall n in a. n in Node", "a == Node", "size(b) == 1"),
        "argmax, over a sort": ("exists n in a. (argmax m in a. 0) == n", "(argmax m in b. size(b)) in b"),
        "argmin, over a sort": ("exists n in a. (argmin m in a. if m in a then 1 else 0) == n",),
    },
    "unions": {
        "==, of unions": ("a == b", "a == Ack(1)", "a != Ping"),
        "is": ("a is Vote", "a is Ack and b is Ping", "not a is Ack"),
        "a field of a case": ("a is Ack and a.term == 1", "a is Vote and b is Vote and a.by == b.by"),
        "over one case": ("exists m: Ack in {a, b}. m.term == 0", "forall m: Vote in {a, b}. m.by"),
    },
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The truths about one kind of arguments, as claims of a model, each true in all of its states."""

    model: Model
    states: int
    claims: Mapping[str, Sequence[str]]  # of each operation the names of its claims
    errors: Sequence[str]  # texts of models that are wrong in some state, by one truth each
    error_of: Sequence[str]  # and of which operation


def initial_states(values: Values, only: str | None = None) -> Iterator[str]:
    """Variables whose first states have all values of `a` and `b`, each pair with a number `k` of its own."""
    made = range(len(values.made))

    def branches(name: str, by: str) -> Iterator[str]:
        for n, each in enumerate(values.made):
            if each:
                yield f"  if {by} == {n} {{ {each.replace('$', name)} }}"

    yield f"state {{ k: 0..{len(made) ** 2} = 0"
    yield f"  a: {values.type} = {values.first}"
    yield f"  b: {values.type} = {values.first} }}"
    yield "init {"
    yield f"  choose i in 0..{made[-1]}"
    yield f"  choose j in 0..{made[-1]}" + (f" where i * {len(made)} + j in {only}" if only else "")
    yield f"  k := i * {len(made)} + j"
    yield from branches("a", "i")
    yield from branches("b", "j")
    yield "}"


def _text(of: str, claims: Sequence[str], only: str | None = None) -> str:
    return "\n".join([DECLARED, *initial_states(ARGUMENTS[of], only), *claims, f"check all {{ {SCOPE} }}"])


def _some(numbers: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"


@cache
def asked(of: str) -> Asked:
    """What the definition of the language says about arguments of a kind, as claims."""
    truths = [(op, text) for op, texts in TRUTHS[of].items() for text in texts]
    raw = [f"invariant t{n}: {text}" for n, (_, text) in enumerate(truths)]
    (model,) = loads(_text(of, raw), "operators.rsm")
    machine = Machine(model, model.checks[0].scope)
    states = list(machine.initial())
    claims: dict[str, list[str]] = {op: [] for op in TRUTHS[of]}
    lines, errors, error_of = [], [], []
    for n, (op, text) in enumerate(truths):
        yes, wrong = _where(machine, model, f"t{n}", states)
        claims[op].append(f"t{n}")
        where = f"k in {_some(wrong)} or " if wrong else ""
        lines.append(f"invariant t{n}: {where}({text}) == (k in {_some(yes)})")
        if wrong:
            errors.append(_text(of, [f"invariant t: {text} or true"], _some(wrong)))
            error_of.append(op)
    (whole,) = loads(_text(of, lines), "operators.rsm")
    return Asked(whole, len(states), claims, errors, error_of)


def _where(machine: Machine, model: Model, name: str, states: Sequence[State]) -> tuple[list[int], list[int]]:
    """The numbers of the states in which a claim is true, and of those in which it has no value."""
    yes, wrong = [], []
    place = next(n for n, each in enumerate(model.variables) if each.name == "k")
    for state in states:
        try:
            if machine.holds(model.property(name), state):
                yes.append(state[place])
        except ModelError:
            wrong.append(state[place])
    return sorted(yes), sorted(wrong)
