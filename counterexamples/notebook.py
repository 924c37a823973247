"""Runs as a notebook shows them: a picture, and the story below it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from counterexamples.lines import Line, Role, clean
from counterexamples.pictures.depict import MOST_STEPS, picture
from counterexamples.pictures.svg import svg
from counterexamples.text import story
from counterexamples.trace import Trace

STYLES = {  # legible on white and on black
    Role.PLAIN: "",
    Role.DIM: "opacity:.65",
    Role.STRONG: "font-weight:bold",
    Role.PLACE: "color:#0a7aa8",
    Role.FAULT: "color:#d1242f;font-weight:bold",
    Role.REPAIR: "color:#1f883d",
    Role.BAD: "color:#d1242f;font-weight:bold",
    Role.GOOD: "color:#1f883d;font-weight:bold",
    Role.UNSURE: "color:#9a6700;font-weight:bold",
}


def as_svg(trace: Trace) -> str:
    """The picture of a trace as SVG."""
    return svg(picture(trace))


def as_html(trace: Trace) -> str:
    """The picture of a trace as HTML, with its story to unfold if that is not too long."""
    drawn = f"<div>{as_svg(trace)}</div>"
    if len(trace.steps) > MOST_STEPS:
        return drawn
    return f"{drawn}<details><summary>the same as a story</summary>{pre(story(trace))}</details>"


def pre(lines: Iterable[Line]) -> str:
    """Lines as HTML `<pre>`, in their colours."""
    shown = "\n".join("".join(_span(piece.text, piece.role) for piece in line) for line in lines)
    return f'<pre style="text-align:left">{shown}</pre>'


def _span(text: str, role: Role) -> str:
    """A text as an HTML span with the role's colour."""
    style = STYLES[role]
    return f'<span style="{style}">{escape(clean(text))}</span>' if style else escape(clean(text))
