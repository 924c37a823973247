"""What a notebook shows of a run and of the outcome of a check."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

import modelcheck
from counterexamples.lines import Piece, Role, line
from counterexamples.notebook import as_html as run_as_html
from counterexamples.notebook import as_svg as run_as_svg
from counterexamples.notebook import pre
from counterexamples.trace import Stops, Trace
from modelcheck.answers.notebook import as_html, register
from modelcheck.api import check, traces
from modelcheck.contract.result import Outcome
from spec.diagnostics import SpecError
from spec.load import loads
from tests.counterexamples.runs import TOY, divergence, walk

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> ]]> & \N{ESCAPE}[31m"


Attributes = list[tuple[str, str | None]]


class Tags(HTMLParser):
    """The elements of a page, each of which is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:  # noqa: ARG002 - as it is called
        self.found.append(tag)
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:  # noqa: ARG002 - as it is called
        self.found.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


class Frame(HTMLParser):
    """The one frame of a text: its title, and the page in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title = self.srcdoc = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        assert tag == "iframe"
        found = dict(attrs)
        self.title, self.srcdoc = found["title"] or "", found["srcdoc"] or ""


def evil_text() -> str:
    return TOY.read_text(encoding="utf-8").replace("{r} crashes.", EVIL)


def test_a_run_is_a_picture() -> None:
    shown = run_as_svg(divergence())

    assert ET.fromstring(shown).tag.endswith("svg")  # noqa: S314 - it is ours


def test_a_run_can_be_unfolded_to_its_story() -> None:
    shown = run_as_html(divergence())

    assert Tags(shown).found[:2] == ["div", "svg"]
    assert "a crashes." in shown.partition("<details>")[2]


def test_a_long_run_has_no_story() -> None:
    run = divergence()
    steps = tuple(run.steps[3] for _ in range(2)) * 200
    states = (run.states[3], *(run.states[4] for _ in steps))

    shown = run_as_html(replace(run, steps=steps, states=states, ending=Stops(), property=None))

    assert "<details>" not in shown


def test_an_outcome_is_its_card_and_its_runs() -> None:
    model = loads(TOY.read_text(encoding="utf-8"), "toy.rsm")[0]
    outcome = check(model, replace(model.checks[0], expect=()))

    shown = as_html(outcome)

    assert Tags(shown).found.count("svg") == len(traces(outcome.findings)) > 1
    assert "alone" in shown.partition("<svg")[0]


def test_markup_in_a_model_is_text() -> None:
    model = loads(evil_text(), "toy.rsm")[0]
    run = walk("elect(a)", "crash(a)", ending=Stops(), prop=None, model=model)

    for shown in (run_as_svg(run), run_as_html(run), as_html(check(model, model.checks[0]))):
        assert not {"script", "img"} & set(Tags(shown).found)
        assert "\N{ESCAPE}" not in shown


@pytest.mark.parametrize("role", Role)
def test_every_role_has_a_style(role: Role) -> None:
    assert "&lt;b&gt;" in pre([line(Piece("<b>", role))])


def test_a_notebook_draws_runs_and_outcomes_by_their_types(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, set[type]] = {"text/html": set(), "image/svg+xml": set()}
    formatters = {
        mime: SimpleNamespace(for_type=lambda of, _, types=types: types.add(of))
        for mime, types in shown.items()
    }
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters=formatters))  # as IPython has it
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))

    register()

    assert shown == {"text/html": {Outcome, Trace}, "image/svg+xml": {Trace}}


def test_a_page_to_play_is_shown_in_a_frame_that_holds_all_of_it() -> None:
    model = loads(TOY.read_text(encoding="utf-8"), "toy.rsm")[0]
    page = modelcheck.play(model, model.checks[0])

    shown = Frame(page._repr_html_())

    assert shown.srcdoc == page.html
    assert shown.title == page.title == f"{model.name} · {model.checks[0].name}"
    assert repr(page).startswith(f"<PlayPage {page.title}: ")


def test_a_model_that_cannot_be_compiled_for_a_page_is_played_from_its_states() -> None:
    wide = loads("""
        protocol wide
        nat N
        state { many: set[set[N]] = {} }
        action more(n: N) { many.add({n}) }
        check it { scope N = 20 }
    """)

    assert modelcheck.play(wide).title == "wide · it"
    with pytest.raises(SpecError, match="no check `that`"):
        modelcheck.play(wide, "that")


def test_a_program_without_a_notebook_loads_none() -> None:
    program = "import sys, modelcheck; modelcheck.load('quorum'); sys.exit('IPython' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
