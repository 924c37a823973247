"""What a test shows of options and unions, and which statement ends it."""

from __future__ import annotations

import pytest

from spec.diagnostics import SpecError
from spec.load import loads
from tests.spec.elaborated import BASE, body, codes, head, only, prop, shown


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
