"""A model with a run over states whose numbers are far apart, so that the ways to them take many bytes."""

from __future__ import annotations

from spec.load import loads
from spec.model.ir import Check, Model


def far(states: int, turning: int) -> tuple[Model, Check]:
    """A check that is violated in two steps: to one of that many states, and a turn from there."""
    (model,) = loads(f"""
        protocol far
        state {{ x: 0..{states - 1} = 0, y: 0..1 = 0 }}
        action pick(n: 0..{states - 1}) {{ require x == 0
            x := n }}
        action turn() {{ require x == {turning}
            y := 1 }}
        invariant still: y == 0
        check all {{ faults none }}
    """)
    return model, model.checks[0]
