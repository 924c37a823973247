"""Phrases of TLA+, Quint, Python, P, Alloy and Rust are marked, and what is advised instead is right."""

from __future__ import annotations

import pytest

from spec.diagnostics import Diagnostic, SpecError
from spec.load import loads

MODEL = """\
protocol p
sort Node
nat T
enum Mode { on, off }
enum Role { leader, follower }
record Pair { of: Node, at: T }
union Message { Vote(term: T, from: Node), Ack(term: T) }
network net: bag of Message
network box[Node]: fifo of Message
state {
  t: T = 0, s: set[Node] = {}, m: map[Node, T] = [n: Node -> 0], lead: Node? = none
  log: seq[T; T] = [], up: bool = true, role: Role = leader, pair: Pair? = none
}
process Node { durable mode: Mode = on, durable x: T = 0 }
"""
CHECK = "\ncheck c { scope Node = 2, T = 2, net = 1, box = 1  faults none }\n"

STATEMENTS = [  # what is written, what of it is marked, the advice, and what is written by that
    # the name of a type before a member, a case or a field
    ("role := Role.leader", "Role.leader", "write `leader`", "role := leader"),
    ("require role == Role::leader", "Role::leader", "write `leader`", "require role == leader"),
    ("role := Role.candidate", "candidate", "there are `leader`, `follower`", "role := follower"),
    ("net.send(Message.Ack(1))", "Message.Ack(1)", "write `Ack(…)`", "net.send(Ack(1))"),
    ("net.send(Message::Ack(1))", "Message::Ack", "write `Ack(…)`", "net.send(Ack(1))"),
    ("pair := Pair.new(n, 0)", "new", "write `Pair(…)`", "pair := Pair(n, 0)"),
    ("pair := Pair::new(n, 0)", "Pair::new", "write `Pair(…)`", "pair := Pair(n, 0)"),
    (
        "let r = Pair(n, 0)  t := Pair.at",
        "at",
        "`at` is a field of each Pair: write `r.at`",
        "let r = Pair(n, 0)  t := r.at",
    ),
    (
        "for r: Ack in net { t := Ack.term }",
        "term",
        "`term` is a field of each Ack: write `r.term`",
        "for r: Ack in net { t := r.term }",
    ),
    (
        "for r in net { t := Message.term }",
        "term",
        "`term` is a field of each Message: write `r.term`",
        "for r in net { t := r.term }",
    ),
    ("let r = n  Node.x := 1", "x", "`x` is a field of each Node: write `r.x`", "let r = n  r.x := 1"),
    # maps
    (
        "m := {n: 1}",
        "{n:",
        "write `[k: K -> if k == n then 1 else …]`: it has a value for every key; a record is `R(n = 1)`",
        "m := [k: Node -> if k == n then 1 else 0]",
    ),
    (
        "m := [n -> 1]",
        "[n ->",
        "write `[k: K -> if k == n then 1 else …]`: it has a value for every key",
        "m := [k: Node -> if k == n then 1 else 0]",
    ),
    (
        "m := {q: 0 for q in Node}",
        "{q:",
        "write `[q: Node -> 0]`: `Node` is the type of its keys",
        "m := [q: Node -> 0]",
    ),
    ("m := {q: Node -> 0}", "{q:", "write `[q: Node -> 0]` in square brackets", "m := [q: Node -> 0]"),
    ("m := Node.mapBy(q => 0)", ">", "write `[q: Node -> …]`", "m := [q: Node -> 0]"),
    ("m := m.setBy(n, q => q + 1)", ">", "write `m[k] := …`, a statement", "m[n] := m[n] + 1"),
    ("m := m.set(n, 1)", "set", "write the statement `m[n] := 1`", "m[n] := 1"),
    ("m.insert(n, 1)", "insert", "write `m[n] := 1`", "m[n] := 1"),
    ("require m.get(n) == 1", "get", "write `m[n]`", "require m[n] == 1"),
    ("for q in m { t := m[q] }", "m", "its keys are all of a type: `q: Node`", "for q: Node { t := m[q] }"),
    # functions as values, and comprehensions
    ("require s.forall(q => q.x > 0)", ">", "write `forall q in s. …`", "require forall q in s. q.x > 0"),
    ("require s.iter().any(|q| q.x > 0)", "|", "write `exists q in s. …`", "require exists q in s. q.x > 0"),
    (
        "require all(q.x > 0 for q in Node)",
        "for",
        "write `forall q in Node. q.x > 0`",
        "require forall q in Node. q.x > 0",
    ),
    (
        "require max(q.x for q in Node) > 0",
        "for",
        "write `(max q in Node. q.x)`",
        "require (max q in Node. q.x) > 0",
    ),
    (
        "require [q for q in s if q.x > 0] == {}",
        "for",
        "write a set: `{q in s where …}`",
        "require {q in s where q.x > 0} == {}",
    ),
    (
        "require {q for q in s if q.x > 0} == {}",
        "if",
        "write `where` before a condition: `{x in S where P}`",
        "require {q in s where q.x > 0} == {}",
    ),
    # TLA+
    ("log := <<1, 2>>", "<", "write `[a, b]` for a sequence, `(a, b)` for a tuple", "log := [1, 2]"),
    ("t := IF up THEN 1 ELSE 0", "IF", "write `if c then a else b`", "t := if up then 1 else 0"),
    ("require SUBSET s == {}", "SUBSET", "write `subsets(S)`", "require subsets(s) == {}"),
    (
        "t := 1 UNCHANGED <<s, m>>",
        "UNCHANGED",
        "leave it out: what no statement changes stays as it is",
        "t := 1",
    ),
    ("t := 1 (* one *)", "(", "write `//`: a comment goes to the end of its line", "t := 1 // one\n"),
    (r"t := 1 \* one", "\\", "write `//`: a comment goes to the end of its line", "t := 1 // one\n"),
    ("require t =< 1", "=", "write `<=`", "require t <= 1"),
    ("require t == 0 <=> up", "<=", "write `(p) == (q)`", "require (t == 0) == (up)"),
    ("require up <-> up", "->", "write `(p) == (q)`", "require (up) == (up)"),
    ("require up iff up", "iff", "for `p iff q`, write `(p) == (q)`", "require (up) == (up)"),
    (
        "/\\ t := 0",
        "/",
        "leave it out: `require e` is a condition, `x := e` a change, and all of an action happens",
        "t := 0",
    ),
    ("log := Append(log, 1)", "Append", "write `log + [1]`", "log := log + [1]"),
    # Python
    ("require lead is None", "None", "write `lead == none`", "require lead == none"),
    ("log := log[1:]", ":", "write `log[1..]`", "log := log[1..]"),
    ("log := log[1:2]", ":", "write `log[..2][1..]`", "log := log[..2][1..]"),
    ("t := 1 if up else 0", "else", "write `if up then 1 else …`", "t := if up then 1 else 0"),
    ("if up: t := 1", ":", "write `if up { … }`", "if up { t := 1 }"),
    ("t := 1, up := false", ",", "leave it out, or write `;`", "t := 1; up := false"),
    (
        "require up, t > 0",
        ",",
        "write `and` between conditions, or another `require`",
        "require up and t > 0",
    ),
    (
        "require up != not up",
        "not",
        "after an operator it needs parentheses: `(not p)`",
        "require up != (not up)",
    ),
    ("require s <= Node", "s <= Node", "write `s subset Node`", "require s subset Node"),
    ("require up & up", "up & up", "write `and`", "require up and up"),
    ("require s.issubset(Node)", "issubset", "write `s subset Node`", "require s subset Node"),
    ("log.extend([1])", "extend", "write `log := log + [1]`", "log := log + [1]"),
    ("s.discard(n)", "discard", "write `s.remove(n)`", "s.remove(n)"),
    (
        "self.x := 1",
        "self",
        "name the member: a parameter `n: S`, of its sort, and then `n.x`",
        "n.x := 1",
    ),
    # Rust, P
    ("pair := Pair { of: n, at: 0 }", "{", "write `Pair(of = …)`", "pair := Pair(of = n, at = 0)"),
    ("pair := Pair(of: n, at: 0)", ":", "write `Pair(of = …)`", "pair := Pair(of = n, at = 0)"),
    ("let q: T = 1", ":", "write `let q = …`", "let q = 1"),
    (
        "require lead?.x == 0",
        "?",
        "test it first (`lead != none and …`), or write `the(lead).x`",
        "require lead != none and lead.x == 0",
    ),
    ("require s.contains(n)", "contains", "write `n in s`", "require n in s"),
    ("require s.contains(&n)", "&", "leave it out: a value is no reference", "require n in s"),
    ("for q in 0..=1 { t := q }", "=", "write `..`, which has both ends", "for q in 0..1 { t := q }"),
    ("s.insert(n)", "insert", "write `s.add(n)`", "s.add(n)"),
    ("box[n].push(Ack(1))", "push", "write `box[n].send(Ack(1))`", "box[n].send(Ack(1))"),
    ("send(net, Ack(1))", "send(net, Ack(1))", "write `net.send(Ack(1))`", "net.send(Ack(1))"),
    (
        "send n, Ack, 1",
        "send",
        "write `net.send(e)`, or `net[n].send(e)` where each member has a channel",
        "box[n].send(Ack(1))",
    ),
    ("assert t >= 0", "t", "write `assert NAME: t …`", "assert natural: t >= 0"),
]

DECLARATIONS = [
    (
        "state { c: map[Role, T] = {leader: 1, follower: 0} }",
        "{leader:",
        "write `[k: Role -> if k == leader then 1 else …]`: it has a value for every key",
        "state { c: map[Role, T] = [k: Role -> if k == leader then 1 else 0] }",
    ),
    (
        "state { c: map[Role, T] = {\n  Role.leader: 1,\n} }",
        "{\n  Role.leader:",
        "write `[k: Role -> if k == leader then 1 else …]`: it has a value for every key",
        "state { c: map[Role, T] = [k: Role -> if k == leader then 1 else 0] }",
    ),
    ("state { q: Role = Role.leader }", "Role.leader", "write `leader`", "state { q: Role = leader }"),
    ("state { q: BOOLEAN = true }", "BOOLEAN", "write `bool`", "state { q: bool = true }"),
    (
        "state { q: u64 = 0 }",
        "u64",
        "write a range such as `0..9`, or a name N that `nat N` declares and each check bounds",
        "state { q: 0..9 = 0 }",
    ),
    ("state { q: Option<Node> = none }", "<", "write `T?`", "state { q: Node? = none }"),
    (
        "state { q: List[T] = [] }",
        "List",
        "write `seq[T; L]`, with a number or a `nat` L",
        "state { q: seq[T; 3] = [] }",
    ),
    ("state { q: set Node = {} }", "Node", "write `set[Node]`", "state { q: set[Node] = {} }"),
    ("state { q = 0 }", "=", "write `q: T = …`", "state { q: T = 0 }"),
    ("state { q: T }", "}", "write `q: T = …`", "state { q: T = 0 }"),
    ("state { T q = 0 }", "q", "write `q: T`: the type follows the name", "state { q: T = 0 }"),
    (
        "type Q = Red | Blue",
        "|",
        "write `enum Q { Red, Blue }`, or `union Q { … }` of cases with fields",
        "enum Q { Red, Blue }",
    ),
    ("VARIABLE q", "VARIABLE", "write `state { x: T = e }`, or a field of a `process`", "state { q: T = 0 }"),
    ("struct Q { at: T }", "struct", "write `record NAME { x: T, y: U }`", "record Q { at: T }"),
    ("fun f(q: T) -> bool = q > 0", "->", "write `fun NAME(x: T): U = e`", "fun f(q: T): bool = q > 0"),
    ("fun f(q: T) = q > 0", "=", "write `fun NAME(x: T): U = e`", "fun f(q: T): bool = q > 0"),
    ("fun f(q: T): bool { q > 0 }", "{", "write `= e` in place of `{ … }`", "fun f(q: T): bool = q > 0"),
    (
        "action b(Node n) { n.x := 1 }",
        "n",
        "write `n: Node`: the type follows the name",
        "action b(n: Node) { n.x := 1 }",
    ),
    (
        "action b(n: Node) = { n.x := 1 }",
        "=",
        "write `action b(n: Node) { … }`",
        "action b(n: Node) { n.x := 1 }",
    ),
    (
        "action b(n: Node) when up { n.x := 1 }",
        "when",
        "write `{ require e …`: conditions are the first statements",
        "action b(n: Node) { require up  n.x := 1 }",
    ),
    ("invariant t >= 0", "t", "write `invariant NAME: t …`", "invariant natural: t >= 0"),
    ("invariant q = t >= 0", "=", "write `invariant q: e`", "invariant q: t >= 0"),
    (
        "invariant q: [](t >= 0)",
        "(",
        "leave it out: an `invariant` is asked of every state as it is",
        "invariant q: (t >= 0)",
    ),
    (
        "invariant q: always up",
        "always",
        "leave it out: an `invariant` is asked of every state as it is",
        "invariant q: up",
    ),
    (
        "invariant q: <>up",
        "<",
        "declare `leadsto NAME: true ~> q`, `always eventually NAME: q` or `eventually always NAME: q`",
        "leadsto q: true ~> up",
    ),
    ("invariant q: up ~> t > 0", "~>", "declare `leadsto NAME: p ~> q`", "leadsto q: up ~> t > 0"),
    (
        "leadsto q: up -> t > 0",
        "->",
        "write `~>` between what is followed and what follows",
        "leadsto q: up ~> t > 0",
    ),
    (
        "invariant q: t' >= t",
        "'",
        "write a `step`: there `x` is the value after the step, and `old(x)` the one before",
        "step q: t >= old(t)",
    ),
    ("invariant q: #s >= 0", "#", "write `size(s)`", "invariant q: size(s) >= 0"),
    ("invariant q: no s", "no", "write `s == {}`", "invariant q: s == {}"),
    (
        "invariant q: no n: Node | n.x > 2",
        "n",
        "write `not (exists x: S. P)`",
        "invariant q: not (exists n: Node. n.x > 2)",
    ),
    (
        "invariant q: for all n: Node. n.x >= 0",
        "for all",
        "write `forall`, one word",
        "invariant q: forall n: Node. n.x >= 0",
    ),
    (
        "invariant q: exists t > 0",
        "t",
        "write `exists t: T. …` of a type, or `exists t in S. …` of a set",
        "invariant q: exists k: T. k > 0",
    ),
    (
        "check d { Node = 2 }",
        "Node",
        "write `scope Node = 2`",
        "check d { scope Node = 2, T = 2, net = 1, box = 1  faults none }",
    ),
    (
        "check d { scope Node = 2 T = 2, net = 1, box = 1  faults none }",
        "T",
        "write a comma before it",
        "check d { scope Node = 2, T = 2, net = 1, box = 1  faults none }",
    ),
    (
        "check d { scope Node = 2, T = 2, net = 1, box = 1  faults = 1 }",
        "=",
        "write `faults <= 1`",
        "check d { scope Node = 2, T = 2, net = 1, box = 1  faults <= 1 }",
    ),
]


def in_an_action(statement: str) -> str:
    """A declaration that has a statement."""
    return f"action a(n: Node) {{ {statement} }}"


def first_mistake(declaration: str) -> Diagnostic:
    """The first mistake of a model with one wrong declaration."""
    with pytest.raises(SpecError) as found:
        loads(MODEL + declaration + CHECK, "m.rsm")
    return found.value.diagnostics[0]


@pytest.mark.parametrize(
    ("wrong", "marked", "help_", "right"), STATEMENTS, ids=[row[0] for row in STATEMENTS]
)
def test_a_foreign_statement_gets_what_to_write(wrong: str, marked: str, help_: str, right: str) -> None:
    asserts_the_advice(in_an_action(wrong), marked, help_)
    loads(MODEL + in_an_action(right) + CHECK, "m.rsm")


@pytest.mark.parametrize(
    ("wrong", "marked", "help_", "right"), DECLARATIONS, ids=[row[0] for row in DECLARATIONS]
)
def test_a_foreign_declaration_gets_what_to_write(wrong: str, marked: str, help_: str, right: str) -> None:
    asserts_the_advice(wrong, marked, help_)
    loads(MODEL + right + CHECK, "m.rsm")


RIGHT_SO_FAR = [  # a text with another mistake, and what must not be said of it
    ("action a(n: Node) { s := {q: Node where q.x > 0 q } }", "not written as pairs"),
    ("action a(n: Node) { m := [q: Node -> }] }", "not written as pairs"),
    ("action a(n: Node) { if up { t := 0 } else { n:x } }", "not written as pairs"),
    ("action a(n: Node) { require size(log), 1) == 1 }", "a comma does not end"),
    ("action a(n Node) { n.x := 1 }", "the type follows the name"),
    ("invariant kept size(log) >= 0", "has no name"),
    ("fun f(s{ Node): bool = true", "gives the type of its value"),
]


@pytest.mark.parametrize(("wrong", "unsaid"), RIGHT_SO_FAR, ids=[row[0] for row in RIGHT_SO_FAR])
def test_what_may_be_right_so_far_is_not_taken_for_another_language(wrong: str, unsaid: str) -> None:
    found = first_mistake(wrong)

    assert unsaid not in f"{found.message} {found.help}"


def asserts_the_advice(declaration: str, marked: str, help_: str) -> None:
    """Compare the place and the advice of the first mistake."""
    found = first_mistake(declaration)

    assert found.span is not None
    assert (found.source.at(found.span), found.help) == (marked, help_)
