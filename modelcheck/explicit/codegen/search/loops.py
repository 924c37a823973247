"""The inner loops of the search as code, all of them: the same for every model but for words and actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.context import Context
from modelcheck.explicit.codegen.search.expansion import Expansion
from modelcheck.explicit.codegen.search.insertion import Insertion
from modelcheck.explicit.codegen.search.leaving import Leaving
from modelcheck.explicit.codegen.search.questions import Questions
from modelcheck.explicit.codegen.search.runtime import Runtime
from modelcheck.explicit.codegen.states.layout import PackedLayout
from spec.frozen import frozen


@frozen
class ActionFunctions:
    """The names of the LLVM functions of free actions, of faults, and of probes (is there any step?)."""

    free: Sequence[str]
    faults: Sequence[str]
    probes: Sequence[str]


def loops(
    layout: PackedLayout,
    context: Context,
    parameters: Parameters,
    named: ActionFunctions,
    most: int,
    emits: Mapping[str, str | None],
) -> list[Function]:
    """The LLVM functions of the search's inner loops; `most` bounds the successors of a state.

    `emits` are those that take a successor: see `Expansion`.
    """
    return [
        Runtime(layout, context).hash(),
        *Expansion(layout, context, parameters, emits).functions(
            named.free, named.faults, named.probes, most
        ),
        *Insertion(layout, context).functions(),
        *(Leaving(layout, context).functions() if context.persistence is not None else ()),
        *Questions(layout, context).functions(named.free, named.faults),
    ]
