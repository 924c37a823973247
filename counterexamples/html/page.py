"""One self-contained page about runs and verdicts: it needs no network and no JavaScript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from counterexamples.ending import ending
from counterexamples.explanation import Explanation
from counterexamples.html.frames import HtmlFrame, frames, shown
from counterexamples.html.templates import asset, environment, hashed, policy, shapes, styles
from counterexamples.lines import Line, Role
from counterexamples.pictures.depict import picture
from counterexamples.pictures.picture import Picture
from counterexamples.pictures.storyboard import storyboard
from counterexamples.pictures.svg import svg
from counterexamples.trace import Example, Stops, Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine
from spec.model.bounds import bound_words

WIDTH = 84  # columns of text quoted from the model


@frozen
class TableCell:
    """A table cell; `item` is the index of the page's item that shows its run."""

    text: str
    role: Role = Role.PLAIN
    item: int | None = None


@frozen
class PageTable:
    """A table: column names, then rows with their names; `note` explains the signs."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]
    note: str = ""


@frozen
class Verdict:
    """The verdict on a property; `item` is the index of the item with its run."""

    name: str
    words: str
    role: Role
    item: int | None = None


@frozen
class Card:
    """A summary card: the question, the answer and its scope."""

    title: str
    words: str
    role: Role
    says: str = ""
    about: str = "property"  # what the verdicts are on
    verdicts: tuple[Verdict, ...] = ()
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    tables: tuple[PageTable, ...] = ()
    remarks: tuple[tuple[str, tuple[str, ...]], ...] = ()  # under a heading each
    texts: tuple[tuple[str, tuple[Line, ...]], ...] = ()  # laid out for a terminal, under a heading each
    command: str = ""


@frozen
class PageItem:
    """A section of the page: a run, if there is one, and its explanation."""

    title: str
    verdict: str
    role: Role
    trace: Trace | None = None
    explanation: Explanation | None = None
    command: str = ""
    budget: str = ""


@frozen
class ConfigSetting:
    """A configuration entry; `key` and `note` are the real system's.

    `needed` is what becomes of the run with another value; empty where that is not known.
    """

    name: str
    value: str
    key: str
    note: str
    needed: str


@frozen
class PageRun:
    """An item in the form that the templates use; `at` prefixes its ids in the page."""

    item: PageItem
    trace: Trace
    at: str
    number: int
    frames: tuple[HtmlFrame, ...]
    picture: Picture
    diagram: str
    storyboard: str
    is_bad: bool
    summary: tuple[str, ...]
    claim_lines: tuple[Line, ...]
    bounds: tuple[tuple[str, tuple[str, ...]], ...]
    settings: tuple[ConfigSetting, ...]

    @property
    def steps(self) -> int:
        """The number of steps, shown or not."""
        return len(self.trace.steps)

    @property
    def needed(self) -> frozenset[int] | None:
        """The steps that the violation needs; None if all are needed or it is unknown."""
        found = self.item.explanation
        return None if found is None or len(found.core.steps) == found.core.of else found.core.numbers

    def without(self, number: int) -> str:
        """The effect of leaving a step out; empty if unknown."""
        found = self.item.explanation
        steps = () if found is None else found.core.steps
        return next((step.without for step in steps if step.number == number), "")

    @property
    def turn(self) -> int | None:
        """The step after which the violation is unavoidable, 0 for the start; None if unknown."""
        found = None if self.item.explanation is None else self.item.explanation.no_return
        return None if found is None or found.is_put_off else found.state


def page(items: Sequence[PageItem], *, title: str, cards: Sequence[Card] = (), folded: bool = False) -> str:
    """The HTML page; equal items give equal bytes.

    Where they are `folded`, of each run only its title and its verdict are seen until it is opened.
    Costs the picture of each run and, for each step that is shown, taking it once.
    """
    runs = [_run(item, number) for number, item in enumerate(items, 1) if item.trace is not None]
    style = styles("page.css")
    script = asset("page.js")
    template = environment().get_template("page.jinja")
    anchors = {run.number - 1: f"run-{run.number}" for run in runs}
    return template.render(
        title=title,
        cards=cards,
        items=items,
        runs={run.number: run for run in runs},
        anchors=anchors,
        folded=folded,
        style=style,
        script=script,
        policy=policy(style, f"script-src '{hashed(script)}'"),
    )


# ------------------------------------------------------------------------- a run


def _run(item: PageItem, number: int) -> PageRun:
    """An item as a PageRun."""
    trace = item.trace
    if trace is None:
        raise ValueError("an item without a trace is no run")
    drawn = picture(trace, explanation=item.explanation)
    plain = replace(drawn, title="", caption="", bounds="", needs="")  # the page has its own words for these
    explained = item.explanation
    summary = explained.summary if explained is not None else (drawn.caption,) if drawn.caption else ()
    return PageRun(
        item,
        trace,
        "" if number == 1 else f"run-{number}-",
        number,
        tuple(frames(trace, drawn)),
        drawn,
        shapes(svg(plain), number, f"{drawn.title}: sequence diagram", drawn.caption),
        shapes(storyboard(plain), number, f"{drawn.title}: storyboard", drawn.caption),
        not isinstance(trace.ending, Example | Stops),
        summary,
        tuple(ending(Machine(trace.model, trace.scope), trace, WIDTH)),
        tuple(_bounds(trace, item.budget)),
        tuple(_settings(trace, explained)),
    )


def _bounds(trace: Trace, budget: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The model, check, scope and fault budget of a run, as titles with lines."""
    model, scope = trace.model, trace.scope
    yield "model", (model.name, model.source.name, *([f"check {trace.check}"] if trace.check else []))
    sorts = (f"{name} = {len(members)} ({', '.join(members)})" for name, members in scope.sorts.items())
    limits = (f"{name} = {limit}" for name, limit in bound_words(scope).items())
    yield "scope", (*sorts, *limits)
    if budget:
        yield "faults", (budget,)


def _settings(trace: Trace, explained: Explanation | None) -> Iterator[ConfigSetting]:
    """The configuration entries of a run."""
    found = () if explained is None else explained.settings
    needed = {each.name: f"with {each.name} = {each.other}, {each.without}" for each in found}
    for entry in trace.model.configs:
        value = shown(entry.type, trace.scope.config[entry.name], trace.scope)
        yield ConfigSetting(entry.name, value, entry.key or "", entry.note or "", needed.get(entry.name, ""))
