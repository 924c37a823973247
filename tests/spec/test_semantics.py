from __future__ import annotations

from dataclasses import replace

import pytest

from spec.load import loads
from spec.meaning.blame import failing, failing_step
from spec.meaning.semantics import CutOff, Machine, Taken
from spec.model.types import INT
from spec.model.values import ModelError, show

WORLD = """
protocol world
sort Replica
nat Epoch, Offset
enum Colour { red, green, blue }
record Entry { epoch: Epoch, id: 0..9 }
union Msg { Ping, Vote(term: Epoch), Ack(term: Epoch, by: Colour) }
config mode: { slow, fast } = fast
network net: bag of Msg
state {
  n:      0..9               = 4
  neg:    -9..9              = -7
  colour: Colour             = green
  one:    Replica?           = none
  some:   set[0..9]          = {1, 2, 3}
  nobody: set[0..9]          = {}
  log:    seq[0..9; 5]       = [5, 6, 7]
  other:  seq[0..9; 5]       = [5, 6, 8, 9]
  empty:  seq[0..9; 5]       = []
  age:    map[Replica, 0..9] = [r: Replica -> 1]
  hues:   map[Colour, 0..9]  = [c: Colour -> int_of(c)]
  tens:   map[1..3, 0..9]    = [i: 1..3 -> i]
  entry:  Entry              = Entry(epoch = 1, id = 2)
  msg:    Msg                = Vote(1)
  pair:   (0..9, Colour)     = (1, red)
}
fun int_of(c: Colour): int = if c == red then 0 else if c == green then 1 else 2
fun term_of(m: Msg): int = if m is Vote then m.term else 0
CLAIM
check one { scope Replica = {a, b, c}, Epoch = 3, Offset = 2, net = 4 }
"""


def machine(text: str) -> Machine:
    """The first model of a text, in the scope of its first check."""
    model = loads(text)[0]
    return Machine(model, model.checks[0].scope)


def claim(expression: str) -> bool:
    """Whether an expression is true in the world."""
    world = machine(WORLD.replace("CLAIM", f"invariant claim: {expression}"))
    return world.holds(world.model.property("claim"), world.initial()[0])


@pytest.mark.parametrize(
    "expression",
    [
        "n + 1 == 5 and n - 5 == -1 and n * 2 == 8 and n == 4",
        "neg / 2 == -4 and neg % 2 == 1 and 7 / -2 == -4 and 7 % -2 == -1",
        "max(n, 7) == 7 and min(n, 7) == 4 and min(some) == 1 and max(some) == 3",
        "1 in some and not (4 in some) and 6 in log and not (one == none and 9 in log)",
        "some & {1} == {1} and some + {7} == {1, 2, 3, 7} and some - {1} == {2, 3}",
        "{1} subset some and not some subset {1} and size(subsets(some)) == 8",
        "size(some) == 3 and size(log) == 3 and size(one) == 0 and size(1..4) == 4 and size(4..1) == 0",
        "log[..2] == [5, 6] and log[..9] == log and log[1..] == [6, 7] and log[7..] == []",
        "log[..neg] == empty and log[neg..] == log",
        "log + [1] == [5, 6, 7, 1] and head(log) == 5 and last(log) == 7 and log[1] == 6",
        "at(log, 2) != none and at(log, 3) == none and at(log, neg) == none",
        "common_prefix(log, other) == 2 and common_prefix(log, empty) == 0 and common_prefix(log, log) == 3",
        "starts_with(log, [5]) and starts_with(log, empty) and not starts_with([5], log)",
        "elements(log) == {5, 6, 7} and the({3}) == 3",
        "hues[blue] == 2 and tens[3] == 3 and (forall r: Replica. age[r] == 1)",
        "(sum i in some. i) == 6 and (sum i in log. 1) == 3 and (sum i in nobody. i) == 0",
        "(max i in some. i * i) == 9 and (min i in some. 0 - i) == -3",
        "(argmax i in some. i % 3) == 2 and (argmin i in some. 0) == 1",
        "{i * 2 for i in some} == {2, 4, 6} and {i in some where i > 1} == {2, 3}",
        "(forall i in nobody. 1 / 0 == 1) and not exists i in nobody. 1 / 0 == 1",
        "(forall i in some where i > 2. i == 3) and exists i in log. i == 6",
        "[r: Replica -> 1] == age",
        "let k = n + 1. let n2 = k * k. n2 - k == 20",
        "if n == 4 then true else 1 / 0 == 1",
        "n == 3 implies 1 / 0 == 1",
        "n == 4 or 1 / 0 == 1",
        "not (n == 3 and 1 / 0 == 1)",
        "mode == fast and colour == green and colour < blue and colour > red",
        "pair < (1, green) and pair >= (1, red) and pair > (0, blue)",
        "entry.epoch == 1 and entry.id == 2 and entry == Entry(1, 2) and entry != Entry(2, 1)",
        "msg is Vote and not msg is Ping and msg == Vote(1) and term_of(msg) == 1 and term_of(Ping) == 0",
        "size(net) == 0 and count(Ping, net) == 0 and not (Ping in net)",
        "not (one != none)",
    ],
)
def test_expressions_mean_what_the_manual_says(expression: str) -> None:
    assert claim(expression)


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("log[3] == 1", "R0602"),
        ("log[neg] == 1", "R0602"),
        ("tens[n] == 1", "R0602"),
        ("1 / (n - 4) == 1", "R0603"),
        ("1 % (n - 4) == 1", "R0603"),
        ("last(empty) == 1", "R0604"),
        ("max(nobody) == 1", "R0604"),
        ("(max i in nobody. i) == 1", "R0604"),
        ("(argmin i in nobody. i) == 1", "R0604"),
        ("the(one) == the(one)", "R0605"),
        ("the(some) == 1", "R0605"),
        ("(argmax r: Replica. age[r]) in {the(one)}", "R0606"),
        ("msg is Vote and n == 3 or log[9] == 1", "R0602"),
    ],
)
def test_what_has_no_value_is_an_error_of_the_model(expression: str, code: str) -> None:
    with pytest.raises(ModelError) as error:
        claim(expression)
    assert error.value.code == code


@pytest.mark.parametrize(
    "text", ["exists i in some. i == 1 or 1 / (i - 2) == 1", "forall i in some. i != 1 and 1 / (i - 2) != 1"]
)
def test_an_error_at_one_member_is_an_error_though_another_decides(text: str) -> None:
    with pytest.raises(ModelError) as error:
        claim(text)

    assert error.value.code == "R0603"


def test_a_member_that_the_condition_passes_over_makes_no_error() -> None:
    assert claim("exists i in some where i != 2. i == 1 or 1 / (i - 2) == 1")


# ------------------------------------------------------------------------ steps

MOVES = """
protocol moves
sort Replica
nat Epoch
record Pair { left: 0..3, right: Epoch }
union Msg { Ping, Vote(term: Epoch) }
network net: set of Msg
state {
  x:    0..3                    = 0
  seen: set[Epoch]              = {}
  deep: map[Replica, Pair]      = [r: Replica -> Pair(0, 0)]
  list: seq[0..3; Epoch]        = []
}
BODY
check one { scope Replica = {a, b}, Epoch = 2, net = 1 }
"""


def moves(body: str) -> list[Taken | CutOff]:
    """All steps of the initial state of a model with these actions."""
    small = machine(MOVES.replace("BODY", body))
    return list(small.steps(small.initial()[0]))


def names(body: str) -> list[str]:
    small = machine(MOVES.replace("BODY", body))
    return [small.name(found.step) for found in small.steps(small.initial()[0])]


def value(body: str, name: str, *, step: int = 0) -> str:
    """What a variable is after a step, as text."""
    small = machine(MOVES.replace("BODY", body))
    found = list(small.steps(small.initial()[0]))[step]
    assert isinstance(found, Taken)
    at = [variable.name for variable in small.model.variables].index(name)
    return show(small.model.variables[at].type, found.state[at], small.scope)


def test_steps_come_in_the_order_of_actions_parameters_and_choices() -> None:
    body = """
    action second(r: Replica, i in {2, 1}) { choose j in {3, 0} where j != i }
    action first { }
    """

    assert names(body) == [
        "second(a, 1) | j = 0",
        "second(a, 1) | j = 3",
        "second(a, 2) | j = 0",
        "second(a, 2) | j = 3",
        "second(b, 1) | j = 0",
        "second(b, 1) | j = 3",
        "second(b, 2) | j = 0",
        "second(b, 2) | j = 3",
        "first",
    ]


def test_statements_run_in_order_and_see_what_came_before() -> None:
    body = "action go { x := 1 x := x + x let y = x x := 3 if x == 3 { x := y } else { x := 0 } }"

    assert value(body, "x") == "2"


def test_a_part_is_assigned_and_the_rest_stays() -> None:
    body = "action go(r: Replica) { deep[r].left := 2 deep[r].right := deep[r].left - 1 }"

    assert value(body, "deep", step=1) == "[a -> Pair(left = 0, right = 0), b -> Pair(left = 2, right = 1)]"


def test_a_loop_walks_the_members_there_were_at_its_start() -> None:
    body = "init { seen := {1} } action go { for e in seen { seen.add(e + 1) x := x + 1 } }"

    assert value(body, "seen") == "{1, 2}"
    assert value(body, "x") == "1"


def test_a_choice_inside_a_loop_and_a_branch_multiplies_the_step() -> None:
    body = """
    action go {
      for i in {1, 2} { choose take in {false, true}  if take { list.append(i) } }
      if size(list) == 1 { choose k in {0, 3}  x := k }
    }
    """

    assert names(body) == [
        "go | take = false, take = false",
        "go | take = false, take = true, k = 0",
        "go | take = false, take = true, k = 3",
        "go | take = true, take = false, k = 0",
        "go | take = true, take = false, k = 3",
        "go | take = true, take = true",
    ]
    assert value(body, "list", step=5) == "[1, 2]"


@pytest.mark.parametrize("verb", ["wipe", "lose"])
def test_a_member_is_read_before_its_fields_are_put_back(verb: str) -> None:
    body = f"""
    process Replica {{
      volatile next: Replica? = none  volatile hops: 0..3 = 0  cached kept: seq[bool; 2] = []
    }}
    init {{ for r in Replica {{ r.next := r  r.hops := 1  r.kept := [true] }} }}
    action go(r: Replica) {{ require points: r.next != none  {verb} r.next }}
    """

    assert value(body, "Replica.next") == "[a -> none, b -> b]"
    assert value(body, "Replica.hops") == "[a -> 0, b -> 1]"


def test_a_member_that_has_no_value_is_an_error_though_nothing_is_put_back() -> None:
    body = """
    process Replica { durable up: bool = true }
    state { gone: Replica? = none }
    action go { wipe the(gone) }
    """

    with pytest.raises(ModelError, match="R0605"):
        moves(body)


def test_a_place_is_found_before_what_is_flushed_there_changes() -> None:
    body = """
    process Replica { cached kept: seq[0..3; 2] = [] }
    init { for r in Replica { r.kept := [1]  flush r.kept } }
    fun on_disk: set[Replica] = {r: Replica where flushed(r.kept) == 1}
    action go { choose r in on_disk  the(on_disk - {r}).kept := [2] }
    """

    assert value(body, "Replica.kept") == "[a -> [1], b -> [2]]"
    assert value(body, "Replica.kept.flushed") == "[a -> 1, b -> 0]"


def test_a_choice_of_nothing_is_no_step() -> None:
    assert moves("action go { choose e in seen }") == []


def test_a_case_narrows_parameters_and_choices() -> None:
    body = """
    init { net.send(Vote(2)) }
    action hear(m: Vote in net) { x := m.term }
    action ping(m: Ping in net) { x := 1 }
    action pick { choose m: Vote in net  x := m.term }
    """

    assert names(body) == ["hear(Vote(term = 2))", "pick | m = Vote(term = 2)"]
    assert value(body, "x") == "2"


def test_a_step_beyond_the_scope_is_cut_and_its_siblings_are_not() -> None:
    body = "action go(r: Replica) { choose e in {1, 3}  deep[r].right := e  x := 1 }"
    found = moves(body)

    assert [isinstance(step, CutOff) for step in found] == [False, True, False, True]
    assert [step.limit for step in found if isinstance(step, CutOff)] == ["Epoch", "Epoch"]


@pytest.mark.parametrize(
    ("body", "limit"),
    [
        ("action go { list := [1, 2, 3] }", "Epoch"),
        ("action go { seen := {3} }", "Epoch"),
        ("action go { net.send(Ping) net.send(Vote(1)) }", "net"),
        ("action go { net.send(Vote(3)) }", "Epoch"),
    ],
)
def test_each_limit_cuts_by_its_name(body: str, limit: str) -> None:
    (found,) = moves(body)

    assert isinstance(found, CutOff)
    assert found.limit == limit


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("action go { x := 4 }", "R0601"),
        ("action go { seen := {0 - 1} }", "R0601"),
        ("action go { choose i in {0, 1} x := 3 / (1 - i) }", "R0603"),
        ("action go(r: Replica) { require r == the({q: Replica where x == 1}) }", "R0605"),
    ],
)
def test_an_error_carries_the_step_that_made_it(body: str, code: str) -> None:
    small = machine(MOVES.replace("BODY", body))
    with pytest.raises(ModelError) as error:
        tuple(small.steps(small.initial()[0]))

    assert error.value.code == code
    assert error.value.step.action == "go"


def test_what_comes_before_an_error_is_still_told() -> None:
    small = machine(MOVES.replace("BODY", "action go { choose i in {0, 1} x := 3 / (1 - i) }"))
    steps = small.steps(small.initial()[0])

    assert small.name(next(steps).step) == "go | i = 0"
    with pytest.raises(ModelError) as error:
        next(steps)
    assert small.name(error.value.step) == "go | i = 1"


def test_an_assert_names_what_it_breaks_once_for_a_step() -> None:
    body = "action go { choose i in {0, 1} assert small: i == 0 assert small: i == 0 x := i }"
    fine, broken = moves(body)

    assert isinstance(fine, Taken)
    assert isinstance(broken, Taken)
    assert fine.broken == ()
    assert broken.broken == ("small",)


def test_guards_are_asked_in_order_and_those_that_say_no_are_noted() -> None:
    body = """
    action go(i in {0, 1, 2}) {
      require small: i < 2
      let twice = 2 * i
      require odd: twice == 2
      require safe: 1 / i == 1
    }
    """
    small = machine(MOVES.replace("BODY", body))
    refused: set[tuple[str, int]] = set()
    (start,) = small.initial()

    assert [small.name(found.step) for found in small.steps(start, refused)] == ["go(1)"]
    assert refused == {("go", 0), ("go", 2)}
    assert [(small.why_not("go", (i,), start) or small.model.actions[0]).name for i in range(3)] == [
        "odd",
        "go",
        "small",
    ]


def test_steps_can_be_asked_of_some_actions_only() -> None:
    small = machine(MOVES.replace("BODY", "action one { } action two { } repair three { }"))
    (start,) = small.initial()

    assert [f.step.action for f in small.steps(start, actions={"one", "three"})] == ["one", "three"]


def test_a_sentence_has_its_values_from_before_the_step() -> None:
    body = 'action go(r: Replica) says "{r} finds {x} and adds {x + 1}" { x := 3 }'
    small = machine(MOVES.replace("BODY", body))
    (start,) = small.initial()
    step = next(small.steps(start)).step

    assert small.says(small.model.action("go"), step, start) == "a finds 0 and adds 1"


def test_more_than_one_start_comes_of_a_choice_and_equal_ones_are_one() -> None:
    small = machine(MOVES.replace("BODY", "init { choose i in {2, 0, 1}  x := i / 2 }"))
    x = [variable.name for variable in small.model.variables].index("x")

    assert [show(INT, state[x], small.scope) for state in small.initial()] == ["0", "1"]


def test_a_start_beyond_the_scope_is_an_error() -> None:
    small = machine(MOVES.replace("BODY", "init { seen := {3} }"))

    with pytest.raises(ModelError, match="beyond the scope of Epoch"):
        small.initial()


def test_a_step_property_sees_both_states_and_the_step() -> None:
    body = """
    action go(r: Replica) { x := x + 1 }
    action rest { }
    step grows: x >= old(x) and (x > old(x) implies did(go))
    step stays: x == old(x) or exists r: Replica. did(go(r)) and old(x) == 1
    """
    small = machine(MOVES.replace("BODY", body))
    (start,) = small.initial()
    grows, stays = small.model.properties
    go, _, rest = (f for f in small.steps(start) if isinstance(f, Taken))

    assert small.step_holds(grows, start, go.step, go.state)
    assert not small.step_holds(stays, start, go.step, go.state)
    assert small.step_holds(stays, start, rest.step, rest.state)
    assert not small.step_holds(grows, go.state, rest.step, start)


def test_states_come_back_from_their_bytes() -> None:
    small = machine(MOVES.replace("BODY", "action go { choose i in {1, 2} list.append(i) seen.add(i) }"))
    (start,) = small.initial()

    for found in small.steps(start):
        assert isinstance(found, Taken)
        assert small.decode(small.encode(found.state)) == found.state


def test_assumptions_that_fail_are_told() -> None:
    body = "config quorum: 0..5 = 1  assume majority: 2 * quorum > size({r: Replica where true})"
    small = machine(MOVES.replace("BODY", body))

    assert [assume.name for assume in small.assumption_failures()] == ["majority"]


# ------------------------------------------------------------------------ blame


def blamed(prop: str) -> list[tuple[str, list[str], list[str]]]:
    """The failing parts of a property of the initial state, as text: part, names, operands."""
    small = machine(WORLD.replace("CLAIM", f"invariant claim: {prop}"))
    model, scope = small.model, small.scope
    return [
        (
            model.source.at(failure.span),
            [f"{n.name} = {show(n.type, n.value, scope)}" for n in failure.names],
            [f"{model.source.at(o.span)} = {show(o.type, o.value, scope)}" for o in failure.operands],
        )
        for failure in failing(model, scope, model.properties[0], small.initial()[0])
    ]


def test_the_first_false_conjunct_is_blamed() -> None:
    assert blamed("n == 4 and n + 1 == 6 and n == 9") == [("n + 1 == 6", [], ["n + 1 = 5"])]


def test_the_member_for_which_it_fails_is_named() -> None:
    assert blamed("forall r: Replica, i in some. let k = i + 1. age[r] == 1 and k < 4") == [
        ("k < 4", ["r = a", "i = 3", "k = 4"], [])
    ]


def test_all_parts_of_a_disjunction_are_blamed() -> None:
    assert blamed("n == 1 or (n == 4 implies n == 2)") == [
        ("n == 1", [], ["n = 4"]),
        ("n == 2", [], ["n = 4"]),
    ]


def test_under_a_not_what_is_true_is_blamed() -> None:
    assert blamed("not exists i in some. i > 1 and n == 4")[0][:2] == ("i > 1", ["i = 2"])


def test_what_is_true_is_not_blamed() -> None:
    assert blamed("n == 4") == []


def test_a_step_is_blamed_with_values_from_before() -> None:
    small = machine(MOVES.replace("BODY", "action go { x := 1 } step stays: x == old(x)"))
    (start,) = small.initial()
    (go,) = small.steps(start)
    assert isinstance(go, Taken)

    (found,) = failing_step(small.model, small.scope, small.model.properties[0], start, go.step, go.state)

    assert [operand.value for operand in found.operands] == [1, 0]


CONFIGURED = """
    protocol configured
    config start: 0..3 = 0
    config most: 0..3 = 0
    config least: 0..3 = 0
    config by: 0..3 = 0
    config said: 0..3 = 0
    config fine: 0..3 = 0
    config goal: 0..3 = 0
    state { x: 0..9 = start, y: 0..9 = 0 }
    action up(k in {0, most}) says "to {x + said}" {
      require k >= least
      choose z in {k, by}
      x := z
      y := by
    }
    invariant low: x <= fine
    always eventually there: x == goal
    check one { }
"""


def of_configuration(machine: Machine) -> tuple[object, ...]:
    """What a machine tells of its start and one step on."""
    (start,), model = machine.initial(), machine.model
    taken = [each for each in machine.steps(start) if isinstance(each, Taken)]
    sentences = [machine.says(model.actions[0], each.step, start) for each in taken]
    states = [start, *(each.state for each in taken)]
    claims = [[machine.holds(prop, state) for state in states] for prop in model.properties]
    return start, tuple((each.step, each.state) for each in taken), sentences, claims


@pytest.mark.parametrize("name", ["start", "most", "least", "by", "said", "fine", "goal"])
def test_configurations_of_a_model_share_nothing_that_reads_what_differs(name: str) -> None:
    (model,) = loads(CONFIGURED)
    scopes = [
        replace(scope := model.checks[0].scope, config={**scope.config, "most": 2, name: value})
        for value in (0, 1, 3, 0, 1)
    ]
    for scope in scopes:
        (alone,) = loads(CONFIGURED)

        assert of_configuration(Machine(model, scope)) == of_configuration(Machine(alone, scope))
