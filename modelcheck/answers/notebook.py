"""The outcome of a check as a notebook shows it: its card, and a picture of every run that it found."""

from __future__ import annotations

import sys
from html import escape

from counterexamples.notebook import as_html as run_as_html
from counterexamples.notebook import as_svg as run_as_svg
from counterexamples.notebook import pre
from counterexamples.text import WIDTH
from counterexamples.trace import Trace
from modelcheck.answers.card import card
from modelcheck.api import traces
from modelcheck.contract.result import Outcome


def register() -> None:
    """Register HTML formatters for runs and outcomes, if this is a notebook.

    Notebooks of IPython ask their formatters by the type of a value; a program without one loads nothing.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(Outcome, as_html)
    formatters["text/html"].for_type(Trace, run_as_html)
    formatters["image/svg+xml"].for_type(Trace, run_as_svg)


def as_html(outcome: Outcome) -> str:
    """The card of an outcome with its runs as HTML."""
    runs = traces(outcome.findings)
    is_open = " open" if len(runs) == 1 else ""
    shown = (
        f"<details{is_open}><summary>{escape(run.headline())}</summary>{run_as_html(run)}</details>"
        for run in runs
    )
    return f"<div>{pre(card(outcome, width=WIDTH))}{''.join(shown)}</div>"
