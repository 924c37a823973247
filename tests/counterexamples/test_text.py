from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import pytest

from counterexamples.lines import clean
from counterexamples.terminal import put
from counterexamples.text import story, text
from counterexamples.trace import Ending, Erred, Example, Lasso, Stops, Trace, Trapped
from spec.source import Span
from tests.counterexamples.runs import divergence, walk
from tests.cpu_time import cpu_seconds


def test_a_counterexample_reads_as_a_story(golden: Callable[[str, str], None]) -> None:
    golden("traces/divergence.txt", text(divergence()))


def test_a_narrow_terminal_gets_short_lines(golden: Callable[[str, str], None]) -> None:
    narrow = text(divergence(), width=50)

    assert max(map(len, narrow.splitlines())) <= 56  # a value without blanks may stick out
    golden("traces/divergence-narrow.txt", narrow)


def test_ascii_has_no_other_character(golden: Callable[[str, str], None]) -> None:
    told = text(divergence(), ascii_only=True)

    assert told.isascii()
    golden("traces/divergence-ascii.txt", told)


@pytest.mark.parametrize(
    ("name", "ending", "prop"),
    [
        ("lasso", Lasso(2), "alone"),
        ("stays", Lasso(3), "alone"),
        ("trapped", Trapped(), "third"),
        ("example", Example(), "third"),
        ("stops", Stops(), None),
        ("error", Erred("R0603", "division by zero", Span(940, 960)), None),
    ],
)
def test_every_ending_has_its_words(
    name: str, ending: Ending, prop: str | None, golden: Callable[[str, str], None]
) -> None:
    golden(
        f"traces/ending-{name}.txt", text(walk("elect(a)", "write(a)", "crash(a)", ending=ending, prop=prop))
    )


def test_choices_are_part_of_a_steps_name() -> None:
    trace = walk("elect(a)", "ask(b)", "answer | m = Fetch(from = b, at = 0)", ending=Stops())

    assert "answer | m = Fetch(from = b, at = 0)" in text(trace)


def test_a_run_of_no_steps_is_told_too() -> None:
    assert "in 0 steps, with no faults" in text(walk())


def longer(times: int) -> Trace:
    """The same two steps over and over; nobody replays it here."""
    trace = walk("elect(a)", "crash(a)", "restart(a)", ending=Stops())
    states, steps = trace.states[1:3], trace.steps[1:]
    return replace(trace, states=(*states * times, states[0]), steps=steps * times)


def test_ten_times_as_many_steps_take_ten_times_as_long() -> None:
    short, long = longer(200), longer(2_000)

    assert text(long).count("crash(a)") == 2_000
    assert cpu_seconds(lambda: text(long), times=1) < 40 * cpu_seconds(lambda: text(short))


def test_a_terminal_gets_colours_and_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = io.StringIO()
    put(story(divergence()), stream)
    seen = stream.getvalue()

    assert "\x1b[" in seen
    assert seen.count("\n") == text(divergence()).count("\n")


def test_nothing_in_a_model_moves_the_cursor() -> None:
    assert clean("a\x1b[2Jb\rc\u202ed") == "a�[2Jb�c�d"
    assert clean("→ é ⚡", ascii_only=True) == "-> \\xe9 ! "
