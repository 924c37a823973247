"""Whether a proof, or what was found instead, agrees with a search of all states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.engine import Engine, Limits
from modelcheck.result import End, Findings, Holds, Unknown, Violated
from spec.ir import Check, Model
from spec.values import ModelError
from tests.modelcheck.symbolic.test_bounded import asked

MOST = 20_000  # states of a search


def compare(model: Model, question: Check, engine: Engine, limits: Limits) -> Findings | None:
    """What an engine found, once nothing speaks against it; None where there is nothing to compare."""
    question = replace(asked(model, question), expect=())
    if not question.only:
        return None
    try:
        known = check(model, question, engine="explicit", limits=Limits(states=MOST), threads=1).findings
        found = check(model, question, engine=engine, limits=limits).findings
    except (Unsupported, Unmet, ModelError):
        return None
    if known.end.partial:
        return None
    assert list(_wrong(known, found)) == []
    return found


def _wrong(known: Findings, found: Findings) -> Iterator[str]:
    if found.error is not None and known.error is None and known.end is End.COMPLETE:
        yield "an error of the model that there is not"
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
