"""A model that cannot start, or whose assumptions do not hold, as mistakes in the input."""

from __future__ import annotations

from collections.abc import Iterator

from modelcheck.api import Unmet
from modelcheck.contract.wording import bounds_set, setting_words, switches_set
from spec.diagnostics import Diagnostic, SpecError
from spec.meaning.semantics import NO_START, Machine
from spec.model.ir import Check, Config, Expr, Model
from spec.model.types import Nat, sorts_in, walk_type
from spec.model.values import ModelError
from spec.model.walk import walk

MEND_START = "without an initial state everything holds of nothing; let the choice find a member, or guard it"


def broken_assumptions(model: Model, check: Check, unmet: Unmet) -> SpecError:
    """The error about assumptions that are false, each with its place and the values involved."""
    return SpecError(
        Diagnostic(
            "R0907",
            model.source,
            assume.span,
            f"{check.name}: the assumption `{assume.name}` does not hold with this scope and configuration",
            ", ".join(_settings(model, check, frozenset(_named(assume.test)))),
        )
        for assume in unmet.assumes
    )


def refuse_unstartable(model: Model, check: Check) -> None:
    """Raise SpecError if the model has no initial state within the check."""
    machine = Machine(model, check.scope)
    if assumes := machine.assumption_failures():
        raise broken_assumptions(model, check, Unmet(model, assumes))
    try:
        machine.initial()
    except ModelError as error:
        raise cannot_start(model, error) from None


def cannot_start(model: Model, error: ModelError) -> SpecError:
    """The error about an error of the model in its initialization."""
    message = f"the model cannot start: {error.message}"
    advice = MEND_START if error.code == NO_START else ""
    return SpecError([Diagnostic(error.code, model.source, error.span, message, help=advice)])


def _settings(model: Model, check: Check, names: frozenset[str]) -> Iterator[str]:
    """The bounds and switches with those names as a check writes them; all without names."""
    everything = [*bounds_set(check.scope), *switches_set(model, check)]
    named = [each for each in everything if each[0] in names]
    yield from setting_words(named or everything)


def _named(expr: Expr) -> Iterator[str]:
    """The configs, sorts and nats in an expression."""
    for part in walk(expr):
        if isinstance(part, Config):
            yield part.name
        else:
            yield from sorts_in(part.type)
            yield from (of.name for of in walk_type(part.type) if isinstance(of, Nat))
