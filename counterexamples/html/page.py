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

WIDTH = 84  # columns of text quoted from the model


@frozen
class TableCell:
    """A cell of a table; `item` is the place, in the page's items, of the run that shows it."""

    text: str
    role: Role = Role.PLAIN
    item: int | None = None


@frozen
class PageTable:
    """A table: the names of its columns, then each row with its name; `note` explains the signs."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]
    note: str = ""


@frozen
class Verdict:
    """What is the answer about a property; `item` is the place of the run that shows it."""

    name: str
    words: str
    role: Role
    item: int | None = None


@frozen
class Card:
    """A verdict card: the question, the answer, and what it is for."""

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
    """Something to look at: a run, where there is one, and why it goes wrong; `budget` is of faults."""

    title: str
    verdict: str
    role: Role
    trace: Trace | None = None
    explanation: Explanation | None = None
    command: str = ""
    budget: str = ""


@frozen
class ConfigSetting:
    """A switch of the configuration; `key` and `note` describe it in the real system.

    `needed` is what becomes of the run with another value; empty where that is not known.
    """

    name: str
    value: str
    key: str
    note: str
    needed: str


@frozen
class PageRun:
    """An item as the templates see it; `at` begins the names of its places in the page."""

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
        """How many steps it has, shown or not."""
        return len(self.trace.steps)

    @property
    def needed(self) -> frozenset[int] | None:
        """The steps that are needed, where some are not."""
        found = self.item.explanation
        return None if found is None or len(found.core.steps) == found.core.of else found.core.numbers

    def without(self, number: int) -> str:
        """What becomes of the run without a step; empty when it was not examined."""
        found = self.item.explanation
        steps = () if found is None else found.core.steps
        return next((step.without for step in steps if step.number == number), "")

    @property
    def turn(self) -> int | None:
        """The step after which no run avoids the violation, 0 for the start; None where none is known."""
        found = None if self.item.explanation is None else self.item.explanation.no_return
        return None if found is None or found.is_put_off else found.state


def page(items: Sequence[PageItem], *, title: str, cards: Sequence[Card] = (), folded: bool = False) -> str:
    """The page, as the text of an HTML file; the same items give the same bytes.

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
    """What the run is one of: the model, the check, how large everything is, how many faults there may be."""
    model, scope = trace.model, trace.scope
    yield "model", (model.name, model.source.name, *([f"check {trace.check}"] if trace.check else []))
    sorts = (f"{name} = {len(members)} ({', '.join(members)})" for name, members in scope.sorts.items())
    limits = (f"{name} = {limit}" for name, limit in scope.bounds.items())
    yield "scope", (*sorts, *limits)
    if budget:
        yield "faults", (budget,)


def _settings(trace: Trace, explained: Explanation | None) -> Iterator[ConfigSetting]:
    found = () if explained is None else explained.settings
    needed = {each.name: f"with {each.name} = {each.other}, {each.without}" for each in found}
    for entry in trace.model.configs:
        value = shown(entry.type, trace.scope.config[entry.name], trace.scope)
        yield ConfigSetting(entry.name, value, entry.key or "", entry.note or "", needed.get(entry.name, ""))
