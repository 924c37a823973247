"""What the front end makes of each form: models in, the intermediate representation out."""

from __future__ import annotations

import pytest

from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model import ir
from spec.model.op import FUNCTIONS
from tests.spec.elaborated import BASE, CACHED, body, codes, only, prop, shown

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


def test_one_of_the_asserts_of_a_name_says_its_sentence() -> None:
    plain, said = "assert fine: epoch == 1", 'assert fine says "it is {epoch}": epoch == 1'
    model = only(BASE + f"action a {{ epoch := 1 {plain} }}\naction b {{ if epoch == 1 {{ {said} }} }}")
    (fine,) = model.properties
    text, value = fine.says or ()

    assert text == "it is "
    assert shown(value, model) == "epoch"
    assert model.source.at(fine.span) == plain


@pytest.mark.parametrize(
    ("says", "code"),
    [("{old(epoch)}", "R0409"), ("{e}", "R0208"), ("{epoch", "R0101"), ("{r.log}", "R0208")],
)
def test_the_sentence_of_an_assert_sees_the_state_alone(says: str, code: str) -> None:
    assert codes(BASE + f'action a(r: Replica) {{ let e = 1 assert fine says "{says}": e == 1 }}') == [code]


def test_two_sentences_of_an_assert_are_a_mistake() -> None:
    said = 'assert fine says "so": epoch == 1'

    assert codes(BASE + f"action a {{ {said} {said} }}") == ["R0201"]


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


def test_what_is_advised_for_a_start_with_members_is_a_model() -> None:
    (model,) = loads("""
        protocol start
        sort Node
        state { first: set[Node] = {}, one: Node? = none, all: set[Node] = Node }
        init { choose s in subsets(Node) where size(s) == 2  first := s  choose n: Node  one := n }
        check it { scope Node = {n1, n2, n3} }
    """)

    assert len(Machine(model, model.checks[0].scope).initial()) == 9
