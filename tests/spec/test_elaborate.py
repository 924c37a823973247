"""What the front end makes of each form: models in, the intermediate representation out."""

from __future__ import annotations

import pytest

from spec.diagnostics import SpecError
from spec.load import loads
from spec.model import ir
from spec.model.op import FUNCTIONS

BASE = """protocol toy
sort Replica
nat  Epoch, Offset
union Msg { Vote(term: Epoch, to: Replica), Ack(at: Offset, term: Epoch), Ping(term: Epoch) }
state { leader: Replica? = none  epoch: Epoch = 0 }
process Replica {
  durable  log: seq[Epoch; Offset] = []
  volatile hw:  Offset             = 0
  volatile ok:  bool               = true
  durable  vote: Epoch?            = none
}
"""
CACHED = BASE.replace("durable  log", "cached   log")


def only(text: str) -> ir.Model:
    (found,) = loads(text)
    return found


def codes(text: str) -> list[str]:
    with pytest.raises(SpecError) as found:
        loads(text)
    return [d.code for d in found.value.diagnostics]


def shown(node: object, model: ir.Model) -> str:  # noqa: C901 - one case a node
    """IR as short text: `$0` a slot, `Replica.log` a variable, operations as calls."""

    def all_of(nodes: tuple[object, ...]) -> str:
        return ", ".join(shown(n, model) for n in nodes)

    match node:
        case ir.Const(value):
            return str(value)
        case ir.Config(name):
            return f"config {name}"
        case ir.Var(index):
            return model.variables[index].name
        case ir.Local(slot):
            return f"${slot}"
        case ir.Apply(op, args):
            return f"{op.value}({all_of(args)})"
        case ir.And(parts):
            return f"and({all_of(parts)})"
        case ir.Or(parts):
            return f"or({all_of(parts)})"
        case ir.Implies(left, right):
            return f"implies({all_of((left, right))})"
        case ir.If(test, then, other):
            return f"if({all_of((test, then, other))})"
        case ir.Let(slot, _, value, body):
            return f"let ${slot} = {shown(value, model)}. {shown(body, model)}"
        case ir.Members(of):
            return f"all {of}"
        case ir.Bind(kind, slot, _, domain, where, body, case):
            narrowed = "" if case is None else f" case {case}"
            kept = "" if where is None else f" where {shown(where, model)}"
            return f"{kind.value} ${slot} in {shown(domain, model)}{narrowed}{kept}. {shown(body, model)}"
        case ir.MapOf(slot, _, body):
            return f"map ${slot}. {shown(body, model)}"
        case ir.Make(parts, made):
            return f"make{'' if made is None else f' case {made}'}({all_of(parts)})"
        case ir.Part(of, index, case):
            return f"{shown(of, model)}.{index}{'' if case is None else f' case {case}'}"
        case ir.Is(of, case):
            return f"{shown(of, model)} is {case}"
        case ir.Fit(of):
            return f"fit {shown(of, model)}"
        case ir.Old(of):
            return f"old({shown(of, model)})"
        case ir.Did(action, args):
            return f"did {action}({all_of(args)})"
        case ir.Guard(name, test):
            return f"require {name}: {shown(test, model)}"
        case ir.Bound(slot, _, value):
            return f"${slot} = {shown(value, model)}"
        case ir.Assign(var, path, value):
            keys = "".join(
                f"[{shown(p.key, model)}]" if isinstance(p, ir.Key) else f".{p.index}" for p in path
            )
            return f"{model.variables[var].name}{keys} := {shown(value, model)}"
        case ir.Branch(test, then, other):
            return f"if {shown(test, model)} {{{all_of(then)}}} else {{{all_of(other)}}}"
        case ir.Each(slot, _, domain, body):
            return f"for ${slot} in {shown(domain, model)} {{{all_of(body)}}}"
        case ir.Choose(slot, _, domain, where):
            kept = "" if where is None else f" where {shown(where, model)}"
            return f"choose ${slot} in {shown(domain, model)}{kept}"
        case ir.Assert(name, test):
            return f"assert {name}: {shown(test, model)}"
        case str(text):
            return repr(text)
        case _:
            raise AssertionError(node)


def prop(text: str, base: str = BASE) -> str:
    """The expression of the one property of a model."""
    model = only(base + text)
    return shown(model.properties[0].expr, model)


def body(text: str, base: str = BASE) -> list[str]:
    """The statements of the first action of a model."""
    model = only(base + text)
    return [shown(statement, model) for statement in model.actions[0].body]


def head(text: str, base: str = BASE) -> list[str]:
    """Guards and `let`s at the start of the first action."""
    model = only(base + text)
    return [shown(part, model) for part in model.actions[0].head]


# ------------------------------------------------------------------- what is known


def test_after_a_test_against_none_the_value_is_there() -> None:
    assert prop("invariant a: leader != none and leader.ok") == (
        "and(!=(leader, None), lookup(Replica.ok, the(leader)))"
    )


def test_if_it_is_none_or_else_it_is_there() -> None:
    assert prop("invariant a: leader == none or leader.ok") == (
        "or(==(leader, None), lookup(Replica.ok, the(leader)))"
    )


def test_what_is_known_of_a_field_of_a_member() -> None:
    assert prop("invariant a: forall r: Replica. r.vote != none implies r.vote <= epoch") == (
        "forall $0 in all Replica. implies(!=(lookup(Replica.vote, $0), None), "
        "<=(the(lookup(Replica.vote, $0)), epoch))"
    )


def test_both_branches_know_their_condition() -> None:
    assert prop("invariant a: if leader == none then true else leader.ok") == (
        "if(==(leader, None), True, lookup(Replica.ok, the(leader)))"
    )


def test_a_case_that_was_tested_has_its_fields() -> None:
    text = "network net: set of Msg\ninvariant a: forall m in net. m is Vote implies m.to.ok"

    assert prop(text) == "forall $0 in net. implies($0 is 0, lookup(Replica.ok, $0.1 case 0))"


def test_a_binder_of_a_case_passes_over_the_others() -> None:
    text = "network net: set of Msg\naction a(m: Ack in net) { require m.at > 0  net.receive(m) }"
    model = only(BASE + text)

    assert [(p.case, shown(p.domain, model)) for p in model.actions[0].params] == [(1, "net")]
    assert head(text) == ["require None: <(0, $0.0 case 1)"]


def test_a_field_that_all_cases_have_is_read_from_each() -> None:
    text = "network net: set of Msg\ninvariant a: forall m in net. m.term == 0"

    assert prop(text) == (
        "forall $0 in net. "
        "==(let $1 = $0. if($1 is 0, $1.0 case 0, if($1 is 1, $1.1 case 1, $1.0 case 2)), 0)"
    )


def test_a_guard_is_known_to_the_body_until_something_changes() -> None:
    action = "action a { require led: leader != none  leader.hw := 1 }"

    assert body(action) == ["Replica.hw[the(leader)] := fit 1"]
    assert codes(BASE + action.replace("leader.hw := 1", "leader := none  leader.hw := 1")) == ["R0302"]


@pytest.mark.parametrize(
    "changes",
    [
        "epoch := 1  leader.hw := 1",
        "leader.hw := 1  leader.ok := false",
        "if epoch == 0 { epoch := 1 }  leader.hw := 1",
        "for r: Replica { r.hw := leader.hw  leader.ok := false }",
        "wipe leader  leader.hw := 1",
    ],
)
def test_what_is_known_of_a_variable_survives_changes_of_others(changes: str) -> None:
    changed = body(f"action a {{ require led: leader != none  {changes} }}")

    assert "the(leader)" in "".join(changed)


@pytest.mark.parametrize(
    ("changes", "by"),
    [
        ("leader := none  leader.hw := 1", "leader := none"),
        ("if epoch == 0 { leader := none }  leader.hw := 1", "if epoch == 0 { leader := none }"),
        ("for r: Replica { leader.hw := 1  leader := r }", "for r: Replica { leader.hw := 1  leader := r }"),
        ("leader := none  epoch := leader.vote", "leader := none"),
    ],
)
def test_where_a_change_ends_what_is_known_the_message_shows_it(changes: str, by: str) -> None:
    with pytest.raises(SpecError) as found:
        loads(BASE + f"action a {{ require led: leader != none  {changes} }}")

    notes = [note for told in found.value.diagnostics for note in told.notes]
    assert [note.source.at(note.span) for note in notes] == [by]


def test_a_test_of_a_field_ends_when_the_field_of_any_member_changes() -> None:
    tested = "require q.vote != none"

    assert body(f"action a(q: Replica, r: Replica) {{ {tested}  r.hw := 1  epoch := q.vote }}")
    changed = f"action a(q: Replica, r: Replica) {{ {tested}  r.vote := none  epoch := q.vote }}"
    assert codes(BASE + changed) == ["R0301"]


def test_what_is_known_of_a_bound_name_survives_a_change() -> None:
    text = "action a { let l = leader  require l != none  epoch := 1  l.hw := 1 }"

    assert body(text) == ["epoch := fit 1", "Replica.hw[the($0)] := fit 1"]


NESTED = """
record Inner { at: Epoch, to: Replica? }
record Outer { inner: Inner?, from: Replica? }
network net: set of Outer
"""


def test_what_is_known_of_a_field_of_a_bound_record_survives_a_change() -> None:
    text = "action a(m in net) { require there: m.inner != none  epoch := 1  epoch := m.inner.at }"
    _, changed = body(NESTED + text)

    assert "the(" in changed


def test_a_test_of_a_field_rests_on_the_tests_before_it() -> None:
    inner = "m.inner != none and m.inner.to != none"
    text = f"action a(m in net) {{ require there: {inner}  leader := none  m.inner.to.hw := 1 }}"

    assert len(body(NESTED + text)) == 2
    assert prop(NESTED + "invariant a: forall m in net where m.inner == none or m.inner.to == none. true")


def test_what_a_bound_record_leads_to_in_the_state_is_forgotten_with_it() -> None:
    tests = "require known: m.from != none and m.from.vote != none"
    text = f"action a(m in net, r: Replica) {{ {tests}  epoch := 1  epoch := m.from.vote }}"

    assert body(NESTED + text)
    assert codes(BASE + NESTED + text.replace("epoch := 1", "r.vote := none")) == ["R0301"]


SHAPES = """
enum Way { there, back }
union Shape { Line(to: Replica?, at: Epoch), Dot(to: Replica?, by: Epoch) }
record Parcel { shape: Shape, other: Shape?, heads: map[Way, Replica?], all: seq[Replica?; 2] }
network net: set of Parcel
"""


@pytest.mark.parametrize(
    ("tests", "read"),
    [
        ("m.shape is Line  epoch := 1  epoch := m.shape.at", "$0.0.1 case 0"),
        ("m.other != none and m.other is Line  epoch := 1  epoch := m.other.at", "the($0.1).1 case 0"),
        ("m.other != none  epoch := 1  if m.other is Dot { epoch := m.other.by }", "the($0.1).1 case 1"),
        ("m.shape.to != none  epoch := 1  m.shape.to.hw := 1", "the($0.0.0)"),
        ("m.heads[w] != none  epoch := 1  m.heads[w].hw := 1", "the(lookup($0.2, $1))"),
        ("size(m.all) == 2 and m.all[1] != none  epoch := 1  m.all[1].hw := 1", "the(index($0.3, 1))"),
    ],
)
def test_one_test_of_a_part_of_a_message_is_enough(tests: str, read: str) -> None:
    changes = body(SHAPES + f"action a(m in net, w: Way) {{ require t: {tests} }}")

    assert read in changes[-1]


def test_what_is_read_by_the_state_is_forgotten_with_it() -> None:
    tests = "require t: m.all[int(epoch)] != none  epoch := 1  m.all[int(epoch)].hw := 1"
    keyed = "require t: leader != none and m.heads[w] != none  leader := none  leader.hw := 1"

    assert codes(BASE + SHAPES + f"action a(m in net, w: Way) {{ {tests} }}") == ["R0302"]
    assert codes(BASE + SHAPES + f"action a(m in net, w: Way) {{ {keyed} }}") == ["R0302"]


def test_what_is_not_one_of_two_cases_is_the_other() -> None:
    text = "network net: set of Shape\ninvariant a: forall m in net. "
    shapes = SHAPES.replace("network net: set of Parcel\n", "") + text

    assert prop(shapes + "if m is Line then m.at == 0 else m.by == 0") == (
        "forall $0 in net. if($0 is 0, ==($0.1 case 0, 0), ==($0.1 case 1, 0))"
    )
    assert prop(shapes + "m is Line or m.by == 0") == "forall $0 in net. or($0 is 0, ==($0.1 case 1, 0))"
    assert codes(BASE + shapes + "m is Line implies m.by == 0") == ["R0314"]


def test_what_is_not_one_of_three_cases_is_none_of_the_others_yet() -> None:
    text = "network net: set of Msg\ninvariant a: forall m in net. m is Vote or m.at == 0"

    assert codes(BASE + text) == ["R0314"]


def test_what_is_known_now_was_not_known_before_the_step() -> None:
    assert codes(BASE + "step a: leader != none implies old(leader.ok)") == ["R0302"]


def test_where_a_run_may_end_is_a_condition_on_states() -> None:
    assert prop("deadlock free unless leader == none") == "==(leader, None)"
    assert codes(BASE + "deadlock free unless leader") == codes(BASE + "invariant a: leader")
    assert codes(BASE + "deadlock free unless old(leader) == none") == codes(
        BASE + "invariant a: old(leader) == none"
    )


def test_the_value_of_what_is_known_is_itself() -> None:
    assert prop("invariant a: leader != none and the(leader).ok") == (
        "and(!=(leader, None), lookup(Replica.ok, the(leader)))"
    )


def test_a_loop_forgets_what_its_body_may_change() -> None:
    text = "action a { require leader != none  for r: Replica { leader.hw := 1  epoch := 1 } }"

    assert body(text)
    assert codes(BASE + text.replace("epoch := 1", "leader := none")) == ["R0302"]


# ----------------------------------------------------------------------- functions


def test_a_function_stands_where_it_is_called() -> None:
    text = "fun leads(r: Replica): bool = leader == r\ninvariant a: forall q: Replica. leads(q)"

    assert prop(text) == "forall $0 in all Replica. ==(leader, $0)"


def test_an_argument_is_computed_once() -> None:
    text = "fun twice(n: Offset): Offset = n + n\ninvariant a: forall r: Replica. twice(r.hw + 1) == 0"

    assert prop(text) == "forall $0 in all Replica. ==(let $1 = +(lookup(Replica.hw, $0), 1). +($1, $1), 0)"


def test_a_function_does_not_see_the_names_of_its_caller() -> None:
    text = "fun f: bool = q.ok\ninvariant a: forall q: Replica. f"

    assert codes(BASE + text) == ["R0208"]


def test_a_wrong_function_is_told_once_however_often_it_is_called() -> None:
    text = "fun g(n: Epoch): bool = true\nfun f: bool = g(1, 2)\ninvariant a: f and f\ninvariant b: f"

    assert codes(BASE + text) == ["R0313"]


# ------------------------------------------------------------------------ operators


def test_a_chain_of_and_is_one_and() -> None:
    assert prop("invariant a: epoch == 0 and (epoch == 1 and epoch == 2) and epoch == 3") == (
        "and(==(epoch, 0), ==(epoch, 1), ==(epoch, 2), ==(epoch, 3))"
    )


def test_greater_is_less_the_other_way_round() -> None:
    assert prop("invariant a: epoch > 3") == "<(3, epoch)"


def test_a_condition_on_several_names_stands_at_the_last() -> None:
    assert prop("invariant a: forall r: Replica, q: Replica where r != q. r.ok") == (
        "forall $0 in all Replica. forall $1 in all Replica where !=($0, $1). lookup(Replica.ok, $0)"
    )


def test_enabled_asks_for_the_guards_of_an_action() -> None:
    text = "action a(r: Replica) { require r.ok  let h = r.hw  require h == 0 }\nrecoverable p: enabled(a)"

    assert prop(text) == (
        "exists $0 in all Replica. and(lookup(Replica.ok, $0), "
        "let $1 = lookup(Replica.hw, $0). and(==($1, 0), True))"
    )


def test_did_takes_the_first_parameters() -> None:
    text = "action a(r: Replica, n in 0..1) { epoch := 1 }\nstep s: forall r: Replica. did(a(r))"

    assert prop(text) == "forall $0 in all Replica. did a($0)"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_as_many_arguments_as_it_says(name: str) -> None:
    for count in range(1, 4):
        found = codes(f"{BASE}invariant p: {name}({', '.join(['0'] * count)}) == nowhere\n")

        assert ("R0313" in found) == (count not in FUNCTIONS[name])


# ----------------------------------------------------------------------- statements


def test_append_adds_one_entry() -> None:
    assert body("action a(r: Replica) { r.log.append(epoch) }") == [
        "Replica.log[$0] := fit concat(lookup(Replica.log, $0), make(epoch))"
    ]


def test_wipe_puts_volatile_fields_back() -> None:
    assert body("fault crash(r: Replica) { wipe r }") == [
        "Replica.hw[$0] := fit 0",
        "Replica.ok[$0] := fit True",
    ]


def test_lose_wipes_and_keeps_some_prefix_of_what_was_flushed() -> None:
    assert body("fault crash(r: Replica) { lose r }", CACHED)[2:] == [
        "choose $1 in range(lookup(Replica.log.flushed, $0), size(lookup(Replica.log, $0)))",
        "Replica.log[$0] := take(lookup(Replica.log, $0), $1)",
        "Replica.log.flushed[$0] := $1",
    ]


def test_flush_remembers_the_length() -> None:
    assert body("action sync(r: Replica) { flush r.log }", CACHED) == [
        "Replica.log.flushed[$0] := size(lookup(Replica.log, $0))"
    ]


def test_a_log_that_is_assigned_is_flushed_as_far_as_it_was() -> None:
    assert body("action a(r: Replica) { r.log := [] }", CACHED) == [
        "$1 = make()",
        (
            "Replica.log.flushed[$0] := min2(lookup(Replica.log.flushed, $0), "
            "common_prefix(lookup(Replica.log, $0), $1))"
        ),
        "Replica.log[$0] := fit $1",
    ]


def test_an_appended_log_keeps_what_is_flushed() -> None:
    assert body("action a(r: Replica) { r.log.append(0) }", CACHED) == [
        "Replica.log[$0] := fit concat(lookup(Replica.log, $0), make(0))"
    ]


def test_a_path_goes_through_maps_and_records() -> None:
    base = (
        "protocol m\nsort R\nrecord E { a: 0..1, b: map[R, 0..2] }\n"
        "state { e: map[R, E] = [r: R -> E(0, [q: R -> 0])] }\n"
    )

    assert body("action a(r: R) { e[r].b[r] := 2 }", base) == ["e[$0].1[$0] := fit 2"]


# ------------------------------------------------------------------------- networks


@pytest.mark.parametrize(
    ("mode", "fault", "value"),
    [
        ("set", "drop", "minus(net, make($0))"),
        ("bag", "drop", "minus(net, make($0))"),
        ("bag", "duplicate", "union(net, make($0))"),
        ("fifo", "drop", "let $1 = $0. concat(take(net, $1), drop(net, +($1, 1)))"),
        (
            "fifo",
            "reorder",
            "concat(make(index(net, $0)), let $1 = $0. concat(take(net, $1), drop(net, +($1, 1))))",
        ),
        ("fifo", "duplicate", "concat(concat(take(net, $0), make(index(net, $0))), drop(net, $0))"),
    ],
)
def test_a_fault_of_a_network_is_an_action(mode: str, fault: str, value: str) -> None:
    model = only(f"{BASE}network net: {mode} of Msg with {fault}")
    (action,) = model.actions

    assert (action.name, action.kind) == (f"net.{fault}", ir.Kind.FAULT)
    assert [shown(s, model) for s in action.body] == [f"net := fit {value}"]


def test_a_channel_is_a_parameter_of_the_fault() -> None:
    model = only(f"{BASE}network net[Replica, Replica]: bag of Msg with drop")

    assert [shown(p.domain, model) for p in model.actions[0].params] == [
        "all Replica",
        "all Replica",
        "lookup(lookup(net, $0), $1)",
    ]


def test_a_message_is_received_out_of_order() -> None:
    assert body("network net: set of Msg\naction a(m in net) { net.receive(m) }") == [
        "net := fit minus(net, make($0))"
    ]


# -------------------------------------------------------------------- texts and checks


def test_a_says_text_is_cut_at_its_values() -> None:
    model = only(BASE + 'action a(r: Replica) says "{r} leads in {epoch + 1}" { leader := r }')

    assert [shown(part, model) for part in model.actions[0].says or ()] == [
        "$0",
        "' leads in '",
        "+(epoch, 1)",
    ]


CHECKED = BASE + (
    "config n: 0..5 = 1\nconfig m: { fast, safe } = safe\n"
    "fault crash(r: Replica) { wipe r }\nfault pause { epoch := 1 }\ninvariant p: true\ninvariant q: true\n"
)


def check(text: str, scope: str = "Replica = 2, Epoch = 3, Offset = 4") -> ir.Check:
    return only(f"{CHECKED}check c {{ scope {scope} {text} }}").checks[0]


def test_members_have_names_without_being_named() -> None:
    assert check("faults none").scope.sorts == {"Replica": ("replica1", "replica2")}


def test_members_keep_the_names_they_are_given() -> None:
    scope = "Replica = {a, b}, Epoch = 3, Offset = 4"

    assert check("faults none", scope).scope.sorts == {"Replica": ("a", "b")}


def test_a_scope_bounds_nats_and_sets_configs() -> None:
    scope = check("faults none config m = fast").scope

    assert scope.nats == {"Epoch": 3, "Offset": 4}
    assert scope.config == {"n": 1, "m": 0}


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("faults none", ir.Budget(0)),
        ("faults any", ir.Budget(None)),
        ("faults <= 2", ir.Budget(2)),
        ("faults crash <= 1", ir.Budget(None, {"crash": 1})),
        ("faults crash <= 1, pause any, <= 3", ir.Budget(3, {"crash": 1, "pause": None})),
    ],
)
def test_budgets(text: str, budget: ir.Budget) -> None:
    assert check(text).budget == budget


def test_exact_bounds_are_named_and_bound_as_much_as_others() -> None:
    clauses = "faults none scope Replica = exactly {a, b}, Epoch = exactly 3, Offset = 4"
    found = only(f"{CHECKED}check c {{ {clauses} }}").checks[0]

    assert found.exact == ("Replica", "Epoch")
    assert found.scope == check("faults none", "Replica = {a, b}, Epoch = 3, Offset = 4").scope


def test_exactly_is_a_name_elsewhere() -> None:
    model = only("protocol p nat exactly state { n: exactly = 0 } check c { scope exactly = exactly 2 }")

    assert model.checks[0].exact == ("exactly",)


def test_expectations() -> None:
    text = (
        "faults any only p, q "
        "expect p holds for any faults, q violated with 1 fault in 3 steps, "
        "states 7 within 2 faults, taken crash 4"
    )
    span = check("faults none").span

    assert check(text).only == ("p", "q")
    assert check(text).expect == (
        ir.ExpectVerdict("p", holds=True, any_faults=True, span=span),
        ir.ExpectVerdict("q", holds=False, faults=1, steps=3, span=span),
        ir.ExpectCount("states", 7, 2, span=span),
        ir.ExpectTaken("crash", 4, span=span),
    )


def test_asserts_of_one_name_are_one_property() -> None:
    model = only(
        BASE
        + "action a { epoch := 1 assert fine: epoch == 1 }\naction b { epoch := 2 assert fine: epoch == 2 }"
    )

    assert [(p.name, p.kind) for p in model.properties] == [("fine", ir.PropertyKind.ASSERT)]


def test_a_process_field_is_a_map_from_its_sort() -> None:
    model = only(BASE)

    assert [(v.name, str(v.type), v.owner) for v in model.variables[2:4]] == [
        ("Replica.log", "map[Replica, seq[Epoch; Offset]]", "Replica"),
        ("Replica.hw", "map[Replica, Offset]", "Replica"),
    ]
    assert shown(model.variables[3].init, model) == "map $0. fit 0"


def test_a_ghost_may_change_under_a_ghost() -> None:
    text = "ghost { most: Epoch = 0 }\naction a { if most < epoch { most := epoch } }"

    assert body(text) == ["if <(most, epoch) {most := fit epoch} else {}"]


@pytest.mark.parametrize(
    "statement",
    ["choose r in Replica", "for r: Replica { wipe r }", "leader := none", "for r: Replica { lose r }"],
)
def test_nothing_but_ghosts_changes_under_a_ghost(statement: str) -> None:
    text = f"ghost {{ most: Epoch = 0 }}\naction a {{ if most == 0 {{ {statement} }} }}"

    assert set(codes(CACHED + text)) == {"R0404"}


def test_another_name_of_a_sort_is_the_sort() -> None:
    text = "protocol m\nsort S\nnat N\ntype A = S\ntype M = N\nstate { x: A? = none, n: M = 0 }\n"
    model = only(text + "check c { scope S = 2, N = 3 }")

    assert [str(of) for of in (*model.sorts, *model.nats)] == ["S", "N"]
    assert (list(model.checks[0].scope.sorts), list(model.checks[0].scope.nats)) == (["S"], ["N"])
