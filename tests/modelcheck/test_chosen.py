"""`--show`, `--hide` and `--steps`: what a reader chooses to see of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import modelcheck.python_api as modelcheck
from counterexamples.trace import Trace
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from spec.diagnostics import SpecError
from tests.stories import story

JEPSEN = ("check", "kafka", "--check", "jepsen", "--property", "acknowledged_survive")


@pytest.fixture
def jepsen() -> Trace:
    """The run of the README."""
    return story("jepsen")


def text(trace: Trace, **options: tuple[str, ...]) -> str:
    """The run in few lines, as drawn with options."""
    return str(modelcheck.draw(trace, "compact", **options))  # type: ignore[arg-type]


def test_only_what_is_named_is_shown(jepsen: Trace) -> None:
    assert "★e1[1¹✓|]" in text(jepsen)
    assert "★[1¹|]" in text(jepsen, show=("leader", "log", "hw"))
    assert "★e1[1¹✓]" in text(jepsen, hide=("hw",))


def test_members_can_be_left_out(jepsen: Trace) -> None:
    whole, without = modelcheck.draw(jepsen, "svg"), modelcheck.draw(jepsen, "svg", hide=("B",))
    alone = modelcheck.draw(jepsen, "svg", show=("A",))

    assert ">B</text>" in str(whole)
    assert ">B</text>" not in str(without)
    assert without == alone


def test_ghosts_are_shown_where_they_are_asked_for_and_at_the_end_where_the_claim_reads_them() -> None:
    trace, won = story("two_leaders"), ">won {1}</text>"
    asked, usual = (str(modelcheck.draw(trace, "svg", show=show)) for show in (("log", "ghost"), ()))

    assert asked.count(won) == 3  # when one of them has won, and of both at the end
    assert usual.count(won) == 2  # the two that are elected in one term
    assert usual.index(won) > usual.index('class="rule"')


def test_messages_can_be_left_out() -> None:
    trace = story("two_leaders")

    assert "-)" in str(modelcheck.draw(trace, "mermaid"))
    assert "-)" not in str(modelcheck.draw(trace, "mermaid", hide=("messages",)))


def test_the_page_shows_what_is_chosen(jepsen: Trace) -> None:
    page = str(modelcheck.draw(jepsen, "html", show=("log", "B")))

    assert ">B</text>" in page
    assert ">A</text>" not in page
    assert "quorum.leader" not in page.partition("<code")[0]


def test_a_name_that_nothing_has_is_marked_and_gets_a_near_one(jepsen: Trace) -> None:
    with pytest.raises(SpecError) as found:
        modelcheck.draw(jepsen, "svg", show=("leader", "hww"))
    (mistake,) = found.value.diagnostics

    assert mistake.message == "kafka has no variable, field, role or member `hww`"
    assert mistake.span is not None
    assert (mistake.span.start, mistake.span.end) == (7, 10)
    assert mistake.help == "did you mean `hw`?"


def test_a_wrong_name_ends_a_check_before_its_search(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = main([*JEPSEN, "--draw", "svg", "--hide", "brokr", "--out", str(tmp_path)])

    assert code == Exit.WRONG
    assert "no variable, field, role or member `brokr`" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("given", ["2-3", "2..3"])
def test_a_check_draws_the_steps_that_are_asked_for(given: str, tmp_path: Path) -> None:
    main([*JEPSEN, "--draw", "svg", "--steps", given, "--out", str(tmp_path), "-q"])
    (drawn,) = (path.read_text(encoding="utf-8") for path in tmp_path.iterdir())

    assert "steps 4 to 5 are not drawn" in drawn
    assert "session_loss(A)" not in drawn


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--steps", "2-3"), "--steps are those that --draw FORMAT draws"),
        (("--draw", "itf", "--steps", "2-3"), "--steps: itf has the whole run"),
        (("--draw", "dot", "--show", "log"), "--show is for"),
        (("--draw", "svg", "--show", "log,,hw"), "`log,,hw` has an empty name"),
    ],
)
def test_what_has_no_effect_is_refused(
    options: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*JEPSEN, *options]) == Exit.WRONG
    assert problem in capsys.readouterr().err
