"""`modelcheck library compare`: searches bear every answer out; a run of each tells two protocols apart."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import modelcheck.commands.library.compare as command
from counterexamples.lines import plain
from modelcheck.asking.sweep import Orders
from modelcheck.contract.exits import Exit
from modelcheck.teaching.textbook.asked import Bearing, PropertyQuestion
from modelcheck.teaching.textbook.compared import AnsweredCell, Compared, Weighed, compared
from modelcheck.teaching.textbook.compared_page import page
from modelcheck.teaching.textbook.comparison import (
    Comparison,
    ComparisonCell,
    Possible,
    comparison,
    comparison_of_settings,
)
from modelcheck.teaching.textbook.pairs import pairs
from modelcheck.teaching.textbook.searched import SearchedCheck, _points, _wanted
from modelcheck.teaching.textbook.table import as_csv, as_json, markdown, table
from tests.one_process import OneProcess
from tests.protocol_checks import PROTOCOLS, models

Run = Callable[..., tuple[int, str, str]]
ALL = comparison()
NAMES = [column.name for column in ALL.columns]
PAGE = Path(__file__).parents[2] / "docs/how-to/use-the-library.md"

# What is told of majority votes, of clean and of unclean elections by an ISR, and of PacificA, with n
# replicas, f failures and m = min.insync.replicas; here n = 3 and m = 2 where n is not the answer.
# The sources are Kafka's documentation of replication (its section on quorums), KIP-966, the paper on
# Raft and the report on PacificA.
TOLD = {
    "copies_1": ("3", "2", None, "2"),  # replicas to tolerate f losses: 2f + 1; f + 1 with m = f + 1; f + 1
    "copies_2": ("5", "3", None, "3"),
    "waits_1": ("1", "1", None, "1"),  # f followers; of f + 1 replicas all others
    "waits_2": ("2", "2", None, "2"),
    "waits_of_three": ("1", "2", "2", "2"),  # any f; all other ISR members; all n - 1
    "slow": ("yes", "when it has been dropped", "when it has been dropped", "when it has been dropped"),
    "electable": ("1", "2", "2", "2"),  # k <= f; k <= n - 1 if an ISR member lives; k <= n - 1; k <= n - 1
    "writable": ("1", "1", "1", "2"),  # k <= f; k <= n - m; k <= n - m; k <= n - 1 after reconfiguration
    "keeps": (None, "yes", "no", None),  # clean: committed survives; unclean: none guaranteed
    "lossy_1": ("no", "yes", None, None),  # unflushed crash allowed? Raft: no; ISR: m - 1 lossy ones with ELR
    "lossy_2": ("no", "no", None, None),  # before ELR: the last replica standing
    "returns": ("any two", "one that was in sync last", "any one", "one that was in sync last"),
    "last_gone": ("yes", "never", "yes", "never"),  # down for ever; resumes, loses; down for ever
    "cut_off": (
        "yes",
        "yes",
        "yes",
        "yes",
    ),  # majority side lives; side with the controller; that with the manager
    "isolated": ("yes", "not before it is healed", "not before it is healed", "yes"),
}
OTHERWISE = {  # where a column that the table does not have differs from the one it is like, and why
    ("kafka_elr", "lossy_2"): "yes",  # m - 1 lossy crashes, and here two: all three were in sync
    # Said is that one of the ELR is enough. That is so of clean shutdowns: after crashes those who come back
    # are taken out of the ELR, and the last leader leads when nobody is left in it.
    ("kafka_elr", "returns"): "all three",
}


@cache
def everything() -> Compared:
    return compared(ALL.of(NAMES, ALL.most_faults), Orders())


def some(names: Sequence[str], questions: Sequence[str]) -> Comparison:
    asked = ALL.of(names, ALL.most_faults)
    return replace(asked, questions=tuple(each for each in asked.questions if each.name in questions))


@pytest.fixture
def several_processes() -> None:
    """A test that asks for this has the processes that people have."""


@pytest.fixture(autouse=True)
def one_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "several_processes" not in request.fixturenames:
        monkeypatch.setattr("modelcheck.asking.sweep.Processes", OneProcess)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command knows three questions alone, whose searches are small."""
    asked = some(NAMES, ["waits_of_three", "writable", "one_leads"])
    monkeypatch.setattr(command, "comparison", lambda: asked)


# ------------------------------------------------------------------------- the data


def test_every_answer_is_of_a_property_that_its_protocol_has() -> None:
    for (protocol, _, _), properties in _wanted(ALL.asked).items():
        known = {prop.name for model in models(PROTOCOLS / f"{protocol}.rsm") for prop in model.properties}
        assert set(properties) <= known
    assert len(_points(_wanted(ALL.asked))) > 100  # each names a check, and settings that fit it


def test_a_possible_answer_is_asked_about_and_differs_from_the_others() -> None:
    for question in ALL.questions:
        assert set(question.cells) == set(NAMES)
        for cell in question.cells.values():
            words = [*(each.words for each in cell.possible), cell.otherwise]
            assert bool(cell.silent) is not bool(cell.possible)
            assert cell.silent or len(set(words)) == len(words)
            assert all(each.asked for each in cell.possible)


def test_a_column_that_is_like_another_asks_the_same_with_other_settings() -> None:
    ours, like = (ALL.questions[0].cells[name].possible[0].asked[0] for name in ("kafka_unclean", "kafka"))

    assert ours == replace(
        like, settings=replace(like.settings, config=(*like.settings.config, "unclean=true"))
    )


# ---------------------------------------------------------------------- the answers


FOR, AGAINST, OPEN = Bearing
ASKED = PropertyQuestion("quorum", "three_nodes", "electable")


def weighed(words: str, *bearings: Bearing) -> Weighed:
    kinds = [type("Fixed", (SearchedCheck,), {"bearing": each}) for each in bearings]
    return Weighed(Possible(words, ()), tuple(kind(ASKED, None) for kind in kinds))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([FOR, FOR], [FOR], "one"),
        ([FOR, AGAINST], [FOR], "two"),
        ([AGAINST, OPEN], [FOR], "two"),
        ([FOR, OPEN], [FOR], None),
        ([AGAINST], [AGAINST], "none"),
        ([AGAINST], [OPEN], None),
    ],
)
def test_the_first_answer_that_is_borne_out_is_given(
    first: list[Bearing], second: list[Bearing], words: str | None
) -> None:
    answered = AnsweredCell(ComparisonCell((), "none"), (weighed("one", *first), weighed("two", *second)))

    assert answered.words == words
    assert answered.is_open is (words is None)


@pytest.mark.usefixtures("several_processes")
@pytest.mark.parametrize("name", list(TOLD))
def test_the_answers_are_those_of_the_table(name: str) -> None:
    found = everything()
    for column, told in zip(("quorum", "kafka", "kafka_unclean", "pacifica"), TOLD[name], strict=True):
        if told is not None:
            assert found.answers[name, column].words == told, column
    raft = found.answers[name, "raft"]
    assert raft.words in {found.answers[name, "quorum"].words, None}
    assert raft.words is not None or raft.cell.silent
    kafka = found.answers[name, "kafka"].words
    assert found.answers[name, "kafka_elr"].words == OTHERWISE.get(("kafka_elr", name), kafka)


@pytest.mark.usefixtures("several_processes")
def test_what_the_table_does_not_have() -> None:
    found = everything()

    assert [found.answers["fewest", name].words for name in NAMES] == ["2", "2", "2", "2", "2", "1"]
    alone = [found.answers["alone", name].words for name in NAMES]
    assert alone == ["no", "no", *["only at min ISR 1"] * 3, "yes"]
    assert [found.answers["one_leads", name].words for name in NAMES] == [*["yes"] * 5, "no"]


@pytest.mark.usefixtures("several_processes")
def test_every_answer_but_a_few_is_from_searches() -> None:
    found = everything()
    silent = [key for key, each in found.answers.items() if each.words is None]

    assert silent == [("copies_2", "raft"), ("lossy_1", "pacifica"), ("lossy_2", "pacifica")]
    assert found.open == 0


@pytest.mark.usefixtures("several_processes")
def test_what_tells_two_apart_is_a_run_that_breaks_and_one_that_does_not() -> None:
    found = everything()
    for first, second, apart in found.pairs:
        if apart is None:
            assert found.differ(first, second) == []
            assert {first.name, second.name} == {"quorum", "raft"}
            continue
        assert {apart.fails.column, apart.holds.column} == {first, second}
        assert apart.fails.found.bearing is AGAINST
        assert apart.holds.found.bearing is FOR
        assert apart.fails.words != apart.holds.words == apart.words


@pytest.mark.usefixtures("several_processes")
def test_no_difference_takes_fewer_faults_and_steps_than_what_is_shown() -> None:
    found = everything()
    for first, second, apart in found.pairs:
        if apart is not None:
            both = [*found._apart(first, second), *found._apart(second, first)]
            costs = [(each.fails.run.faults, len(each.fails.run.steps)) for each in both]
            assert (apart.fails.run.faults, len(apart.fails.run.steps)) == min(costs)


@pytest.mark.usefixtures("several_processes")
def test_the_table_as_it_is_read(golden: Callable[[str, str], None]) -> None:
    found = everything()

    golden("compare/table.txt", plain(table(found, 100)))
    golden("compare/narrow.txt", plain(table(found, 60)))


@pytest.mark.usefixtures("several_processes")
def test_the_page_of_the_library_has_the_table(in_document: Callable[[Path, str, str], None]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- table: compare -->\n((?:\|.*\n)+)", text, re.MULTILINE)

    in_document(PAGE, shown, markdown(everything()))


SETTINGS = comparison_of_settings()
SYSTEMS = [column.name for column in SETTINGS.columns]
OF_SETTINGS = {  # what manuals and reports say; None where they say nothing
    "lost_default": ("0", "0", "0", None, "0", "2 or more"),
    "dirty_default": (None, None, "0", "0", None, "2 or more"),
    "writes_default": (None, None, None, "1", "1", "1"),
    "prevents": (None, "synchronous_mode", None, "none is needed", "sync_interval", "none is needed"),
    "lost_safest": ("2 or more", "2 or more", None, "2 or more", "2 or more", "2 or more"),
    "dirty_safest": (None, None, None, "2 or more", None, "2 or more"),
}


@cache
def of_settings() -> Compared:
    return compared(SETTINGS, Orders())


@pytest.mark.usefixtures("several_processes")
@pytest.mark.parametrize("name", list(OF_SETTINGS))
def test_what_settings_do_is_what_is_told_of_them(name: str) -> None:
    for system, told in zip(SYSTEMS, OF_SETTINGS[name], strict=False):
        assert told in {None, of_settings().answers[name, system].words}, system


@pytest.mark.usefixtures("several_processes")
def test_the_page_of_the_library_has_the_table_of_settings(
    in_document: Callable[[Path, str, str], None],
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (shown,) = re.findall(r"^<!-- table: compare settings -->\n((?:\|.*\n)+)", text, re.MULTILINE)

    in_document(PAGE, shown, markdown(of_settings()))


@pytest.mark.usefixtures("several_processes")
def test_a_setting_that_is_said_to_prevent_a_loss_does_and_the_default_does_not() -> None:
    for system in SYSTEMS[:6]:
        default, *others = of_settings().answers["prevents", system].weighed
        one = of_settings().answers["prevents", system].words
        assert (default.found[0].bearing is FOR) is (one == "none is needed")
        assert (
            all(each.found[0].bearing is AGAINST for each in others) is (one == "none alone")
            or one == "none is needed"
        )


def test_every_question_of_settings_is_of_what_its_model_has() -> None:
    for (protocol, _, _), properties in _wanted(SETTINGS.asked).items():
        known = {prop.name for model in models(PROTOCOLS / f"{protocol}.rsm") for prop in model.properties}
        assert set(properties) <= known


def test_what_settings_do_is_asked_by_its_own_option(run: Run) -> None:
    code, told, beside = run("library", "compare", "jetstream")

    assert (code, told) == (Exit.WRONG, "")
    assert "what settings do is asked with --settings" in beside


def test_the_diagrams_as_they_are_read(golden: Callable[[str, str], None]) -> None:
    found = compared(
        some(["quorum", "pacifica"], ["one_leads", "waits_of_three"]), Orders(), crew=OneProcess()
    )

    golden("compare/pair.txt", plain(pairs(found, 100)))
    golden("compare/pair_narrow.txt", plain(pairs(found, 60)))


# ---------------------------------------------------------------------- the command


def test_an_interrupted_comparison_keeps_what_it_has(
    run: Run, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelcheck.asking.sweep.Processes", lambda: OneProcess(3))
    code, told, _ = run("library", "compare", "quorum", "kafka")

    assert code == Exit.UNKNOWN
    assert "? not decided: the search was cut short\n" in told
    assert re.search(r"^For how many followers.*  1 +\?$", told, re.MULTILINE)
    assert told.endswith("\nno answer is known of both\n\n1 answer by searches, 5 NOT DECIDED\n")


def test_limits_leave_answers_open(run: Run, few: None) -> None:
    code, told, _ = run("library", "compare", "quorum", "--max-states", "1")

    assert code == Exit.UNKNOWN
    assert "NOT DECIDED" in told


def test_one_protocol_alone_is_a_column_without_pairs(run: Run, few: None) -> None:
    code, told, _ = run("library", "compare", "pacifica", "pacifica")

    assert code == Exit.EXPECTED
    assert told.endswith("\n\n3 answers by searches\n")
    assert "tells them apart" not in told


def test_faults_leave_out_questions_about_more(run: Run, few: None) -> None:
    code, told, _ = run("library", "compare", "quorum", "pacifica", "--faults", "0", "--json")
    found = json.loads(told)

    assert code == Exit.EXPECTED
    assert [each["name"] for each in found["questions"]] == ["waits_of_three"]


def test_json_has_each_answer_and_what_it_rests_on(run: Run, few: None) -> None:
    code, told, _ = run("library", "compare", "quorum", "pacifica", "--json")
    found = json.loads(told)
    first, second, third = found["questions"]

    assert code == Exit.EXPECTED
    assert set(found) == {"format", "version", "columns", "questions", "pairs", "complete"}
    assert found["format"] == "modelcheck compare 1"
    assert found["complete"] is True
    assert first["answers"]["pacifica"]["answer"] == "2"
    assert [each["found"] for each in first["answers"]["pacifica"]["asked"]] == [
        *["refutes it"] * 2,
        "bears it out",
    ]
    assert second["answers"]["quorum"]["answer"] == "1"
    assert (
        third["answers"]["quorum"]["asked"][0]["checks"][0]["outcome"]["properties"][0]["verdict"]
        == "violated"
    )
    (pair,) = found["pairs"]
    assert pair["differ"] == ["waits_of_three", "writable", "one_leads"]
    assert pair["apart"]["fails"]["steps"] == ["elect", "elect"]
    assert pair["apart"]["holds"]["protocol"] == "pacifica"


def test_csv_has_a_line_for_each_answer(run: Run, few: None, tmp_path: Path) -> None:
    code, _, _ = run("library", "compare", "quorum", "pacifica", "--csv", "c.csv")
    rows = list(csv.DictReader(StringIO((tmp_path / "c.csv").read_text(encoding="utf-8"))))

    assert code == Exit.EXPECTED
    assert [(row["question"], row["protocol"], row["answer"]) for row in rows] == [
        ("waits_of_three", "quorum", "1"),
        ("waits_of_three", "pacifica", "2"),
        ("writable", "quorum", "1"),
        ("writable", "pacifica", "2"),
        ("one_leads", "quorum", "yes"),
        ("one_leads", "pacifica", "no"),
    ]
    assert rows[0]["checks"] == "quorum:waits_for_one_of_two"
    assert int(rows[0]["states"]) > 0


def test_what_each_answer_rests_on_is_told(run: Run, few: None) -> None:
    code, told, _ = run("library", "compare", "quorum", "-v")

    assert code == Exit.EXPECTED
    assert "✗ “no”: quorum, deposed: one_leads violated without any fault" in told


def test_a_cell_that_cannot_be_asked_says_why() -> None:
    found = compared(some(["pacifica"], ["lossy_1"]), Orders(), crew=OneProcess())

    assert "– pacifica, not modelled: its lists of updates are on disk" in plain(table(found, 100))
    assert next(iter(csv.DictReader(StringIO(as_csv(found)))))["why"].startswith("its lists")
    assert as_json(found)["complete"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kafak",), "did you mean `kafka`"),
        (("zab",), "nothing that is compared is called `zab`"),
        (("quorum", "--faults", "9"), "invalid choice"),
        (("quorum", "--faults", "many"), "invalid int value"),
        (("quorum", "--json", "--markdown"), "not allowed with"),
        (("quorum", "--html", "/nowhere/at/all.html"), "no such"),
    ],
)
def test_what_cannot_be_compared_is_wrong_input(words: tuple[str, ...], said: str, run: Run) -> None:
    code, told, beside = run("library", "compare", *words)

    assert (code, told) == (Exit.WRONG, "")
    assert said in beside.lower()


# ------------------------------------------------------------------------- the page


def test_the_page_is_read_on_a_telephone_and_asks_no_network(browser: Browser, tmp_path: Path) -> None:
    asked = some(["quorum", "kafka", "pacifica"], ["one_leads", "waits_of_three", "lossy_1"])
    found = compared(asked, Orders(), crew=OneProcess())
    path = tmp_path / "c.html"
    path.write_text(page(found), encoding="utf-8")
    shown = browser.new_page(viewport={"width": 390, "height": 844})
    wanted: list[str] = []
    problems: list[str] = []
    shown.on("request", lambda request: wanted.append(request.url))
    shown.on("console", lambda message: problems.append(message.text))
    shown.goto(path.as_uri())

    assert wanted == [path.as_uri()]
    assert problems == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
    assert shown.locator(".compared td.words").count() == 9
    first = shown.locator(".compared tbody tr").first
    assert (
        first.locator("td").nth(1).evaluate("e => getComputedStyle(e, '::before').content")
        == '"Kafka, clean"'
    )
    boxes = [first.locator("td").nth(number).bounding_box() for number in range(3)]
    assert all(box is not None and box["width"] <= 390 for box in boxes)
    assert shown.locator("article").count() == 3
    assert shown.locator("article").first.locator("svg").count() == 4
    shown.set_viewport_size({"width": 1200, "height": 900})
    left, right = (shown.locator("article").first.locator(".scene").nth(n).bounding_box() for n in (0, 1))
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    shown.close()
