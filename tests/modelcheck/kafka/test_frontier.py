"""A frontier says of each configuration what its review says, and searches nothing needlessly."""

from __future__ import annotations

import csv
import json
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from modelcheck.asking.sweep import axis
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.frontier.configurations import (
    ONE_REPLICA,
    Base,
    _alike,
    _jobs,
    _readings,
    _release,
    grid,
)
from modelcheck.kafka.frontier.findings import Frontier, words
from modelcheck.kafka.frontier.grid import NOT_READ, ConfigurationRow, Grid, RowCase, distinct_jobs
from modelcheck.kafka.frontier.limits import FaultLimits
from modelcheck.kafka.frontier.search import Answered, FrontierAnswer, answered, answers_of
from modelcheck.kafka.questions.answers import Answer, ask_all, ask_mixed
from modelcheck.kafka.questions.partition import PartitionModel, partition
from modelcheck.kafka.questions.question import ANY, GUARANTEES, KINDS, MOVE, Guarantee
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from modelcheck.kafka.settings.keys.versions import version
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.diagnostics import SpecError
from spec.source import Source
from tests.consoles import console_example, marked
from tests.pages import assert_sound

DURABLE, WRITABLE = (next(g for g in GUARANTEES if g.name == name) for name in ("durable", "writable"))
BOTH = (DURABLE, WRITABLE)
SMALL = ("replication.factor=2", "min.insync.replicas=1,2", "acks=1,all", "kafka=2.8")
LARGE = (
    "replication.factor=1..3",
    "min.insync.replicas=1..3",
    "acks=1,all",
    "unclean.leader.election.enable=true,false",
    "kafka=0.8.1,2.8,4.1",
)
QUORUM = Path(__file__).parents[3] / "spec/protocols/quorum.rsm"


def of(
    *texts: str, faults: int = 1, guarantees: tuple[Guarantee, ...] = BOTH, base: Base | None = None
) -> Grid:
    return grid(base or Base(), [axis(text) for text in texts], guarantees, FaultLimits(faults))


def subject(**point: str) -> PartitionModel:
    base, named = Base(), {name.replace("_", "."): value for name, value in point.items()}
    settings = resolve(_readings(base, named, _release(base, named)), kafka=named["kafka"])
    return partition(settings)


@pytest.fixture(scope="module")
def asking() -> Iterator[Asking]:
    with Asking(Effort(threads=1), Unwatched()) as found:
        yield found


def known(answers: tuple[Answer, ...], faults: int) -> dict[tuple[str, str], tuple[bool | None, ...]]:
    """Whether so many faults are survived, and one less …, for each guarantee and kind."""
    return {(a.guarantee.name, a.kind): tuple(a.survives(n) for n in range(faults + 1)) for a in answers}


# ------------------------------------------------------------------------ answers


@pytest.mark.parametrize("acks", ["1", "all"])
def test_a_configuration_has_the_answers_of_its_review(asking: Asking, acks: str) -> None:
    own = subject(kafka="2.8", default_replication_factor="2", acks=acks)
    reviewed = tuple(a for a in ask_all(asking, own, 1, ask_mixed(asking, own, 1)) if a.guarantee in BOTH)
    told = tuple(a for job in _jobs(own, BOTH, FaultLimits(1)) for a in answers_of(asking, job))

    assert known(told, 1) == known(reviewed, 1)
    assert {(a.guarantee.name, a.kind): a.lost_with for a in told} == {
        (a.guarantee.name, a.kind): a.lost_with for a in reviewed
    }


@pytest.mark.parametrize("texts", [SMALL, LARGE], ids=["few", "all"])
def test_what_is_not_searched_would_have_come_to_the_same(asking: Asking, texts: tuple[str, ...]) -> None:
    """NOTE(needless)."""
    jobs = distinct_jobs(of(*texts, faults=2).asked).values()
    spared = 0
    for job in jobs:
        thrifty, whole = (tuple(answers_of(asking, job, thrifty=each)) for each in (True, False))

        assert known(thrifty, 2) == known(whole, 2)
        assert [a.lost_with for a in thrifty] == [a.lost_with for a in whole]
        spared += sum(a.states == 0 and b.states > 0 for a, b in zip(thrifty, whole, strict=True))
    assert spared > 0


@pytest.mark.parametrize("release", ["2.8", "0.8.2"])
@pytest.mark.parametrize("acks", ["1", "0"])
def test_what_is_taken_for_alike_has_the_same_answers(asking: Asking, acks: str, release: str) -> None:
    """NOTE(alike)."""
    own = subject(kafka=release, default_replication_factor="2", acks=acks, min_insync_replicas="2")
    found = [
        tuple(a for job in _jobs(each, BOTH, FaultLimits(1)) for a in answers_of(asking, job))
        for each in (own, _alike(own))
    ]

    assert _alike(own) != own
    assert known(found[0], 1) == known(found[1], 1)


def test_more_faults_never_make_it_safer(asking: Asking) -> None:
    jobs = {n: distinct_jobs(of(*SMALL, faults=n).asked).values() for n in (0, 1, 2)}
    assert len({len(each) for each in jobs.values()}) == 1
    for same in zip(*jobs.values(), strict=True):
        least: Mapping[tuple[str, str], int | None] = {}
        for job in same:
            found = {(a.guarantee.name, a.kind): a.lost_with for a in answers_of(asking, job)}

            assert all(found[cell] == lost for cell, lost in least.items() if lost is not None)
            least = found


def test_a_run_is_told_with_the_configuration_that_it_is_of() -> None:
    asked = of(
        "kafka=2.8", "replication.factor=2", "min.insync.replicas=1,2", "acks=1", guarantees=(DURABLE,)
    )
    found = Frontier(asked, answered(asked, Effort(), lambda *_: None))
    runs = [line.answer(DURABLE) for line in found.lines]

    assert len(distinct_jobs(asked.asked)) == 1
    assert [run.loss.scope.config["min_isr"] for run in runs if run and run.loss] == [1, 2]


# ------------------------------------------------------------------------ rows


def test_a_key_that_a_release_does_not_read_is_marked_and_told() -> None:
    found = of("kafka=0.8.1,2.8", "replication.factor=2", "min.insync.replicas=1,2", "acks=all")

    assert [row.values for row in found.rows] == [
        ("0.8.1", "2", NOT_READ, "all"),
        ("2.8", "2", "1", "all"),
        ("2.8", "2", "2", "all"),
    ]
    assert any("Kafka 0.8.1 has no min.insync.replicas" in note for note in found.notes)


def test_what_cannot_be_had_is_left_out_with_the_reason() -> None:
    found = of("replication.factor=1,2", "min.insync.replicas=1..3", base=Base(brokers=2))
    why = {row.values: row.left_out for row in found.rows if row.left_out}

    assert sorted(why) == [("1", "2"), ("1", "3"), ("2", "3")]
    assert all("min.insync.replicas" in each for each in why.values())
    with pytest.raises(SpecError, match="none of these can be had"):
        of("replication.factor=8,9")


def test_a_single_replica_by_default_is_told() -> None:
    alone, three = (of("min.insync.replicas=1", *more) for more in ((), ("replication.factor=3",)))

    assert [note for note in alone.notes if "replication.factor" in note] == [ONE_REPLICA]
    assert ONE_REPLICA not in three.notes


def test_a_default_is_shown_as_what_it_is() -> None:
    found = of("kafka=2.8,3.7", "acks=default,1,all", "unclean.leader.election.enable=default")

    assert [row.values for row in found.rows] == [
        ("2.8", "1", "no"),
        ("2.8", "all", "no"),
        ("3.7", "all", "no"),
        ("3.7", "1", "no"),
    ]


# ------------------------------------------------------------------------ what is better


def made_up(*survived: tuple[int, int], replicas: tuple[int, ...] = ()) -> Frontier:
    """Configurations that survive so many faults, of at most 2, for certain."""
    (job,) = of("acks=all", guarantees=(DURABLE,)).asked[0].jobs
    rows, told = [], {}
    for number, numbers in enumerate(survived):
        check = replace(job.mixture.check, name=str(number), only=(str(number),))
        own = replace(job, mixture=replace(job.mixture, check=check), alone=())
        cost = (replicas or (3,) * len(survived))[number]
        rows.append(ConfigurationRow((str(number),), (RowCase((own,)),), (cost,)))
        answers = (
            Answer(guarantee, ANY, most, None, most == 2, 1, broken=None if most == 2 else most + 1)
            for guarantee, most in zip(BOTH, numbers, strict=True)
        )
        told[own.key] = FrontierAnswer(tuple(answers), 1, 0)
    return Frontier(Grid("", ("n",), tuple(rows), BOTH, {}, 2), Answered(told, "", 0.0))


def test_what_survives_as_much_and_more_is_better() -> None:
    found = made_up((1, 0), (1, 2), (2, 0), (0, 0), (2, 0))
    told = {number: words(better, BOTH) for number, better in found.better.items()}

    assert told == {
        1: "2 is as durable, and more available",
        4: "2 is more durable and available",
    }


def test_nobody_is_told_to_pay_for_more_replicas() -> None:
    assert made_up((1, 0), (2, 2), replicas=(2, 3)).better == {}
    assert list(made_up((1, 0), (2, 2), replicas=(3, 3)).better) == [1]


# ------------------------------------------------------------------------ the command


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")

    def told(*words: str) -> tuple[int, str, str]:
        code = main(["kafka", "frontier", *words])
        out, err = capsys.readouterr()
        return code, re.sub(r"[\d,]+ states.* in \d+ s", "N states, in 0 s", " ".join(out.split(" "))), err

    return told


TWO = ("kafka", "--kafka", "2.8", "--over", "replication.factor=2", "--over", "min.insync.replicas=1..3",
       "--over", "acks=1,all", "--kinds", "crash,power_loss,isolation:1", "--faults", "1")  # fmt: skip


def test_the_tables_say_it_in_few_words(run: Run, golden: Callable[[str, str], None]) -> None:
    code, out, _ = run(*TWO)

    golden(
        "frontier/table.txt", re.sub(r"[\d,]+ states.*?in \d+\s+s", "N states, in 0 s", out, flags=re.DOTALL)
    )
    assert code == Exit.EXPECTED


def test_csv_json_picture_and_page_say_the_same(run: Run) -> None:
    code, out, _ = run(*TWO, "--json", "--csv", "f.csv", "--draw", "f.svg")
    found = json.loads(out)
    cells = list(csv.DictReader(StringIO(Path("f.csv").read_text())))
    picture = Path("f.svg").read_text()

    assert code == Exit.EXPECTED
    assert [each for each in cells if each["left out"]] != []
    for each in found["configurations"]:
        for guarantee, kinds in each["answers"].items():
            for kind, answer in kinds.items():
                own = [
                    line
                    for line in cells
                    if (line["configuration"], line["guarantee"], line["faults of"])
                    == (str(each["number"]), guarantee, kind)
                ]
                assert len(own) == (answer is not None)
                if answer is not None and answer["lost_with"] is not None:
                    assert own[0]["lost with"] == str(answer["lost_with"])
                    assert sum(found["runs"][answer["run"]]["faults"].values()) == answer["lost_with"]
    assert picture.count("<rect") == 1 + len([line for line in cells if line["guarantee"]])
    assert run(*TWO, "--csv", "f.csv", "--draw", "f.svg")[0] == Exit.EXPECTED  # they are ours
    assert Path("f.svg").read_text() == picture


def test_the_page_has_the_tables_and_the_runs_that_they_lead_to(run: Run) -> None:
    words = (
        *TWO[:3],
        "--over",
        "replication.factor=1,2",
        "--kinds",
        "disk",
        "--faults",
        "1",
        "--html",
        "f.html",
    )
    code, _, _ = run(*words)
    page = Path("f.html").read_text()
    root = assert_sound(page)
    shown = [each.attributes["id"] for each in root.all() if each.attributes.get("id", "").startswith("run-")]

    assert code == run(*words)[0] == Exit.EXPECTED
    assert Path("f.html").read_text() == page
    assert len(root.find("table", "cells")) == 3
    assert shown
    assert all(f'href="#{name}"' in page for name in shown if re.fullmatch(r"run-\d+", name))


def test_what_was_interrupted_goes_on_from_there() -> None:
    asked = of("kafka=2.8", "replication.factor=2", "acks=0,1,all", guarantees=(WRITABLE,))
    pressed: list[int] = []

    def press(done: int, *_: float) -> None:
        if done and not pressed:  # once: what two processes find at the same time is told in two calls
            pressed.append(done)
            signal.raise_signal(signal.SIGINT)

    first = Frontier(asked, answered(asked, Effort(), press))
    again = Frontier(asked, answered(asked, Effort(), lambda *_: None))

    assert (bool(first.ended), first.complete, 0 < len(first.lines) < len(asked.asked)) == (True, False, True)
    assert (again.ended, again.complete, again.missing) == ("", True, 0)
    assert again.known >= first.states > 0


def test_without_time_nothing_is_known_and_the_exit_code_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").mkdir()  # where no other test has left an answer
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "cache"))
    code, out, _ = run("kafka", "--over", "acks=1", "--kafka", "0.10.2", "--max-time", "0.000001")

    assert code == Exit.UNKNOWN
    assert "Partly unknown" in out


def test_a_model_file_goes_over_its_own_names(run: Run) -> None:
    code, out, _ = run(
        str(QUORUM), "--check", "three_nodes", "--over", "Node=2..4", "--faults", "1", "--json"
    )
    found = json.loads(out)
    lost = {
        each["values"]["Node"]: each["answers"]["committed_survives"]["crash"]["lost_with"]
        for each in found["configurations"]
    }

    assert code == Exit.EXPECTED
    assert lost == {"2": None, "3": None, "4": 0}  # quorums of two do not meet among four


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["kafka", "--over", "min.insync.replica=2"], "did you mean `min.insync.replicas`?"),
        (["kafka", "--over", "log.dirs=1"], "is outside the model"),
        (["kafka", "--over", "acks=5"], "it is 0, 1, or all (-1)"),
        (["kafka", "--over", "kafka=9"], "there is no Kafka 9"),
        (["kafka", "--over", "acks=1", "--over", "acks=all"], "is given twice"),
        (["kafka", "--over", "acks"], "is not of the form"),
        (["kafka", "--kinds", "crsh"], "did you mean `crash`?"),
        (["kafka", "--kinds", "crash:9"], "is not from 1 to 5"),
        (["kafka", "--kinds", "crash,crash"], "is given twice"),
        (["kafka", "--guarantee", "dur"], "did you mean `durable`?"),
        (["kafka", "--check", "x"], "--check is for a model file"),
        (["quorum", "--topic", "x"], "--topic is for a configuration of Kafka"),
        (["quorum", "--over", "faults=1"], "the number of faults is the result"),
        (["quorum", "more.properties"], "`quorum` is a model, and `more.properties` is none"),
        (["zab", "--over", "nothing=2"], "nothing"),
        (["nothing.properties"], "there is no such file"),
    ],
)
def test_what_is_typed_wrong_is_told_with_help(run: Run, words: list[str], told: str) -> None:
    code, _, err = run(*words)

    assert code == Exit.WRONG
    assert told in err
    assert "Traceback" not in err


def test_every_kind_of_a_review_can_be_named() -> None:
    names = [kind.name for kind in KINDS] + [kind.fault for kind in KINDS] + [MOVE]

    assert len(set(names)) == len(names) - len([kind for kind in KINDS if kind.name == kind.fault])


def test_the_page_of_the_package_shows_what_a_frontier_says(
    run: Run, monkeypatch: pytest.MonkeyPatch, in_document: Callable[[Path, str, str], None]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = Path(__file__).parents[3] / "docs/how-to/compare-configurations.md"
    words, shown = console_example(page, r"(?:kafka )?frontier .*")
    _, out, _ = run(*words[words.index("frontier") + 1 :])

    in_document(page, shown, out.partition("\n\nUp to ")[0] + "\n")


def test_the_page_shows_one_setting_each(
    run: Run, monkeypatch: pytest.MonkeyPatch, in_document: Callable[[Path, str, str], None]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = Path(__file__).parents[3] / "docs/how-to/compare-configurations.md"
    (block,) = marked(page, "one setting each", "console")
    command, _, shown = block.partition("\n")
    _, out, _ = run(*command.split()[4:])

    in_document(page, f"{command}\n{shown}", f"{command}\n" + out.partition("\n\nUp to ")[0] + "\n")


def test_a_check_without_an_axis_has_a_row_for_each_other_value_of_a_setting(run: Run) -> None:
    _, out, _ = run("jetstream", "--check", "settings", "--faults", "1", "--json")
    found = json.loads(out)

    assert [each["values"] for each in found["configurations"]] == [
        {"setting": "as the check has them"},
        {"setting": "sync_interval=always"},
    ]
    assert found["notes"] == ["as the check has them: sync_interval=2m"]
    assert found["one_setting"]["acknowledged_survive"] == [{"number": 2, "less": []}]
    assert "writable" not in found["one_setting"]  # it survives what was tried


def test_a_setting_that_helps_is_told_with_what_it_costs(run: Run) -> None:
    _, out, _ = run("postgresql_patroni", "--check", "settings", "--json")
    one = json.loads(out)["one_setting"]

    assert one["acknowledged_survive"] == [{"number": 2, "less": ["writable"]}]
    assert one["no_dirty_read"] == []


def test_no_one_setting_helps_where_it_takes_two(run: Run) -> None:
    _, out, _ = run("redis_wait", "--check", "settings", "--faults", "1")

    assert re.search(r"^  acknowledged_survive +none alone$", out, re.MULTILINE)
    assert "against the assumption on_disk (1)" in out


def test_several_checks_are_a_row_each(run: Run) -> None:
    _, out, _ = run("jetstream", "--faults", "0", "--json")
    found = json.loads(out)

    assert found["axes"] == ["check"]
    assert found["one_setting"] == {}


def test_what_a_cluster_has_by_default_is_its_default_on_an_axis_too() -> None:
    text = 'resource "aws_msk_configuration" "c" {\n  server_properties = "log.retention.ms=1\\n"\n}\n'
    base = Base((read_text(Source("msk.tf", text)),))
    found = _readings(base, {"unclean.leader.election.enable": "default"}, version("3.9"))

    assert resolve(found, kafka="3.9").switches.unclean_election.value is True


def test_controllers_of_the_files_do_not_hide_an_axis() -> None:
    roles = "process.roles=controller\nnode.id=9\nauto.leader.rebalance.enable=true\n"
    base = Base((read_text(Source("controller.properties", roles)),))
    found = _readings(base, {"auto.leader.rebalance.enable": "false"}, version("3.9"))

    assert resolve(found, kafka="3.9").value("auto.leader.rebalance.enable").value is False


OPEN = ("--over", "replication.factor=2", "--over", "unclean.leader.election.enable=true", "--guarantee",
        "durable", "--kinds", "crash,isolation", "--json")  # fmt: skip


@pytest.mark.parametrize(
    ("of_broker", "lost_with", "worst"),
    [
        ("log.dirs=/d", 2, ["Kafka 3.7 with ZooKeeper"]),
        ("zookeeper.connect=a", 2, None),
        ("process.roles=broker", None, None),
    ],
)
def test_where_no_file_names_the_controller_the_worst_counts(
    run: Run, of_broker: str, lost_with: int | None, worst: list[str] | None
) -> None:
    Path("server.properties").write_text(of_broker + "\n")
    code, out, _ = run("server.properties", "--kafka", "3.7", *OPEN)
    crash = json.loads(out)["configurations"][0]["answers"]["durable"]["crash"]

    assert code == Exit.EXPECTED
    assert (crash["lost_with"], crash.get("worst_of")) == (lost_with, worst)


def test_where_no_file_names_the_release_all_are_asked(run: Run) -> None:
    Path("server.properties").write_text("process.roles=broker\n")
    code, out, _ = run("server.properties", *OPEN[:-1])

    assert code == Exit.EXPECTED
    assert out.startswith("Kafka 3.3 to ")
    assert "--kafka names a release" in out
