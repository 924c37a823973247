"""One self-contained page about runs and verdicts: it needs no network and no JavaScript.

A page of folded runs prints as a sheet: its cards without what is `behind`, the picture that a card asks
for, and of the runs only those that the reader has opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from counterexamples.ending import ending
from counterexamples.explanation import Explanation
from counterexamples.html.frames import HtmlFrame, frames, shown
from counterexamples.html.listing import Listing
from counterexamples.html.templates import asset, environment, hashed, policy, shapes, styles
from counterexamples.lines import Line, Role
from counterexamples.pictures.depict import picture
from counterexamples.pictures.picture import Picture
from counterexamples.pictures.selection import ALL, Selection
from counterexamples.pictures.storyboard import frames as key_moments
from counterexamples.pictures.storyboard import storyboard
from counterexamples.pictures.svg import svg
from counterexamples.trace import Example, Stops, Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine
from spec.model.bounds import bound_words

WIDTH = 84  # columns of text quoted from the model
MOST_ACROSS = 6  # key moments in a line of a card, so that they fill the width of a sheet


@frozen
class TableCell:
    """A table cell; `item` is the index of the page's item that shows its run."""

    text: str
    role: Role = Role.PLAIN
    item: int | None = None


@frozen
class PageTable:
    """A table: column names, then rows with their names; `note` explains the signs, `links` the links."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]
    note: str = ""
    links: str = ""


@frozen
class Verdict:
    """The verdict on a property; `item` is the index of the item with its run."""

    name: str
    words: str
    role: Role
    item: int | None = None


@frozen
class Card:
    """A summary card: the question, the answer and its scope.

    `picture` is the index of the page's item whose key moments it shows, and `further` are tables below it.
    What has its title in `behind`, the card itself too, is not printed with a page of folded runs.
    """

    title: str
    words: str
    role: Role
    says: str = ""
    about: str = "property"  # what the verdicts are on
    verdicts: tuple[Verdict, ...] = ()
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    listing: Listing | None = None  # one of the page's cards has one at most
    tables: tuple[PageTable, ...] = ()
    picture: int | None = None
    further: tuple[PageTable, ...] = ()
    remarks: tuple[tuple[str, tuple[str, ...]], ...] = ()  # under a heading each
    texts: tuple[tuple[str, tuple[Line, ...]], ...] = ()  # laid out for a terminal, under a heading each
    command: str = ""
    behind: frozenset[str] = frozenset()


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
    selection: Selection = ALL  # of the state and its members, what the page shows


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
    listed = any(card.listing is not None for card in cards)
    style = styles("page.css", *(["listing.css"] if listed else []))
    scripts = [asset("page.js")] * bool(runs) + [asset("listing.js")] * listed
    template = environment().get_template("page.jinja")
    pictured = {card.picture for card in cards}
    anchors = {run.number - 1: f"run-{run.number}" for run in runs}
    return template.render(
        title=title,
        cards=cards,
        items=items,
        runs={run.number: run for run in runs},
        pictures={run.number - 1: _key_moments(run) for run in runs if run.number - 1 in pictured},
        anchors=anchors,
        folded=folded,
        style=style,
        scripts=scripts,
        policy=policy(style, *_scripts(scripts)),
    )


def _scripts(texts: Sequence[str]) -> Iterator[str]:
    """The directive of the policy that allows these scripts, if there are any."""
    hashes = (f"'{hashed(text)}'" for text in texts)
    if texts:
        yield f"script-src {' '.join(hashes)}"


def _key_moments(run: PageRun) -> tuple[PageRun, str]:
    """A run with its storyboard once more, for a card."""
    plain = _without_words(run.picture)
    number = len(key_moments(plain))
    across = ceil(number / ceil(number / MOST_ACROSS))
    return run, shapes(
        storyboard(plain, across),
        f"{run.number}-card",
        f"{run.picture.title}: key moments",
        run.picture.caption,
    )


# ------------------------------------------------------------------------- a run


def _run(item: PageItem, number: int) -> PageRun:
    """An item as a PageRun."""
    trace = item.trace
    if trace is None:
        raise ValueError("an item without a trace is no run")
    drawn = picture(trace, explanation=item.explanation, selection=item.selection)
    plain = _without_words(drawn)
    explained = item.explanation
    summary = explained.summary if explained is not None else (drawn.caption,) if drawn.caption else ()
    return PageRun(
        item,
        trace,
        "" if number == 1 else f"run-{number}-",
        number,
        tuple(frames(trace, drawn, item.selection)),
        drawn,
        shapes(svg(plain), number, f"{drawn.title}: sequence diagram", drawn.caption),
        shapes(storyboard(plain), number, f"{drawn.title}: storyboard", drawn.caption),
        not isinstance(trace.ending, Example | Stops),
        summary,
        tuple(ending(Machine(trace.model, trace.scope), trace, WIDTH)),
        tuple(_bounds(trace, item.budget)),
        tuple(_settings(trace, explained)),
    )


def _without_words(drawn: Picture) -> Picture:
    """A picture without what the page has its own words for."""
    return replace(drawn, title="", caption="", bounds="", needs="")


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
