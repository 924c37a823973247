"""The outcome of a check as a notebook shows it: its card, and a picture of every run that it found."""

from __future__ import annotations

from html import escape

from counterexamples.lines import plain
from counterexamples.notebook import as_html as run_as_html
from counterexamples.notebook import pre
from counterexamples.text import WIDTH, headline
from modelcheck.answers.card import brief, card
from modelcheck.api import traces
from modelcheck.contract.result import Outcome


def as_line(outcome: Outcome) -> str:
    """The outcome in one line, without its runs."""
    return plain([brief(outcome)]).rstrip("\n")


def as_html(outcome: Outcome) -> str:
    """The verdict card, and below it the runs, unfolded where there is only one."""
    runs = traces(outcome.findings)
    is_open = " open" if len(runs) == 1 else ""
    shown = (
        f"<details{is_open}><summary>{escape(headline(run))}</summary>{run_as_html(run)}</details>"
        for run in runs
    )
    return f"<div>{pre(card(outcome, width=WIDTH))}{''.join(shown)}</div>"
