"""The formats in which a run can be written: one table, each with its suffixes and its function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from counterexamples.graphs.state_graph import path_dot
from counterexamples.itf.write import write
from counterexamples.lines import Line, plain
from counterexamples.pictures.compact import compact
from counterexamples.pictures.depict import MOST_STEPS, picture
from counterexamples.pictures.mermaid import MOST, mermaid
from counterexamples.pictures.options import PictureOptions
from counterexamples.pictures.picture import Picture
from counterexamples.pictures.plantuml import plantuml
from counterexamples.pictures.rendered import pdf, png
from counterexamples.pictures.selection import Selection, selected
from counterexamples.pictures.storyboard import storyboard
from counterexamples.pictures.svg import svg
from counterexamples.text import WIDTH, story
from counterexamples.trace import Trace
from modelcheck.diagnosis.explain import explain, why
from spec.frozen import frozen


@frozen
class RunView:
    """A run with options to show it: steps, explanation, width."""

    trace: Trace
    part: range | None = None
    is_explained: bool = False
    width: int = WIDTH
    ascii_only: bool = False
    command: str = ""
    options: PictureOptions = PictureOptions()

    def picture(self) -> Picture:
        """The picture of the run; an explanation costs a search."""
        why = explain(self.trace) if self.is_explained else None
        made = picture(self.trace, self.part, why, self.selection())
        if (title := self.options.title) is not None:
            made = replace(made, title=title, claim="")
        return replace(made, is_captioned=self.options.is_captioned)

    def selection(self) -> Selection:
        """What is shown of the run. Raises SpecError for a name that its model does not have."""
        return selected(self.trace.model, self.trace.scope, self.options.show, self.options.hide)

    def storyboard(self) -> str:
        """The key frames of the run as SVG."""
        return storyboard(self.picture(), self.options.columns)


Content = str | bytes | tuple[Line, ...]


@frozen
class Format:
    """An output format for runs: file suffixes, and whether it can show a part of the steps.

    `takes` are the options of pictures that change what is drawn.
    """

    suffixes: tuple[str, ...]
    media: str
    draw: Callable[[RunView], Content]
    parts: bool = True
    is_binary: bool = False
    takes: tuple[str, ...] = ()


def _text(asked: RunView) -> Content:
    """The run as text."""
    lines = (*story(asked.trace, width=asked.width, part=asked.part),)
    return (*lines, *why(asked.trace, asked.width, in_full=True)) if asked.is_explained else lines


def _compact(asked: RunView) -> Content:
    """The picture of the run as text."""
    return tuple(compact(asked.picture(), width=asked.width, ascii_only=asked.ascii_only))


def _html(asked: RunView) -> Content:
    """The run as an HTML page."""
    from modelcheck.answers.html_report import trace_page  # noqa: PLC0415 - jinja2 is loaded only for pages

    return trace_page(asked.trace, command=asked.command, selection=asked.selection())


_SELECTION = ("--show", "--hide")
_DIAGRAM = ("--title", "--no-caption", *_SELECTION)
_BOARD = (*_DIAGRAM, "--columns")
FORMATS = {
    "text": Format((".txt",), "text/plain", _text),
    "compact": Format((".compact.txt",), "text/plain", _compact, takes=("--title", *_SELECTION)),
    "svg": Format((".svg",), "image/svg+xml", lambda a: svg(a.picture()), takes=_DIAGRAM),
    "png": Format((".png",), "image/png", lambda a: png(svg(a.picture())), is_binary=True, takes=_DIAGRAM),
    "pdf": Format(
        (".pdf",), "application/pdf", lambda a: pdf(svg(a.picture())), is_binary=True, takes=_DIAGRAM
    ),
    "storyboard": Format((".storyboard.svg",), "image/svg+xml", lambda a: a.storyboard(), takes=_BOARD),
    "storyboard-png": Format(
        (".storyboard.png",), "image/png", lambda a: png(a.storyboard()), is_binary=True, takes=_BOARD
    ),
    "storyboard-pdf": Format(
        (".storyboard.pdf",), "application/pdf", lambda a: pdf(a.storyboard()), is_binary=True, takes=_BOARD
    ),
    "mermaid": Format(
        (".mmd", ".mermaid"), "text/vnd.mermaid", lambda a: mermaid(a.picture()), takes=_DIAGRAM
    ),
    "plantuml": Format((".puml", ".plantuml"), "text/plain", lambda a: plantuml(a.picture()), takes=_DIAGRAM),
    "html": Format((".html", ".htm"), "text/html", _html, parts=False, takes=_SELECTION),
    "dot": Format((".dot", ".gv"), "text/vnd.graphviz", lambda a: path_dot(a.trace), parts=False),
    "itf": Format((".itf.json", ".json"), "application/json", lambda a: write(a.trace), parts=False),
}


def format_of(name: str) -> str | None:
    """The format for a file name, by the longest suffix that fits; None if none does."""
    found = [
        (len(suffix), form)
        for form, each in FORMATS.items()
        for suffix in each.suffixes
        if name.lower().endswith(suffix)
    ]
    return max(found)[1] if found else None


def unused(options: PictureOptions, forms: Iterable[str]) -> str | None:
    """A sentence about an option without effect in these formats; None if there is none."""
    takes = {option for form in forms for option in FORMATS[form].takes}
    for option in options.given:
        if option not in takes:
            return (
                f"{option} is for {', '.join(form for form, each in FORMATS.items() if option in each.takes)}"
            )
    return None


def as_file(content: Content) -> str | bytes:
    """The content of a file, with modelcheck's mark."""
    return plain(content) if isinstance(content, tuple) else content


def remarks(name: str, asked: RunView, content: Content) -> Iterator[str]:
    """Remarks about a picture for its reader, such as left-out steps."""
    steps = len(asked.trace.steps)
    if asked.part is None and FORMATS[name].parts and name != "text" and steps > MOST_STEPS:
        yield f"{MOST_STEPS:,} of {steps:,} steps are drawn; --steps A-B draws those that you want"
    if name == "mermaid" and len(content) > MOST:
        yield (
            f"GitHub draws no more than {MOST:,} characters of Mermaid, and these are {len(content):,}; "
            "--steps A-B draws a part"
        )
