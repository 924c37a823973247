"""One model in which any one of many parts can be switched off, and the model without that part.

NOTE(switch): the mutants of a model are one model with a config that names the part that is
not there, so that a kernel that reads it at run time serves all of them (see `families.py`).
A config of that name cannot be written in a model file.  Whatever is found is replayed on
the mutant itself, which knows of no switch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import spec.model.ir as ir
import spec.model.types as t
from counterexamples.trace import Trace
from modelcheck.asking.necessity.parts import PartKind, ProtocolPart, weakened
from spec.model.op import Op
from spec.source import Span

SWITCH = "@without"
NOTHING = 0
LONGEST = 60  # characters of a name in that of a file


def switched(model: ir.Model, forgets: ir.Model, numbers: Mapping[ProtocolPart, int]) -> ir.Model:
    """The model with a switch that selects the part to leave out, by number; 0 for none."""
    of = t.Range(NOTHING, max(numbers.values(), default=NOTHING))

    def choice(part: ProtocolPart, now: ir.Expr, without: ir.Expr) -> ir.Expr:
        if part not in numbers:
            return now
        given = ir.Config(SWITCH, type=of, span=now.span)
        number = ir.Const(numbers[part], type=t.INT, span=now.span)
        is_out = ir.Apply(Op.EQ, (given, number), type=t.BOOL, span=now.span)
        return ir.If(is_out, without, now, type=now.type, span=now.span)

    entry = ir.ConfigEntry(SWITCH, of, NOTHING, span=Span(0, 0))
    return replace(weakened(model, forgets, choice), configs=(*model.configs, entry))


def set_to(check: ir.Check, number: int) -> ir.Check:
    """The check of a model with a switch, set to a number."""
    config = {**check.scope.config, SWITCH: number}
    return replace(check, scope=replace(check.scope, config=config))


def without(model: ir.Model, forgets: ir.Model, part: ProtocolPart) -> ir.Model:
    """The model without a part, with a name that shows it."""

    def choice(each: ProtocolPart, now: ir.Expr, weak: ir.Expr) -> ir.Expr:
        return weak if each == part else now

    made = weakened(model, forgets, choice)
    variables = tuple(
        replace(v, storage=ir.Storage.VOLATILE)
        if part.kind is PartKind.DURABLE and v.span == part.span
        else v
        for v in made.variables
    )
    name = f"{model.name}-{part.kind.name.lower()}-{_slug(part.name)}"
    return replace(made, name=name, variables=variables, checks=())


def moved(trace: Trace, mutant: ir.Model) -> Trace:
    """A run found with a switch, as a run of the mutant; it is not replayed yet."""
    config = {name: value for name, value in trace.scope.config.items() if name != SWITCH}
    return replace(trace, model=mutant, scope=replace(trace.scope, config=config))


def _slug(name: str) -> str:
    """A name usable in a file name."""
    return re.sub(r"[^\w.]+", "_", name)[:LONGEST].strip("_")
