"""`check` and `review` with `--reproduce`: the run that they found is the one that is tried and told."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import jsonschema
import pytest

from modelcheck.contract.exits import Exit
from modelcheck.kafka.reproduce.attempt import ReproductionTask
from modelcheck.kafka.reproduce.driver import Run
from modelcheck.kafka.reproduce.installation import Home
from spec.meaning.semantics import Machine

SCHEMA = json.loads((Path(__file__).parents[4] / "modelcheck/kafka/report/schema.json").read_text())
ACKS_ONE = ("check", "kafka", "--check", "acks_one")
Command = Callable[..., tuple[int, str, str]]
FalseHome = Callable[..., Path]
Came = Callable[[Run], list[ReproductionTask]]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """A cluster of two brokers that acknowledges what the leader has, by nobody's release."""
    (tmp_path / "server.properties").write_text("min.insync.replicas=2\ndefault.replication.factor=2\n")
    (tmp_path / "producer.properties").write_text("bootstrap.servers=b:1\nacks=1\n")
    return "server.properties", "producer.properties", "--brokers", "2", "--faults", "0"


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> Came:
    """What comes of it where nothing is started; and what was asked for."""

    def told(run: Run) -> list[ReproductionTask]:
        wishes: list[ReproductionTask] = []

        def attempt(asked: ReproductionTask, _home: Home, **_: object) -> Iterator[Run]:
            wishes.append(asked)
            yield run

        monkeypatch.setattr("modelcheck.kafka.reproduce.attempts.attempt", attempt)
        return wishes

    return told


LOST = Run((), 1, (1,), (), (), 1.0)
KEPT = Run((), 1, (1,), (1,), (1,), 1.0)


# ------------------------------------------------------------------ wrong input


@pytest.mark.parametrize("command", [("check", "kafka"), ("kafka", "review", "server.properties")])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--reproduce",), "--reproduce starts a real Kafka: add --kafka-home DIR"),
        (("--kafka-home", "."), "--kafka-home names the Kafka of --reproduce: give both"),
    ],
)
def test_one_option_without_the_other_is_refused(
    command: tuple[str, ...], words: tuple[str, ...], said: str, run: Command
) -> None:
    code, _, told = run(*command, *words)

    assert code == Exit.WRONG
    assert said in told


def test_a_folder_without_a_kafka_is_refused_before_anything_is_searched(
    files: tuple[str, ...], run: Command
) -> None:
    for words in (ACKS_ONE, ("kafka", "review", *files)):
        code, said, told = run(*words, "--reproduce", "--kafka-home", ".")

        assert (code, said) == (Exit.WRONG, "")
        assert "error[R0930]" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("raft", "--check", "elections"), "is no model of a partition of Kafka"),
        (("kafka", "--check", "acks_one", "--check", "acks_all"), "what is tried on a real Kafka is of one"),
        (("kafka", "--check", "acks_one", "--estimate"), "--estimate goes with neither"),
    ],
)
def test_what_is_not_driven_is_refused_before_anything_is_searched(
    words: tuple[str, ...], said: str, run: Command, false_home: FalseHome
) -> None:
    code, shown, told = run("check", *words, "--reproduce", "--kafka-home", str(false_home("exit 1")))

    assert (code, shown) == (Exit.WRONG, "")
    assert said in " ".join(told.split())


def test_of_several_topics_none_is_chosen(
    files: tuple[str, ...], run: Command, false_home: FalseHome
) -> None:
    home = str(false_home("exit 1"))
    code, _, told = run("kafka", "review", *files, "--all-topics", "--reproduce", "--kafka-home", home)

    assert code == Exit.WRONG
    assert "--reproduce is of one topic: give --topic NAME" in told


def test_a_review_of_another_release_is_refused(
    files: tuple[str, ...], run: Command, false_home: FalseHome
) -> None:
    home = str(false_home("exit 1"))
    code, said, told = run("kafka", "review", *files, "--kafka", "3.7", "--reproduce", "--kafka-home", home)

    assert (code, said) == (Exit.WRONG, "")
    assert "the review is of Kafka 3.7 (as asked for), and this is Kafka 4.1.0" in " ".join(told.split())


# ------------------------------------------------------------------ what holds, and what does not start


def test_of_a_check_that_holds_the_card_is_shown_and_nothing_is_tried(
    run: Command, came: Came, false_home: FalseHome
) -> None:
    wishes = came(LOST)
    home = str(false_home("exit 1"))
    code, said, told = run("check", "kafka", "--check", "acks_all", "--reproduce", "--kafka-home", home)

    assert code == Exit.WRONG
    assert "acknowledged_survive" in said
    assert "acks_all has no run in which a record is lost that was acknowledged" in told
    assert not wishes


def test_a_search_that_was_cut_short_is_no_check_that_holds(
    run: Command, came: Came, false_home: FalseHome
) -> None:
    wishes = came(LOST)
    home = str(false_home("exit 1"))
    code, _, told = run(*ACKS_ONE, "--max-states", "3", "--reproduce", "--kafka-home", home)

    assert code == Exit.UNKNOWN
    assert "nothing is reproduced: no run was found, and not all were looked at" in told
    assert not wishes


def test_a_review_without_a_loss_has_none_to_try(
    files: tuple[str, ...], run: Command, came: Came, false_home: FalseHome, tmp_path: Path
) -> None:
    (tmp_path / "producer.properties").write_text("bootstrap.servers=b:1\nacks=all\n")
    wishes = came(LOST)
    home = str(false_home("exit 1"))
    code, said, told = run("kafka", "review", *files, "--reproduce", "--kafka-home", home)

    assert code == Exit.WRONG
    assert "Kafka 4.1: one partition" in said
    assert "no loss was found with up to 0 faults, so there is none to try" in told
    assert not wishes


def test_of_a_kafka_that_does_not_start_the_answer_and_its_last_lines_are_shown(
    run: Command, false_home: FalseHome
) -> None:
    pytest.importorskip("kafka")
    home = str(false_home("echo 'ERROR no room for a heap'; exit 1"))
    code, said, told = run(*ACKS_ONE, "--json", "--reproduce", "--kafka-home", home)

    assert code == Exit.WRONG
    assert "error[R0932]" in told
    assert "ERROR no room for a heap" in told
    assert [each["reproduced"] for each in json.loads(said)] == [None]


# ------------------------------------------------------------------ what is tried


@pytest.mark.parametrize(("what", "code"), [(LOST, Exit.EXPECTED), (KEPT, Exit.VIOLATED)])
def test_a_violated_check_is_tried_and_told_after_its_card(
    what: Run, code: Exit, run: Command, came: Came, false_home: FalseHome
) -> None:
    wishes = came(what)
    home = str(false_home("exit 1"))
    found, said, _ = run(*ACKS_ONE, "--reproduce", "--kafka-home", home)

    assert found == code
    assert [each.plan.trace.check for each in wishes] == ["acks_one"]
    words = "reproduced" if what is LOST else "not reproduced"
    assert said.index("acknowledged_survive") < said.index(f"acks_one on Kafka 4.1.0: {words}")


def test_an_unexpected_loss_stays_one_though_it_is_reproduced(
    run: Command, came: Came, false_home: FalseHome
) -> None:
    came(LOST)
    home = str(false_home("exit 1"))
    code, said, _ = run(
        "check", "kafka", "--check", "acks_all", "--config", "acks=one", "--reproduce", "--kafka-home", home
    )

    assert code == Exit.VIOLATED
    assert "acks_all on Kafka 4.1.0: reproduced" in said


def test_the_loss_that_a_review_shows_is_the_one_that_is_tried(
    files: tuple[str, ...], run: Command, came: Came, false_home: FalseHome
) -> None:
    wishes = came(LOST)
    words = ("kafka", "review", *files, "--reproduce", "--kafka-home", str(false_home("exit 1")))
    code, said, _ = run(*words)
    (asked,) = wishes
    machine, trace = Machine(asked.model, asked.scope), asked.plan.trace
    steps = [
        machine.says(trace.model.action(step.action), step, state)
        for step, state in zip(trace.steps, trace.states, strict=False)
    ]
    story = " ".join(said[said.index("The first loss") : said.index("The smallest change")].split())

    assert code == Exit.EXPECTED
    assert said.startswith("Kafka 4.1: one partition")  # which nothing said, so it is that of the folder
    assert all(each in story for each in steps)
    assert {"acks=1", "min.insync.replicas=2"} <= set(asked.settings.words())
    assert said.index("The first loss") < said.index("on Kafka 4.1.0: reproduced")


def test_what_an_older_release_does_is_what_a_review_of_it_says(
    files: tuple[str, ...], run: Command, came: Came, false_home: FalseHome
) -> None:
    wishes = came(LOST)
    home = str(false_home("exit 1", "3.2.3"))
    code, said, _ = run("kafka", "review", *files, "--reproduce", "--kafka-home", home)
    (asked,) = wishes

    assert code == Exit.EXPECTED
    assert said.startswith("Kafka 3.2.3: one partition")
    assert (asked.read, asked.freely) == ("", False)
    assert asked.scope.config["strict_min_isr"] is False


def test_what_came_of_it_is_in_the_data_of_a_review(
    files: tuple[str, ...], run: Command, came: Came, false_home: FalseHome
) -> None:
    came(KEPT)
    home = str(false_home("exit 1"))
    code, said, _ = run("kafka", "review", *files, "--json", "--reproduce", "--kafka-home", home)
    found = json.loads(said)

    jsonschema.validate(found, SCHEMA)
    assert code == Exit.VIOLATED
    assert found["reproduced"]["came"] == "not_reproduced"


def test_ctrl_c_keeps_what_was_found(
    run: Command, false_home: FalseHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[Run]:
        raise KeyboardInterrupt

    monkeypatch.setattr("modelcheck.kafka.reproduce.attempts.attempt", interrupted)
    home = str(false_home("exit 1"))
    code, said, told = run(*ACKS_ONE, "--reproduce", "--kafka-home", home)

    assert code == Exit.UNKNOWN
    assert "acknowledged_survive" in said
    assert "interrupted, so nothing is reproduced" in told


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the client's library
def test_a_real_cluster_loses_what_a_review_says(
    files: tuple[str, ...], real_home: Home, run: Command
) -> None:
    words = ("kafka", "review", *files, "--json", "--reproduce", "--kafka-home", str(real_home.libs))
    for _ in range(2):  # on a machine that is busy a broker may lose its session, which is another run
        code, said, told = run(*words)
        gc.collect()  # what that library leaves open is told here, and not in another test
        if code == Exit.EXPECTED:
            break

    assert code == Exit.EXPECTED, (said, told)
    assert json.loads(said)["reproduced"]["came"] == "reproduced"
