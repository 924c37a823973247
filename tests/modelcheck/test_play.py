"""`modelcheck trace play`: a page, or a word about why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.answers.played import played_beforehand
from modelcheck.asking.models import pick_checks
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from spec.load import load
from tests.pages import assert_sound

TINY = "tests/modelcheck/tiny.rsm"
LARGEST = 1_500_000  # bytes of a page
WIDE = """
protocol wide
nat Value
state { seen: set[Value] = {} }
action see(v: Value) { seen.add(v) }
check one { scope Value = 2000 }
"""


def test_a_page_is_sound_small_and_the_same_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [tmp_path / "one.html", tmp_path / "two.html"]

    codes = [main(["trace", "play", TINY, "--check", "surprise", "--html", str(page)]) for page in pages]

    assert codes == [Exit.EXPECTED, Exit.EXPECTED]
    one, two = (page.read_text(encoding="utf-8") for page in pages)
    assert one == two
    assert len(one) < LARGEST
    root = assert_sound(one)
    assert root.find("title")[0].words.startswith("tiny · ")
    assert capsys.readouterr().err == "".join(f"modelcheck: wrote {page}\n" for page in pages)


def test_states_computed_beforehand_are_counted_while_they_are_found() -> None:
    ((model, check),) = pick_checks(load(TINY), ["surprise"])
    heard: list[int] = []

    _, made = played_beforehand(model, check, 20, heard.append)

    assert len(heard) > 1
    assert heard == sorted(heard)
    assert heard[-1] == made.count


def test_what_is_too_wide_for_the_engine_is_played_by_its_first_states(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wide.rsm").write_text(WIDE, encoding="utf-8")

    code = main(["trace", "play", str(tmp_path / "wide.rsm"), "--html", str(tmp_path / "out.html")])

    told = capsys.readouterr().err
    assert code == Exit.EXPECTED
    assert "wide · one cannot be compiled for a page: " in told
    assert "The page carries the first 2,002 states, and the steps from 1 of them" in told
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert len(page) < LARGEST
    assert "They are the first 2,002" in assert_sound(page).find("p", "verdict")[0].words


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["trace", "play", TINY, "--html", "{}/out.html"], "a page to play with is of one"),
        (["trace", "play", TINY], "--html"),
        (["trace", "play", TINY, "--html", "{}/no/such/out.html"], "no/such"),
        (["trace", "play", TINY, "--check", "surprised", "--html", "{}/out.html"], "surprise"),
    ],
)
def test_a_mistake_is_told_before_anything_is_compiled(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([each.replace("{}", str(tmp_path)) for each in arguments])

    assert code == Exit.WRONG
    assert says in capsys.readouterr().err
