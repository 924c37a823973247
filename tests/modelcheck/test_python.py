"""`import modelcheck`: what Python programs and notebooks ask, and what they see."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import modelcheck
from counterexamples.itf.write import write
from tests.consoles import marked
from tests.counterexamples.runs import TOY, divergence

ROOT = Path(__file__).parent.parent.parent
TINY = ROOT / "tests" / "modelcheck" / "tiny.rsm"
PAGE = ROOT / "docs/reference/python.md"
EXAMPLES = marked(PAGE, "python", "pycon")
SHORT = 200  # characters that a cell of a notebook may show of something


def test_what_the_page_shows_is_so() -> None:
    told: list[str] = []
    example = doctest.DocTestParser().get_doctest("\n".join(EXAMPLES), {}, "README", str(PAGE), 0)
    doctest.DocTestRunner().run(example, out=told.append)

    assert len(EXAMPLES) >= 5
    assert "".join(told) == ""


def test_every_public_name_is_there_and_has_a_page_of_its_own() -> None:
    for name in modelcheck.__all__:
        assert (inspect.getdoc(getattr(modelcheck, name)) or "").strip(), name
    assert set(modelcheck.__all__) <= set(dir(modelcheck))


def test_no_other_name_is_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        modelcheck.chekc  # type: ignore[attr-defined]  # noqa: B018


def test_the_import_loads_one_module_of_ours() -> None:
    ours = "sorted(n for n in sys.modules if n.startswith(('modelcheck', 'spec', 'counterexamples')))"
    program = f"import modelcheck, sys; print({ours})"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert run.stdout.strip() == "['modelcheck']"


def test_texts_of_results_are_short() -> None:
    outcome = modelcheck.check(TINY, "surprise")
    run = outcome.trace("safe")
    model = modelcheck.load(TINY)[0]

    assert run is not None
    assert [each for each in (outcome, run, model) if len(repr(each)) > SHORT] == []
    assert repr(outcome) == "<Outcome tiny · surprise: violated: safe, low>"
    assert all(len(repr(each)) < 20 * SHORT for each in outcome.findings.results)


def test_a_check_is_given_by_its_name_or_itself() -> None:
    models = modelcheck.load(TINY)
    by_name = modelcheck.check(models, "as_expected")
    itself = modelcheck.check(models, next(each for each in models[0].checks if each.name == "as_expected"))

    assert by_name.findings.results == itself.findings.results
    assert by_name.mismatches == ()


def test_what_is_given_stands_in_place_of_the_checks_own() -> None:
    outcome = modelcheck.check(
        TINY,
        "surprise",
        scope={"Epoch": 2},
        config={"unclean": False},
        faults={"crash": 1},
        properties=["low"],
    )

    assert outcome.check.scope.nats["Epoch"] == 2
    assert outcome.check.scope.config["unclean"] is False
    assert outcome.check.budget.kinds == {"crash": 1}
    assert [each.property for each in outcome.findings.results] == ["low"]


def test_a_nat_of_the_scope_can_be_left_without_a_bound() -> None:
    outcome = modelcheck.check("kafka_deposed", "deposed_acks_one", of="kafka", scope={"Epoch": "any"})

    assert outcome.check.scope.unbounded == {"Epoch"}
    assert not outcome.findings.end.partial


def test_limits_leave_the_rest_unknown() -> None:
    verdict = modelcheck.check(TINY, "large", states=100).verdict("mono")

    assert isinstance(verdict, modelcheck.Unknown)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: modelcheck.load("no.rsm"), "no.rsm: error[R0103]"),
        (lambda: modelcheck.check(TINY), "has 3 checks, and an outcome is of one"),
        (lambda: modelcheck.check(TINY, "surprice"), "did you mean `surprise`?"),
        (lambda: modelcheck.check(TINY, "surprise", scope={"Epcoh": 2}), "did you mean `Epoch`?"),
        (lambda: modelcheck.check(TINY, "surprise", faults=-1), "`-1` is not a whole number"),
        (lambda: modelcheck.check(TINY, "surprise", engine="explict"), "did you mean `explicit`?"),
        (lambda: modelcheck.sweep(TINY, "surprise", vary={"Epcoh": [1]}), "did you mean `Epoch`?"),
        (lambda: modelcheck.draw(divergence(), "svgg"), "did you mean `svg`?"),
        (lambda: modelcheck.draw(divergence(), "svg", steps=range(90, 99)), "svg cannot draw these"),
        (lambda: modelcheck.replay({"vars": []}, TOY), "the trace:1"),
    ],
)
def test_a_mistake_is_an_exception_with_the_diagnostic(ask: Callable[[], object], told: str) -> None:
    with pytest.raises(modelcheck.SpecError) as caught:
        ask()

    assert told in str(caught.value)


def test_a_sweep_has_a_row_for_each_property_and_point() -> None:
    rows = modelcheck.sweep(
        TINY, "surprise", vary={"faults": [0, 1, 2], "Epoch": [2, 3]}, properties=["safe"]
    )

    assert [(row["faults"], row["Epoch"], row["verdict"]) for row in rows][:3] == [
        (0, 2, "holds"),
        (0, 3, "holds"),
        (1, 2, "violated"),
    ]
    assert len(rows) == 6
    assert len({tuple(row) for row in rows}) == 1
    assert [row["run_faults"] for row in rows] == [None, None, 1, 1, 1, 1]


def test_a_point_that_cannot_be_answered_says_why() -> None:
    rows = modelcheck.sweep(TINY, "large", vary={"Epoch": [9]}, states=100)

    assert [(row["verdict"], bool(row["problem"])) for row in rows] == [("unknown", True)]


def test_pandas_takes_the_rows() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(modelcheck.sweep(TINY, "surprise", vary={"faults": [0, 1]}))

    assert set(frame.columns) >= {"model", "check", "faults", "property", "verdict", "states"}
    assert frame.groupby("faults").size().nunique() == 1


def test_a_run_is_read_from_a_file(tmp_path: Path) -> None:
    run = divergence()
    (tmp_path / "run.itf.json").write_text(write(run), encoding="utf-8")

    assert modelcheck.replay(tmp_path / "run.itf.json", TOY).steps == run.steps


@pytest.mark.parametrize("form", ["svg", "storyboard", "text", "mermaid", "itf"])
def test_a_run_is_drawn(form: str) -> None:
    assert modelcheck.draw(divergence(), form)
