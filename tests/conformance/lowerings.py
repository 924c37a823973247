"""The forms that models are brought into, each asked by one engine, and what cannot be said in it.

Gaps are by the names that the tables of `operators.py` and `statements.py` have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pytest

from modelcheck.api import check
from modelcheck.contract.engine import Engine
from modelcheck.contract.result import Findings
from modelcheck.engines.registry import engine
from modelcheck.grounding import layout
from spec.model.ir import Check, Model
from tests.conformance.engines import Gap, Why

_FIXED = Gap(Why.NOT_IMPLEMENTED, "what is divided is never below 0, and by a fixed number above 0")
_SUM = Gap(Why.NEVER, "a sum over as many as some scope has")
_SIZE = Gap(Why.NOT_IMPLEMENTED, "how many members there are is known of few sets")
_FIRST = Gap(Why.NOT_IMPLEMENTED, "of several best members the first is one that nothing is known of")
_LOOP = Gap(Why.NEVER, "what a loop over any number of members does to one value")
_DIVIDED = {"/": _FIXED, "%": _FIXED}
_UNPROVED = {
    **_DIVIDED,
    **dict.fromkeys(("sum", "sum, over a set", "sum, over a sequence", "sum, over a bag"), _SUM),
    **dict.fromkeys(("size, of a bag", "size, of the subsets", "subsets"), _SIZE),
    **dict.fromkeys(("add, to a bag",), _SIZE),
    **dict.fromkeys(
        (
            "for",
            "for, in order",
            "for, of no member",
            "for, of what it changes",
            "choose, in a loop",
            "for, of bools",
            "for, over a set",
            "for, over itself",
            "for, and a test",
            "for, over a sequence",
            "for, over a bag",
            "for, over an option",
            "for, over an enum",
            "for, over one case",
        ),
        _LOOP,
    ),
}
_UNKNOWN = {
    **dict.fromkeys(("size, of a set", "size, of a range", "how many members", "members of a sort"), _SIZE),
    **dict.fromkeys(("argmax, the first of several", "argmin, the first of several"), _FIRST),
}


@dataclass(frozen=True, eq=False)
class Lowering:
    """A form that models are brought into, and the engine that asks it.

    Of what is `refused` the engine says so; of what is `unknown` it does not know.  Sets with more
    possible members than `members` are kept in places.  One without `errors` takes models that make
    none, and one without `runs` does not say what can be reached.
    """

    name: str
    engine: Callable[[], Engine]
    members: int = layout.FEW_MEMBERS
    errors: bool = True
    runs: bool = True
    refused: Mapping[str, Gap] = field(default_factory=lambda: MappingProxyType({}))
    unknown: Mapping[str, Gap] = field(default_factory=lambda: MappingProxyType({}))

    def findings(self, model: Model, asked: Check) -> Findings:
        """What its engine says of a check. Raises Unsupported."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(layout, "FEW_MEMBERS", self.members)
            return check(model, asked, engine=self.engine()).findings


LOWERINGS = (
    Lowering("explicit", lambda: engine("explicit")),
    Lowering("grounding", lambda: engine("bmc", depth=2), refused=_DIVIDED),
    Lowering("grounding, sets in places", lambda: engine("bmc", depth=2), members=1, refused=_DIVIDED),
    Lowering(
        "unbounded", lambda: engine("prove"), errors=False, runs=False, refused=_UNPROVED, unknown=_UNKNOWN
    ),
)
each_lowering = pytest.mark.parametrize("lowering", LOWERINGS, ids=lambda each: each.name)
