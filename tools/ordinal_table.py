"""Which nats of the protocols need a bound, and what each finds without one: `docs/reference/any.md`.

`python -m tools.ordinal_table` asks one check of each protocol about each nat, in a minute or two, and writes
the page anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import spec.library as library
from counterexamples.trace import Erred
from modelcheck.api import check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.contract.engine import Limits
from modelcheck.contract.families import looked_at
from modelcheck.contract.result import End, Findings, Unknown
from modelcheck.storage.files import save_text
from spec.load import load
from spec.model.ir import Check, ExpectCount, Model
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.ordinals import Obstacle, obstacles

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "any.md"
PROTOCOLS = Path(library.__file__).with_name("protocols")
STATES = 300_000  # of a search
ABOUT = """\
# Nats without a bound

Which nats of the [protocols that come with it](../../spec/protocols/README.md) can be `any` in a check's \
`scope`, and why others need a number; the manual has the \
[conditions](../../spec/language.md#without-a-bound).
`python -m tools.ordinal_table` writes this page, and a test holds it against the files.

For a nat that can be `any`, one check is asked without a bound: of those in which the bound cuts a step \
the first, else the first.
States are those of the whole search, which ends at 300,000.
A protocol without a nat has a line that says so.

| protocol | nat | check | states with its bound | without |
| --- | --- | --- | ---: | --- |
"""


class Row(NamedTuple):
    """A nat of a protocol, and what comes out."""

    protocol: str
    nat: str
    asked: str
    bounded: str
    without: str

    def __str__(self) -> str:
        return f"| {' | '.join(self)} |"


def rows(name: str) -> Iterator[Row]:
    """A row for each nat of a protocol; one that says so where it has none."""
    models = load(PROTOCOLS / f"{name}.rsm")
    if not models[0].nats:
        yield Row(f"`{name}`", "", "", "", "has no nat, so its checks have nothing to leave without a bound")
    asked = [model for model in models if model.checks]
    for nat in [each.name for each in models[0].nats]:
        found = [(model, each) for model in asked if (each := next(obstacles(model, nat), None)) is not None]
        if len(found) < len(asked):
            yield _without(name, nat, models)
        else:
            yield Row(f"`{name}`", f"`{nat}`", "", "", f"needs a bound: {_why_bounded(name, *found[0])}")


def _why_bounded(name: str, model: Model, found: Obstacle) -> str:
    """Why a nat needs a bound, with the line; the file as well where it is one that the protocol imports."""
    path, line, _ = model.source.place(found.span.start)
    file = Path(path).stem
    return f"{found.why} (line {line}{'' if file == name else f' of `{file}`'})"


def _without(name: str, nat: str, models: tuple[Model, ...]) -> Row:
    first: tuple[Model, Check, Findings] | None = None
    for model in models:
        for question in model.checks:
            kinds = {prop.kind for prop in looked_at(model, question)}
            if not kinds.isdisjoint(OF_FAIR_RUNS) or any(True for _ in obstacles(model, nat)):
                continue
            found = _whole(model, question)
            if found.end is not End.COMPLETE:
                continue
            first = first or (model, question, found)
            if found.stats.cut.get(nat):
                return _row(name, nat, model, question, found)
    if first is None:
        return Row(f"`{name}`", f"`{nat}`", "", "", "no check can be asked without it")
    return _row(name, nat, *first)


def _row(name: str, nat: str, model: Model, question: Check, found: Findings) -> Row:
    without = _whole(model, apply(model, question, Overrides(scope=(f"{nat}=any",))))
    shown = f"{question.name}" + (f" of {model.name}" if model.name != name else "")
    size = f"{found.stats.states:,} ({nat} = {question.scope.nats[nat]})"
    return Row(f"`{name}`", f"`{nat}`", f"`{shown}`", size, _words(without))


def _whole(model: Model, question: Check) -> Findings:
    """The findings of the whole search, which a count asks for, as far as the limit."""
    counted = replace(question, expect=(ExpectCount("states", 0, span=question.span),))
    return check(model, counted, limits=Limits(states=STATES)).findings


def _words(found: Findings) -> str:
    if found.error is not None and isinstance(found.error.ending, Erred):
        return f"needs a bound: {found.error.ending.message}"
    if found.end is End.COMPLETE:
        return f"{found.stats.states:,}"
    reasons = [each.verdict.reason for each in found.results if isinstance(each.verdict, Unknown)]
    return reasons[0] if reasons else found.end.value


def page() -> str:
    """The page."""
    return ABOUT + "".join(f"{row}\n" for name in library.names() for row in rows(name))


def main() -> int:
    """Write the page."""
    save_text(PAGE, page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
