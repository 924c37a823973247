"""`modelcheck rates FILE --check NAME`: how long until the first loss, and how long it is down."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NoReturn

from counterexamples.lines import count
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.models import pick_property
from modelcheck.asking.overrides import one_check
from modelcheck.asking.rates.chain import LossQuestion, chain_of, lumped
from modelcheck.asking.rates.text import RatesAnswer, as_json, lines
from modelcheck.asking.rates.typed import OPTION, rates_of
from modelcheck.asking.unmet import refuse_unstartable
from modelcheck.commands.options.given import MODEL, add_overrides, given_by
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import looked_at
from modelcheck.engines.extras import needing
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.load import load
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model, Property, PropertyKind
from spec.model.rates import UNITS, YEAR

MOST = 20_000  # states that are explored: some ten seconds
_LOSSES = {PropertyKind.INVARIANT, PropertyKind.LEMMA}
_SERVICES = {PropertyKind.RECOVERABLE}
_RATED = (
    _LOSSES
    | _SERVICES
    | {PropertyKind.REACHABLE, PropertyKind.ALWAYS_EVENTUALLY, PropertyKind.EVENTUALLY_ALWAYS}
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    what = parser.add_argument_group("question")
    what.add_argument("--check", metavar="NAME", help="use this check; required if the file has several")
    what.add_argument("--of", metavar="NAME", help="use this protocol or variant of the file")
    add_overrides(what)
    what.add_argument(
        OPTION,
        action="append",
        default=[],
        metavar="ACTION=N/UNIT",
        help="set the rate of a fault or repair per member, instead of the one in the check; "
        f"units: {', '.join(UNITS)}",
    )
    what.add_argument(
        "--loss",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="count a violation of this property as a loss (default: the invariants of the check)",
    )
    what.add_argument(
        "--available",
        action="append",
        default=[],
        metavar="PROPERTY",
        help="count a violation of this property as downtime (default: the `recoverable` properties "
        "of the check)",
    )
    what.add_argument(
        "--bound",
        action="append",
        default=[],
        metavar="LIMIT",
        help="treat this bound of the scope as part of the system: steps beyond it do not happen",
    )
    what.add_argument(
        "--within",
        type=_time,
        default=YEAR,
        metavar="T",
        help="estimate the probability of a loss within this time, such as 30d (default: 1y)",
    )
    what.add_argument(
        "--max-states",
        type=_number,
        default=MOST,
        metavar="N",
        help=f"refuse to explore more states (default: {MOST:,})",
    )
    add("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, output: Output) -> int:
    """Compute the mean time to loss, and print it."""
    model, check = one_check(load(args.file), args.check, args.of, given_by(args), "a chain")
    refuse_unstartable(model, check)
    rates = rates_of(model, check, args.rate)
    if not rates:
        help_ = f"give one with `rates` in the check, or with {OPTION}"
        _refuse(model, "no fault and no repair has a rate, so nothing happens", help_)
    wanted = _wanted(args, model, check)
    with needing("rates", "modelcheck rates"):
        from modelcheck.asking.rates.solved import TooMany, solved  # noqa: PLC0415 - what may not be installed
    title = f"{model.name} · {check.name}"
    progress = ProgressLine(output.err, title, columns=output.width)
    try:
        chain = chain_of(
            Machine(model, check.scope),
            rates,
            wanted,
            args.max_states,
            lambda many: progress.mention(f"{title}: {count(many, 'state')}"),
        )
        small = lumped(chain)
        found = solved(small, args.within)
    except TooMany:
        message = f"{len(small.down):,} states that differ are too many to be solved"
        help_ = "ask about a smaller scope"
        raise SpecError([Diagnostic("R0922", model.source, None, message, help=help_)]) from None
    finally:
        progress.clear()
    answer = RatesAnswer(model, check, rates, wanted, chain, small, args.within, found)
    if args.json:
        output.json(as_json(answer))
    else:
        output.lines(lines(answer, output.width))
    return Exit.EXPECTED


def _wanted(args: argparse.Namespace, model: Model, check: Check) -> LossQuestion:
    """The loss and service to compute for: as asked, else as in the check."""
    own = looked_at(model, check)
    losses = [pick_property(model, name) for name in args.loss] or [p for p in own if p.kind in _LOSSES]
    services = [pick_property(model, name) for name in args.available]
    services = services or [p for p in own if p.kind in _SERVICES]
    _insist_on_states(model, (*losses, *services))
    if not losses and not services:
        _refuse(
            model,
            f"{check.name} has no invariant that could be lost and nothing `recoverable` that could be down",
            "name a property with --loss or --available",
        )
    limits = {*check.scope.nats, *check.scope.networks}
    if unknown := [name for name in args.bound if name not in limits]:
        _refuse(
            model,
            f"the scope has no limit `{unknown[0]}`",
            f"there are {', '.join(sorted(limits)) or 'none'}",
        )
    return LossQuestion(tuple(losses), tuple(services), tuple(args.bound))


def _insist_on_states(model: Model, found: Iterable[Property]) -> None:
    """Raise SpecError for a property that is not of states."""
    for prop in found:
        if prop.kind not in _RATED:
            _refuse(model, f"`{prop.name}` is no property of states", "name an invariant, for example")


def _refuse(model: Model, message: str, help_: str) -> NoReturn:
    """Raise SpecError."""
    raise SpecError([Diagnostic("R0921", model.source, None, message, help=help_)])


# ------------------------------------------------------------------ what is typed


def _time(text: str) -> float:
    """Parse a time."""
    for unit, size in UNITS.items():
        number = text.removesuffix(unit)
        if number != text and number.replace(".", "", 1).isdigit() and float(number) > 0:
            return float(number) * size
    raise argparse.ArgumentTypeError(
        f"a number and a unit of {', '.join(UNITS)}, such as 30d, and not {text!r}"
    )


def _number(text: str) -> int:
    """Parse a number."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on, and not {text!r}")
    return int(text)
