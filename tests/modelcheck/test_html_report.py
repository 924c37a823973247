"""`--html`: the page that a command writes, from the command line to its elements."""

from __future__ import annotations

import shlex
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from counterexamples.trace import Example, Stops, Trace
from modelcheck.answers.html_report import trace_page
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.result import Holds
from modelcheck.kafka.questions.answers import ask
from modelcheck.kafka.questions.partition import partition
from modelcheck.kafka.questions.question import Question, groups, of_mixture, requirement
from modelcheck.kafka.questions.review import Review
from modelcheck.kafka.questions.search import Asking, Effort
from modelcheck.kafka.report.page import review_page
from modelcheck.kafka.settings.readers.recognition import read_files
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.load import load
from spec.model.ir import Budget, Check, Model
from tests.pages import Element, assert_sound
from tests.stories import PROTOCOLS, ends_badly, story, wandering

TINY = str(Path(__file__).parent / "tiny.rsm")
KAFKA = str(PROTOCOLS / "kafka.rsm")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(name: str = "page.html") -> Element:
    return assert_sound(Path(name).read_text(encoding="utf-8"))


def links(root: Element) -> list[list[str]]:
    """For each verdict, its property and the runs that it leads to."""
    return [
        [row.find("th")[0].words, *(each.attributes["href"] for each in row.find("a"))]
        for table in root.find("table", "verdicts")
        for row in table.find("tr")[1:]
    ]


# ---------------------------------------------------------------------- check


def test_a_check_writes_its_card_and_every_run_that_it_shows() -> None:
    code = main(["check", TINY, "--check", "as_expected", "--html", "page.html", "-q"])
    root = written()

    assert code == 0
    assert root.find("h1")[0].words == "tiny · as_expected"
    assert links(root) == [
        ["safe", "#run-1"],
        ["low"],
        ["mono"],
        ["full", "#run-2"],
        ["writable"],
    ]
    verdicts = [each.words for each in root.find("td", "words")]
    assert verdicts[0] == "✗ holds without faults; violated with 1 (crash), in 6 steps (as expected)"
    assert len(root.find("article", "run")) == 2
    assert "within Replica = 2 · Epoch = 2 · Offset = 1" in root.find("dl", "facts")[0].words
    assert "any number" in root.find("section", "configuration")[0].words


def test_the_exit_code_and_the_card_are_those_without_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", TINY, "--check", "surprise", "--html", "page.html", "-q"]) == 1
    captured = capsys.readouterr()
    root = written()

    assert captured.err == "modelcheck: wrote page.html\n"
    assert root.find("section", "card")[0].find("p", "verdict")[0].words == "✗ violated: safe"
    told = root.find("section", "card")[0].words
    assert (
        "expected: low is violated with 2 faults in 5 steps; found: violated with 2 faults in 6 steps" in told
    )


def test_the_command_on_the_page_makes_the_same_page_again() -> None:
    given = ["check", KAFKA, "--check", "jepsen", "--of", "kafka", "--faults", "2"]
    given += ["--property", "acknowledged_survive", "--config", "min_isr=1", "--html", "first.html", "-q"]
    assert main(given) == 1
    command = shlex.split(written("first.html").find("p", "command")[0].find("code")[0].text)

    assert command[0] == "modelcheck"
    assert main([*command[1:], "--html", "again.html", "-q"]) == 1
    assert Path("again.html").read_bytes() == Path("first.html").read_bytes()


def test_a_model_without_checks_is_asked_again_without_one() -> None:
    Path("m.rsm").write_text(
        "protocol m\nstate { n: 0..2 = 0 }\naction up { require n < 2  n := n + 1 }\ninvariant low: n < 1\n"
    )
    assert main(["check", "m.rsm", "--html", "page.html", "-q"]) == 1

    assert {each.find("code")[0].text for each in written().find("p", "command")} == {
        "modelcheck check m.rsm"
    }


def test_several_checks_stand_on_one_page() -> None:
    main(["check", TINY, "--check", "as_expected", "--check", "surprise", "--html", "page.html", "-q"])
    root = written()

    assert root.find("h1")[0].words == "2 checks: 1 as expected, 1 not as expected"
    assert len(root.find("section", "card")) == 2
    names = [each.words for each in root.find("nav", "contents")[0].find("a")]
    assert names[:2] == ["tiny · as_expected: safe", "tiny · as_expected: full"]
    assert len(names) == len(root.find("article", "run")) > 3


def test_an_error_of_the_model_is_a_run_of_its_own() -> None:
    Path("m.rsm").write_text(
        "protocol m\nstate { n: 0..1 = 0 }\naction up { n := n + 1 }\n"
        "check c { faults any }\ninvariant ok: n < 9\n"
    )
    assert main(["check", "m.rsm", "--html", "page.html", "-q"]) == 1
    root = written()

    assert ["the model", "#run-1"] in links(root)
    assert "the model makes an error" in root.find("article", "run")[0].find("h2")[0].words
    assert root.find("section", "frame")[-1].attributes["data-step"] == "1"


def test_a_search_that_was_cut_short_says_so() -> None:
    assert main(["check", TINY, "--check", "large", "--max-states", "100", "--html", "page.html", "-q"]) == 3
    root = written()

    assert "the limit of states is reached" in root.find("section", "card")[0].words
    assert root.find("article", "run") == []


def test_a_page_that_cannot_be_written_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", TINY, "--check", "as_expected", "--html", "nowhere/page.html", "-q"]) == 2
    assert "nowhere/page.html" in capsys.readouterr().err
    assert main(["kafka", "review", "x.properties", "--html", "nowhere/page.html"]) == 2
    assert "nowhere/page.html: error[R0904]: cannot be written" in capsys.readouterr().err


# ---------------------------------------------------------------------- one run


def test_a_run_of_any_ending_is_a_page() -> None:
    bad = story("kip101")
    walk = wandering("kafka", "usual", 12, 3)
    named = check(*_named("as_expected")).verdict("full")
    assert isinstance(named, Holds)
    assert named.example is not None
    assert isinstance(named.example.ending, Example)
    assert isinstance(walk.ending, Stops)
    roots = [assert_sound(trace_page(each, command="again")) for each in (bad, walk, named.example)]

    signs = [each.find("article")[0].find("p", "verdict")[0].words[0] for each in roots]
    assert signs == ["✗", "?", "✓"]
    assert [bool(each.find("div", "why")) for each in roots] == [True, True, True]
    assert all(each.find("p", "command")[0].words == "Again: again" for each in roots)


def _named(name: str) -> tuple[Model, Check]:
    (model,) = load(TINY)
    return model, next(each for each in model.checks if each.name == name)


def test_a_page_tells_why_by_the_explanation() -> None:
    root = assert_sound(trace_page(story("last_replica_standing")))

    why = root.find("div", "why")[0].words
    assert "Point of no return. From step 6 on, no run of actions and repairs avoids" in why
    assert [each.words for each in root.find("p", "turn")] == [
        "With this step the point of no return is passed."
    ]


def test_a_run_that_is_said_to_break_what_it_does_not_is_still_a_page() -> None:
    trace: Trace = ends_badly(wandering("kafka", "usual", 5, 1), "no_divergence")

    assert_sound(trace_page(trace))


# ---------------------------------------------------------------------- review


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review:
    """The review of Kafka 0.8.1, two brokers, with the answers to two of its questions."""
    folder = tmp_path_factory.mktemp("review")
    broker, producer = folder / "server.properties", folder / "producer.properties"
    broker.write_text("zookeeper.connect=z:2181\ndefault.replication.factor=2\n")
    producer.write_text("metadata.broker.list=one:9092\nrequest.required.acks=-1\n")
    found = resolve(read_files([str(broker), str(producer)]), kafka="0.8.1", brokers=2, topic=None)
    subject = partition(found)
    first = groups()[0]
    mixed = of_mixture(first, {"isolate": 1, "session_loss": 1})
    alone = Question(first, "isolation", Budget(1, {"isolate": None}))
    with Asking(Effort(), ProgressLine(StringIO(), "", columns=80)) as asking:
        answers = (*ask(asking, subject, mixed), *ask(asking, subject, alone))
    return Review(found, subject, 2, answers, None, (requirement("durable:2"),), "", asking.states, 0, 1.0)


def test_a_review_is_a_page_with_its_answers_its_table_and_its_losses(review: Review) -> None:
    root = assert_sound(review_page(review, "modelcheck kafka review server.properties"))

    assert root.find("h1")[0].words == "Kafka 0.8.1: one partition of a topic, 2 replicas of 2 brokers"
    runs = ["#run-1", "#run-1", "#run-2", "#run-3"]  # one for two
    assert links(root) == [
        [name, run] for name, run in zip(("durable", "committed", "read", "consistent"), runs, strict=True)
    ]
    rows = {
        row.find("th")[0].words.partition(":")[0]: row
        for row in root.find("table", "cells")[0].find("tr")[1:]
    }
    assert [each.words for each in rows["any"].find("td")][:3] == ["1", "1", "1"]
    assert [each.attributes["href"] for each in rows["any"].find("a")] == runs
    assert rows["isolation"].find("a") == []
    assert root.find("p", "behind")[0].words == "what is underlined leads to a run that breaks it"
    titles = [each.find("h2")[0].words for each in root.find("article", "run")]
    assert titles == [
        "durable: acknowledged records can be lost",
        "read: consumers can be given records that are not committed",
        "consistent: replicas can differ below their high watermarks",
    ]
    card = root.find("section", "card")[0].words
    assert "durable:2: NOT met" in card
    assert "default.replication.factor=2" in card


def test_how_long_a_review_took_does_not_change_its_page(review: Review) -> None:
    assert review_page(review, "again") == review_page(replace(review, seconds=99.0), "again")


def test_review_writes_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.properties").write_text("process.roles=broker,controller\nnode.id=1\n")
    Path("producer.properties").write_text("bootstrap.servers=b:1\nacks=0\n")
    given = ["server.properties", "producer.properties", "--kafka", "4.1", "--faults", "1"]
    assert main(["kafka", "review", *given, "--html", "page.html"]) == 0
    root = written()

    assert "modelcheck: wrote page.html" in capsys.readouterr().err
    command = root.find("section", "card")[0].find("p", "command")[0].find("code")[0].text
    assert command == "modelcheck kafka review " + " ".join(given)
    assert root.find("article", "run") != []
