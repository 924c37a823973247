"""An export to TLA+ is worth what TLC makes of it: the same number of states, the same length of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.result import Violated
from modelcheck.export.targets import target
from spec.ir import Check, Model
from spec.load import load, loads
from tests.oracles import needs_tlc, tlc

PROTOCOLS = Path(__file__).parents[2] / "spec" / "protocols"
FEW = 10_000  # states for which Java need not compile TLC well, which takes it longer than to search them
COUNTED = """
    kisr.xs two_phase_commit.three_managers two_phase_commit.blocking figure8.three_terms
    quorum.n3_w2_r2 quorum.n3_reader_w3_r1 kafka_log.kip320_two_longer kafka_log.kip101_two
    raft.replication_losses
    kafka.two_in_sync kafka.jepsen_clean kafka.usual_crash kafka_isr.both_fixed kafka_isr.kafka19522_fixed
    kafka_requests.no_stray_in_order paxos.one_number paxos.three_acceptors multi_paxos.one_number
    hdfs_qjm.logs_3_4_5 hdfs_qjm.newer_segment_wins primary_backup.synchronous_all viewstamped.one_view
    viewstamped.two_views raft_membership.adds_to_one pacifica.two pacifica.three
    chain.two chain.growing zab.one_epoch kafka_epochs.asks_on_fetch kafka_epochs.kafka20961_fixed
    kafka_epochs.kafka7897_fixed kafka_transactions.on_time
    kafka_acks.kafka13091_fixed kafka_acks.acknowledged
    kafka_effective_isr.brokers_file_heeded kafka_registration.same_id_refused
    kafka_log_directories.kafka10778_fixed kafka_checkpoint.kafka1647_fixed
    kafka_follower_reads.kafka14372_mended kafka_raft_truncation.no_disk_lost
    kafka_zk_version.kafka14154_fixed kafka_failover.batched kafka_min_isr.below_one quorum.slow_one_of_three
    kafka_followers.kip101_two kafka_unclean.unclean_is_the_last_way kafka_eligible.eligible_alone
    kafka_rolling_restart.rolling_restart_goes_on kafka_replaced_disk.empty_waits
    kafka_compared.lost_one_of_two kafka_controllers.one_of_three kafka_partial_partition.one_pair
    kafka_reassignment.alone_unmoved kafka_changed_settings.waits kafka_racks.two_dark_one_in_sync
    kafka_deposed.deposed_clean kafka_fetchers.late_response_ignored kafka_incarnation.old_response_ignored
""".split()
BROKEN = """
    quorum.n3_w2_r1 kisr.high_watermark_truncation_without_a_crash raft.empty_leader paxos.number_shared
    kafka_isr.kip841 kafka_requests.kip570 zab.zookeeper2845
    kafka_epochs.kafka7415 kafka_epochs.mixed_formats kafka_transactions.hanging kafka_acks.refused_strict
    kafka_effective_isr.brokers_file_ignored kafka_log_directories.kafka16234 kafka_checkpoint.kafka7414
    kafka_raft_truncation.kafka12460_unknown kafka_failover.overtaken_cheaper
""".split()


def test_every_protocol_has_a_check_that_tlc_counts() -> None:
    assert {name.partition(".")[0] for name in COUNTED} == {path.stem for path in PROTOCOLS.glob("*.rsm")}


def question(name: str) -> tuple[Model, Check]:
    file, _, wanted = name.partition(".")
    found = [(m, c) for m in load(PROTOCOLS / f"{file}.rsm") for c in m.checks if c.name == wanted]
    return found[0]


def exported(model: Model, asked: Check, folder: Path) -> str:
    """The name of the module that was written into a folder."""
    files = target("tla")(model, asked).files
    for name, text in files.items():
        (folder / name).write_text(text, encoding="ascii")
    return next(iter(files)).removesuffix(".tla")


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("name", COUNTED)
def test_tlc_counts_as_many_states(name: str, tmp_path: Path) -> None:
    model, asked = question(name)
    ours = check(model, asked).findings.stats.states

    assert tlc(tmp_path, exported(model, asked, tmp_path), quick=ours <= FEW).states == ours


@pytest.mark.oracle
@needs_tlc
@pytest.mark.parametrize("name", BROKEN)
def test_tlc_shows_as_short_a_run(name: str, tmp_path: Path) -> None:
    model, asked = question(name)
    found = check(model, asked).findings
    traces = [r.verdict.trace for r in found.results if isinstance(r.verdict, Violated)]
    (ours,) = [trace for trace in traces if isinstance(trace, Trace)]
    quick = found.stats.states <= FEW

    assert tlc(tmp_path, exported(model, asked, tmp_path), quick=quick).shown == len(ours.steps) + 1


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
    text = (Path(__file__).parent / "agreement" / "end_that_is_allowed.rsm").read_text(encoding="utf-8")
    (model,) = loads(text.replace("unless decided", f"unless {ends}"))
    asked = model.checks[0]
    (result,) = check(model, asked).findings.results
    ours = result.verdict.trace if isinstance(result.verdict, Violated) else None

    shown = tlc(tmp_path, exported(model, asked, tmp_path), quick=True).shown
    assert shown == (0 if ours is None else len(ours.steps) + 1)


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
@pytest.mark.parametrize("c", ["true", "false"])
@pytest.mark.parametrize(
    "p",
    [
        "c ~> (true implies c)",
        "b ~> c",
        "c ~> b",
        "b ~> true",
        "b ~> false",
        "(let x = b. true) implies false ~> c",
        "exists x in []. b ~> c",
        "c ~> forall x in {}. b",
        "b ~> b and exists x in 1..0. b",
        "n * n == 1 ~> n * n == 9",
        "(let x = n * 2. x) == 2 ~> (let x = n * 2. x) == 2 and b",
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
    """Of checks that ask the same of a model, with the same faults, the first: others differ in numbers."""
    for path in sorted(PROTOCOLS.glob("*.rsm")):
        for model in load(path):
            asked = {(each.only, each.budget.allowed(model)): each for each in reversed(model.checks)}
            for each in asked.values():
                assert target("tla")(model, each).files


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
