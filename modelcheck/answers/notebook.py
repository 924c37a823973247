"""What a notebook shows of a check: the card with a picture of every run, and the page to play it."""

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
from spec.frozen import frozen


@frozen
class PlayPage:
    """A page in which a check is played, whole in one text; `title` is the model and the check."""

    title: str
    html: str

    def __repr__(self) -> str:
        """The title and the size, since the page is long."""
        return f"<PlayPage {self.title}: {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither it nor the notebook changes the other."""
        style = "width:100%;height:720px;border:1px solid #8884"
        return f'<iframe title="{escape(self.title)}" style="{style}" srcdoc="{escape(self.html)}"></iframe>'


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
