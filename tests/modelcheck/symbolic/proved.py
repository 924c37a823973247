"""The checks that engines which ask a solver are tried on, and whether a search of all states agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Engine, Limits
from modelcheck.contract.result import End, Findings, Holds, Unknown, Violated
from spec.load import loads
from spec.model.ir import Budget, Check, Model, PropertyKind
from spec.model.values import ModelError
from tests.model_texts import model_text

ASKED = {
    PropertyKind.INVARIANT,
    PropertyKind.LEMMA,
    PropertyKind.STEP,
    PropertyKind.ASSERT,
    PropertyKind.REACHABLE,
}
MOST = 20_000  # states of a search


def asked(model: Model, question: Check) -> Check:
    """The check of what a solver is asked."""
    names = [p.name for p in model.properties if question.only is None or p.name in question.only]
    return replace(question, only=tuple(n for n in names if model.property(n).kind in ASKED), expect=())


def random_checks(name: str, part: int, models: int) -> Iterator[tuple[Model, Check]]:
    """So many random models, the same whenever a name and a part are, with up to two faults."""
    for seed in range(part * models, (part + 1) * models):
        (model,) = loads(model_text(Random(f"{name} {seed}").randrange))  # noqa: S311 - no secret
        yield model, replace(model.checks[0], budget=Budget(seed % 3))


def compare(model: Model, question: Check, engine: Engine, limits: Limits) -> Findings | None:
    """What an engine found, once nothing speaks against it; None where there is nothing to compare."""
    question = asked(model, question)
    try:
        known = check(model, question, engine="explicit", limits=Limits(states=MOST), threads=1).findings
        found = check(model, question, engine=engine, limits=limits).findings
    except (Unsupported, Unmet, ModelError):
        return None
    if known.end.partial:
        return None
    assert list(wrong(known, found)) == []
    return found


def wrong(known: Findings, found: Findings) -> Iterator[str]:
    """What speaks against an engine, where another has searched all states."""
    if found.error is not None and known.error is None and known.end is End.COMPLETE:
        yield "an error of the model that there is not"
    if found.end is End.COMPLETE and known.error is not None:
        yield "all is said to be known, but for an error of the model"
    for told, true in zip(found.results, known.results, strict=True):
        match told.verdict, true.verdict:
            case Unknown(), _:
                pass
            case Holds(example=None), _ if known.error is not None:
                yield f"{told.property} holds although the model makes an error"
            case Violated(trace=None), _ if known.error is not None:
                yield f"{told.property} is never reached although the model makes an error"
            case _, Unknown():  # an error ends the search before it sees the violation
                pass
            case (Holds(), Holds()) | (Violated(), Violated()):
                pass
            case _:
                yield f"{told.property}: {told.verdict} and not {true.verdict}"
