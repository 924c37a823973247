"""An export to TLA+ is worth what TLC makes of it: the same number of states, the same length of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.result import Violated
from modelcheck.export.targets import target
from spec.load import loads
from spec.model.ir import Check, Model
from tests.oracles import needs_tlc, tlc
from tests.protocol_checks import NAMES, PROTOCOLS, by_size, models, named_check, smallest

FEW = 10_000  # states for which Java need not compile TLC well, which takes it longer than to search them
AGREEMENT = Path(__file__).parent / "agreement"
ENOUGH = 100  # states of a check that says something
MOST = 5_000  # and of one that TLC has in a few seconds
# Where all that nothing violates are large, and what the small ones violate TLC has no word for.
LARGE = {"kafka_follower_reads", "kafka_zk_version", "raft_lease", "zab"}
NARROW = {"zab"}  # whose networks hold one message each: with more, TLC is at it for half a minute
BROKEN = """
    quorum.n3_w2_r1 raft.empty_leader paxos.number_shared kafka_isr.kip841 kafka_requests.kip570
    kafka_epochs.kafka7415 kafka_transactions.hanging kafka_acks.refused_strict
    kafka_log_directories.kafka16234 kafka_raft_truncation.kafka12460_unknown
""".split()


def question(name: str) -> tuple[Model, Check]:
    file, _, wanted = name.partition(".")
    return named_check(file, wanted)


def counted(protocol: str) -> tuple[Model, Check] | None:
    """The smallest check that nothing violates, without a total of faults, of which TLC counts more.

    None where that is large: then TLC is asked for the run that breaks another one.
    """
    sized = by_size(protocol, violated=False, least=ENOUGH)
    found = [(named_check(protocol, each.name), each.states) for each in sized]
    plain = [each for each in found if each[0][1].budget.total in {None, 0}]
    (model, asked), states = (plain or found)[0]
    if protocol in NARROW:
        asked = replace(asked, scope=replace(asked.scope, networks=dict.fromkeys(asked.scope.networks, 1)))
    return (model, asked) if states <= MOST or protocol in LARGE else None


def exported(model: Model, asked: Check, folder: Path) -> str:
    """The name of the module that was written into a folder."""
    files = target("tla")(model, asked).files
    for name, text in files.items():
        (folder / name).write_text(text, encoding="ascii")
    return next(iter(files)).removesuffix(".tla")


@pytest.mark.grid
@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("protocol", NAMES)
def test_tlc_finds_of_a_protocol_what_we_find(protocol: str, tmp_path: Path) -> None:
    """As many states, or as short a run where every check that nothing violates is large."""
    found = counted(protocol)
    if found is None:
        broken = smallest(protocol, violated=True)
        assert broken is not None
        shows_as_short_a_run(*named_check(protocol, broken.name), tmp_path)
    else:
        ours = check(*found).findings.stats.states

        assert tlc(tmp_path, exported(*found, tmp_path), quick=ours <= FEW).states == ours


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("name", BROKEN)
def test_tlc_shows_as_short_a_run(name: str, tmp_path: Path) -> None:
    shows_as_short_a_run(*question(name), tmp_path)


def shows_as_short_a_run(model: Model, asked: Check, folder: Path) -> None:
    found = check(model, asked).findings
    traces = [r.verdict.trace for r in found.results if isinstance(r.verdict, Violated)]
    ours = min(len(trace.steps) for trace in traces if isinstance(trace, Trace))
    quick = found.stats.states <= FEW

    assert tlc(folder, exported(model, asked, folder), quick=quick).shown == ours + 1


MEMBER = """
protocol member
state { on: bool = false }
action turn { on := not on }
step was_one:  old(on) in {false, true}
step was_both: (old(on), old(on)) in {(false, false), (true, true)}
check it { expect states 2 }
"""


@pytest.mark.oracle
@needs_tlc
def test_tlc_does_not_take_a_step_that_asks_for_a_member_for_a_function(tmp_path: Path) -> None:
    (model,) = loads(MEMBER)

    assert tlc(tmp_path, exported(model, model.checks[0], tmp_path), quick=True).states == 2


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize(
    "ends", ["decided", "decided or exists n: Node. n.voted", "forall n: Node. not n.up"]
)
def test_tlc_knows_where_a_run_may_end(ends: str, tmp_path: Path) -> None:
    text = (AGREEMENT / "end_that_is_allowed.rsm").read_text(encoding="utf-8")
    (model,) = loads(text.replace("unless decided", f"unless {ends}"))
    asked = model.checks[0]
    (result,) = check(model, asked).findings.results
    ours = result.verdict.trace if isinstance(result.verdict, Violated) else None

    shown = tlc(tmp_path, exported(model, asked, tmp_path), quick=True).shown
    assert shown == (0 if ours is None else len(ours.steps) + 1)


CONSTANTLY_FALSE = """
protocol constantly_false
config broken: bool = true
state { n: 0..3 = 0 }
action up { require room: n < 3  n := n + 1 }
invariant never: false
invariant by_config: not broken
invariant of_none: forall x in {1, 2} where x > 1. x > 5
check it { }
"""


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("name", ["never", "by_config", "of_none"])
def test_tlc_counts_although_an_invariant_is_false_whatever_the_state(name: str, tmp_path: Path) -> None:
    (model,) = loads(CONSTANTLY_FALSE)
    asked = replace(model.checks[0], only=(name,))
    counts = replace(asked, only=())
    module = exported(model, asked, tmp_path)

    at_first, whole = (tlc(tmp_path, module, quick=True, go_on=go_on) for go_on in (False, True))
    assert (at_first.shown, at_first.broken) == (1, name)
    assert (whole.states, whole.broken) == (check(model, counts).findings.stats.states, name)


BOUND_TWICE = """
protocol bound_twice
sort S
process S { durable n: 0..2 = 0 }
fun near: set[S] = {f: S where f.n == 0}
action all { for f in near { f.n := 1 } }
check it { scope S = 2 }
"""


@pytest.mark.oracle
@needs_tlc
def test_a_loop_goes_through_a_set_that_binds_the_same_name(tmp_path: Path) -> None:
    (model,) = loads(BOUND_TWICE)

    assert tlc(tmp_path, exported(model, model.checks[0], tmp_path), quick=True).states == 2


MEMBERSHIP = """protocol key
state { seen: map[bool, 0..1] = [b: bool -> 0], kept: set[bool] = {} }
action see(b: bool) { require new: seen[b in {true}] == 0  seen[b in {true}] := 1  kept := {b, (b in kept)} }
check it { }
"""


@pytest.mark.oracle
@needs_tlc
def test_a_part_that_asks_for_membership_binds_nothing(tmp_path: Path) -> None:
    (model,) = loads(MEMBERSHIP)

    assert tlc(tmp_path, exported(model, model.checks[0], tmp_path), quick=True).states == 4


@pytest.mark.oracle
@needs_tlc
def test_a_field_of_another_case_than_is_known_may_be_written(tmp_path: Path) -> None:
    (model,) = loads((AGREEMENT / "case_that_is_known.rsm").read_text(encoding="utf-8"))
    (asked,) = model.checks

    assert tlc(tmp_path, exported(model, asked, tmp_path), quick=True).states == 3


def test_a_model_without_a_state_is_refused() -> None:
    (model,) = loads("protocol empty\ninvariant never: false\ncheck it { }")

    with pytest.raises(Inexpressible, match="without a state"):
        target("tla")(model, model.checks[0])


CONSTANT_SIDES = """protocol sides
config c: bool = {c}
state {{ b: bool = false, n: 0..3 = 0 }}
action go {{ require n < 3  n := n + 1  b := not b }}
leadsto p: {p}
check k {{ }}
"""


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize(
    ("p", "c"),
    [
        ("c ~> (true implies c)", "true"),
        ("c ~> (true implies c)", "false"),
        ("b ~> c", "true"),
        ("b ~> c", "false"),
        ("c ~> b", "true"),
        ("c ~> b", "false"),
        ("c ~> forall x in {}. b", "true"),
        ("c ~> forall x in {}. b", "false"),
        ("b ~> true", "true"),
        ("b ~> false", "true"),
        ("(let x = b. true) implies false ~> c", "true"),
        ("(let x = b. true) implies false ~> c", "false"),
        ("exists x in []. b ~> c", "true"),
        ("exists x in []. b ~> c", "false"),
        ("b ~> b and exists x in 1..0. b", "true"),
        ("n * n == 1 ~> n * n == 9", "true"),
        ("(let x = n * 2. x) == 2 ~> (let x = n * 2. x) == 2 and b", "true"),
    ],
)
def test_tlc_reads_a_constant_side_of_leadsto_as_we_do(p: str, c: str, tmp_path: Path) -> None:
    (model,) = loads(CONSTANT_SIDES.format(c=c, p=p))
    ours = check(model, model.checks[0]).verdict("p")
    shown = tlc(tmp_path, exported(model, model.checks[0], tmp_path), quick=True).shown

    assert (shown > 0) == isinstance(ours, Violated)


FAULT_LIKE_A_STEP = """protocol same
state { b: bool = false }
strong fair action on { b := true }
strong fair action off { b := false }
fault also_on { b := true }
always eventually p: false
check k { faults any }
"""


@pytest.mark.oracle
@needs_tlc
def test_what_a_fault_does_as_well_may_happen_for_ever(tmp_path: Path) -> None:
    (model,) = loads(FAULT_LIKE_A_STEP)

    assert isinstance(check(model, model.checks[0]).verdict("p"), Violated)
    assert tlc(tmp_path, exported(model, model.checks[0], tmp_path), quick=True).shown > 0


TAKEN_AWAY = """protocol away
nat N
state {{ s: {type} = {none}, b: bool = false }}
action go {{ s := {value}  b := true }}
check k {{ scope N = 0 }}
"""


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize(
    ("kind", "none", "value"),
    [
        ("set[N]", "{}", "{0, 1} & {0}"),
        ("set[N]", "{}", "{0, 1} - {1}"),
        ("set[N]", "{}", "{0, 1} - {0}"),
        ("seq[N; 2]", "[]", "[0, 1][..1]"),
        ("seq[N; 2]", "[]", "[0, 1][1..]"),
    ],
)
def test_only_what_is_left_must_fit(kind: str, none: str, value: str, tmp_path: Path) -> None:
    (model,) = loads(TAKEN_AWAY.format(type=kind, none=none, value=value))
    ours = check(model, model.checks[0]).findings.stats.states

    assert tlc(tmp_path, exported(model, model.checks[0], tmp_path), quick=True).states == ours


def test_no_control_character_gets_into_a_module() -> None:
    (model,) = loads(
        'protocol m\nstate { a: bool = false }\naction go says "one\x07 two\x1b[31m \x7f" { a := not a }\n'
        "check c { }\n"
    )
    text = target("tla")(model, model.checks[0]).files["m.tla"]

    assert all(each.isprintable() or each == "\n" for each in text)
    assert "one two" in text


def test_kisr_in_tla(golden: Callable[[str, str], None]) -> None:
    files = target("tla")(*question("kisr.xs")).files

    golden("export/kisr.tla", files["counted.tla"])
    golden("export/kisr.cfg", files["counted.cfg"])


def test_every_protocol_can_be_exported_with_every_question() -> None:
    """Every property of a model at once, with the faults of the check that allows most of them."""
    for protocol in NAMES:
        for model in models(PROTOCOLS / f"{protocol}.rsm"):
            if model.checks:
                widest = max(model.checks, key=lambda each: len(each.budget.allowed(model)))

                assert target("tla")(model, replace(widest, only=None)).files


def test_a_total_budget_says_that_more_is_counted() -> None:
    model, asked = question("kisr.high_watermark_truncation")

    assert any("faults" in note for note in target("tla")(model, asked).notes)


def test_the_command_writes_the_files_and_says_how_to_run_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(PROTOCOLS / "kisr.rsm")
    code = main(["export", file, "--to", "tla", "--check", "xs", "--out", str(tmp_path / "new")])

    assert code == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["counted.cfg", "counted.tla"]
    assert "tlc2.TLC" in capsys.readouterr().err


def test_the_command_asks_for_one_check(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["export", str(PROTOCOLS / "kisr.rsm"), "--to", "tla"])

    assert code == 2
    assert "R0908" in capsys.readouterr().err
