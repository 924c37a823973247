"""One self-contained page about runs and verdicts: it asks no network, and needs no JavaScript."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from counterexamples.ending import ending
from counterexamples.explanation import Explanation
from counterexamples.html.frames import Frame, frames, shown
from counterexamples.lines import Line, Role, clean
from counterexamples.pictures.depict import picture
from counterexamples.pictures.drawing import STYLE, said
from counterexamples.pictures.picture import Picture
from counterexamples.pictures.storyboard import storyboard
from counterexamples.pictures.svg import svg
from counterexamples.trace import Example, Stops, Trace
from spec.frozen import frozen
from spec.semantics import Machine

WIDTH = 84  # columns of what stands in the model's own words
SIGNS = dict.fromkeys(Role, "") | {Role.BAD: "✗", Role.GOOD: "✓", Role.UNSURE: "?"}


@frozen
class Cell:
    """A cell of a table; `item` is the place, in the page's items, of the run that shows it."""

    text: str
    role: Role = Role.PLAIN
    item: int | None = None


@frozen
class Table:
    """A table: the names of its columns, then each row with its name; `note` says what the signs mean."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
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
    tables: tuple[Table, ...] = ()
    remarks: tuple[tuple[str, tuple[str, ...]], ...] = ()  # under a heading each
    texts: tuple[tuple[str, tuple[Line, ...]], ...] = ()  # laid out for a terminal, under a heading each
    command: str = ""


@frozen
class Item:
    """Something to look at: a run, where there is one, and why it goes wrong; `budget` is of faults."""

    title: str
    verdict: str
    role: Role
    trace: Trace | None = None
    explanation: Explanation | None = None
    command: str = ""
    budget: str = ""


@frozen
class Setting:
    """A switch of the configuration; `key` and `note` say what it is in the real system.

    `needed` is what becomes of the run with another value; empty where that is not known.
    """

    name: str
    value: str
    key: str
    note: str
    needed: str


@frozen
class Run:
    """An item as the templates see it; `at` begins the names of its places in the page."""

    item: Item
    trace: Trace
    at: str
    number: int
    frames: tuple[Frame, ...]
    picture: Picture
    diagram: str
    storyboard: str
    is_bad: bool
    summary: tuple[str, ...]
    told: tuple[Line, ...]
    bounds: tuple[tuple[str, tuple[str, ...]], ...]
    settings: tuple[Setting, ...]

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
        """What becomes of the run without a step; empty when nobody looked."""
        found = self.item.explanation
        steps = () if found is None else found.core.steps
        return next((step.without for step in steps if step.number == number), "")

    @property
    def turn(self) -> int | None:
        """The step from which on all is lost; None when that is not known, or nothing is."""
        found = None if self.item.explanation is None else self.item.explanation.no_return
        return None if found is None or found.is_put_off else found.state


def page(items: Sequence[Item], *, title: str, cards: Sequence[Card] = (), folded: bool = False) -> str:
    """The page, as the text of an HTML file; the same items give the same bytes.

    Where they are `folded`, of each run only its title and its verdict are seen until it is opened.
    Costs the picture of each run and, for each step that is shown, taking it once.
    """
    runs = [_run(item, number) for number, item in enumerate(items, 1) if item.trace is not None]
    dark = STYLE.replace("@media (", "@media screen and (")  # paper is white
    style = f"{_text('page.css')}\n{dark}"
    script = _text("page.js")
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
        policy=f"default-src 'none'; style-src '{content_hash(style)}'; script-src '{content_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
    )


def environment(package: str = "counterexamples.html") -> Environment:
    """The templates of a package; whatever they show is escaped, and nothing in it moves or hides text."""
    made = Environment(
        autoescape=True,
        loader=PackageLoader(package, ""),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=_finalized,
    )
    made.globals["signs"] = SIGNS
    made.globals["Role"] = Role
    return made


def _finalized(value: object) -> object:
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _text(name: str) -> str:
    return (resources.files("counterexamples.html") / name).read_text(encoding="utf-8").strip()


def content_hash(text: str) -> str:
    """What a content security policy knows a script or style by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


# ------------------------------------------------------------------------- a run


def _run(item: Item, number: int) -> Run:
    trace = item.trace
    if trace is None:
        raise ValueError("an item without a trace is no run")
    drawn = picture(trace, explanation=item.explanation)
    plain = replace(
        drawn, title="", caption="", bounds="", needs=""
    )  # the page says these in words of its own
    explained = item.explanation
    summary = explained.summary if explained is not None else (drawn.caption,) if drawn.caption else ()
    return Run(
        item,
        trace,
        "" if number == 1 else f"run-{number}-",
        number,
        tuple(frames(trace, drawn)),
        drawn,
        _shapes(svg(plain), number, f"{drawn.title}: sequence diagram", drawn.caption),
        _shapes(storyboard(plain), number, f"{drawn.title}: storyboard", drawn.caption),
        not isinstance(trace.ending, Example | Stops),
        summary,
        tuple(ending(Machine(trace.model, trace.scope), trace, WIDTH)),
        tuple(_bounds(trace, item.budget)),
        tuple(_settings(trace, explained)),
    )


def _shapes(drawn: str, number: int, title: str, about: str) -> str:
    """A picture without its style, which the page has once, and with what a screen reader tells of it."""
    bare = drawn.replace(f"<style>{STYLE}</style>\n", "").strip()
    for kind, text in (("title", said(title)), ("desc", said(about))):
        before, opened, rest = bare.partition(f"<{kind} ")
        name, _, rest = rest.partition(">")
        bare = f"{before}{opened}{name}>{text}</{kind}>{rest.partition(f'</{kind}>')[2]}"
    known = bare.partition('<title id="t')[2].partition('"')[0]
    return bare.replace(known, f"{known}-{number}")  # two runs may look the same


def _bounds(trace: Trace, budget: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the run is one of: the model, the check, how large everything is, how many faults there may be."""
    model, scope = trace.model, trace.scope
    yield "model", (model.name, model.source.name, *([f"check {trace.check}"] if trace.check else []))
    sorts = (f"{name} = {len(members)} ({', '.join(members)})" for name, members in scope.sorts.items())
    limits = (f"{name} = {limit}" for name, limit in (*scope.nats.items(), *scope.networks.items()))
    yield "scope", (*sorts, *limits)
    if budget:
        yield "faults", (budget,)


def _settings(trace: Trace, explained: Explanation | None) -> Iterator[Setting]:
    found = () if explained is None else explained.settings
    needed = {each.name: f"with {each.name} = {each.other}, {each.without}" for each in found}
    for entry in trace.model.configs:
        value = shown(entry.type, trace.scope.config[entry.name], trace.scope)
        yield Setting(entry.name, value, entry.key or "", entry.note or "", needed.get(entry.name, ""))
